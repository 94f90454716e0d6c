//! Shared by the tests: fixtures and reading in pieces.

use std::path::PathBuf;

use thru_agents::claude_code::Reader;
use thru_core::{ReadBatch, SessionId, SourceKind};

use crate::common::ends;
pub(crate) use crate::common::{append, clean, show};

pub(crate) const SESSION: &str = "a1a1a1a1-0000-4000-8000-000000000001";

pub(crate) fn fixture(name: &str) -> Vec<u8> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/claude-code");
    std::fs::read(folder.join(name)).unwrap()
}

pub(crate) fn reader(kind: SourceKind) -> Reader {
    Reader::new(kind, SessionId::new(SESSION))
}

pub(crate) fn read(kind: SourceKind, block: &[u8]) -> ReadBatch {
    reader(kind).read(&clean(block), 1).into_inner()
}

/// Reads in blocks that end at the newlines nearest after `cuts`, each by a reader that resumes the
/// one before, and puts the batches together as the store does.
pub(crate) fn read_in_pieces(mut reader: Reader, block: &[u8], cuts: &[usize]) -> ReadBatch {
    let (mut start, mut line, mut whole) = (0, 1, ReadBatch::default());
    for end in ends(block, cuts) {
        let piece = &block[start..end];
        append(&mut whole, reader.read(&clean(piece), line).into_inner());
        reader = Reader::resume(&reader.state()).unwrap();
        line += piece.iter().filter(|&&b| b == b'\n').count() as u64;
        start = end;
    }
    whole
}
