//! Whole entries at once: replacing, rewriting line by line, and checking.
//!
//! A new content takes the place of the old in one step. It never leaves a half-written entry.

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

/// What [`Archive::verify`] found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EntryReport {
    /// Lines that can be read.
    pub lines: u64,
    /// Their length.
    pub raw_bytes: u64,
    /// The length of the entry's file.
    pub compressed_bytes: u64,
    /// Whether something unfinished is at the end. That is no problem: the next appender sees to it.
    pub torn: bool,
    /// What is damaged, for people.
    pub problems: Vec<String>,
}

impl Archive {
    /// Puts `content` in the place of an entry, whole or not at all. It need not end with a newline:
    /// this is how files that are not transcripts are kept.
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
        let mut replacement = Replacement::of(&path)?;
        let (mut source, mut first) = (Some(info.clone()), 0);
        // Without any text there is still one block, which says where the entry comes from.
        let empty = content.bytes().is_empty().then_some([].as_slice());
        for piece in pieces(content.bytes()).chain(empty) {
            let block = compressor.prepare_any(piece, content.is_verbatim())?;
            let header = Header::new(&block, first, position, None, source.take());
            write_pair(&mut replacement, &header, &block)?;
            first = header.next_line();
        }
        replacement.commit()
    }

    /// Passes every line (without its newline) through `clean` and puts the entry in place of the
    /// old one if that changed any; says whether it did. Line numbers, positions and the cleaner's
    /// states stay. Meant for applying new rules of redaction to what is already archived.
    ///
    /// An entry with damage is left alone with [`Error::Corrupt`].
    pub fn rewrite(
        &self,
        entry: &EntryName,
        mut clean: impl FnMut(&[u8]) -> Clean<Vec<u8>>,
    ) -> Result<bool> {
        let path = self.path(entry);
        let Some(mut file) = lock(&path, &mut OpenOptions::new())? else {
            return Ok(false);
        };
        // What they hold has to go as well, and only here is it certain that nobody needs it.
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
        let mut replacement = Replacement::of(&path)?;
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
                return Err(Error::Unrecordable("a cleaned line became none".to_owned()));
            }
            write_pair(&mut replacement, &header, &block)?;
        }
        if changed {
            replacement.commit()?;
        }
        Ok(changed)
    }

    /// Reads an entry from one end to the other; nothing if there is none. Damage is part of the
    /// report; an error means that the check itself was not possible.
    pub fn verify(&self, entry: &EntryName) -> Result<Option<EntryReport>> {
        let Some(mut reader) = self.reader(entry)? else {
            return Ok(None);
        };
        let mut report = EntryReport {
            compressed_bytes: self.size(entry)?.unwrap_or_default(),
            torn: reader.torn(),
            ..EntryReport::default()
        };
        for damage in reader.damage() {
            let (offset, len) = (damage.offset, damage.len);
            report.problems.push(format!("{len} bytes from byte {offset}: {}", damage.detail));
        }
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
            return Err(Error::Unrecordable("a cleaned line became several".to_owned()));
        }
        new.extend_from_slice(cleaned.get());
        new.extend_from_slice(&line[text.len()..]);
    }
    Ok(new)
}
