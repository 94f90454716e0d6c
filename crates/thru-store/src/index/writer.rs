//! Bringing the index up to the store.

use std::collections::{HashMap, HashSet};

use serde::{Deserialize, Serialize};
use tantivy::directory::MmapDirectory;
use tantivy::{Index, Term};
use thru_core::Layout;

use super::fields::{Fields, IndexedPassage, register_tokenizer};
use crate::error::{Result, StoreError};
use crate::files::create_private_directory;
use crate::query::PassageFilter;
use crate::store::Store;

/// What a commit of the index says about itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Payload {
    /// The last row of the store that the index holds.
    pub(super) row: i64,
}

/// How far the index came.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IndexProgress {
    /// The last row that the index holds.
    pub row: i64,
    /// Rows added.
    pub added: u64,
    /// Replaced rows that it no longer holds; see [`crate::Batch::clear_retired`].
    pub cleared: Vec<i64>,
}

/// The one writer of the index. The caller holds the intake lock.
pub struct IndexWriter {
    writer: tantivy::IndexWriter,
    fields: Fields,
    row: i64,
    added: u64,
    projects: HashMap<i64, i64>,
    cleared: HashSet<i64>,
}

/// Rows read from the store at a time.
const ROWS_PER_READ: usize = 2_000;

impl IndexWriter {
    /// Opens the index of this store, made anew where there is none or where it is damaged.
    pub fn open(layout: &Layout, store: &Store, threads: usize, memory: usize) -> Result<Self> {
        let directory = super::directory(layout, &store.generation()?);
        create_private_directory(&directory)?;
        let index = match open_index(&directory) {
            Ok(index) => index,
            Err(_) => {
                std::fs::remove_dir_all(&directory)
                    .map_err(|source| StoreError::io(&directory, source))?;
                create_private_directory(&directory)?;
                open_index(&directory)?
            }
        };
        let fields = Fields::of(&index.schema())?;
        let row = payload(&index).row;
        let writer = index.writer_with_num_threads(threads, memory)?;
        Ok(Self {
            writer,
            fields,
            row,
            added: 0,
            projects: HashMap::new(),
            cleared: HashSet::new(),
        })
    }

    /// The last row that was added, committed or not.
    pub const fn row(&self) -> i64 {
        self.row
    }

    /// Adds every row that the store holds and the index does not, and takes replaced ones out.
    /// Nothing of it is found before [`IndexWriter::commit`].
    pub fn catch_up(&mut self, store: &Store) -> Result<u64> {
        let mut added = 0;
        // A session may have found its project since.
        self.projects.clear();
        loop {
            let rows =
                store.passages(PassageFilter::After { row: self.row, limit: ROWS_PER_READ })?;
            let Some(last) = rows.last() else { break };
            let last = last.row;
            for passage in &rows {
                let text = store.text_of(passage)?;
                let files = store.files_of(passage)?;
                let project = match self.projects.get(&passage.session) {
                    Some(project) => *project,
                    None => {
                        let project = store.project_of_session(passage.session)?;
                        self.projects.insert(passage.session, project);
                        project
                    }
                };
                let document = self.fields.document(&IndexedPassage {
                    passage,
                    project,
                    text: &text,
                    files: &files,
                });
                self.writer.add_document(document)?;
            }
            added += rows.len() as u64;
            self.row = last;
        }
        for row in store.retired_rows()? {
            if row <= self.row && self.cleared.insert(row) {
                self.writer.delete_term(Term::from_field_u64(self.fields.row, row as u64));
            }
        }
        self.added += added;
        Ok(added)
    }

    /// Makes what was added permanent and findable.
    pub fn commit(&mut self) -> Result<IndexProgress> {
        let mut commit = self.writer.prepare_commit()?;
        let payload = Payload { row: self.row };
        commit.set_payload(&serde_json::to_string(&payload).unwrap_or_default());
        commit.commit()?;
        Ok(IndexProgress {
            row: self.row,
            added: std::mem::take(&mut self.added),
            cleared: std::mem::take(&mut self.cleared).into_iter().collect(),
        })
    }

    /// Waits for the merges that run in the background.
    pub fn finish(self) -> Result<()> {
        Ok(self.writer.wait_merging_threads()?)
    }

    /// Merges everything into one segment: equal stores then give equal scores (invariant I-4).
    pub fn merge_all(&mut self) -> Result<()> {
        let segments = self.writer.index().searchable_segment_ids()?;
        if segments.len() > 1 {
            self.writer.merge(&segments).wait()?;
        }
        Ok(())
    }
}

pub(super) fn payload(index: &Index) -> Payload {
    index
        .load_metas()
        .ok()
        .and_then(|metas| metas.payload)
        .and_then(|payload| serde_json::from_str(&payload).ok())
        .unwrap_or_default()
}

fn open_index(directory: &std::path::Path) -> tantivy::Result<Index> {
    let directory = MmapDirectory::open(directory)?;
    let index = Index::open_or_create(directory, Fields::schema())?;
    register_tokenizer(&index);
    Ok(index)
}

/// Removes the indexes of stores that are no longer in use. The caller holds the intake lock.
pub fn remove_other_indexes(layout: &Layout, store: &Store) -> Result<()> {
    let wanted = super::directory(layout, &store.generation()?);
    let Ok(entries) = std::fs::read_dir(layout.index()) else { return Ok(()) };
    for entry in entries.flatten() {
        if entry.path() != wanted {
            // What cannot be removed now is removed next time; it is never read.
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
    Ok(())
}
