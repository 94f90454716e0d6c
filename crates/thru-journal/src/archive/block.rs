//! Blocks of lines: checking, hashing and compressing them, and decompressing them again. It does no
//! I/O, so that worker threads can prepare blocks while one thread writes.

use std::fmt;
use std::io::Read;

use memchr::memchr;
use thru_redact::Clean;

use super::source::Fingerprint;
use crate::error::{Error, Result};

/// The target size of a block in bytes of raw text.
///
/// Reading one line decompresses its whole block, which takes less than a millisecond; but each is compressed
/// on its own, and the larger it is, the more it repeats. Measured on real transcripts, a quarter of the size costs
/// 12 % of the disk, and as much time again to compress.
pub const BLOCK_BYTES: usize = 1024 * 1024;

/// The maximum size of a block in bytes of raw text. A line is never split, so this also bounds a line.
pub const MAX_BLOCK_BYTES: usize = 1 << 30;

/// Up to this size a block is decompressed into a buffer of the size in its header; beyond it, the
/// buffer grows with the actual content, so that a false size costs nothing.
const TRUSTED_SIZE: usize = 8 * 1024 * 1024;

/// Lines to be archived: whole, each with its newline.
#[derive(Clone, Copy, Debug)]
pub enum Block<'a> {
    /// Lines that went through the redactor.
    Clean(&'a Clean<Vec<u8>>),
    /// Lines exactly as the agent wrote them, for users who chose that.
    Verbatim(&'a [u8]),
}

impl<'a> Block<'a> {
    pub(super) fn bytes(self) -> &'a [u8] {
        match self {
            Self::Clean(lines) => lines.get(),
            Self::Verbatim(lines) => lines,
        }
    }

    pub(super) const fn is_verbatim(self) -> bool {
        matches!(self, Self::Verbatim(_))
    }
}

/// Splits text into pieces of about [`BLOCK_BYTES`], never inside a line. A longer line is a piece of
/// its own; the last piece lacks a newline if the text does.
pub fn pieces(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let fits = &rest[..rest.len().min(BLOCK_BYTES)];
        let end = if fits.len() == rest.len() {
            rest.len()
        } else if let Some(at) = memchr::memrchr(b'\n', fits) {
            at + 1
        } else {
            memchr(b'\n', &rest[fits.len()..]).map_or(rest.len(), |at| fits.len() + at + 1)
        };
        let (piece, after) = rest.split_at(end);
        rest = after;
        Some(piece)
    })
}

/// A block that is ready to be written.
#[derive(Clone, Debug)]
pub struct PreparedBlock {
    pub(super) lines: u64,
    pub(super) raw: u64,
    pub(super) hash: Fingerprint,
    pub(super) verbatim: bool,
    /// The last line has no newline, which is only allowed if a whole file is replaced.
    pub(super) open: bool,
    /// The zstd frame; empty if there are no lines.
    pub(super) frame: Vec<u8>,
}

impl PreparedBlock {
    /// Returns the number of lines in the block.
    pub const fn lines(&self) -> u64 {
        self.lines
    }

    /// Returns the length of the block after compression.
    pub const fn compressed_len(&self) -> u64 {
        self.frame.len() as u64
    }
}

/// Makes [`PreparedBlock`]s. It keeps its buffers between blocks; each thread that prepares blocks has
/// its own.
pub struct Compressor {
    zstd: zstd::bulk::Compressor<'static>,
}

impl Compressor {
    /// Creates a compressor with this zstd level.
    ///
    /// # Errors
    /// [`Error::Unrecordable`] if zstd rejects the level.
    pub fn new(level: i32) -> Result<Self> {
        let zstd = zstd::bulk::Compressor::new(level)
            .map_err(|error| Error::Unrecordable(format!("zstd level {level}: {error}")))?;
        Ok(Self { zstd })
    }

    /// Hashes and compresses whole lines.
    ///
    /// # Errors
    /// [`Error::Unrecordable`] if the last line has no newline, or the block is larger than
    /// [`MAX_BLOCK_BYTES`].
    pub fn prepare(&mut self, block: Block<'_>) -> Result<PreparedBlock> {
        let prepared = self.prepare_any(block.bytes(), block.is_verbatim())?;
        if prepared.open {
            return Err(Error::Unrecordable("the last line of a block has no newline".to_owned()));
        }
        Ok(prepared)
    }

    /// As [`Compressor::prepare`], for text that need not end with a newline.
    pub(super) fn prepare_any(&mut self, raw: &[u8], verbatim: bool) -> Result<PreparedBlock> {
        if raw.len() > MAX_BLOCK_BYTES {
            return Err(Error::Unrecordable(format!(
                "a block of {} bytes is too large",
                raw.len()
            )));
        }
        let open = raw.last().is_some_and(|&last| last != b'\n');
        let frame = if raw.is_empty() {
            Vec::new()
        } else {
            self.zstd
                .compress(raw)
                .map_err(|error| Error::Unrecordable(format!("zstd: {error}")))?
        };
        Ok(PreparedBlock {
            lines: memchr::memchr_iter(b'\n', raw).count() as u64 + u64::from(open),
            raw: raw.len() as u64,
            hash: Fingerprint::hash(raw),
            // No lines, nothing verbatim.
            verbatim: verbatim && !raw.is_empty(),
            open,
            frame,
        })
    }
}

impl fmt::Debug for Compressor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Compressor").finish_non_exhaustive()
    }
}

/// Decompresses blocks and checks their content.
pub(super) struct Decompressor {
    zstd: zstd::bulk::Decompressor<'static>,
}

impl Decompressor {
    pub(super) fn new() -> std::io::Result<Self> {
        zstd::bulk::Decompressor::new().map(|zstd| Self { zstd })
    }

    /// Returns the text of a frame if it is exactly what its header describes, else a description of
    /// the problem.
    pub(super) fn decompress(
        &mut self,
        frame: &[u8],
        raw: u64,
        hash: Fingerprint,
    ) -> Result<Vec<u8>, String> {
        let text = match usize::try_from(raw) {
            Ok(0) => Ok(Vec::new()),
            Ok(raw) if raw <= TRUSTED_SIZE => self.zstd.decompress(frame, raw),
            _ => zstd::stream::read::Decoder::with_buffer(frame).and_then(|decoder| {
                let mut text = Vec::new();
                decoder.single_frame().take(raw.saturating_add(1)).read_to_end(&mut text)?;
                Ok(text)
            }),
        };
        let text = text.map_err(|error| format!("cannot be decompressed ({error})"))?;
        if text.len() as u64 != raw || Fingerprint::hash(&text) != hash {
            return Err("does not match its hash".to_owned());
        }
        Ok(text)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn only_whole_lines_are_taken() {
        let mut compressor = Compressor::new(3).unwrap();
        assert!(compressor.prepare(Block::Verbatim(b"a\nb\n")).is_ok());
        assert_eq!(compressor.prepare(Block::Verbatim(b"")).unwrap().lines(), 0);
        let error = compressor.prepare(Block::Verbatim(b"a\nb")).unwrap_err();
        assert!(matches!(error, Error::Unrecordable(_)));
    }

    #[test]
    fn a_false_size_is_noticed_without_much_memory() {
        let frame = Compressor::new(3).unwrap().prepare(Block::Verbatim(b"line\n")).unwrap();
        let mut decompressor = Decompressor::new().unwrap();
        for raw in [1, 4, 6, 1 << 20, 1 << 29, u64::MAX] {
            assert!(decompressor.decompress(&frame.frame, raw, frame.hash).is_err(), "{raw}");
        }
        let text = decompressor.decompress(&frame.frame, 5, frame.hash);
        assert_eq!(text.as_deref(), Ok(b"line\n".as_slice()));
    }

    #[test]
    fn a_bomb_is_stopped_at_the_size_its_header_names() {
        let bomb = Compressor::new(3).unwrap().prepare_any(&vec![b'x'; 20 << 20], true).unwrap();
        let mut decompressor = Decompressor::new().unwrap();
        assert!(decompressor.decompress(&bomb.frame, 10 << 20, bomb.hash).is_err());
        assert!(decompressor.decompress(&bomb.frame, 1000, bomb.hash).is_err());
        assert!(decompressor.decompress(&bomb.frame, bomb.raw, bomb.hash).is_ok());
    }

    proptest! {
        #[test]
        fn pieces_are_whole_lines_and_make_up_the_text(
            lines in prop::collection::vec((0usize..400_000, any::<bool>()), 0..6),
        ) {
            let mut text = Vec::new();
            for (length, newline) in lines {
                text.resize(text.len() + length, b'x');
                text.extend(newline.then_some(b'\n'));
            }
            let cut: Vec<&[u8]> = pieces(&text).collect();
            prop_assert_eq!(cut.concat(), text.as_slice());
            for (number, piece) in cut.iter().enumerate() {
                prop_assert!(number + 1 == cut.len() || piece.ends_with(b"\n"));
                prop_assert!(piece.len() <= BLOCK_BYTES || memchr(b'\n', &piece[..piece.len() - 1]).is_none());
            }
        }
    }
}
