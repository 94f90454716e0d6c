//! `thru intake`: brings in what hooks recorded, and the transcripts that they named. Hooks start it in
//! the background when a turn or a session ends; it can be run at any time, and ends by itself.

use std::fs::OpenOptions;
use std::path::PathBuf;
use std::time::{Duration, Instant, SystemTime};

use anyhow::Result;
use serde_json::json;
use thru_capture::failures::{self, Failure};
use thru_capture::session::Session;
use thru_core::Layout;
use thru_intake::Directories;

use super::{Outcome, import, shared};
use crate::environment::Environment;
use crate::ui::{Page, printable};

/// How far back sessions are looked at again. What is older was brought in long ago, or is by
/// `thru import`.
const RECENT: jiff::SignedDuration = jiff::SignedDuration::from_hours(48);
/// How long the last words of a turn take to reach its transcript.
const LAST_WORDS: Duration = Duration::from_millis(400);

/// How long another process is waited for in the background.
const PATIENCE: Duration = Duration::from_mins(10);

/// Bring in what hooks recorded.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Leave the terminal, and leave the work to whoever waits for it already
    #[arg(long, hide = true)]
    in_background: bool,
    /// A turn has just ended: wait for its last words
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
    let outcome = bring_in(arguments, environment, plain);
    // Nobody sees what a process in the background says.
    if arguments.in_background
        && let Err(error) = &outcome
    {
        let failure = Failure {
            at: environment.clock.now(),
            event: "intake".to_owned(),
            reason: printable(&format!("{error:#}")).chars().take(300).collect(),
            shape: String::new(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
        };
        failures::note(&environment.layout, &failure);
    }
    outcome
}

fn bring_in(arguments: &Arguments, environment: &Environment, plain: bool) -> Result<Outcome> {
    let run = environment.layout.run();
    thru_journal::files::create_dir_private(&run)?;
    let waiting = match arguments.in_background {
        true => {
            // Of a terminal that closes, we must not be a part.
            #[cfg(unix)]
            let _ = rustix::process::setsid();
            let mut options = OpenOptions::new();
            options.write(true).create(true).truncate(false);
            let waiting = thru_journal::files::private(&mut options);
            let waiting = waiting.open(run.join("intake.waiting"))?;
            // Whoever waits already brings in what we would.
            if waiting.try_lock().is_err() {
                return Ok(Outcome::Nothing);
            }
            Some(waiting)
        }
        false => None,
    };
    if arguments.after_turn {
        std::thread::sleep(LAST_WORDS);
    }
    let intake = environment.intake()?;
    // Where nobody sees that we wait, not for ever: who holds the lock may never let go of it.
    let lock = match environment.terminal.errors {
        true => shared::lock(&intake)?,
        false => {
            let deadline = Instant::now() + PATIENCE;
            intake.lock(&mut |_| Instant::now() < deadline)?
        }
    };
    // From here on there is news that we may have missed: somebody else may wait.
    drop(waiting);
    thru_journal::files::replace(&stamp(&environment.layout), b"")?;
    // Whoever held the lock may have forgotten sessions or changed rules meanwhile.
    let intake = environment.intake()?;
    thru_capture::rules::write(&environment.layout, intake.rules())?;
    let exclusions = import::Exclusions::of(environment)?;
    let excluded = |directory: &std::path::Path| exclusions.apply_to(directory);
    let directories = Directories { excluded: &excluded };
    let since = environment.clock.now() - RECENT;
    // First what hooks recorded, which says where the transcripts are.
    let events = intake.take_events(&lock, &mut shared::migration_progress(environment))?;
    for session in intake.forgotten() {
        let session = Session::of(&environment.layout, session);
        if !session.is_forgotten() {
            session.set_forgotten()?;
        }
    }
    let mut recorded = intake.recorded_sources(since)?;
    recorded.sources.retain(|source| !exclusions.apply_to_file(&source.path));
    let plan = intake.plan(recorded, Some(&excluded))?;
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
