//! `thru intake`: brings in what hooks recorded, and the transcripts that they named, now and all of it.
//! The daemon does so by itself.

use std::time::Duration;

use serde_json::json;
use thru_app::{Call, Patience, Result};
use thru_intake::Which;

use super::{Outcome, shared};
use crate::environment::Environment;
use crate::ui::Page;
use thru_app::ingest::catch_up::{Effort, Where, bring_in};

/// How long another process is waited for where nobody sees that we wait.
const PATIENCE: Duration = Duration::from_mins(10);

/// Ingest what hooks recorded.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Report as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(
    arguments: &Arguments,
    environment: &Environment,
    plain: bool,
) -> Result<Outcome> {
    let intake = environment.intake()?;
    let lock = match environment.terminal.errors {
        true => shared::lock(&intake, environment)?,
        false => Call::unattended(Patience::Within(PATIENCE)).lock(&intake)?,
    };
    let effort = Effort { which: Which::All, thorough: true };
    let cancelled = shared::cancellation()?;
    let brought = bring_in(
        environment,
        &lock,
        Where::Recorded,
        effort,
        Call::unwatched(Patience::Within(PATIENCE), &cancelled),
    )?;
    let mut page = Page::new(environment, plain);
    if arguments.json {
        page.json(&json!({
            "version": 1,
            "kind": "intake",
            "events": brought.events,
            "files": brought.report.sources,
            "passages": brought.report.written.passages,
            "memories": brought.report.distilled.memories,
            "indexed": brought.report.indexed.changed(),
        }))?;
        page.print()?;
    }
    Ok(Outcome::Done)
}
