//! Adds blocks at the end of an archive entry. One appender at a time: it holds the file's lock.
//!
//! It never touches an existing whole block.

use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::path::PathBuf;

use super::block::{Block, Compressor, Decompressor, PreparedBlock};
use super::header::Header;
use super::source::{SourceInfo, SourcePosition};
use super::walk::{BlockInfo, Walk, read_frame, walk};
use crate::error::{At, Error, Result};
use crate::files;

/// An entry open for appending.
#[derive(Debug)]
pub struct Appender {
    file: File,
    path: PathBuf,
    compressor: Compressor,
    /// To be written with the next block, if the file does not contain it yet.
    source: Option<SourceInfo>,
    position: Option<SourcePosition>,
    carry: Option<String>,
    lines: u64,
    end: u64,
    cut: u64,
    /// The last line has no newline, so that nothing may follow.
    open: bool,
    /// A failed write may have left bytes after `end`.
    soiled: bool,
    directory_synced: bool,
}

impl Appender {
    /// Takes over a locked file and cuts off everything after its last whole block.
    pub(super) fn new(
        mut file: File,
        path: PathBuf,
        info: &SourceInfo,
        compressor: Compressor,
    ) -> Result<Self> {
        let mut walk = walk(&mut file, &path)?;
        drop_unreadable_tail(&mut file, &path, &mut walk)?;
        let lines = walk.next_line();
        let last = walk.blocks.pop();
        if walk.torn > 0 {
            file.set_len(walk.end).at(&path)?;
        }
        Ok(Self {
            file,
            compressor,
            source: walk.source.is_none().then(|| info.clone()),
            position: last.as_ref().map(|block| block.position),
            open: last.as_ref().is_some_and(|block| block.open),
            carry: last.and_then(|block| block.carry),
            lines,
            end: walk.end,
            cut: walk.torn,
            soiled: false,
            directory_synced: false,
            path,
        })
    }

    /// Returns the position up to which the source has been read; `None` if the entry is new.
    pub const fn position(&self) -> Option<&SourcePosition> {
        self.position.as_ref()
    }

    /// Returns the state of the cleaner at that position.
    pub fn carry(&self) -> Option<&str> {
        self.carry.as_deref()
    }

    /// Returns the number of lines in the entry, which is also the number of the next one.
    pub const fn lines(&self) -> u64 {
        self.lines
    }

    /// Returns the number of bytes that were cut off on opening, because they were not a whole block.
    pub const fn cut(&self) -> u64 {
        self.cut
    }

    /// Adds a block of whole lines. `position` and `carry` are the state of the source and of the
    /// cleaner after it. Acknowledged blocks survive the process; see [`Appender::sync`].
    ///
    /// # Errors
    /// [`Error::Unrecordable`] if the block does not consist of whole lines or is too large, or if the
    /// entry ends without a newline; other errors if the disk cannot be written. The entry is then
    /// unchanged.
    pub fn append(
        &mut self,
        block: Block<'_>,
        position: SourcePosition,
        carry: Option<String>,
    ) -> Result<()> {
        let prepared = self.compressor.prepare(block)?;
        self.append_prepared(&prepared, position, carry)
    }

    /// As [`Appender::append`], with a block that was compressed elsewhere.
    ///
    /// # Errors
    /// As for [`Appender::append`].
    pub fn append_prepared(
        &mut self,
        block: &PreparedBlock,
        position: SourcePosition,
        carry: Option<String>,
    ) -> Result<()> {
        if self.open && block.lines > 0 {
            let reason = "the entry ends without a newline, so no line can follow";
            return Err(Error::Unrecordable(reason.to_owned()));
        }
        let header = Header::new(block, self.lines, position, carry, self.source.clone());
        let mut pair = header.to_frame(block.frame.len())?;
        pair.extend_from_slice(&block.frame);
        self.write(&pair)?;
        self.end += pair.len() as u64;
        self.lines = header.next_line();
        self.open |= header.open;
        self.position = Some(header.position);
        self.carry = header.carry;
        self.source = None;
        Ok(())
    }

    /// Records a new position in the source without any lines, for example after the source was
    /// restored from the archive.
    ///
    /// # Errors
    /// Returns an error if the disk cannot be written.
    pub fn mark(&mut self, position: SourcePosition, carry: Option<String>) -> Result<()> {
        self.append(Block::Verbatim(b""), position, carry)
    }

    /// Makes everything appended survive a power cut.
    ///
    /// # Errors
    /// Returns an error if the file or its directory cannot be synced.
    pub fn sync(&mut self) -> Result<()> {
        self.file.sync_data().at(&self.path)?;
        if !self.directory_synced {
            self.path.parent().map_or(Ok(()), files::sync_dir)?;
            self.directory_synced = true;
        }
        Ok(())
    }

    /// Writes at the end in one call, or leaves the file unchanged.
    fn write(&mut self, pair: &[u8]) -> Result<()> {
        if self.soiled {
            self.file.set_len(self.end).at(&self.path)?;
            self.soiled = false;
        }
        self.file.seek(SeekFrom::Start(self.end)).at(&self.path)?;
        self.file.write_all(pair).at(&self.path).inspect_err(|_| {
            // On a full disk this also frees the space of the partial write.
            self.soiled = self.file.set_len(self.end).is_err();
        })
    }
}

/// Drops headers at the end whose blocks are missing, as a power cut can leave them.
fn drop_unreadable_tail(file: &mut File, path: &std::path::Path, walk: &mut Walk) -> Result<()> {
    let mut zstd = Decompressor::new().at(path)?;
    while let Some(last) = walk.blocks.last() {
        let frame = read_frame(file, last).at(path)?;
        if zstd.decompress(&frame, last.raw_len, last.hash).is_ok() {
            break;
        }
        let end = walk.end;
        walk.blocks.pop();
        walk.end = walk.blocks.last().map_or(0, BlockInfo::end);
        walk.torn += end - walk.end;
        if walk.blocks.is_empty() {
            walk.source = None;
        }
    }
    Ok(())
}
