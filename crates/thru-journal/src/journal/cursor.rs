//! The progress of a reader of the journal. Plain values; the reader keeps them where it likes.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

/// The start of a record.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Position {
    /// The name of the segment's file, before it is sealed.
    pub segment: String,
    /// The line, counted from 1.
    pub line: u64,
    /// The byte, counted from 0, before it is sealed.
    pub offset: u64,
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.segment, self.line)
    }
}

/// The positions up to which each segment has been read. A single number would not do: several segments
/// grow at once.
///
/// A new cursor stands before the first record. Commit it together with the effects of the records, and
/// each takes effect exactly once. It remains valid when segments are sealed, and detects rewritten
/// ones.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Cursor(BTreeMap<String, Read>);

/// The position in one segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Read {
    pub(super) bytes: u64,
    pub(super) lines: u64,
    /// A hash of the beginning of the segment. A rewritten segment begins differently.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) start: Option<Start>,
    /// A hash of all lines that were read, each over those before it. Cursors of older versions have none
    /// for segments that they had begun.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) chain: Option<Chain>,
}

impl Read {
    /// Moves behind a line of this many bytes, its newline included.
    pub(super) fn pass(&mut self, line: &[u8], bytes: u64) {
        self.start.get_or_insert_with(|| Start::of(line));
        if self.bytes == 0 {
            self.chain = Some(Chain::default());
        }
        self.chain = self.chain.map(|chain| chain.followed_by(line));
        self.bytes += bytes;
        self.lines += 1;
    }
}

/// A hash of the checksums of lines, in their order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Chain(u64);

impl Chain {
    fn followed_by(self, line: &[u8]) -> Self {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&self.0.to_le_bytes()).update(&line[..line.len().min(START_BYTES)]);
        let [a, b, c, d, e, f, g, h, ..] = *hasher.finalize().as_bytes();
        Self(u64::from_le_bytes([a, b, c, d, e, f, g, h]))
    }
}

/// The number of bytes that distinguish a segment from others: the checksum of its first line.
pub(super) const START_BYTES: usize = 16;

/// A hash of the first bytes of a segment's first line, of which there may be fewer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Start(u32);

impl Start {
    pub(super) fn of(bytes: &[u8]) -> Self {
        let end = bytes.len().min(START_BYTES);
        let end = memchr::memchr(b'\n', &bytes[..end]).unwrap_or(end);
        let hash = blake3::hash(&bytes[..end]);
        let [a, b, c, d, ..] = *hash.as_bytes();
        Self(u32::from_le_bytes([a, b, c, d]))
    }
}

impl Cursor {
    pub(super) fn get(&self, segment: &str) -> Read {
        self.0.get(segment).copied().unwrap_or_default()
    }

    /// Returns the segments that were read, each with the position in it.
    pub(super) fn segments(&self) -> impl Iterator<Item = (&str, Read)> {
        self.0.iter().map(|(segment, read)| (segment.as_str(), *read))
    }

    pub(super) fn set(&mut self, segment: &str, read: Read) {
        match self.0.get_mut(segment) {
            Some(known) => *known = read,
            None => _ = self.0.insert(segment.to_owned(), read),
        }
    }

    /// Returns the number of bytes of a segment that have been read.
    pub fn bytes_read(&self, segment: &str) -> u64 {
        self.get(segment).bytes
    }
}
