//! Opening an index: the part on disk, and the rows that it does not hold yet in memory.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use tantivy::directory::MmapDirectory;
use tantivy::{
    Index, IndexReader, ReloadPolicy, Searcher, SegmentOrdinal, SegmentReader, TantivyError,
};
use thru_core::Layout;

use super::collection::{Collection, Sessions};
use super::damage::is_there;
use super::directory::ReadingDirectory;
use super::evidence::Columns;
use super::fields::{Fields, register_tokenizer};
use super::writer::payload;
use crate::error::Result;
use crate::store::Store;

/// The file with Tantivy's latest commit.
pub(super) const COMMIT: &str = "meta.json";

/// The most rows beyond the index that a query looks at. They exist only between a write of the store
/// and the index commit that follows (or after a crash in between).
const LONGEST_TAIL: usize = 2_000;

/// An index, open for searching.
pub struct TextIndex {
    pub(super) collection: Collection,
    pub(super) parts: Vec<Arc<Part>>,
    pub(super) fields: Fields,
    /// The number of rows that are newer than the index and too many to look at.
    pub rows_left_out: u64,
}

/// The index on disk, or the small one in memory.
pub(super) struct Part {
    pub(super) searcher: Searcher,
    /// The columns of each segment, loaded on first use.
    columns: Vec<OnceLock<Columns>>,
    // Keeps the files of the searcher open.
    _reader: IndexReader,
}

/// Indexes that stay open between questions, for a process that is asked repeatedly: opening the files
/// of some twenty segments takes longer than looking up words in them.
#[derive(Clone, Default)]
pub struct OpenIndexes(Arc<Mutex<Known>>);

#[derive(Default)]
struct Known {
    opened: Vec<Opened>,
    tails: Vec<Tail>,
}

/// The last commit of an index.
#[derive(Clone)]
struct Opened {
    directory: PathBuf,
    /// Tantivy's file that names all others.
    commit: Vec<u8>,
    /// The last row that it holds.
    indexed: i64,
    /// `None` as long as there is no document: such an index has no statistics to score by.
    part: Option<Arc<Part>>,
}

/// Rows that an index on disk does not hold yet, indexed in memory.
struct Tail {
    directory: PathBuf,
    /// The row before the first, and the last one.
    rows: (i64, i64),
    part: Option<Arc<Part>>,
}

impl OpenIndexes {
    /// Returns the current index of one collection of this store; see [`TextIndex::open_collection`].
    ///
    /// # Errors
    /// As for [`TextIndex::open_collection`].
    pub fn index(
        &self,
        layout: &Layout,
        store: &Store,
        collection: Collection,
    ) -> Result<TextIndex> {
        let opened = self.committed(layout, store, collection)?;
        let mut index = TextIndex::of_committed(opened, store, collection)?;
        if index.rows_left_out > 0 {
            // The newest rows matter most.
            let beyond = index.rows_left_out.saturating_sub(LONGEST_TAIL as u64);
            let last = store.last_row(collection)?;
            let rows = (last - (index.rows_left_out - beyond) as i64, last);
            let directory = super::directory(layout, &store.generation()?, collection);
            index.parts.extend(self.tail(directory, rows, store, &index)?);
            index.rows_left_out = beyond;
        }
        Ok(index)
    }

    /// Returns the index in memory of these rows, which one search asks for several times.
    fn tail(
        &self,
        directory: PathBuf,
        rows: (i64, i64),
        store: &Store,
        index: &TextIndex,
    ) -> Result<Option<Arc<Part>>> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_same = |tail: &&Tail| tail.directory == directory && tail.rows == rows;
        if let Some(tail) = known.tails.iter().find(is_same) {
            return Ok(tail.part.clone());
        }
        known.tails.retain(|tail| tail.directory != directory && tail.directory.exists());
        let part = index_in_memory(store, index.collection, index.fields, rows.0)?.map(Arc::new);
        known.tails.push(Tail { directory, rows, part: part.clone() });
        Ok(part)
    }

    fn committed(
        &self,
        layout: &Layout,
        store: &Store,
        collection: Collection,
    ) -> Result<Option<Opened>> {
        let directory = super::directory(layout, &store.generation()?, collection);
        // Read first: an index opened later holds what this commit names, or something newer.
        let commit = std::fs::read(directory.join(COMMIT)).unwrap_or_default();
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_current = |one: &Opened| one.directory == directory && one.commit == commit;
        if let Some(opened) = known.opened.iter().find(|one| is_current(one)) {
            return Ok(Some(opened.clone()));
        }
        known.opened.retain(|one| one.directory != directory && one.directory.exists());
        let opened = Opened::open(directory, commit)?;
        known.opened.extend(opened.clone());
        Ok(opened)
    }

    /// Closes the indexes. Files that were replaced take up disk space for as long as they are open.
    pub fn close(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Known::default();
    }
}

impl std::fmt::Debug for OpenIndexes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("OpenIndexes")
    }
}

impl Opened {
    fn open(directory: PathBuf, commit: Vec<u8>) -> Result<Option<Self>> {
        let Some(index) = open_to_read(&directory)? else { return Ok(None) };
        let indexed = payload(&index).row;
        let part = Some(Arc::new(Part::new(&index)?)).filter(|part| part.searcher.num_docs() > 0);
        Ok(Some(Self { directory, commit, indexed, part }))
    }
}

impl TextIndex {
    /// Opens the index of the passages of this store.
    ///
    /// # Errors
    /// As for [`TextIndex::open_collection`].
    pub fn open(layout: &Layout, store: &Store) -> Result<Self> {
        Self::open_collection(layout, store, Collection::Passages)
    }

    /// Opens an index of this store; rows that it does not hold yet are indexed in memory.
    ///
    /// # Errors
    /// Returns an error if the index or the database cannot be read.
    pub fn open_collection(layout: &Layout, store: &Store, collection: Collection) -> Result<Self> {
        OpenIndexes::default().index(layout, store, collection)
    }

    /// As [`TextIndex::open_collection`], without the rows that the index on disk does not hold yet.
    ///
    /// # Errors
    /// Returns an error if the index or the database cannot be read.
    pub fn open_committed(layout: &Layout, store: &Store, collection: Collection) -> Result<Self> {
        let opened = OpenIndexes::default().committed(layout, store, collection)?;
        Self::of_committed(opened, store, collection)
    }

    fn of_committed(opened: Option<Opened>, store: &Store, collection: Collection) -> Result<Self> {
        let fields = Fields::from_schema(&Fields::schema())?;
        let (indexed, part) = opened.map_or((0, None), |opened| (opened.indexed, opened.part));
        let rows_left_out = (store.last_row(collection)? - indexed).max(0) as u64;
        Ok(Self { collection, parts: part.into_iter().collect(), fields, rows_left_out })
    }

    /// Returns the collection that it indexes.
    pub const fn collection(&self) -> Collection {
        self.collection
    }

    /// Returns the number of documents, including replaced ones that were not merged away yet.
    pub fn documents(&self) -> u64 {
        self.parts.iter().map(|part| part.searcher.num_docs()).sum()
    }

    /// Compares the index with its store. Returns the number of rows that both have, of rows that the
    /// index lacks, and of entries that do not belong to any row, current or replaced.
    ///
    /// # Errors
    /// Returns an error if the index or the database cannot be read.
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
    pub(super) fn new(index: &Index) -> Result<Self> {
        let reader: IndexReader = index
            .reader_builder()
            .reload_policy(ReloadPolicy::Manual)
            .num_warming_threads(0)
            .try_into()?;
        let searcher = reader.searcher();
        let columns = searcher.segment_readers().iter().map(|_| OnceLock::new()).collect();
        Ok(Self { searcher, columns, _reader: reader })
    }
}

impl Part {
    /// Returns a segment with its columns.
    pub(super) fn segment(&self, number: SegmentOrdinal) -> Result<(&SegmentReader, &Columns)> {
        let segment = self.searcher.segment_reader(number);
        let known = &self.columns[number as usize];
        let columns = match known.get() {
            Some(columns) => columns,
            None => {
                let columns = Columns::open(segment)?;
                known.get_or_init(|| columns)
            }
        };
        Ok((segment, columns))
    }
}

/// Opens an index; `None` if there is none yet, which is as good as an empty one: the store has all its rows.
fn open_to_read(directory: &Path) -> Result<Option<Index>> {
    if !is_there(directory) {
        return Ok(None);
    }
    let mapped = MmapDirectory::open(directory).map_err(TantivyError::from)?;
    let index = Index::open(ReadingDirectory(mapped))?;
    register_tokenizer(&index);
    Ok(Some(index))
}

/// Builds a small in-memory index of the newest rows, if there are any.
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
