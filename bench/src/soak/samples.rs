//! The resources of a daemon over time, and their growth.

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result};
use serde_json::{Value, json};

use crate::resident::Look;

const MIB: f64 = 1024.0 * 1024.0;
/// While it warms up it may grow: this part of the time.
const WARM_UP: f64 = 0.1;

/// The samples, in order.
pub(super) struct Samples {
    all: Vec<(f64, Look)>,
    file: Option<File>,
}

impl Samples {
    pub(super) fn new(path: Option<&Path>) -> Result<Self> {
        let file = path.map(File::create).transpose().context("cannot write the samples")?;
        let mut samples = Self { all: Vec::new(), file };
        samples.write("seconds,rss_mib,anonymous_mib,cpu_seconds,threads,open_files")?;
        Ok(samples)
    }

    pub(super) fn add(&mut self, at: Duration, look: Look) -> Result<()> {
        let seconds = at.as_secs_f64();
        self.all.push((seconds, look));
        self.write(&format!(
            "{seconds:.0},{:.2},{:.2},{:.2},{},{}",
            look.rss as f64 / MIB,
            look.anonymous as f64 / MIB,
            look.cpu,
            look.threads,
            look.open_files
        ))
    }

    fn write(&mut self, line: &str) -> Result<()> {
        if let Some(file) = &mut self.file {
            writeln!(file, "{line}")?;
        }
        Ok(())
    }

    /// Returns the sample at this share of the time.
    fn at(&self, share: f64) -> Look {
        let last = self.all.len().saturating_sub(1);
        let at = (last as f64 * share).round() as usize;
        self.all.get(at).map_or_else(Look::default, |(_, look)| *look)
    }

    fn after_warm_up(&self) -> &[(f64, Look)] {
        let from = (self.all.len() as f64 * WARM_UP) as usize;
        self.all.get(from..).unwrap_or_default()
    }

    /// Returns the growth in MiB per hour, by the best straight line.
    fn slope(&self, of: impl Fn(&Look) -> u64) -> f64 {
        let points: Vec<(f64, f64)> = self
            .after_warm_up()
            .iter()
            .map(|(at, look)| (at / 3600.0, of(look) as f64 / MIB))
            .collect();
        slope(&points)
    }

    /// The share of a processor that it took.
    fn cpu(&self) -> f64 {
        match (self.all.first(), self.all.last()) {
            (Some((from, first)), Some((to, last))) if to > from => {
                (last.cpu - first.cpu) / (to - from)
            }
            _ => f64::NAN,
        }
    }

    fn peak(&self) -> u64 {
        self.all.iter().map(|(_, look)| look.rss).max().unwrap_or(0)
    }

    pub(super) fn print(&self) {
        let mib = |bytes: u64| bytes as f64 / MIB;
        for (share, name) in [(WARM_UP, "10 %"), (0.5, "50 %"), (1.0, "100 %")] {
            let look = self.at(share);
            let (rss, own) = (mib(look.rss), mib(look.anonymous));
            let (threads, files) = (look.threads, look.open_files);
            println!(
                "| memory at {name}, MiB | {rss:.1} ({own:.1} of it its own; {threads} threads, {files} files) |"
            );
        }
        println!("| the most, MiB | {:.1} |", mib(self.peak()));
        println!(
            "| … an hour adds, MiB | {:.2} ({:.2} of its own) |",
            self.slope(|look| look.rss),
            self.slope(|look| look.anonymous)
        );
        println!("| processor, % of a core | {:.1} |", 100.0 * self.cpu());
    }

    pub(super) fn as_json(&self) -> Value {
        let at =
            |share| json!({ "rss": self.at(share).rss, "anonymous": self.at(share).anonymous });
        json!({
            "samples": self.all.len(),
            "at_10": at(WARM_UP),
            "at_50": at(0.5),
            "at_100": at(1.0),
            "peak_rss": self.peak(),
            "rss_slope_mib_per_hour": self.slope(|look| look.rss),
            "anonymous_slope_mib_per_hour": self.slope(|look| look.anonymous),
            "cpu_share": self.cpu(),
        })
    }
}

/// The slope of the line with the least squares of distances.
fn slope(points: &[(f64, f64)]) -> f64 {
    let number = points.len() as f64;
    let mean = |of: fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / number;
    let (x, y) = (mean(|point| point.0), mean(|point| point.1));
    let both: f64 = points.iter().map(|point| (point.0 - x) * (point.1 - y)).sum();
    let square: f64 = points.iter().map(|point| (point.0 - x).powi(2)).sum();
    if square > 0.0 { both / square } else { f64::NAN }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_its_slope() {
        let line: Vec<(f64, f64)> =
            (0..10).map(|x| (f64::from(x), 3.0 - 2.0 * f64::from(x))).collect();
        assert!((slope(&line) + 2.0).abs() < 1e-9);
        assert!(slope(&[(1.0, 1.0)]).is_nan());
    }
}
