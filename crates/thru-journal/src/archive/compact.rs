//! Merging small blocks. A transcript that is archived while it grows comes in blocks of a few lines,
//! which compress badly: each is compressed without the preceding text.
//!
//! Lines, their numbers, positions and the cleaner's state at the end stay the same.

use std::fs::{File, OpenOptions};
use std::path::Path;

use super::block::{BLOCK_BYTES, Compressor, Decompressor};
use super::header::Header;
use super::source::SourceInfo;
use super::walk::{BlockInfo, Walk, read_frame, read_pair, walk};
use super::{Archive, EntryName, lock};
use crate::error::{At, Error, Result};
use crate::files::{Replacement, remove_leftovers};

/// The minimum number of blocks to save: compacting rewrites the whole entry.
const WORTHWHILE: usize = 16;

/// The result of [`Archive::compact`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Compacted {
    /// The length of its file before.
    pub bytes_before: u64,
    /// The length of its file now.
    pub bytes: u64,
    /// The number of blocks before.
    pub blocks_before: usize,
    /// The number of blocks now.
    pub blocks: usize,
}

impl Archive {
    /// Merges consecutive small blocks into blocks of about [`BLOCK_BYTES`], completely or not at all;
    /// returns `None` if that would save little. The file becomes shorter, so a caller that compares
    /// its length with an earlier one has to look again.
    ///
    /// # Errors
    /// [`Error::Corrupt`] if the entry is damaged, and [`Error::Locked`] if another writer has it open;
    /// other errors if the disk cannot be read or written. The entry is then unchanged.
    pub fn compact(&self, entry: &EntryName) -> Result<Option<Compacted>> {
        let path = self.path(entry);
        let Some(mut file) = lock(&path, &mut OpenOptions::new())? else {
            return Ok(None);
        };
        remove_leftovers(&path)?;
        let Walk { blocks, mut source, damage, end, .. } = walk(&mut file, &path)?;
        if let Some(damage) = damage.first() {
            let detail = format!("byte {}: {}", damage.offset, damage.detail);
            return Err(Error::corrupt(&path, detail));
        }
        let groups = groups(&blocks);
        if groups.len() + WORTHWHILE > blocks.len() {
            return Ok(None);
        }
        let mut compressor = self.compressor()?;
        let mut zstd = Decompressor::new().at(&path)?;
        let (mut replacement, mut bytes) = (Replacement::begin(&path)?, 0);
        for group in &groups {
            let pair = match group {
                [alone] => read_pair(&mut file, alone).at(&path)?,
                _ => {
                    let lines = read_lines(&mut file, &path, &mut zstd, group)?;
                    merged(&mut compressor, &lines, group, &mut source)?
                }
            };
            bytes += pair.len() as u64;
            replacement.write(&pair)?;
        }
        replacement.commit()?;
        let (blocks_before, blocks) = (blocks.len(), groups.len());
        Ok(Some(Compacted { bytes_before: end, bytes, blocks_before, blocks }))
    }
}

/// Splits the blocks into runs that can be merged into one block each.
fn groups(blocks: &[BlockInfo]) -> Vec<&[BlockInfo]> {
    let mut groups = Vec::new();
    let mut rest = blocks;
    while !rest.is_empty() {
        let mut length = 1;
        while length < rest.len() && are_one(&rest[..=length]) {
            length += 1;
        }
        let (group, after) = rest.split_at(length);
        groups.push(group);
        rest = after;
    }
    groups
}

/// True if these blocks, of which all but the last can be merged, can be merged: no lost lines between
/// them, all clean or all verbatim, and not too large.
fn are_one(blocks: &[BlockInfo]) -> bool {
    let [before @ .., last] = blocks else { return true };
    let follows = before.last().is_none_or(|block| block.next_line() == last.first_line);
    // Blocks without lines only move the position; they can be merged with any other.
    let verbatim = before.iter().find(|block| block.lines > 0).map(|block| block.verbatim);
    let alike = last.lines == 0 || verbatim.is_none_or(|verbatim| verbatim == last.verbatim);
    let size = blocks.iter().fold(0_u64, |size, block| size.saturating_add(block.raw_len));
    follows && alike && size <= BLOCK_BYTES as u64
}

fn read_lines(
    file: &mut File,
    path: &Path,
    zstd: &mut Decompressor,
    group: &[BlockInfo],
) -> Result<Vec<u8>> {
    let mut lines = Vec::new();
    for block in group {
        let frame = read_frame(file, block).at(path)?;
        let text = zstd.decompress(&frame, block.raw_len, block.hash);
        lines.extend(text.map_err(|detail| {
            Error::corrupt(path, format!("the block at byte {} {detail}", block.offset))
        })?);
    }
    Ok(lines)
}

/// Returns a header and its block, which replace those of a group. The first such header contains the
/// source of the entry, because the one that did may have been merged.
fn merged(
    compressor: &mut Compressor,
    lines: &[u8],
    group: &[BlockInfo],
    source: &mut Option<SourceInfo>,
) -> Result<Vec<u8>> {
    let [first, .., last] = group else { return Ok(Vec::new()) };
    let verbatim = group.iter().any(|block| block.verbatim);
    let block = compressor.prepare_any(lines, verbatim)?;
    let (position, carry) = (last.position, last.carry.clone());
    let header = Header::new(&block, first.first_line, position, carry, source.take());
    let mut pair = header.to_frame(block.frame.len())?;
    pair.extend_from_slice(&block.frame);
    Ok(pair)
}
