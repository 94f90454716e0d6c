//! `thru intake`: brings in what hooks recorded, and the transcripts that they named. Hooks start it in
//! the background when a turn or a session ends; it can be run at any time, and ends by itself.

use std::fs::OpenOptions;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use anyhow::Result;
use serde_json::json;
use thru_core::Layout;
use thru_intake::Directories;

use super::{Outcome, import, shared};
use crate::environment::Environment;
use crate::ui::Page;

/// How far back sessions are looked at again. What is older was brought in long ago, or is by
/// `thru import`.
const RECENT: jiff::SignedDuration = jiff::SignedDuration::from_hours(48);
/// How long the last words of a turn take to reach its transcript.
const LAST_WORDS: Duration = Duration::from_millis(400);

/// Bring in what hooks recorded.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// A turn has just ended: wait for its last words, and leave the terminal
    #[arg(long, hide = true)]
    after_turn: bool,
    /// Report as JSON
    #[arg(long)]
    json: bool,
}

/// The file whose time says when this was last run.
pub(crate) fn stamp(layout: &Layout) -> PathBuf {
    layout.run().join("intake.last")
}

pub(crate) fn run(
    arguments: &Arguments,
    environment: &Environment,
    plain: bool,
) -> Result<Outcome> {
    if arguments.after_turn {
        // Of a terminal that closes, we must not be a part.
        #[cfg(unix)]
        let _ = rustix::process::setsid();
    }
    let run = environment.layout.run();
    thru_journal::files::create_dir_private(&run)?;
    // Whoever waits already brings in what we would.
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false);
    let waiting = thru_journal::files::private(&mut options).open(run.join("intake.waiting"))?;
    if waiting.try_lock().is_err() {
        return Ok(Outcome::Nothing);
    }
    if arguments.after_turn {
        std::thread::sleep(LAST_WORDS);
    }
    let intake = environment.intake()?;
    let lock = shared::lock(&intake)?;
    // From here on there is news that we may have missed: somebody else may wait.
    drop(waiting);
    thru_journal::files::replace(&stamp(&environment.layout), b"")?;
    // Whoever held the lock may have forgotten sessions or changed rules meanwhile.
    let intake = environment.intake()?;
    thru_capture::rules::write(&environment.layout, intake.rules())?;
    let exclusions = import::Exclusions::of(environment)?;
    let excluded = |directory: &std::path::Path| exclusions.apply_to(directory);
    let directories = Directories { declared: &shared::declared_name, excluded: &excluded };
    let since = environment.clock.now() - RECENT;
    intake.upgrade(&lock, &mut shared::migration_progress(environment))?;
    // First what hooks recorded, which says where the transcripts are.
    let events = intake.drain(&lock, &directories, 0)?;
    let plan = intake.plan(intake.recorded_sources(since)?, Some(&excluded))?;
    let cancelled = shared::cancellation()?;
    let report = intake.import(
        &lock,
        plan,
        &directories,
        &cancelled,
        &mut shared::migration_progress(environment),
        &mut |_| {},
    )?;
    intake.seal_journal(&lock)?;
    thru_capture::session::forget_old(&environment.layout, SystemTime::now());
    let mut page = Page::new(environment, plain);
    if arguments.json {
        page.json(&json!({
            "version": 1,
            "kind": "intake",
            "events": events,
            "files": report.sources,
            "passages": report.written.passages,
            "memories": report.distilled.memories,
        }))?;
        page.print()?;
    }
    Ok(Outcome::Done)
}
