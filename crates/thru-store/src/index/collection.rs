//! The two collections that are indexed, passages and memories: each in an index of its own, so that
//! the statistics of one, and with them its ranking, do not depend on the other.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use thru_core::{Id, PassageKind, Timestamp, is_echo};

use super::fields::kind_code;
use super::meant::meant;
use crate::error::Result;
use crate::query::{MemoryBody, PassageFilter, SessionBelonging};
use crate::statements::Statements;
use crate::store::Store;
use crate::vectors::text_key;

/// One of the two indexes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Collection {
    /// Prompts, texts and tool calls of sessions.
    Passages,
    /// Observations, summaries, and notes that people added.
    Memories,
}

/// The project of memories that hold everywhere: no row of a project is as high.
pub const EVERYWHERE: i64 = i64::MAX;

/// Rows read from the store at a time.
const ROWS_PER_READ: usize = 2_000;

/// The columns of a row that the index stores.
pub(super) struct Document {
    pub(super) row: i64,
    pub(super) id: Id,
    pub(super) session: i64,
    pub(super) project: i64,
    /// The agent of its session; 0 if it has no session.
    pub(super) agent: u8,
    pub(super) source: i64,
    pub(super) ordinal: u32,
    pub(super) turn: u32,
    pub(super) kind: u8,
    pub(super) at: Option<Timestamp>,
    pub(super) files: Vec<String>,
    pub(super) tags: Vec<&'static str>,
    pub(super) text: String,
    /// The key of the text among the vectors; 0 if it gets no vectors.
    pub(super) text_key: u64,
}

/// The projects and agents of the sessions read so far.
pub(super) type Sessions = HashMap<i64, SessionBelonging>;

impl Collection {
    /// Both collections, in the order in which they are written.
    pub const ALL: [Self; 2] = [Self::Passages, Self::Memories];

    pub(super) const fn suffix(self) -> &'static str {
        match self {
            Self::Passages => "",
            Self::Memories => "-memories",
        }
    }

    pub(crate) const fn table(self) -> &'static str {
        match self {
            Self::Passages => "passages",
            Self::Memories => "memories",
        }
    }

    /// The table of the files that the rows name.
    pub(crate) const fn files_table(self) -> &'static str {
        match self {
            Self::Passages => "touches",
            Self::Memories => "memory_files",
        }
    }

    pub(crate) const fn retired_table(self) -> &'static str {
        match self {
            Self::Passages => "retired_rows",
            Self::Memories => "retired_memories",
        }
    }

    /// Passes the rows after `row`, at most `limit` of them, to `each` in order. Returns the last row
    /// and the number of rows.
    pub(super) fn documents(
        self,
        store: &Store,
        after: i64,
        limit: usize,
        sessions: &mut Sessions,
        mut each: impl FnMut(&Document) -> Result<()>,
    ) -> Result<(i64, u64)> {
        let (mut last, mut count) = (after, 0);
        while count < limit as u64 {
            let wanted = ROWS_PER_READ.min(limit - count as usize);
            let before = count;
            match self {
                Self::Passages => {
                    let rows = store.passages(PassageFilter::After { row: last, limit: wanted })?;
                    for passage in &rows {
                        let of = belonging(store, sessions, passage.session)?;
                        let text = store.text_of(passage)?;
                        let files: Vec<String> =
                            store.files_of(passage)?.into_iter().map(|file| file.0).collect();
                        let is_echo = passage.kind == PassageKind::Tool
                            && is_echo(
                                passage.tool.as_deref(),
                                passage.command.as_deref(),
                                files.iter().map(String::as_str),
                            );
                        each(&Document {
                            row: passage.row,
                            id: passage.id,
                            session: passage.session,
                            project: of.project,
                            agent: of.agent.code(),
                            source: passage.source,
                            ordinal: passage.ordinal,
                            turn: passage.turn,
                            kind: kind_code(passage.kind, passage.agent_id.is_some(), is_echo),
                            at: passage.at,
                            files,
                            tags: Vec::new(),
                            text_key: meant(passage, &text).map_or(0, |text| text_key(&text)),
                            text,
                        })?;
                        (last, count) = (passage.row, count + 1);
                    }
                }
                Self::Memories => {
                    let rows = store.memories_after(last, wanted)?;
                    for memory in &rows {
                        (last, count) = (memory.row, count + 1);
                        // A superseded memory must not be found.
                        if memory.flags.is_superseded {
                            continue;
                        }
                        let body = store.body_of(memory)?;
                        let text = body.search_text();
                        let files = store.files_of_memories(&[memory.row])?;
                        let elsewhere = if memory.is_global() { EVERYWHERE } else { 0 };
                        let agent = match memory.session {
                            Some(session) => belonging(store, sessions, session)?.agent.code(),
                            None => 0,
                        };
                        each(&Document {
                            row: memory.row,
                            id: memory.id,
                            session: memory.session.unwrap_or(0),
                            project: memory.project.unwrap_or(elsewhere),
                            agent,
                            source: 0,
                            ordinal: memory.turn,
                            turn: memory.turn,
                            kind: memory.kind.code(),
                            at: memory.at,
                            files: files.into_values().flatten().map(|file| file.path).collect(),
                            tags: concepts(&body),
                            text_key: text_key(&text),
                            text,
                        })?;
                    }
                }
            }
            if count == before {
                break;
            }
        }
        Ok((last, count))
    }
}

fn belonging(store: &Store, known: &mut Sessions, session: i64) -> Result<SessionBelonging> {
    Ok(match known.entry(session) {
        Entry::Occupied(known) => *known.get(),
        Entry::Vacant(new) => *new.insert(store.belonging_of_session(session)?),
    })
}

fn concepts(body: &MemoryBody) -> Vec<&'static str> {
    match body {
        MemoryBody::Observation(observation) => {
            observation.concepts.iter().map(|concept| concept.as_str()).collect()
        }
        MemoryBody::Summary(_) => Vec::new(),
    }
}

impl Store {
    /// Returns every row of a collection that belongs into its index.
    pub fn rows(&self, collection: Collection) -> Result<Vec<i64>> {
        let wanted = match collection {
            Collection::Passages => "",
            Collection::Memories => "WHERE flags & 128 = 0",
        };
        self.row_numbers(&format!("SELECT row FROM {} {wanted} ORDER BY row", collection.table()))
    }

    /// Returns the rows that were replaced and that the index may still hold.
    pub fn retired_rows(&self, collection: Collection) -> Result<Vec<i64>> {
        self.row_numbers(&format!("SELECT row FROM {}", collection.retired_table()))
    }

    /// Returns the number of rows after `row`.
    pub fn rows_after(&self, collection: Collection, row: i64) -> Result<u64> {
        let sql = format!("SELECT count(*) FROM {} WHERE row > ?1", collection.table());
        self.one(&sql, [row], |row| row.get(0))
    }

    /// Returns the last row ever written.
    pub fn last_row(&self, collection: Collection) -> Result<i64> {
        Ok(self
            .find("SELECT seq FROM sqlite_sequence WHERE name = ?1", [collection.table()], |row| {
                row.get(0)
            })?
            .unwrap_or(0))
    }

    fn row_numbers(&self, sql: &str) -> Result<Vec<i64>> {
        self.select(sql, [], |row| row.get(0))
    }
}
