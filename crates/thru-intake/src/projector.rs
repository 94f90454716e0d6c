//! The projector, from archived lines to stored rows: cleans and reads, and keeps the state of both from
//! one block to the next.

use serde::{Deserialize, Serialize};
use thru_agents::agents::HistoryReader;
use thru_agents::{Cleaner, Reader};
use thru_core::{Diagnostic, ReadBatch, SessionId, SourceKind};
use thru_journal::archive::{EntryName, SourceInfo};
use thru_redact::{Clean, Redactor, Report};

/// The passages read of each session, and the diagnostics that belong to none.
pub(crate) type Reads = (Vec<(SessionId, Clean<ReadBatch>)>, Vec<Diagnostic>);

/// Reads one archived file, from its beginning or from the last stop.
pub(crate) struct Projector {
    info: SourceInfo,
    cleaner: Cleaner,
    reading: Reading,
}

enum Reading {
    Transcript(Reader),
    Prompts(HistoryReader),
}

/// The state kept in the store between two reads.
#[derive(Default, Serialize, Deserialize)]
struct State {
    carry: Option<String>,
    reader: String,
}

impl Projector {
    /// Resumes after the lines that the store holds of this file. Returns [`None`] if the state cannot be
    /// read: the caller then starts from the beginning.
    pub(crate) fn resume(
        info: &SourceInfo,
        entry: &EntryName,
        state: Option<&str>,
    ) -> Option<Self> {
        let State { carry, reader } = match state {
            Some(state) => serde_json::from_str(state).ok()?,
            None => State::default(),
        };
        let reading = match (info.kind, state) {
            (SourceKind::PromptHistory, None) => Reading::Prompts(HistoryReader::new()),
            (SourceKind::PromptHistory, Some(_)) => {
                Reading::Prompts(HistoryReader::resume(&reader).ok()?)
            }
            (kind, None) => Reading::Transcript(Reader::for_archived(
                info.agent,
                kind,
                info.session.clone(),
                entry.as_str(),
            )),
            (_, Some(_)) => Reading::Transcript(Reader::resume(info.agent, &reader).ok()?),
        };
        let cleaner = Cleaner::resume(info.agent, info.kind, carry.as_deref());
        Some(Self { info: info.clone(), cleaner, reading })
    }

    /// Returns the state for [`Projector::resume`].
    pub(crate) fn state(&self) -> String {
        let reader = match &self.reading {
            Reading::Transcript(reader) => reader.state(),
            Reading::Prompts(reader) => reader.state(),
        };
        serde_json::to_string(&State { carry: self.cleaner.carry(), reader }).unwrap_or_default()
    }

    pub(crate) fn carry(&self) -> Option<String> {
        self.cleaner.carry()
    }

    /// Cleans one line.
    pub(crate) fn clean(
        &mut self,
        redactor: &Redactor,
        line: &[u8],
        report: &mut Report,
    ) -> Clean<Vec<u8>> {
        self.cleaner.clean(redactor, line, report)
    }

    /// Reads whole clean lines, the first of which has this number (from 0) in the archived file.
    pub(crate) fn read(&mut self, lines: &Clean<Vec<u8>>, first_line: u64) -> Reads {
        let first_line = first_line + 1;
        match &mut self.reading {
            Reading::Transcript(reader) => {
                let read = reader.read(lines, first_line);
                (vec![(self.info.session.clone(), read)], Vec::new())
            }
            Reading::Prompts(reader) => {
                let read = reader.read(lines, first_line);
                let sessions: Vec<SessionId> = read.get().sessions.keys().cloned().collect();
                let batches = sessions
                    .into_iter()
                    .map(|session| {
                        let batch = read.derive(|read| read.sessions[&session].clone());
                        (session, batch)
                    })
                    .collect();
                (batches, read.get().diagnostics.clone())
            }
        }
    }
}
