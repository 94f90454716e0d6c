//! `distil`: what distilling makes of real sessions: what it misses, what it invents, how often it
//! says the same, and what it costs.

mod coverage;
mod grounding;
mod history;
mod readable;
mod shape;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use clap::Args;
use thru_core::{Distillate, Observation};
use thru_distil::Distiller;

use self::coverage::Coverage;
use self::grounding::Grounding;
use self::history::Session;
use self::shape::Shape;
use crate::process::thread_time;
use crate::rng::Rng;

/// What to measure, or to show.
#[derive(Args)]
pub(crate) struct Arguments {
    /// A folder with transcripts of Claude Code
    #[arg(long, value_name = "DIR")]
    transcripts: PathBuf,
    /// Say what was missed and what was invented: ids only
    #[arg(long)]
    misses: bool,
    /// Show what was made of the session whose id starts so, instead of measuring
    #[arg(long, value_name = "SESSION", conflicts_with = "sample")]
    show: Option<String>,
    /// Show this many observations, drawn at random, instead of measuring
    #[arg(long, value_name = "N")]
    sample: Option<usize>,
    /// What the sample is drawn by
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// Distils every session and prints tables, or shows what came of it.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let folder = &arguments.transcripts;
    if !folder.is_dir() {
        eprintln!("SKIPPED: there is no folder {}; nothing was measured", folder.display());
        return Ok(());
    }
    let sessions = history::sessions(folder);
    if let Some(prefix) = &arguments.show {
        return show(&sessions, prefix);
    }
    if let Some(count) = arguments.sample {
        sample(&sessions, count, arguments.seed);
        return Ok(());
    }
    measure(&sessions, arguments.misses)
}

fn measure(sessions: &[Session], misses: bool) -> Result<()> {
    let mut coverage = Coverage::new()?;
    let mut grounding = Grounding::new()?;
    let mut shape = Shape::default();
    for session in sessions {
        let (distillate, time) = distil(session);
        coverage.add(session, &distillate.observations);
        grounding.add(session, &distillate);
        shape.add(session, &distillate, time)?;
    }
    coverage.print(misses);
    grounding.print(misses);
    shape.print();
    Ok(())
}

fn show(sessions: &[Session], prefix: &str) -> Result<()> {
    let mut chosen =
        sessions.iter().filter(|session| session.key.id.as_str().starts_with(prefix)).peekable();
    if chosen.peek().is_none() {
        bail!("no session starts with {prefix}");
    }
    for session in chosen {
        readable::print_session(&session.short(), &distil(session).0);
    }
    Ok(())
}

fn sample(sessions: &[Session], count: usize, seed: u64) {
    let mut all: Vec<(String, Observation)> = Vec::new();
    for session in sessions {
        let observations = distil(session).0.observations;
        all.extend(observations.into_iter().map(|observation| (session.short(), observation)));
    }
    let mut rng = Rng::part(seed, 0);
    for _ in 0..count.min(all.len()) {
        let (session, observation) = all.swap_remove(rng.below(all.len()));
        readable::print_observation(&session, &observation);
    }
}

/// Distils a session; the time is that of distilling alone, on a processor where the system tells.
fn distil(session: &Session) -> (Distillate, Duration) {
    let moments = session.moments();
    let (started, before) = (Instant::now(), thread_time());
    let mut distiller = Distiller::new(&session.key, &session.facts, BTreeSet::new());
    for moment in moments {
        distiller.add(moment);
    }
    let distillate = distiller.finish();
    let time = match (before, thread_time()) {
        (Some(before), Some(after)) => after.saturating_sub(before),
        _ => started.elapsed(),
    };
    (distillate, time)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_folder_is_skipped() {
        let folder = tempfile::tempdir().unwrap();
        let arguments = Arguments {
            transcripts: folder.path().join("none"),
            misses: false,
            show: None,
            sample: None,
            seed: 1,
        };
        assert!(run(&arguments).is_ok());
    }
}
