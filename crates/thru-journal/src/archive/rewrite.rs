//! Operations on whole entries: replacing, rewriting line by line, and verifying.
//!
//! New content replaces the old in one step. An entry is never half written.

use std::fs::OpenOptions;

use thru_redact::Clean;

use super::block::{Block, Decompressor, PreparedBlock, pieces};
use super::header::Header;
use super::reader::ArchiveReader;
use super::source::{SourceInfo, SourcePosition};
use super::walk::{read_frame, walk};
use super::{Archive, EntryName, lock};
use crate::error::{At, Error, Result};
use crate::files::{Replacement, create_dir_private, remove_leftovers};

/// The result of [`Archive::verify`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EntryReport {
    /// The number of readable lines.
    pub lines: u64,
    /// Their length in bytes.
    pub raw_bytes: u64,
    /// The length of the entry's file in bytes.
    pub compressed_bytes: u64,
    /// True if there is an unfinished block at the end. That is not a problem: the next appender cuts
    /// it off.
    pub torn: bool,
    /// Descriptions of the damage, for people.
    pub problems: Vec<String>,
}

impl Archive {
    /// Replaces the content of an entry, completely or not at all. The content need not end with a
    /// newline: files other than transcripts are kept this way.
    ///
    /// # Errors
    /// [`Error::Locked`] if another writer has the entry open; other errors if the content is too large
    /// or the disk cannot be written. The entry is then unchanged.
    pub fn replace(
        &self,
        entry: &EntryName,
        info: &SourceInfo,
        content: Block<'_>,
        position: SourcePosition,
    ) -> Result<()> {
        let path = self.path(entry);
        if let Some(directory) = path.parent() {
            create_dir_private(directory)?;
        }
        let _held = lock(&path, &mut OpenOptions::new())?;
        let mut compressor = self.compressor()?;
        let mut replacement = Replacement::begin(&path)?;
        let (mut source, mut first) = (Some(info.clone()), 0);
        // Empty content still gets one block, which holds the source of the entry.
        let empty = content.bytes().is_empty().then_some([].as_slice());
        for piece in pieces(content.bytes()).chain(empty) {
            let block = compressor.prepare_any(piece, content.is_verbatim())?;
            let header = Header::new(&block, first, position, None, source.take());
            write_pair(&mut replacement, &header, &block)?;
            first = header.next_line();
        }
        replacement.commit()
    }

    /// Passes every line (without its newline) through `clean` and replaces the entry if that changed
    /// any line; returns true if it did. Line numbers, positions and the cleaner's states stay the
    /// same. It serves to apply new redaction rules to archived text.
    ///
    /// # Errors
    /// [`Error::Corrupt`] if the entry is damaged, [`Error::Locked`] if another writer has it open, and
    /// [`Error::Unrecordable`] if `clean` does not return exactly one line; other errors if the disk
    /// cannot be read or written. The entry is then unchanged.
    pub fn rewrite(
        &self,
        entry: &EntryName,
        mut clean: impl FnMut(&[u8]) -> Clean<Vec<u8>>,
    ) -> Result<bool> {
        let path = self.path(entry);
        let Some(mut file) = lock(&path, &mut OpenOptions::new())? else {
            return Ok(false);
        };
        // Their content has to go as well, and only the lock guarantees that they are unused.
        remove_leftovers(&path)?;
        let walked = walk(&mut file, &path)?;
        if let Some(damage) = walked.damage.first() {
            return Err(Error::corrupt(
                &path,
                format!("byte {}: {}", damage.offset, damage.detail),
            ));
        }
        let mut compressor = self.compressor()?;
        let mut zstd = Decompressor::new().at(&path)?;
        let mut replacement = Replacement::begin(&path)?;
        let (mut source, mut changed) = (walked.source, false);
        for info in walked.blocks {
            let frame = read_frame(&mut file, &info).at(&path)?;
            let old = zstd.decompress(&frame, info.raw_len, info.hash).map_err(|detail| {
                Error::corrupt(&path, format!("the block at byte {} {detail}", info.offset))
            })?;
            let new = clean_lines(&old, &mut clean)?;
            changed |= new != old;
            let block = compressor.prepare_any(&new, false)?;
            let header =
                Header::new(&block, info.first_line, info.position, info.carry, source.take());
            if header.lines != info.lines {
                return Err(Error::Unrecordable("cleaning removed a line".to_owned()));
            }
            write_pair(&mut replacement, &header, &block)?;
        }
        if changed {
            replacement.commit()?;
        }
        Ok(changed)
    }

    /// Reads a whole entry; returns `None` if it does not exist. Damage is part of the report.
    ///
    /// # Errors
    /// Returns an error if the check itself is impossible, because the file cannot be read.
    pub fn verify(&self, entry: &EntryName) -> Result<Option<EntryReport>> {
        let Some(mut reader) = self.reader(entry)? else {
            return Ok(None);
        };
        let mut report = EntryReport {
            compressed_bytes: self.size(entry)?.unwrap_or_default(),
            torn: reader.torn(),
            ..EntryReport::default()
        };
        report.problems.extend(reader.damage().iter().map(ToString::to_string));
        check_lines(&mut reader, &mut report)?;
        Ok(Some(report))
    }
}

fn check_lines(reader: &mut ArchiveReader, report: &mut EntryReport) -> Result<()> {
    for lines in reader.blocks_from(0) {
        match lines {
            Ok(lines) => {
                report.lines += lines.iter().count() as u64;
                report.raw_bytes += lines.bytes.len() as u64;
            }
            Err(Error::Corrupt { detail, .. }) => report.problems.push(detail),
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

fn write_pair(file: &mut Replacement, header: &Header, block: &PreparedBlock) -> Result<()> {
    let mut pair = header.to_frame(block.frame.len())?;
    pair.extend_from_slice(&block.frame);
    file.write(&pair)
}

fn clean_lines(old: &[u8], clean: &mut impl FnMut(&[u8]) -> Clean<Vec<u8>>) -> Result<Vec<u8>> {
    let mut new = Vec::with_capacity(old.len());
    for line in old.split_inclusive(|&byte| byte == b'\n') {
        let text = line.strip_suffix(b"\n").unwrap_or(line);
        let cleaned = clean(text);
        if memchr::memchr(b'\n', cleaned.get()).is_some() {
            return Err(Error::Unrecordable("cleaning split a line".to_owned()));
        }
        new.extend_from_slice(cleaned.get());
        new.extend_from_slice(&line[text.len()..]);
    }
    Ok(new)
}
