//! Taking in at once what hooks recorded, and the transcripts that they named.

use serde::Serialize;
use thru_intake::Which;

use super::catch_up::{Effort, Where, bring_in};
use crate::answer;
use crate::app::App;
use crate::call::Call;
use crate::trouble::Result;

/// The records and files that were taken in.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "kind", rename = "intake")]
pub struct TakenIn {
    version: u32,
    /// The number of events of hooks.
    pub events: u64,
    /// The number of files that were read.
    pub files: usize,
    /// The number of passages that were written.
    pub passages: u64,
    /// The number of memories that were distilled.
    pub memories: u64,
    /// The number of sessions that were indexed.
    pub indexed: usize,
}

/// Takes in all that hooks recorded, whole.
///
/// # Errors
/// Fails if another process keeps writing, and if journal, archive or store cannot be read or written.
pub fn take_in(app: &App, call: Call<'_>) -> Result<TakenIn> {
    let lock = call.lock(&app.intake()?)?;
    let effort = Effort { which: Which::All, thorough: true };
    let brought = bring_in(app, &lock, Where::Recorded, effort, call)?;
    Ok(TakenIn {
        version: answer::VERSION,
        events: brought.events,
        files: brought.report.sources,
        passages: brought.report.written.passages,
        memories: brought.report.distilled.memories,
        indexed: brought.report.indexed.changed(),
    })
}
