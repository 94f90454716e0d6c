//! `thru intake`: brings in what hooks recorded, and the transcripts that they named, now and all of it.
//! The daemon does so by itself.

use std::time::Duration;

use thru_app::background::handover;
use thru_app::ingest::intake;
use thru_app::{Patience, Result};

use super::shared;
use crate::environment::Environment;
use crate::ui::Outcome;

/// The time to wait for another process where no terminal shows that we wait.
const PATIENCE: Duration = Duration::from_mins(10);

/// Ingest what hooks recorded.
#[derive(Debug, clap::Args)]
pub(crate) struct IntakeArguments {
    /// Report as JSON
    #[arg(long)]
    json: bool,
    /// Work for a hook or a question that is over.
    #[arg(long, hide = true)]
    left_behind: bool,
}

pub(crate) fn run(arguments: &IntakeArguments, environment: &Environment) -> Result<Outcome> {
    let shown = environment.progress();
    let cancelled = shared::cancellation()?;
    if arguments.left_behind {
        // Reports nothing; the next one does what this one does not.
        let _ = handover::work_left_behind(&environment.app, shown.call_until(&cancelled));
        return Ok(Outcome::Done);
    }
    let patience = match environment.terminal.errors {
        true => Patience::Endless,
        false => Patience::Within(PATIENCE),
    };
    let report =
        intake::ingest_recorded(&environment.app, shown.call_until(&cancelled).patient(patience))?;
    match arguments.json {
        true => environment.answer(true, &report, |_| {}),
        false => Ok(Outcome::Done),
    }
}
