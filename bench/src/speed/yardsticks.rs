//! Programs that every machine has, run on the same transcripts and in turn with `thru`: figures of two machines can be
//! compared by their ratios to these.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use crate::metrics::median;
use crate::process::{Usage, watch};

/// Runs of a process that does nothing.
const NOTHINGS: usize = 50;

/// The runs of each program.
pub(super) struct Yardsticks {
    transcripts: Vec<PathBuf>,
    jq: Vec<Usage>,
    zstd: Vec<Usage>,
    /// Milliseconds of `/bin/true`.
    nothing: Option<f64>,
}

impl Yardsticks {
    /// Times a process that does nothing; the others run with [`Yardsticks::run`].
    pub(super) fn new(folder: &Path) -> Result<Self> {
        let nothing = (0..NOTHINGS).map(|_| do_nothing(b"")).collect::<Result<Vec<_>>>()?;
        let nothing: Vec<f64> = nothing.into_iter().map(milliseconds).collect();
        let (jq, zstd) = (Vec::new(), Vec::new());
        Ok(Self { transcripts: transcripts(folder), jq, zstd, nothing: median(&nothing) })
    }

    /// Has each program read all transcripts once. Those that are not installed are left out.
    pub(super) fn run(&mut self) -> Result<()> {
        self.jq.extend(read_all("jq", &["-c", "."], &self.transcripts)?);
        self.zstd.extend(read_all("zstd", &["-3", "-T1", "-c", "-q"], &self.transcripts)?);
        Ok(())
    }

    /// Returns a value of an import as ratios to the same value of the programs that read the transcripts.
    pub(super) fn beside_readers(
        &self,
        value: Option<f64>,
        of: impl Fn(&Usage) -> Option<f64>,
    ) -> String {
        let ratio = |name: &str, runs: &[Usage]| {
            let values: Vec<f64> = runs.iter().filter_map(&of).collect();
            Some(format!("{:.2} × {name}", value? / median(&values)?))
        };
        let ratios = [ratio("jq", &self.jq), ratio("zstd", &self.zstd)];
        ratios.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }

    /// Returns milliseconds of a process as a ratio to one that does nothing.
    pub(super) fn beside_nothing(&self, milliseconds: Option<f64>) -> String {
        let ratio = milliseconds.zip(self.nothing).map(|(value, nothing)| value / nothing);
        ratio.map_or_else(String::new, |ratio| format!("{ratio:.1} × true"))
    }
}

/// Runs a program that reads the transcripts from its input; `None` where it is not installed.
fn read_all(program: &str, arguments: &[&str], transcripts: &[PathBuf]) -> Result<Option<Usage>> {
    let started = Instant::now();
    let child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    let mut child = match child {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            eprintln!("{program} is not installed: no ratio to it");
            return Ok(None);
        }
        child => child.with_context(|| format!("cannot run {program}"))?,
    };
    let input = child.stdin.take();
    std::thread::scope(|scope| {
        let feeding = scope.spawn(move || -> io::Result<()> {
            let Some(mut input) = input else { return Ok(()) };
            for path in transcripts {
                io::copy(&mut File::open(path)?, &mut input)?;
            }
            Ok(())
        });
        let (status, usage) = watch(&mut child, started)?;
        // A program that stopped reading has failed, and says so by its status.
        let fed = feeding.join().is_ok_and(|fed| fed.is_ok());
        anyhow::ensure!(
            fed && status.success(),
            "{program} did not read all transcripts: {status}"
        );
        Ok(Some(usage))
    })
}

/// Starts and ends a process as a hook is, that does nothing.
pub(super) fn do_nothing(input: &[u8]) -> Result<Duration> {
    let path = ["/bin/true", "/usr/bin/true"].map(PathBuf::from);
    let path = path.iter().find(|path| path.exists()).context("there is no `true`")?;
    let started = Instant::now();
    let mut child = Command::new(path)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        // It does not read.
        let _ = stdin.write_all(input);
    }
    child.wait_with_output()?;
    Ok(started.elapsed())
}

pub(super) fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// Returns the transcripts at or below a folder.
fn transcripts(folder: &Path) -> Vec<PathBuf> {
    let (mut found, mut folders) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "jsonl") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_are_to_the_median_of_the_same_value() {
        let usage = |seconds: f64| Usage {
            wall: Duration::from_secs_f64(seconds),
            memory: None,
            cpu: Some(2.0 * seconds),
        };
        let yardsticks = Yardsticks {
            transcripts: Vec::new(),
            jq: vec![usage(1.0), usage(2.0), usage(9.0)],
            zstd: Vec::new(),
            nothing: Some(0.5),
        };
        assert_eq!(yardsticks.beside_readers(Some(1.0), |usage| usage.cpu), "0.25 × jq");
        assert_eq!(yardsticks.beside_nothing(Some(6.0)), "12.0 × true");
    }

    #[test]
    fn a_program_that_is_missing_gives_no_ratio() {
        assert!(read_all("no-such-program-here", &[], &[]).unwrap().is_none());
    }
}
