//! Reads the prompt history (`history.jsonl`) that Claude Code keeps apart from its transcripts. It is
//! all that remains of sessions whose transcripts were deleted.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use thru_core::{
    Agent, Diagnostic, Id, Passage, PassageKind, ReadBatch, RecordId, SessionId, Timestamp,
};
use thru_redact::Clean;

use crate::batch::{count_type, note};
use crate::blank::{is_blank, spoken};
use crate::json::{self, Text};
use crate::names::is_session_id;
use crate::text::{PROSE_LIMIT, cap};
use crate::{InvalidState, facts, lines};

/// One entry of the prompt history. Early versions have no `sessionId`.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Entry<'a> {
    #[serde(borrow, deserialize_with = "json::text")]
    display: Text<'a>,
    #[serde(borrow)]
    pasted_contents: Option<&'a RawValue>,
    #[serde(deserialize_with = "json::count")]
    timestamp: Option<u64>,
    #[serde(deserialize_with = "json::text")]
    project: Text<'a>,
    #[serde(deserialize_with = "json::text")]
    session_id: Text<'a>,
}

impl<'a> Entry<'a> {
    pub(super) fn parse(line: &'a str) -> Option<Self> {
        let mut from = serde_json::Deserializer::from_str(line);
        json::object(&mut from).ok().flatten()
    }

    pub(super) fn is_history(&self) -> bool {
        self.display.is_some() && self.timestamp.is_some()
    }

    /// Returns the typed text followed by pasted texts; `None` if it was blanked.
    pub(super) fn typed(&self) -> Option<String> {
        let display = spoken(self.display.as_deref())?.trim();
        let mut text = display.to_owned();
        for (_, pasted) in json::members(self.pasted_contents.map_or("", RawValue::get)) {
            let members = json::members(pasted.get());
            let content = members.iter().find(|(key, _)| key == "content");
            if let Some(content) = content.and_then(|(_, raw)| json::string(raw.get()))
                && !is_blank(&content)
            {
                text.push('\n');
                text.push_str(&content);
            }
        }
        Some(text)
    }

    fn moment(&self) -> Option<Timestamp> {
        let milliseconds = i64::try_from(self.timestamp?).ok()?;
        Timestamp::from_millisecond(milliseconds).ok()
    }

    /// Returns the entry's session. Entries without one are grouped by project and day.
    fn session(&self) -> SessionId {
        if let Some(id) = self.session_id.as_deref().filter(|id| is_session_id(id)) {
            return SessionId::new(id);
        }
        let written = self.moment().map(|moment| moment.to_string());
        let date = written.as_deref().and_then(|text| text.get(..10)).unwrap_or("undated");
        let project = self.project.as_deref().unwrap_or_default();
        let hash = Id::derive(&[b"history-project", project.as_bytes()]).to_string();
        SessionId::new(format!("history-{date}-{}", &hash[..8]))
    }
}

/// Returns the directory in which a prompt of the history was typed, if the entry states it.
pub fn directory_of_prompt(line: &[u8]) -> Option<String> {
    let text = json::mend(line.trim_ascii());
    Entry::parse(&text)?.project.map(|project| project.into_owned())
}

/// The result of one read of the prompt history.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HistoryBatch {
    /// The prompts of each session.
    pub sessions: BTreeMap<SessionId, ReadBatch>,
    /// Lines that are not as expected, one row per kind.
    pub diagnostics: Vec<Diagnostic>,
}

/// Reads the prompt history, from its beginning or from where an earlier reader stopped.
#[derive(Clone, Debug, Default)]
pub struct HistoryReader {
    state: State,
}

/// Number of prompts read per session. Sessions are keyed by a short hash, as the history can name
/// thousands of them.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct State {
    prompts: BTreeMap<String, u32>,
}

impl HistoryReader {
    /// Returns a reader at the beginning of the prompt history.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns a reader that continues where the one that saved `state` stopped.
    ///
    /// # Errors
    /// Fails if `state` was not saved by a reader of this version.
    pub fn resume(state: &str) -> Result<Self, InvalidState> {
        Ok(Self { state: serde_json::from_str(state)? })
    }

    /// Returns the state for [`HistoryReader::resume`]: hashes and numbers.
    pub fn state(&self) -> String {
        // Consists of strings and numbers, which always serialize.
        serde_json::to_string(&self.state).unwrap_or_default()
    }

    /// Reads whole lines. The first has the number `first_line` (1-based) in the file.
    pub fn read(&mut self, block: &Clean<Vec<u8>>, first_line: u64) -> Clean<HistoryBatch> {
        block.derive(|block| {
            let mut sessions = BTreeMap::new();
            let mut rest = ReadBatch::default();
            for (number, line) in lines::numbered(block, first_line) {
                match Entry::parse(&json::mend(line)) {
                    Some(entry) => self.entry(&entry, number, &mut sessions),
                    None => note(&mut rest, "broken-json", number),
                }
            }
            HistoryBatch { sessions, diagnostics: rest.diagnostics }
        })
    }

    fn entry(
        &mut self,
        entry: &Entry<'_>,
        line: u64,
        sessions: &mut BTreeMap<SessionId, ReadBatch>,
    ) {
        let Some(text) = entry.typed() else { return };
        let session = entry.session();
        let batch = sessions.entry(session.clone()).or_default();
        count_type(batch, "prompt");
        let moment = entry.moment();
        if let Some(moment) = moment {
            facts::note_time(moment, &mut batch.facts);
        }
        let facts = &mut batch.facts;
        if let Some(project) = spoken(entry.project.as_deref())
            && facts.directory.is_none()
        {
            facts.directory = Some(project.to_owned());
        }
        facts::note_prompt(&text, facts);

        let mut hash = Id::derive(&[session.as_str().as_bytes()]).to_string();
        hash.truncate(10);
        let ordinal = self.state.prompts.entry(hash).or_default();
        let display = entry.display.as_deref().unwrap_or_default();
        batch.passages.push(Passage {
            // Independent of the line's position, as the agent rewrites the file now and then.
            id: Id::derive(&[
                Agent::ClaudeCode.as_str().as_bytes(),
                b"history",
                session.as_str().as_bytes(),
                entry.timestamp.unwrap_or_default().to_string().as_bytes(),
                display.as_bytes(),
            ]),
            session,
            turn: ordinal.saturating_add(1),
            ordinal: *ordinal,
            kind: PassageKind::Human,
            agent_id: None,
            text: cap(text, PROSE_LIMIT),
            tool: None,
            call: None,
            command: None,
            files: Vec::new(),
            written: None,
            outcome: None,
            records: vec![RecordId::line(line)],
            lines: vec![line],
            timestamp: moment,
            copied_from: None,
        });
        *ordinal = ordinal.saturating_add(1);
    }
}
