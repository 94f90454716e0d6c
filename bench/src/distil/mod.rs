//! `distil`: what distilling makes of real sessions: what it misses, what it invents, how often it
//! says the same, and what it costs.

mod coverage;
mod grounding;
mod history;
mod readable;
mod refined;
mod shape;

use std::collections::BTreeSet;
use std::hint::black_box;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use clap::Args;
use thru_core::{Distillate, Observation};
use thru_distil::{Distiller, Moment};

use self::coverage::Coverage;
use self::grounding::GroundingReport;
use self::history::Session;
use self::shape::Shape;
use crate::process::thread_time;
use crate::rng::Rng;

/// Rounds of timing.
const ROUNDS: usize = 5;

/// The arguments of `distil`.
#[derive(Args)]
pub(crate) struct Arguments {
    /// A folder with transcripts of Claude Code
    #[arg(long, value_name = "DIR")]
    transcripts: PathBuf,
    /// Say what was missed and what was invented: ids only
    #[arg(long)]
    misses: bool,
    /// Show what was made of the session whose id starts so, and what is missing or invented,
    /// instead of measuring
    #[arg(long, value_name = "SESSION", conflicts_with = "sample")]
    show: Option<String>,
    /// Show this many observations, drawn at random, instead of measuring
    #[arg(long, value_name = "N")]
    sample: Option<usize>,
    /// The seed of the sample
    #[arg(long, default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    refined: refined::Arguments,
}

/// Distils every session and prints tables, or shows what came of it.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let folder = &arguments.transcripts;
    if !folder.is_dir() {
        eprintln!("SKIPPED: there is no folder {}; nothing was measured", folder.display());
        return Ok(());
    }
    let sessions = history::sessions(folder);
    if arguments.refined.is_wanted() {
        return refined::run(&arguments.refined, folder, &sessions, arguments.seed);
    }
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
    let mut grounding = GroundingReport::new()?;
    let mut shape = Shape::default();
    for session in sessions {
        let distillate = distil(session);
        coverage.add(session, &distillate.observations);
        grounding.add(session, &distillate);
        shape.add(session, &distillate)?;
    }
    coverage.print(misses);
    grounding.print(misses);
    shape.print(Some(time(sessions)));
    Ok(())
}

fn show(sessions: &[Session], prefix: &str) -> Result<()> {
    let mut chosen =
        sessions.iter().filter(|session| session.key.id.as_str().starts_with(prefix)).peekable();
    if chosen.peek().is_none() {
        bail!("no session starts with {prefix}");
    }
    let (coverage, grounding) = (Coverage::new()?, GroundingReport::new()?);
    for session in chosen {
        let distillate = distil(session);
        readable::print_session(&session.short(), &distillate);
        coverage.explain(session, &distillate.observations);
        grounding.explain(session, &distillate);
    }
    Ok(())
}

fn sample(sessions: &[Session], count: usize, seed: u64) {
    let mut all: Vec<(String, Observation)> = Vec::new();
    for session in sessions {
        let observations = distil(session).observations;
        all.extend(observations.into_iter().map(|observation| (session.short(), observation)));
    }
    let mut rng = Rng::part(seed, 0);
    for _ in 0..count.min(all.len()) {
        let (session, observation) = all.swap_remove(rng.below(all.len()));
        readable::print_observation(&session, &observation);
    }
}

fn distil(session: &Session) -> Distillate {
    distil_moments(session, session.moments())
}

fn distil_moments(session: &Session, moments: Vec<Moment>) -> Distillate {
    let mut distiller = Distiller::new(&session.key, &session.facts, BTreeSet::new());
    for moment in moments {
        distiller.add(moment);
    }
    distiller.finish()
}

/// Returns the time of distilling alone for all sessions, the best of some rounds: processor time, where
/// the system tells. All at once, for the system counts in steps of milliseconds.
fn time(sessions: &[Session]) -> Duration {
    let mut best = Duration::MAX;
    for _ in 0..ROUNDS {
        let all: Vec<(&Session, Vec<Moment>)> =
            sessions.iter().map(|session| (session, session.moments())).collect();
        let (started, before) = (Instant::now(), thread_time());
        for (session, moments) in all {
            black_box(distil_moments(session, moments));
        }
        let took = match (before, thread_time()) {
            (Some(before), Some(after)) => after.saturating_sub(before),
            _ => started.elapsed(),
        };
        best = best.min(took);
    }
    best
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
            refined: refined::Arguments::default(),
        };
        assert!(run(&arguments).is_ok());
    }
}
