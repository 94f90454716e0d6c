//! A store of one test, and passages to put into it.

use tempfile::TempDir;
use thru_core::{
    Agent, Amendment, FileTouch, Id, Layout, Outcome, Passage, PassageKind, ReadBatch, RecordId,
    SessionId, SessionKey, SourceKind,
};
use thru_redact::{Clean, Redactor, Report};
use thru_store::{Batch, PassageFilter, PassageRow, Store};

/// Gone when dropped.
pub(crate) struct Home {
    folder: TempDir,
}

impl Home {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn layout(&self) -> Layout {
        Layout::new(self.folder.path())
    }

    pub(crate) fn store(&self) -> Store {
        Store::open_to_write(&self.layout(), generation(1), &mut |_, _, _| {}).unwrap()
    }
}

pub(crate) fn generation(number: u8) -> Id {
    Id::derive(&[b"generation", &[number]])
}

pub(crate) fn key(session: &str) -> SessionKey {
    SessionKey { agent: Agent::ClaudeCode, id: SessionId::new(session) }
}

/// Wraps what a reader would have made of clean text: only the redactor makes clean values.
pub(crate) fn clean(read: ReadBatch) -> Clean<ReadBatch> {
    Redactor::builtin().clean_text("", &mut Report::default()).derive(|_| read)
}

/// A passage whose id is derived from its text and session.
pub(crate) fn passage(session: &str, ordinal: u32, text: &str) -> Passage {
    Passage {
        id: id_of(text),
        session: SessionId::new(session),
        turn: 1,
        ordinal,
        kind: PassageKind::Assistant,
        agent_id: None,
        text: text.to_owned(),
        tool: None,
        call: None,
        command: None,
        files: Vec::new(),
        written: None,
        outcome: None,
        records: vec![RecordId::named(text)],
        lines: vec![u64::from(ordinal) + 1],
        timestamp: None,
        copied_from: None,
    }
}

/// A tool call without its result.
pub(crate) fn call(session: &str, ordinal: u32, text: &str, files: &[FileTouch]) -> Passage {
    Passage {
        kind: PassageKind::Tool,
        outcome: Some(Outcome::Pending),
        files: files.to_vec(),
        ..passage(session, ordinal, text)
    }
}

/// The result of the call with this text.
pub(crate) fn result(call: &str, text: &str, files: &[FileTouch]) -> Amendment {
    Amendment {
        passage: id_of(call),
        text: text.to_owned(),
        outcome: Outcome::Failed,
        record: RecordId::named("result"),
        line: 99,
        files: files.to_vec(),
    }
}

pub(crate) fn id_of(text: &str) -> Id {
    Id::derive(&[text.as_bytes()])
}

/// Writes passages and amendments of a session from its transcript.
pub(crate) fn write(
    batch: &mut Batch<'_>,
    session: &str,
    passages: Vec<Passage>,
    amendments: Vec<Amendment>,
) -> (i64, i64) {
    let row = batch.session(&key(session)).unwrap();
    let entry = format!("claude-code/p/{session}.jsonl");
    let source = batch.source(&entry, "/x", SourceKind::Main, Some(row)).unwrap();
    let read = clean(ReadBatch { passages, amendments, ..ReadBatch::default() });
    batch.apply(Agent::ClaudeCode, source, row, &read).unwrap();
    (row, source)
}

pub(crate) fn rows(store: &Store) -> Vec<PassageRow> {
    store.passages(PassageFilter::After { row: 0, limit: 1_000_000 }).unwrap()
}
