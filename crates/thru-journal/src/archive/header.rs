//! The header before each block, and its bytes on disk. It does no I/O.

use serde::{Deserialize, Serialize};

use super::block::{MAX_BLOCK_BYTES, PreparedBlock};
use super::source::{Fingerprint, SourceInfo, SourcePosition};
use crate::checked;
use crate::error::{Error, Result};

/// The version of the format that this build writes.
const VERSION: u64 = 1;

/// The first bytes of a zstd skippable frame (0x184D2A50 to 0x184D2A5F, little-endian). Of the sixteen
/// this one is ours.
pub(super) const MAGIC: [u8; 4] = 0x184D_2A54_u32.to_le_bytes();

/// The magic number and the length of a skippable frame.
pub(super) const FRAME_START: usize = 8;

/// The longest header: a false length must not cost memory.
pub(super) const MAX_HEADER: usize = 1 << 20;

/// The properties of a block that are known without decompressing it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Header {
    v: u64,
    /// The number of the block's first line, counted from 0 in the entry. Redundant as long as the file
    /// is intact: if a header is lost to damage, the lines after it keep their numbers.
    pub(super) first: u64,
    pub(super) lines: u64,
    pub(super) raw: u64,
    pub(super) compressed: u64,
    pub(super) hash: Fingerprint,
    pub(super) position: SourcePosition,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) carry: Option<String>,
    #[serde(default, skip_serializing_if = "is_false")]
    pub(super) verbatim: bool,
    #[serde(default, skip_serializing_if = "is_false")]
    pub(super) open: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) source: Option<SourceInfo>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
const fn is_false(value: &bool) -> bool {
    !*value
}

/// The reason why a complete header cannot be used.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Unusable {
    /// It was not written by one of our appenders.
    Damaged(String),
    /// It is intact and contains something that this build does not know.
    Newer(String),
}

impl Header {
    pub(super) fn new(
        block: &PreparedBlock,
        first: u64,
        position: SourcePosition,
        carry: Option<String>,
        source: Option<SourceInfo>,
    ) -> Self {
        Self {
            v: VERSION,
            first,
            lines: block.lines,
            raw: block.raw,
            compressed: block.compressed_len(),
            hash: block.hash,
            position,
            carry,
            verbatim: block.verbatim,
            open: block.open,
            source,
        }
    }

    /// Returns the skippable frame that holds the header, with capacity for `more` bytes after it.
    pub(super) fn to_frame(&self, more: usize) -> Result<Vec<u8>> {
        let json = serde_json::to_vec(self)
            .map_err(|error| Error::Unrecordable(format!("block header: {error}")))?;
        let length = json.len() + checked::OVERHEAD;
        if length > MAX_HEADER {
            return Err(Error::Unrecordable(format!(
                "a block header of {length} bytes is too long"
            )));
        }
        let mut frame = Vec::with_capacity(FRAME_START + length + more);
        frame.extend_from_slice(&MAGIC);
        // At most `MAX_HEADER`, so it fits.
        frame.extend_from_slice(&(length as u32).to_le_bytes());
        checked::seal(&json, &mut frame);
        Ok(frame)
    }

    /// Reads the payload of a skippable frame.
    pub(super) fn parse(payload: &[u8]) -> Result<Self, Unusable> {
        let damaged = |what: &str| Unusable::Damaged(what.to_owned());
        let json = payload
            .strip_suffix(b"\n")
            .and_then(checked::open)
            .ok_or_else(|| damaged("a block header fails its checksum"))?;
        // It is intact; if it cannot be parsed, another version wrote it.
        let header: Self = serde_json::from_slice(json)
            .map_err(|error| Unusable::Newer(format!("block header: {error}")))?;
        if header.v > VERSION {
            return Err(Unusable::Newer(format!("archive format {}", header.v)));
        }
        if header.is_sane() {
            Ok(header)
        } else {
            Err(damaged("a block header contradicts itself"))
        }
    }

    /// Returns the number of the line after the block's last.
    pub(super) const fn next_line(&self) -> u64 {
        self.first + self.lines
    }

    fn is_sane(&self) -> bool {
        let bound = zstd::zstd_safe::compress_bound(MAX_BLOCK_BYTES) as u64;
        let empty = self.raw == 0;
        self.raw <= MAX_BLOCK_BYTES as u64
            && self.compressed <= bound
            && self.lines <= self.raw
            && (self.lines == 0) == empty
            && (self.compressed == 0) == empty
            && self.first.checked_add(self.lines).is_some()
    }
}

/// Returns the length of the payload if these bytes start one of our skippable frames.
pub(super) fn payload_len(start: [u8; FRAME_START]) -> Option<usize> {
    let [m0, m1, m2, m3, length @ ..] = start;
    let length = usize::try_from(u32::from_le_bytes(length)).ok()?;
    ([m0, m1, m2, m3] == MAGIC && length <= MAX_HEADER).then_some(length)
}
