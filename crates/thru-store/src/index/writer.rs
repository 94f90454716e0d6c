//! Bringing the index up to date with the store.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};
use tantivy::directory::MmapDirectory;
use tantivy::indexer::IndexWriterOptions;
use tantivy::{Index, SegmentMeta, Term};
use thru_core::Layout;

use super::collection::{Collection, Sessions};
use super::damage::is_there;
use super::fields::{Fields, register_tokenizer};
use super::search::COMMIT;
use crate::error::{Result, StoreError};
use crate::files::create_private_directory;
use crate::store::Store;

/// The metadata of an index commit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Payload {
    /// The last row of the store that the index holds.
    pub(super) row: i64,
}

/// The progress of the index after a commit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IndexProgress {
    /// The last passage row that the index holds.
    pub row: i64,
    /// Rows added.
    pub added: u64,
    /// Replaced rows that it no longer holds; see [`crate::Batch::clear_retired`].
    pub cleared: Vec<(Collection, i64)>,
}

/// The writer of both indexes. The caller holds the intake lock.
pub struct IndexWriter {
    parts: Vec<Part>,
}

/// The writer of one index.
struct Part {
    collection: Collection,
    writer: tantivy::IndexWriter,
    fields: Fields,
    row: i64,
    added: u64,
    sessions: Sessions,
    cleared: HashSet<i64>,
}

/// Memory for the index of memories, which is small: the minimum that Tantivy accepts for a thread.
const LEAST_MEMORY: usize = 15_000_000;

/// Rows that are added before the time is looked at again.
const ROWS_AT_ONCE: usize = 2_000;

/// The number of segments that are left unmerged.
const FEW: usize = 4;
/// Segments are merged when all but the largest hold at least one in this many documents.
const GROWTH: u64 = 4;

impl IndexWriter {
    /// Opens the indexes of this store. One that is missing or damaged is created again.
    ///
    /// # Errors
    /// Returns an error if another writer holds an index, or the disk cannot be written.
    pub fn open(layout: &Layout, store: &Store, threads: usize, memory: usize) -> Result<Self> {
        let generation = store.generation()?;
        let mut parts = Vec::new();
        for collection in Collection::ALL {
            let directory = super::directory(layout, &generation, collection);
            let (threads, memory) = match collection {
                Collection::Passages => (threads, memory),
                Collection::Memories => (1, LEAST_MEMORY),
            };
            parts.push(Part::open(collection, &directory, threads, memory)?);
        }
        Ok(Self { parts })
    }

    /// Returns the last passage row that was added, committed or not.
    pub fn row(&self) -> i64 {
        self.parts.first().map_or(0, |part| part.row)
    }

    /// Adds every row that the store holds and the index does not, and removes replaced ones. Returns
    /// the number of rows added. The changes become visible with [`IndexWriter::commit`].
    ///
    /// # Errors
    /// Returns an error if the database cannot be read, or the index cannot be written.
    pub fn catch_up(&mut self, store: &Store) -> Result<u64> {
        let added = |parts: &[Part]| parts.iter().map(|part| part.added).sum::<u64>();
        let before = added(&self.parts);
        self.catch_up_until(store, &|| false)?;
        Ok(added(&self.parts) - before)
    }

    /// As [`IndexWriter::catch_up`], until `is_over` returns true, which is asked every few rows. Returns true if nothing
    /// is left.
    ///
    /// # Errors
    /// As for [`IndexWriter::catch_up`].
    pub fn catch_up_until(&mut self, store: &Store, is_over: &dyn Fn() -> bool) -> Result<bool> {
        for part in &mut self.parts {
            if !part.catch_up_until(store, is_over)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Commits what was added, which makes it durable and searchable.
    ///
    /// # Errors
    /// Returns an error if the index cannot be written.
    pub fn commit(&mut self) -> Result<IndexProgress> {
        let mut progress = IndexProgress { row: self.row(), ..IndexProgress::default() };
        for part in &mut self.parts {
            part.commit()?;
            progress.added += std::mem::take(&mut part.added);
            let collection = part.collection;
            progress.cleared.extend(part.cleared.drain().map(|row| (collection, row)));
        }
        Ok(progress)
    }

    /// Waits for the merges that run in the background, and merges segments where there are many: every
    /// question opens all of them.
    ///
    /// # Errors
    /// Returns an error if the index cannot be written.
    pub fn finish(self) -> Result<()> {
        self.parts.into_iter().try_for_each(Part::finish)
    }

    /// Merges everything into one segment: equal stores then give equal scores (invariant I-4).
    ///
    /// # Errors
    /// Returns an error if the index cannot be written.
    pub fn merge_all(&mut self) -> Result<()> {
        self.parts.iter_mut().try_for_each(Part::merge)
    }

    /// Merges the indexes that these rows were removed from, so that no file keeps any of their text.
    ///
    /// # Errors
    /// Returns an error if the index cannot be written.
    pub fn merge_cleared(&mut self, cleared: &[(Collection, i64)]) -> Result<()> {
        let touched = |part: &&mut Part| cleared.iter().any(|(one, _)| *one == part.collection);
        self.parts.iter_mut().filter(touched).try_for_each(Part::merge)
    }
}

impl Part {
    fn open(
        collection: Collection,
        directory: &std::path::Path,
        threads: usize,
        memory: usize,
    ) -> Result<Self> {
        create_private_directory(directory)?;
        let index = match open_index(directory) {
            Ok(index) => index,
            Err(_) => {
                std::fs::remove_dir_all(directory)
                    .map_err(|source| StoreError::io(directory, source))?;
                create_private_directory(directory)?;
                open_index(directory)?
            }
        };
        let fields = Fields::from_schema(&index.schema())?;
        let row = payload(&index).row;
        let writer = index.writer_with_options(options(threads, memory))?;
        remove_leavings(directory, &writer)?;
        Ok(Self {
            collection,
            writer,
            fields,
            row,
            added: 0,
            sessions: Sessions::new(),
            cleared: HashSet::new(),
        })
    }

    fn catch_up_until(&mut self, store: &Store, is_over: &dyn Fn() -> bool) -> Result<bool> {
        // A session may have got its project since.
        self.sessions.clear();
        let Self { collection, writer, fields, row, sessions, .. } = self;
        loop {
            let (last, added) =
                collection.documents(store, *row, ROWS_AT_ONCE, sessions, |document| {
                    writer.add_document(fields.document(document))?;
                    Ok(())
                })?;
            *row = last;
            self.added += added;
            if added < ROWS_AT_ONCE as u64 {
                break;
            }
            if is_over() {
                return Ok(false);
            }
        }
        for row in store.retired_rows(self.collection)? {
            if row <= self.row && self.cleared.insert(row) {
                self.writer.delete_term(Term::from_field_u64(self.fields.row, row as u64));
            }
        }
        Ok(true)
    }

    fn merge(&mut self) -> Result<()> {
        let segments = self.writer.index().searchable_segment_metas()?;
        // A single segment may still hold the words of deleted documents.
        match segments.len() > 1 || segments.iter().any(SegmentMeta::has_deletes) {
            true => merge(&mut self.writer, segments),
            false => Ok(()),
        }
    }

    fn finish(self) -> Result<()> {
        let index = self.writer.index().clone();
        self.writer.wait_merging_threads()?;
        let segments = index.searchable_segment_metas()?;
        let sizes = || segments.iter().map(|segment| u64::from(segment.num_docs()));
        let (all, largest) = (sizes().sum::<u64>(), sizes().max().unwrap_or(0));
        // A merge rewrites everything: not before it grew by a fraction of itself.
        if segments.len() <= FEW || (all - largest) * GROWTH < all {
            return Ok(());
        }
        let mut writer = index.writer_with_options(options(1, LEAST_MEMORY))?;
        merge(&mut writer, segments)?;
        writer.wait_merging_threads()?;
        Ok(())
    }

    fn commit(&mut self) -> Result<()> {
        let mut commit = self.writer.prepare_commit()?;
        let payload = Payload { row: self.row };
        commit.set_payload(&serde_json::to_string(&payload).unwrap_or_default());
        commit.commit()?;
        Ok(())
    }
}

/// Returns the options of a writer that merges one after another: each merge maps all that it reads.
fn options(threads: usize, memory: usize) -> IndexWriterOptions {
    IndexWriterOptions::builder()
        .num_worker_threads(threads)
        .memory_budget_per_thread(memory / threads)
        .num_merge_threads(1)
        .build()
}

/// Merges several segments into one, and removes their files.
fn merge(writer: &mut tantivy::IndexWriter, segments: Vec<SegmentMeta>) -> Result<()> {
    let ids: Vec<_> = segments.iter().map(SegmentMeta::id).collect();
    // Files of segments that are still referenced are not removed.
    drop(segments);
    drop(writer.merge(&ids).wait()?);
    writer.garbage_collect_files().wait()?;
    Ok(())
}

/// Removes the files of a writer that was killed before its commit. File names count commits: ours
/// would get the same names, and existing files are never overwritten.
fn remove_leavings(directory: &std::path::Path, writer: &tantivy::IndexWriter) -> Result<()> {
    writer.garbage_collect_files().wait()?;
    let Ok(entries) = std::fs::read_dir(directory) else { return Ok(()) };
    for entry in entries.flatten() {
        if entry.file_name().to_string_lossy().starts_with(".tmp") {
            // A file that cannot be removed now is removed next time; it is never read.
            let _ = std::fs::remove_file(entry.path());
        }
    }
    Ok(())
}

pub(super) fn payload(index: &Index) -> Payload {
    parsed(index.load_metas().ok().and_then(|metas| metas.payload))
}

/// Returns the payload of the last commit of the index in a directory, without opening that: every question asks for it.
fn committed_payload(directory: &std::path::Path) -> Payload {
    #[derive(Deserialize)]
    struct Commit {
        payload: Option<String>,
    }
    let commit = std::fs::read(directory.join(COMMIT)).unwrap_or_default();
    parsed(serde_json::from_slice(&commit).ok().and_then(|commit: Commit| commit.payload))
}

fn parsed(payload: Option<String>) -> Payload {
    payload.and_then(|payload| serde_json::from_str(&payload).ok()).unwrap_or_default()
}

fn open_index(directory: &std::path::Path) -> tantivy::Result<Index> {
    let directory = MmapDirectory::open(directory)?;
    let index = Index::open_or_create(directory, Fields::schema())?;
    register_tokenizer(&index);
    Ok(index)
}

/// Returns the number of rows that the indexes do not hold yet. Readers search some of them themselves.
///
/// # Errors
/// Returns an error if an index or the database cannot be read.
pub fn rows_behind(layout: &Layout, store: &Store) -> Result<u64> {
    let generation = store.generation()?;
    let mut behind = 0;
    for collection in Collection::ALL {
        let indexed = committed_payload(&super::directory(layout, &generation, collection)).row;
        behind += store.rows_after(collection, indexed)?;
    }
    Ok(behind)
}

/// True if there is no index of rows that the store holds.
pub fn is_missing(layout: &Layout, store: &Store) -> Result<bool> {
    let generation = store.generation()?;
    for collection in Collection::ALL {
        let directory = super::directory(layout, &generation, collection);
        if !is_there(&directory) && store.last_row(collection)? > 0 {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Removes the indexes of stores that are neither in use nor being made to replace it. The caller holds the intake lock.
///
/// # Errors
/// Returns an error if the folder of the indexes or the database cannot be read.
pub fn remove_other_indexes(layout: &Layout, store: &Store) -> Result<()> {
    let replacement = Store::begun_replacement(layout).and_then(|store| store.generation().ok());
    let generations = replacement.into_iter().chain([store.generation()?]);
    let wanted: Vec<_> = generations
        .flat_map(|generation| {
            Collection::ALL.map(|collection| super::directory(layout, &generation, collection))
        })
        .collect();
    let Ok(entries) = std::fs::read_dir(layout.index()) else { return Ok(()) };
    for entry in entries.flatten() {
        if !wanted.contains(&entry.path()) {
            // A folder that cannot be removed now is removed next time; it is never read.
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
    Ok(())
}
