//! Reads an archive entry: by block, by line, or from a line on. It changes nothing on disk.
//!
//! Every block is checked against its hash: callers get what was written, or an error.

use std::fmt;
use std::fs::File;
use std::path::PathBuf;

use memchr::memchr_iter;

use super::block::Decompressor;
use super::source::{SourceInfo, SourcePosition};
use super::walk::{BlockInfo, Damage, Walk, read_frame, walk};
use crate::error::{At, Error, Result};

/// An archive entry as it was when it was opened; later appends are not seen.
pub struct ArchiveReader {
    file: File,
    path: PathBuf,
    walk: Walk,
    zstd: Decompressor,
}

impl ArchiveReader {
    pub(super) fn new(mut file: File, path: PathBuf) -> Result<Self> {
        let walk = walk(&mut file, &path)?;
        let zstd = Decompressor::new().at(&path)?;
        Ok(Self { file, path, walk, zstd })
    }

    /// Returns the source of the entry; `None` if no block was written yet or the first is damaged.
    pub const fn info(&self) -> Option<&SourceInfo> {
        self.walk.source.as_ref()
    }

    /// Returns the blocks with a complete header, in order.
    pub fn blocks(&self) -> &[BlockInfo] {
        &self.walk.blocks
    }

    /// Returns the number of lines in the entry, including lost ones.
    pub fn lines(&self) -> u64 {
        self.walk.next_line()
    }

    /// Returns the position up to which the source had been read.
    pub fn position(&self) -> Option<&SourcePosition> {
        self.walk.blocks.last().map(|block| &block.position)
    }

    /// Returns the state of the cleaner at that position.
    pub fn carry(&self) -> Option<&str> {
        self.walk.blocks.last().and_then(|block| block.carry.as_deref())
    }

    /// True if there is an unfinished block at the end: an append was interrupted, or is in progress.
    pub const fn torn(&self) -> bool {
        self.walk.torn > 0
    }

    /// Returns the unreadable ranges that are followed by whole blocks.
    pub fn damage(&self) -> &[Damage] {
        &self.walk.damage
    }

    /// Checks that every block has its header, even one without lines.
    ///
    /// # Errors
    /// [`Error::Corrupt`] with the first range that is unreadable.
    pub fn check_headers(&self) -> Result<()> {
        match self.walk.damage.first() {
            Some(damage) => Err(Error::corrupt(&self.path, damage.to_string())),
            None => Ok(()),
        }
    }

    /// Returns the lines of the block with this index; `None` if there are fewer blocks.
    ///
    /// # Errors
    /// [`Error::Corrupt`] if the block is damaged; other errors if it cannot be read.
    pub fn read_block(&mut self, index: usize) -> Result<Option<Vec<u8>>> {
        let Some(block) = self.walk.blocks.get(index) else {
            return Ok(None);
        };
        let frame = read_frame(&mut self.file, block).at(&self.path)?;
        self.zstd.decompress(&frame, block.raw_len, block.hash).map(Some).map_err(|detail| {
            Error::corrupt(&self.path, format!("the block at byte {} {detail}", block.offset))
        })
    }

    /// Returns one line, counted from 0, without its newline; `None` if the entry is shorter. Only the
    /// block that holds it is decompressed.
    ///
    /// # Errors
    /// [`Error::Corrupt`] if the line is lost or its block is damaged; other errors if it cannot be
    /// read.
    pub fn read_line(&mut self, line: u64) -> Result<Option<Vec<u8>>> {
        let index = self.walk.blocks.partition_point(|block| block.next_line() <= line);
        let Some(first_line) = self.walk.blocks.get(index).map(|block| block.first_line) else {
            return Ok(None);
        };
        if line < first_line {
            return Err(self.lost(line, first_line));
        }
        let Some(bytes) = self.read_block(index)? else {
            return Ok(None);
        };
        let lines = Lines { first_line, bytes };
        match lines.iter().find(|&(number, _)| number == line) {
            Some((_, text)) => Ok(Some(text.to_vec())),
            None => Err(Error::corrupt(&self.path, format!("line {line} is not in its block"))),
        }
    }

    /// Returns an iterator over the lines from this one on, block by block. An error stands for the
    /// lines of one block, or for lost lines; the iteration continues after them.
    pub fn blocks_from(&mut self, line: u64) -> Blocks<'_> {
        let index = self.walk.blocks.partition_point(|block| block.next_line() <= line);
        Blocks { reader: self, index, line }
    }

    fn lost(&self, line: u64, next: u64) -> Error {
        Error::corrupt(&self.path, format!("lines {line} to {} are lost", next.saturating_sub(1)))
    }
}

impl fmt::Debug for ArchiveReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ArchiveReader").field("path", &self.path).finish_non_exhaustive()
    }
}

/// Some whole lines of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lines {
    /// The number of the first of them, counted from 0 in the entry.
    pub first_line: u64,
    /// The lines, each with its newline.
    pub bytes: Vec<u8>,
}

impl Lines {
    /// Returns each line with its number, without its newline.
    pub fn iter(&self) -> impl Iterator<Item = (u64, &[u8])> {
        let ends = memchr_iter(b'\n', &self.bytes);
        // The last line of a replaced entry may have no newline.
        let unended = self.bytes.last().is_some_and(|&last| last != b'\n');
        let ends = ends.chain(unended.then_some(self.bytes.len()));
        let mut start = 0;
        (self.first_line..).zip(ends.map(move |end| {
            let line = &self.bytes[start..end];
            start = end + 1;
            line
        }))
    }

    /// Drops the lines before this one.
    fn starting_at(mut self, line: u64) -> Self {
        let passed = line.saturating_sub(self.first_line);
        if passed > 0 {
            let nth = usize::try_from(passed - 1).unwrap_or(usize::MAX);
            let start =
                memchr_iter(b'\n', &self.bytes).nth(nth).map_or(self.bytes.len(), |at| at + 1);
            self.bytes.drain(..start);
            self.first_line = line;
        }
        self
    }
}

/// The blocks of an entry from a line on; made by [`ArchiveReader::blocks_from`].
#[derive(Debug)]
pub struct Blocks<'a> {
    reader: &'a mut ArchiveReader,
    index: usize,
    /// The next line.
    line: u64,
}

impl Iterator for Blocks<'_> {
    type Item = Result<Lines>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let block = self.reader.walk.blocks.get(self.index)?;
            let (first_line, next_line) = (block.first_line, block.next_line());
            if first_line > self.line {
                let lost = self.reader.lost(self.line, first_line);
                self.line = first_line;
                return Some(Err(lost));
            }
            let (index, from) = (self.index, self.line);
            self.index += 1;
            self.line = self.line.max(next_line);
            // Blocks without lines only move the source position.
            if next_line > from {
                let bytes = self.reader.read_block(index).transpose()?;
                return Some(bytes.map(|bytes| Lines { first_line, bytes }.starting_at(from)));
            }
        }
    }
}
