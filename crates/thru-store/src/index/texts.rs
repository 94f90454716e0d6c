//! The texts of an index by their keys among the vectors: which exist, and which have no vectors yet.
//!
//! Reads columns only: a million documents take some tens of milliseconds.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use super::collection::Collection;
use super::meant::meant;
use super::search::TextIndex;
use crate::error::Result;
use crate::query::{MemoryFilter, PassageRow};
use crate::statements::Statements;
use crate::store::Store;
use crate::vectors::text_key;

/// A document's text, without its words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IndexedText {
    /// Its row in the store.
    pub row: i64,
    /// Its key among the vectors.
    pub key: u64,
    /// The row of its session; 0 if it has none.
    pub session: i64,
    /// The time it was written, in milliseconds since 1970; 0 if unknown.
    at: i64,
}

/// A text with its key, read from the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyedText {
    /// Its row.
    pub row: i64,
    /// Its key among the vectors.
    pub key: u64,
    /// The text.
    pub text: String,
}

/// Texts that still need work, such as embedding.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WaitingTexts {
    /// The newest of them, newest first, without duplicates.
    pub newest: Vec<IndexedText>,
    /// The number of all of them.
    pub count: usize,
}

impl TextIndex {
    /// Returns the keys of all texts that may have vectors, sorted and without duplicates.
    ///
    /// # Errors
    /// Returns an error if the index or the database cannot be read.
    pub fn text_keys(&self, store: &Store) -> Result<Vec<u64>> {
        let mut keys = Vec::new();
        self.each_text(store, |text| keys.push(text.key))?;
        keys.sort_unstable();
        keys.dedup();
        Ok(keys)
    }

    /// Returns the texts that `is_wanted` accepts, the `most` newest of them.
    ///
    /// # Errors
    /// Returns an error if the index or the database cannot be read.
    pub fn newest_texts(
        &self,
        store: &Store,
        most: usize,
        is_wanted: impl Fn(&IndexedText) -> bool,
    ) -> Result<WaitingTexts> {
        let mut waiting = Vec::new();
        self.each_text(store, |text| {
            if is_wanted(&text) {
                waiting.push(text);
            }
        })?;
        waiting.sort_unstable_by_key(|text| Reverse((text.at, text.row)));
        let mut seen = HashSet::new();
        waiting.retain(|text| seen.insert(text.key));
        let count = waiting.len();
        waiting.truncate(most);
        Ok(WaitingTexts { newest: waiting, count })
    }

    fn each_text(&self, store: &Store, mut each: impl FnMut(IndexedText)) -> Result<()> {
        // The index may still hold rows that the store has replaced.
        let retired: HashSet<i64> = store.retired_rows(self.collection())?.into_iter().collect();
        for part in &self.parts {
            for segment in part.searcher.segment_readers() {
                let columns = segment.fast_fields();
                let (keys, rows) = (columns.u64("text_key")?, columns.u64("row")?);
                let (sessions, times) = (columns.u64("session")?, columns.i64("at")?);
                for document in segment.doc_ids_alive() {
                    let key = keys.first(document).unwrap_or(0);
                    let row = rows.first(document).unwrap_or(0) as i64;
                    if key != 0 && !retired.contains(&row) {
                        let session = sessions.first(document).unwrap_or(0) as i64;
                        let at = times.first(document).unwrap_or(0);
                        each(IndexedText { row, key, session, at });
                    }
                }
            }
        }
        Ok(())
    }
}

impl Store {
    /// Returns the texts of these rows with their keys. Rows that were replaced since are left out.
    pub fn keyed_texts(&self, collection: Collection, rows: &[i64]) -> Result<Vec<KeyedText>> {
        let keyed = |row, text: String| KeyedText { row, key: text_key(&text), text };
        let meant_by = |passage: PassageRow| {
            let text = self.text_of(&passage)?;
            let meant = meant(&passage, &text);
            Ok(meant.map(|meant| keyed(passage.row, meant.into_owned())))
        };
        match collection {
            Collection::Passages => {
                let passages = self.passages_of_rows(rows)?;
                passages.into_iter().map(meant_by).filter_map(Result::transpose).collect()
            }
            Collection::Memories => {
                let filter = MemoryFilter { rows: Some(rows.to_vec()), ..MemoryFilter::default() };
                let memories = self.memories(&filter)?;
                let keyed = memories
                    .into_iter()
                    .map(|memory| Ok(keyed(memory.row, self.body_of(&memory)?.search_text())));
                keyed.collect()
            }
        }
    }

    /// Returns the directories in which sessions of a memory's project worked; empty if it has no
    /// project.
    pub fn directories_of_memory(&self, row: i64) -> Result<Vec<String>> {
        let project: Option<i64> = self
            .find("SELECT project FROM memories WHERE row = ?1", [row], |row| row.get(0))?
            .flatten();
        let Some(project) = project else { return Ok(Vec::new()) };
        let mut statement = self.connection.prepare_cached(
            "SELECT DISTINCT facts ->> '$.directory' FROM sessions
             WHERE project = ?1 AND facts ->> '$.directory' IS NOT NULL",
        )?;
        let mut directories = Vec::new();
        for project in self.project_and_merged(project)? {
            for directory in statement.query_map([project], |row| row.get(0))? {
                directories.push(directory?);
            }
            // A project outside git is named after its directory, and one without a remote after the
            // path of its repository, even if no session has worked there yet.
            let key: String =
                self.one("SELECT key FROM projects WHERE id = ?1", [project], |row| row.get(0))?;
            let directory = key.strip_prefix("dir:");
            let directory = directory.or_else(|| key.strip_prefix("git:")?.strip_suffix("/.git"));
            directories.extend(directory.map(str::to_owned));
        }
        Ok(directories)
    }

    /// Returns how often memories were injected into sessions, by row.
    pub fn injection_times(&self) -> Result<HashMap<i64, u64>> {
        self.select(
            "SELECT m.row, count(*) FROM injected_memories i JOIN memories m ON m.id = i.memory
             GROUP BY m.row",
            [],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )
    }
}
