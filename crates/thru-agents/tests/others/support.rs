//! Shared by the tests: fixtures, reading in pieces, cleaning line by line.

use std::path::PathBuf;

use thru_agents::{Cleaner, Reader};
use thru_core::{Agent, ReadBatch, SessionId, SourceKind};
use thru_redact::{Redactor, Report};

use crate::common::{append, clean, ends};

pub(crate) const THREAD: &str = "019ed99c-0000-7000-8000-000000000001";

pub(crate) const FIXTURES: [(Agent, &str, SourceKind); 6] = [
    (Agent::Codex, "v0_140.jsonl", SourceKind::Main),
    (Agent::Codex, "v0_169.jsonl", SourceKind::Main),
    (Agent::Codex, "forked.jsonl", SourceKind::Main),
    (Agent::Codex, "private.jsonl", SourceKind::Main),
    (Agent::Codex, "subagent.jsonl", SourceKind::Subagent),
    (Agent::Copilot, "v1_0.jsonl", SourceKind::Main),
];

pub(crate) fn fixture(agent: Agent, name: &str) -> Vec<u8> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    std::fs::read(folder.join(agent.as_str()).join(name)).unwrap()
}

pub(crate) fn reader(agent: Agent, kind: SourceKind) -> Reader {
    let name = "codex/sessions/2026/09/01/rollout-2026-09-01T10-00-00-01990000-0005-7000-8000-000000000005.jsonl";
    Reader::for_archived(agent, kind, SessionId::new(THREAD), name)
}

pub(crate) fn read(agent: Agent, kind: SourceKind, block: &[u8]) -> ReadBatch {
    reader(agent, kind).read(&clean(block), 1).into_inner()
}

/// Reads in blocks that end at the newlines nearest after `cuts`, each by a reader that resumes the
/// one before, and puts the batches together as the store does.
pub(crate) fn read_in_pieces(
    agent: Agent,
    mut reader: Reader,
    block: &[u8],
    cuts: &[usize],
) -> ReadBatch {
    let (mut start, mut line, mut whole) = (0, 1, ReadBatch::default());
    for end in ends(block, cuts) {
        let piece = &block[start..end];
        append(&mut whole, reader.read(&clean(piece), line).into_inner());
        reader = Reader::resume(agent, &reader.state()).unwrap();
        line += piece.iter().filter(|&&b| b == b'\n').count() as u64;
        start = end;
    }
    whole
}

/// Cleans line by line, each line by a cleaner that resumes the one before.
pub(crate) fn cleaned(agent: Agent, kind: SourceKind, block: &[u8]) -> Vec<u8> {
    let (redactor, mut report) = (Redactor::builtin(), Report::default());
    let (mut carry, mut out) = (None::<String>, Vec::new());
    for line in block.split_inclusive(|&byte| byte == b'\n') {
        let mut cleaner = Cleaner::resume(agent, kind, carry.as_deref());
        out.extend(cleaner.clean(&redactor, line, &mut report).into_inner());
        carry = cleaner.carry();
    }
    out
}
