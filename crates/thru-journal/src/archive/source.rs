//! The source of an archive entry, and the position up to which it has been read.
//!
//! It detects that a source file was replaced or rewritten; the caller decides what to do then.

use std::fmt;
use std::io::{self, Read, Seek, SeekFrom};
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use thru_core::{Agent, SessionId, SourceKind};

/// The number of bytes at either end of what was read that a [`SourcePosition`] hashes. Enough to tell
/// any two transcripts apart (their first line names the session), small enough to read each time.
pub const FINGERPRINTED_BYTES: u64 = 1024;

/// The source of an archive entry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceInfo {
    /// The agent that wrote the source.
    pub agent: Agent,
    /// The session that the source belongs to.
    pub session: SessionId,
    /// The kind of source.
    pub kind: SourceKind,
    /// The path of the source, which may be gone.
    pub path: String,
}

/// A short hash that identifies content: 128 bits of BLAKE3, written as 32 hex digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fingerprint(u128);

impl Fingerprint {
    /// Returns the fingerprint of these bytes.
    pub fn hash(bytes: &[u8]) -> Self {
        let mut short = [0; 16];
        short.copy_from_slice(&blake3::hash(bytes).as_bytes()[..16]);
        Self(u128::from_be_bytes(short))
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Fingerprint({self})")
    }
}

/// An error for text that is not a fingerprint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a fingerprint has 32 hex digits")]
pub struct InvalidFingerprint;

impl FromStr for Fingerprint {
    type Err = InvalidFingerprint;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text.len() != 32 || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(InvalidFingerprint);
        }
        u128::from_str_radix(text, 16).map(Self).map_err(|_| InvalidFingerprint)
    }
}

impl Serialize for Fingerprint {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Fingerprint {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

/// The position up to which a source has been read, and fingerprints of the text before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourcePosition {
    /// The number of bytes of the source that have been read.
    pub end: u64,
    /// The first [`FINGERPRINTED_BYTES`] of the source, or as many as have been read.
    pub head: Fingerprint,
    /// The last [`FINGERPRINTED_BYTES`] before `end`, or as many as have been read.
    pub tail: Fingerprint,
}

impl SourcePosition {
    /// Returns the position after `end` bytes. `head` and `tail` are what was read, or its two ends:
    /// only the first and the last [`FINGERPRINTED_BYTES`] are used.
    pub fn after(end: u64, head: &[u8], tail: &[u8]) -> Self {
        let width = usize::try_from(end.min(FINGERPRINTED_BYTES)).unwrap_or(usize::MAX);
        Self {
            end,
            head: Fingerprint::hash(&head[..head.len().min(width)]),
            tail: Fingerprint::hash(&tail[tail.len().saturating_sub(width)..]),
        }
    }

    /// Returns the position `end` bytes into a source; `None` if the source is shorter.
    ///
    /// # Errors
    /// Returns an error if the source cannot be read.
    pub fn in_source(source: &mut (impl Read + Seek), end: u64) -> io::Result<Option<Self>> {
        let width = end.min(FINGERPRINTED_BYTES);
        let (mut head, mut tail) = (Vec::new(), Vec::new());
        source.seek(SeekFrom::Start(0))?;
        source.by_ref().take(width).read_to_end(&mut head)?;
        source.seek(SeekFrom::Start(end - width))?;
        source.by_ref().take(width).read_to_end(&mut tail)?;
        let whole = head.len() as u64 == width && tail.len() as u64 == width;
        Ok(whole.then(|| Self::after(end, &head, &tail)))
    }

    /// True if a source is, up to this position, still the one that was read. Only its ends are
    /// compared; transcripts grow at the end or are replaced as a whole.
    ///
    /// # Errors
    /// Returns an error if the source cannot be read.
    pub fn fits(&self, source: &mut (impl Read + Seek)) -> io::Result<bool> {
        Ok(Self::in_source(source, self.end)? == Some(*self))
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn fingerprints_are_read_as_they_are_written() {
        let print = Fingerprint::hash(b"x");
        assert_eq!(print.to_string().parse(), Ok(print));
        for text in ["", "+0000000000000000000000000000000", "zz", &"0".repeat(33)] {
            assert_eq!(text.parse::<Fingerprint>(), Err(InvalidFingerprint), "{text}");
        }
    }

    proptest! {
        #[test]
        fn a_grown_source_fits_and_a_changed_one_does_not(
            source in prop::collection::vec(any::<u8>(), 1..5000),
            more in prop::collection::vec(any::<u8>(), 0..50),
        ) {
            let end = source.len() as u64;
            let position = SourcePosition::after(end, &source, &source);
            prop_assert_eq!(SourcePosition::in_source(&mut Cursor::new(&source), end).unwrap(), Some(position));
            let grown = [source.as_slice(), &more].concat();
            prop_assert!(position.fits(&mut Cursor::new(&grown)).unwrap());
            prop_assert!(!position.fits(&mut Cursor::new(&source[..source.len() - 1])).unwrap());
            let mut changed = source.clone();
            changed[0] ^= 1;
            prop_assert!(!position.fits(&mut Cursor::new(&changed)).unwrap());
        }
    }
}
