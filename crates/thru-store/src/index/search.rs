//! Opening an index: what lies on disk, and the rows that it does not hold yet in memory.

use std::collections::HashSet;

use tantivy::directory::MmapDirectory;
use tantivy::{Index, IndexReader, ReloadPolicy, Searcher};
use thru_core::Layout;

use super::collection::{Collection, Sessions};
use super::directory::ReadingDirectory;
use super::fields::{Fields, register_tokenizer};
use super::writer::payload;
use crate::error::Result;
use crate::store::Store;

/// Rows beyond the index that a query looks at. They are there only between a write of the store and
/// the index commit behind it (or after a crash in between).
const LONGEST_TAIL: usize = 2_000;

/// One index, open to search.
pub struct TextIndex {
    collection: Collection,
    pub(super) parts: Vec<Part>,
    pub(super) fields: Fields,
    /// Rows of the store that are newer than the index and too many to look at.
    pub rows_left_out: u64,
}

/// The index on disk, or the small one in memory.
pub(super) struct Part {
    pub(super) searcher: Searcher,
    // Keeps the files of the searcher open.
    _reader: IndexReader,
}

impl TextIndex {
    /// Opens the index of the passages of this store.
    pub fn open(layout: &Layout, store: &Store) -> Result<Self> {
        Self::open_collection(layout, store, Collection::Passages)
    }

    /// Opens an index of this store; rows that it does not hold yet are indexed in memory.
    pub fn open_collection(layout: &Layout, store: &Store, collection: Collection) -> Result<Self> {
        let mut index = Self::open_committed(layout, store, collection)?;
        if index.rows_left_out > 0 {
            // The newest rows matter most.
            let beyond = index.rows_left_out.saturating_sub(LONGEST_TAIL as u64);
            let from = store.last_row(collection)? - (index.rows_left_out - beyond) as i64;
            index.parts.extend(index_in_memory(store, collection, index.fields, from)?);
            index.rows_left_out = beyond;
        }
        Ok(index)
    }

    /// As [`TextIndex::open_collection`], without the rows that the index on disk does not hold yet.
    pub fn open_committed(layout: &Layout, store: &Store, collection: Collection) -> Result<Self> {
        let fields = Fields::of(&Fields::schema())?;
        let directory = super::directory(layout, &store.generation()?, collection);
        let mut parts = Vec::new();
        let mut indexed = 0;
        if let Some(index) = open_to_read(&directory) {
            indexed = payload(&index).row;
            let part = Part::new(&index)?;
            // An index without a commit yet has no statistics that anything could be scored by.
            if part.searcher.num_docs() > 0 {
                parts.push(part);
            }
        }
        let rows_left_out = (store.last_row(collection)? - indexed).max(0) as u64;
        Ok(Self { collection, parts, fields, rows_left_out })
    }

    /// What it is an index of.
    pub const fn collection(&self) -> Collection {
        self.collection
    }

    /// Passages that the index holds, replaced ones that were not merged away included.
    pub fn documents(&self) -> u64 {
        self.parts.iter().map(|part| part.searcher.num_docs()).sum()
    }

    /// Compares the index with its store: passages that both have, passages that it lacks, and entries
    /// that belong to no passage and never did.
    pub fn compare(&self, store: &Store) -> Result<(u64, u64, u64)> {
        let mut indexed = HashSet::new();
        for part in &self.parts {
            for segment in part.searcher.segment_readers() {
                let rows = segment.fast_fields().u64("row")?;
                indexed.extend(
                    segment
                        .doc_ids_alive()
                        .filter_map(|document| rows.first(document))
                        .map(|row| row as i64),
                );
            }
        }
        let stored: HashSet<i64> = store.rows(self.collection)?.into_iter().collect();
        let retired: HashSet<i64> = store.retired_rows(self.collection)?.into_iter().collect();
        let both = indexed.intersection(&stored).count() as u64;
        let stale = indexed.iter().filter(|row| !stored.contains(row) && !retired.contains(row));
        Ok((both, stored.len() as u64 - both, stale.count() as u64))
    }
}

impl Part {
    fn new(index: &Index) -> Result<Self> {
        let reader: IndexReader = index
            .reader_builder()
            .reload_policy(ReloadPolicy::Manual)
            .num_warming_threads(0)
            .try_into()?;
        Ok(Self { searcher: reader.searcher(), _reader: reader })
    }
}

fn open_to_read(directory: &std::path::Path) -> Option<Index> {
    // An index that is missing or damaged is as good as an empty one: the store has all its rows.
    let directory = ReadingDirectory(MmapDirectory::open(directory).ok()?);
    let index = Index::open(directory).ok()?;
    register_tokenizer(&index);
    Some(index)
}

/// The newest rows in a small index of their own, if there are any.
fn index_in_memory(
    store: &Store,
    collection: Collection,
    fields: Fields,
    after: i64,
) -> Result<Option<Part>> {
    let index = Index::create_in_ram(Fields::schema());
    register_tokenizer(&index);
    let mut writer = index.writer_with_num_threads(1, 15_000_000)?;
    let mut sessions = Sessions::new();
    let (_, added) =
        collection.documents(store, after, LONGEST_TAIL, &mut sessions, |document| {
            writer.add_document(fields.document(document))?;
            Ok(())
        })?;
    writer.commit()?;
    (added > 0).then(|| Part::new(&index)).transpose()
}
