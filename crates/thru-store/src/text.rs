//! Texts of passages: many to a block, compressed together.
//!
//! One by one they would compress badly (a passage is a few hundred bytes); as a whole session, reading
//! one would unpack them all. A block of 64 KiB unpacks in some 50 µs. Each has a hash beside it, by which
//! a flipped bit is found.

use std::cell::RefCell;
use std::ops::Range;

use rusqlite::{Connection, Transaction};

use crate::error::{Result, StoreError};
use crate::statements::Statements;
use crate::store::Store;

/// Raw bytes after which a block is closed.
const BLOCK_BYTES: usize = 64 * 1024;
/// The first schema with hashes of blocks.
const HASHED: u32 = 7;
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
        let length = self.pending.len() as i64;
        transaction.run(
            "INSERT INTO text_blocks (id, length, data, hash) VALUES (?1, ?2, ?3, ?4)",
            (self.next_block, length, &data, hash(length, &data)),
        )?;
        self.pending.clear();
        self.next_block += 1;
        Ok(())
    }

    /// Overwrites a text that is not flushed yet. Returns false if it was flushed.
    pub(crate) fn blank(&mut self, place: TextPlace) -> bool {
        let is_pending = place.block == self.next_block;
        if is_pending && let Some(text) = self.pending.get_mut(range(place)) {
            text.fill(b' ');
        }
        is_pending
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
                // The memory of the block before serves again.
                let mut bytes = other.take().map(|(_, bytes)| bytes).unwrap_or_default();
                unpack(connection, place.block, decompressor, &mut bytes)?;
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

/// Overwrites texts that were flushed, so that nothing of them is left. Each block is packed once.
pub(crate) fn blank(transaction: &Transaction<'_>, mut places: Vec<TextPlace>) -> Result<()> {
    if places.is_empty() {
        return Ok(());
    }
    places.sort_unstable_by_key(|place| place.block);
    let mut decompressor = zstd::bulk::Decompressor::new().map_err(text_error)?;
    let mut bytes = Vec::new();
    for places in places.chunk_by(|a, b| a.block == b.block) {
        let block = places[0].block;
        unpack(transaction, block, &mut decompressor, &mut bytes)?;
        for place in places {
            if let Some(text) = bytes.get_mut(range(*place)) {
                text.fill(b' ');
            }
        }
        let data = zstd::bulk::compress(&bytes, 3).map_err(text_error)?;
        transaction.run(
            "UPDATE text_blocks SET data = ?2, hash = ?3 WHERE id = ?1",
            (block, &data, hash(bytes.len() as i64, &data)),
        )?;
    }
    Ok(())
}

/// Gives up to `limit` blocks after this one their hash, and returns the last of them with their number; `None` if
/// there are none.
pub(crate) fn add_hashes(
    transaction: &Transaction<'_>,
    after: i64,
    limit: usize,
) -> Result<Option<(i64, u64)>> {
    let mut select = transaction.prepare_cached(
        "SELECT id, length, data FROM text_blocks WHERE id > ?1 ORDER BY id LIMIT ?2",
    )?;
    let hashes = select
        .query_map((after, limit as i64), |row| {
            Ok((row.get(0)?, hash(row.get(1)?, row.get_ref(2)?.as_blob()?)))
        })?
        .collect::<rusqlite::Result<Vec<(i64, i64)>>>()?;
    let mut update =
        transaction.prepare_cached("UPDATE text_blocks SET hash = ?2 WHERE id = ?1")?;
    for block in &hashes {
        update.execute(*block)?;
    }
    Ok(hashes.last().map(|(last, _)| (*last, hashes.len() as u64)))
}

/// Returns the hash of a block of this length before compression.
fn hash(length: i64, data: &[u8]) -> i64 {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&length.to_le_bytes()).update(data);
    let [a, b, c, d, e, f, g, h, ..] = *hasher.finalize().as_bytes();
    i64::from_le_bytes([a, b, c, d, e, f, g, h])
}

impl Store {
    /// Unpacks every block of texts and returns the problems found, a sentence each; empty if there are none.
    pub fn text_problems(&self) -> Result<Vec<String>> {
        let mut damaged = Vec::new();
        let mut decompressor = zstd::bulk::Decompressor::new().map_err(text_error)?;
        // Read-only stores of older schemas have no hashes.
        let hashes = if self.schema_version()? >= HASHED { "hash" } else { "NULL" };
        let mut blocks = self
            .connection
            .prepare(&format!("SELECT id, length, data, {hashes} FROM text_blocks ORDER BY id"))?;
        let mut rows = blocks.query([])?;
        while let Some(row) = rows.next()? {
            let (block, length): (i64, i64) = (row.get(0)?, row.get(1)?);
            let data = row.get_ref(2)?.as_blob().map_err(rusqlite::Error::from)?;
            let known: Option<i64> = row.get(3)?;
            let is_whole = known.is_none_or(|known| known == hash(length, data))
                && decompressor
                    .decompress(data, capacity(length))
                    .is_ok_and(|bytes| bytes.len() as i64 == length);
            if !is_whole {
                damaged.push(block);
            }
        }
        let mut problems = Vec::new();
        if !damaged.is_empty() {
            let texts = |table: &str| -> Result<u64> {
                // Numbers of our own; there may be more of them than a statement takes parameters.
                let list = damaged.iter().map(i64::to_string).collect::<Vec<_>>().join(",");
                let sql = format!("SELECT count(*) FROM {table} WHERE block IN ({list})");
                Ok(self.connection.query_row(&sql, [], |row| row.get(0))?)
            };
            problems.push(format!(
                "{} text blocks are damaged, with the texts of {} passages and {} memories",
                damaged.len(),
                texts("passages")?,
                texts("memories")?
            ));
        }
        for table in ["passages", "memories"] {
            let outside: u64 = self.connection.query_row(
                &format!(
                    "SELECT count(*) FROM {table} t LEFT JOIN text_blocks b ON b.id = t.block
                     WHERE b.id IS NULL OR t.start < 0 OR t.start + t.length > b.length"
                ),
                [],
                |row| row.get(0),
            )?;
            if outside > 0 {
                problems.push(format!("{outside} {table} name a text that is not there"));
            }
        }
        Ok(problems)
    }
}

/// Unpacks a block into `bytes`, whose memory serves again.
fn unpack(
    connection: &Connection,
    block: i64,
    decompressor: &mut zstd::bulk::Decompressor<'_>,
    bytes: &mut Vec<u8>,
) -> Result<()> {
    let mut select =
        connection.prepare_cached("SELECT length, data FROM text_blocks WHERE id = ?1")?;
    let mut rows = select.query([block])?;
    let row = rows.next()?.ok_or(rusqlite::Error::QueryReturnedNoRows)?;
    let data = row.get_ref(1)?.as_blob().map_err(rusqlite::Error::from)?;
    bytes.clear();
    bytes.reserve(capacity(row.get(0)?));
    decompressor.decompress_to_buffer(data, bytes).map_err(text_error)?;
    Ok(())
}

/// Returns the memory for a block of this length, which may be damaged.
fn capacity(length: i64) -> usize {
    usize::try_from(length).unwrap_or(0).min(LARGEST_BLOCK)
}

fn range(place: TextPlace) -> Range<usize> {
    let start = place.start as usize;
    start..start + place.length as usize
}

fn text_error(source: std::io::Error) -> StoreError {
    StoreError::Corrupt { path: "memory.db".into(), detail: format!("a text block: {source}") }
}
