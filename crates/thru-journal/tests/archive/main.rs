//! The guarantees of the archive, tested from the outside.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may fail")]

mod compacting;
mod damage;
mod entries;
mod lines;

use tempfile::TempDir;
use thru_core::{Agent, SessionId, SourceKind};
use thru_journal::archive::{Archive, ArchiveReader, EntryName, SourceInfo, SourcePosition};
use thru_redact::{Clean, Redactor, Report};

struct Fixture {
    _dir: TempDir,
    archive: Archive,
    entry: EntryName,
    info: SourceInfo,
}

fn fixture() -> Fixture {
    let dir = tempfile::tempdir().unwrap();
    let archive = Archive::new(dir.path().join("archive"));
    Fixture { _dir: dir, archive, entry: entry("claude-code/-home-u-p/s.jsonl"), info: info() }
}

fn entry(name: &str) -> EntryName {
    EntryName::new(name).unwrap()
}

fn info() -> SourceInfo {
    SourceInfo {
        agent: Agent::ClaudeCode,
        session: SessionId::new("s"),
        kind: SourceKind::Main,
        path: "/home/u/.claude/projects/-home-u-p/s.jsonl".to_owned(),
    }
}

fn at(end: u64) -> SourcePosition {
    SourcePosition::after(end, b"", b"")
}

fn clean(text: &[u8]) -> Clean<Vec<u8>> {
    Redactor::builtin().clean_json_line(text, &mut Report::default())
}

/// Reads everything from a line on; fails on damage.
fn read_from(reader: &mut ArchiveReader, line: u64) -> Vec<u8> {
    reader.blocks_from(line).flat_map(|lines| lines.unwrap().bytes).collect()
}
