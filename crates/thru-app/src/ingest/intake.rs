//! Ingesting at once what hooks recorded, and the transcripts that they named.

use serde::Serialize;
use thru_intake::DistilScope;

use super::catch_up::{Effort, TranscriptScope, ingest};
use crate::answer;
use crate::app::App;
use crate::call::Call;
use crate::trouble::Result;

/// The records and files that were ingested.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "kind", rename = "intake")]
pub struct IntakeReport {
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

/// Ingests all that hooks recorded.
///
/// # Errors
/// Fails if another process keeps writing, and if journal, archive or store cannot be read or written.
pub fn ingest_recorded(app: &App, call: Call<'_>) -> Result<IntakeReport> {
    let lock = call.lock(&app.intake()?)?;
    let effort = Effort { scope: DistilScope::All, thorough: true };
    let ingested = ingest(app, &lock, TranscriptScope::Recorded, effort, call)?;
    Ok(IntakeReport {
        version: answer::VERSION,
        events: ingested.events,
        files: ingested.report.sources,
        passages: ingested.report.written.passages,
        memories: ingested.report.distilled.memories,
        indexed: ingested.report.indexed.changed(),
    })
}
