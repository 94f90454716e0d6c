//! Texts of passages: many to a block, compressed together.
//!
//! One by one they would compress badly (a passage is a few hundred bytes); as a whole session, reading
//! one would unpack them all. A block of 64 KiB unpacks in some 50 µs.

use std::cell::RefCell;
use std::ops::Range;

use rusqlite::{Connection, Transaction};

use crate::error::{Result, StoreError};

/// Raw bytes after which a block is closed.
const BLOCK_BYTES: usize = 64 * 1024;
/// The most bytes in a block (one passage may be longer than a block should be).
const LARGEST_BLOCK: usize = 64 * 1024 * 1024;

/// The position of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TextPlace {
    pub(crate) block: i64,
    pub(crate) start: u32,
    pub(crate) length: u32,
}

/// Collects texts into blocks. The block's number is known before it is written.
pub(crate) struct TextWriter {
    next_block: i64,
    pending: Vec<u8>,
    compressor: zstd::bulk::Compressor<'static>,
}

impl TextWriter {
    pub(crate) fn new(connection: &Connection) -> Result<Self> {
        let last: i64 =
            connection
                .query_row("SELECT coalesce(max(id), 0) FROM text_blocks", [], |row| row.get(0))?;
        let compressor = zstd::bulk::Compressor::new(3).map_err(text_error)?;
        Ok(Self { next_block: last + 1, pending: Vec::new(), compressor })
    }

    pub(crate) fn push(&mut self, transaction: &Transaction<'_>, text: &str) -> Result<TextPlace> {
        if !self.pending.is_empty() && self.pending.len() + text.len() > BLOCK_BYTES {
            self.flush(transaction)?;
        }
        let start = self.pending.len();
        self.pending.extend_from_slice(text.as_bytes());
        Ok(TextPlace { block: self.next_block, start: start as u32, length: text.len() as u32 })
    }

    /// Writes what is pending; must be called before the transaction commits.
    pub(crate) fn flush(&mut self, transaction: &Transaction<'_>) -> Result<()> {
        if self.pending.is_empty() {
            return Ok(());
        }
        let data = self.compressor.compress(&self.pending).map_err(text_error)?;
        transaction
            .prepare_cached("INSERT INTO text_blocks (id, length, data) VALUES (?1, ?2, ?3)")?
            .execute((self.next_block, self.pending.len() as i64, data))?;
        self.pending.clear();
        self.next_block += 1;
        Ok(())
    }

    /// Returns a text that was pushed and is not flushed yet.
    pub(crate) fn pending_text(&self, place: TextPlace) -> Option<String> {
        if place.block != self.next_block {
            return None;
        }
        let bytes = self.pending.get(range(place))?;
        std::str::from_utf8(bytes).ok().map(str::to_owned)
    }
}

/// Reads texts, caching the last block: neighbours are mostly read together.
#[derive(Default)]
pub(crate) struct TextReader {
    last: RefCell<Option<(i64, Vec<u8>)>>,
    // Created once: that takes as long as unpacking a block.
    decompressor: RefCell<Option<zstd::bulk::Decompressor<'static>>>,
}

impl TextReader {
    pub(crate) fn read(&self, connection: &Connection, place: TextPlace) -> Result<String> {
        let mut last = self.last.borrow_mut();
        let bytes = match &mut *last {
            Some((block, bytes)) if *block == place.block => bytes,
            other => {
                let mut decompressor = self.decompressor.borrow_mut();
                let decompressor = match &mut *decompressor {
                    Some(decompressor) => decompressor,
                    none => none.insert(zstd::bulk::Decompressor::new().map_err(text_error)?),
                };
                let bytes = unpack(connection, place.block, decompressor)?;
                &mut other.insert((place.block, bytes)).1
            }
        };
        bytes
            .get(range(place))
            .and_then(|bytes| std::str::from_utf8(bytes).ok())
            .map(str::to_owned)
            .ok_or_else(|| StoreError::Corrupt {
                path: "memory.db".into(),
                detail: format!("text block {} does not hold the text it should", place.block),
            })
    }
}

/// Overwrites texts of one block, so that nothing of them is left.
pub(crate) fn blank(transaction: &Transaction<'_>, places: &[TextPlace]) -> Result<()> {
    let Some(block) = places.first().map(|place| place.block) else { return Ok(()) };
    let mut decompressor = zstd::bulk::Decompressor::new().map_err(text_error)?;
    let mut bytes = unpack(transaction, block, &mut decompressor)?;
    for place in places {
        if let Some(text) = bytes.get_mut(range(*place)) {
            text.fill(b' ');
        }
    }
    let data = zstd::bulk::compress(&bytes, 3).map_err(text_error)?;
    transaction
        .prepare_cached("UPDATE text_blocks SET data = ?2 WHERE id = ?1")?
        .execute((block, data))?;
    Ok(())
}

fn unpack(
    connection: &Connection,
    block: i64,
    decompressor: &mut zstd::bulk::Decompressor<'_>,
) -> Result<Vec<u8>> {
    let (length, data): (i64, Vec<u8>) = connection
        .prepare_cached("SELECT length, data FROM text_blocks WHERE id = ?1")?
        .query_row([block], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let length = usize::try_from(length).unwrap_or(0).min(LARGEST_BLOCK);
    decompressor.decompress(&data, length).map_err(text_error)
}

fn range(place: TextPlace) -> Range<usize> {
    let start = place.start as usize;
    start..start + place.length as usize
}

fn text_error(source: std::io::Error) -> StoreError {
    StoreError::Corrupt { path: "memory.db".into(), detail: format!("a text block: {source}") }
}
