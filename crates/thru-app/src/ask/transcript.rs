//! A session passage by passage, a part at a time.

use schemars::JsonSchema;
use serde::Serialize;
use thru_core::head;
use thru_store::PassageFilter;

use super::passage::PassageEntry;
use super::session::SessionEntry;
use super::{Opened, named};
use crate::answer;
use crate::app::App;
use crate::call::Call;
use crate::fresh::Freshness;
use crate::trouble::Result;

/// Bytes of a passage that are shown; a longer one is shown whole by its id.
const LONGEST_TEXT: usize = 6_000;

/// A request for a part of a session.
#[derive(Clone, Debug)]
pub struct ReadTranscript {
    /// The start of its id.
    pub session: String,
    /// The number of passages to skip.
    pub from: usize,
    /// Maximum number of passages.
    pub limit: usize,
}

/// A part of a session.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(tag = "kind", rename = "session-passages")]
pub struct TranscriptPart {
    version: u32,
    /// The session.
    pub session: SessionEntry,
    /// The number of its passages.
    pub total: usize,
    /// The number of passages before this part.
    pub from: usize,
    /// The passages, in order.
    pub passages: Vec<TranscriptPassage>,
}

/// A passage in its session.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct TranscriptPassage {
    /// The passage.
    #[serde(flatten)]
    pub entry: PassageEntry,
    /// True if its text goes on.
    pub is_cut: bool,
}

/// Reads a part of a session.
///
/// # Errors
/// Fails if there is no such session, or the store cannot be read.
pub fn read(app: &App, request: &ReadTranscript, call: Call<'_>) -> Result<TranscriptPart> {
    let Opened { store, intake, .. } = Opened::new(app, Freshness::Recorded, call)?;
    let redactor = intake.redactor();
    let session = named::named_session(app, &store, &request.session)?;
    let rows = store.passages(PassageFilter::Session(session.row))?;
    let part = rows.iter().skip(request.from).take(request.limit);
    let passages = part.map(|row| {
        let mut entry = PassageEntry::read(&store, redactor, row)?;
        let is_cut = entry.text.get().len() > LONGEST_TEXT;
        entry.text = entry.text.derive(|text| head(text, LONGEST_TEXT).to_owned());
        Ok(TranscriptPassage { entry, is_cut })
    });
    Ok(TranscriptPart {
        version: answer::VERSION,
        total: rows.len(),
        from: request.from,
        passages: passages.collect::<Result<_>>()?,
        session: SessionEntry::new(app, redactor, &session),
    })
}
