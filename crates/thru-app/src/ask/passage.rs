//! Passages in answers.

use schemars::JsonSchema;
use serde::Serialize;
use thru_core::{Id, IdPrefix, Outcome, PassageKind, Timestamp};
use thru_redact::{Clean, Redactor};
use thru_store::{PassageRow, Store};

use super::cleaned;
use crate::trouble::{Listing, Remedy, Result, Trouble};

/// Reads the passage whose id starts so.
///
/// # Errors
/// Fails if `id` is not an id, names nothing, several passages start so, or the store cannot be read.
pub fn named_passage(store: &Store, id: &str) -> Result<PassageRow> {
    let prefix: IdPrefix = id.parse()?;
    let mut found = store.passages_by_prefix(&prefix, 4)?;
    match found.len() {
        0 => Err(Trouble::not_found(format!("there is no memory or passage `{id}`"))
            .with(Remedy::See(Listing::Ids))),
        1 => Ok(found.swap_remove(0)),
        _ => {
            let ids = found.iter().map(|passage| store.short_id(&passage.id));
            Err(Trouble::ambiguous(format!("several passages start with `{id}`"))
                .with(Remedy::WriteMore(ids.collect::<Result<_, _>>()?)))
        }
    }
}

/// A passage with its text.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct PassageEntry {
    /// The shortest id that names it alone, or its id.
    pub id: String,
    /// Its id.
    pub full_id: Id,
    /// Its kind.
    pub kind: PassageKind,
    /// Its turn, from 1; 0 before the first prompt.
    pub turn: u32,
    /// Its time.
    pub at: Option<Timestamp>,
    /// The subagent that spoke.
    pub subagent: Option<String>,
    /// The tool that ran.
    pub tool: Option<Clean<String>>,
    /// The command line, if the tool is a shell.
    pub command: Option<Clean<String>>,
    /// The outcome of the call.
    pub outcome: Option<Outcome>,
    /// The ids of the records that it was made from.
    pub records: Vec<String>,
    /// Its text.
    pub text: Clean<String>,
    /// Its position among the passages of its source.
    #[serde(skip)]
    pub ordinal: u32,
}

impl PassageEntry {
    /// Makes an entry of a passage whose text was read, under this id.
    pub fn new(
        redactor: &Redactor,
        passage: &PassageRow,
        id: impl Into<String>,
        text: Clean<String>,
    ) -> Self {
        let clean = |text: &Option<String>| text.as_deref().map(|text| cleaned(redactor, text));
        Self {
            id: id.into(),
            full_id: passage.id,
            kind: passage.kind,
            turn: passage.turn,
            at: passage.at,
            subagent: passage.agent_id.clone(),
            tool: clean(&passage.tool),
            command: clean(&passage.command),
            outcome: passage.outcome,
            records: passage.records.iter().map(|record| record.id.as_str().to_owned()).collect(),
            text,
            ordinal: passage.ordinal,
        }
    }

    /// Reads a passage and makes an entry of it, under its short id.
    ///
    /// # Errors
    /// Fails if the store cannot be read.
    pub fn read(store: &Store, redactor: &Redactor, passage: &PassageRow) -> Result<Self> {
        let text = cleaned(redactor, &store.text_of(passage)?);
        Ok(Self::new(redactor, passage, store.short_id(&passage.id)?, text))
    }
}
