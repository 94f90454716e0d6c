//! Archived files and the progress of reading them.

use std::collections::{BTreeMap, HashMap};

use rusqlite::{Connection, params_from_iter};
use thru_core::{Agent, SessionId, SessionKey, SourceKind};

use super::count;
use crate::error::Result;
use crate::statements::Statements;
use crate::store::Store;
use crate::write::SourceStamp;

/// One archived file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceRow {
    /// Its row.
    pub row: i64,
    /// Its name in the archive.
    pub entry: String,
    /// The path at which the agent keeps (or kept) it.
    pub path: String,
    /// Its kind.
    pub kind: SourceKind,
    /// The number of lines of the archived file that the store holds.
    pub lines: u64,
}

/// The state of a source file and of its archived copy when it was last read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stamped {
    /// The state of the source file.
    pub stamp: SourceStamp,
    /// The name of the archived file.
    pub entry: String,
    /// Bytes of the archived file.
    pub archived: u64,
}

/// The position from which a source is read further.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceCursor {
    /// The number of lines of the archived file that the store holds.
    pub lines: u64,
    /// The reader's state after them.
    pub reader: Option<String>,
}

/// The numbers of things in the store.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Sessions with at least one passage.
    pub sessions: u64,
    /// Passages.
    pub passages: u64,
    /// Projects that are not merged into another.
    pub projects: u64,
    /// Archived files.
    pub sources: u64,
    /// Records read.
    pub records: u64,
    /// Lines that could not be read as records.
    pub diagnostics: u64,
    /// The last row that was written.
    pub last_row: i64,
}

impl Store {
    /// Returns the last read state of every source file and its archived copy, by path.
    pub fn stamps(&self) -> Result<HashMap<String, Stamped>> {
        self.select(
            "SELECT path, size, modified, entry, archived FROM sources WHERE size IS NOT NULL",
            [],
            stamped,
        )
    }

    /// Returns the last read state of this source file and its archived copy.
    pub fn stamp(&self, path: &str) -> Result<Option<Stamped>> {
        Ok(self
            .find(
                "SELECT path, size, modified, entry, archived FROM sources
                 WHERE path = ?1 AND size IS NOT NULL",
                [path],
                stamped,
            )?
            .map(|(_, stamped)| stamped))
    }

    /// Returns the paths of the transcripts of the most recently active sessions, in these projects or
    /// anywhere.
    pub fn latest_transcripts(
        &self,
        projects: Option<&[i64]>,
        sessions: usize,
    ) -> Result<Vec<String>> {
        let within = match projects {
            Some(projects) => format!("WHERE project IN ({})", super::in_list(projects.len())),
            None => String::new(),
        };
        let parameters = projects.unwrap_or_default().iter().copied().chain([sessions as i64]);
        self.select(
            &format!(
                "SELECT f.path
             FROM (SELECT id FROM sessions {within} ORDER BY ended DESC LIMIT ?) s
                 CROSS JOIN sources f ON f.session = s.id
             WHERE f.kind = 'main' AND f.path <> ''",
            ),
            params_from_iter(parameters),
            |row| row.get(0),
        )
    }

    /// Returns the read position of an archived file; `None` if it was never read.
    pub fn cursor(&self, entry: &str) -> Result<Option<SourceCursor>> {
        self.find("SELECT lines, reader FROM sources WHERE entry = ?1", [entry], |row| {
            Ok(SourceCursor { lines: row.get(0)?, reader: row.get(1)? })
        })
    }

    /// Returns the archived file of this row.
    pub fn source(&self, row: i64) -> Result<Option<SourceRow>> {
        Ok(self.sources_where("id = ?1", [row])?.pop())
    }

    /// Returns the archived files of a session, its transcript first.
    pub fn sources_of_session(&self, session: i64) -> Result<Vec<SourceRow>> {
        self.sources_where("session = ?1 ORDER BY kind <> 'main', entry", [session])
    }

    /// Returns every archived file that the store knows.
    pub fn sources(&self) -> Result<Vec<SourceRow>> {
        self.sources_where("true ORDER BY entry", [])
    }

    fn sources_where(
        &self,
        condition: &str,
        parameters: impl rusqlite::Params,
    ) -> Result<Vec<SourceRow>> {
        self.select(
            &format!("SELECT id, entry, path, kind, lines FROM sources WHERE {condition}"),
            parameters,
            |row| {
                Ok(SourceRow {
                    row: row.get(0)?,
                    entry: row.get(1)?,
                    path: row.get(2)?,
                    kind: super::source_kind(row, 3)?,
                    lines: row.get(4)?,
                })
            },
        )
    }

    /// Returns the numbers of things in the store.
    pub fn counts(&self) -> Result<Counts> {
        let one = |sql| count(&self.connection, sql);
        Ok(Counts {
            // One look per session, not at each of its passages.
            sessions: one("SELECT count(*) FROM sessions s
                 WHERE EXISTS (SELECT 1 FROM passages WHERE session = s.id)")?,
            passages: one("SELECT count(*) FROM passages")?,
            projects: one("SELECT count(*) FROM projects WHERE merged_into IS NULL")?,
            sources: one("SELECT count(*) FROM sources")?,
            records: one("SELECT coalesce(sum(count), 0) FROM record_types")?,
            diagnostics: one("SELECT coalesce(sum(count), 0) FROM diagnostics")?,
            last_row: self.last_row(crate::index::Collection::Passages)?,
        })
    }

    /// Returns record types and how often they occurred, most frequent first.
    pub fn record_types(&self) -> Result<Vec<(String, u64)>> {
        self.named_counts(
            "SELECT type, sum(count) AS n FROM record_types GROUP BY 1 ORDER BY n DESC, 1",
        )
    }

    /// Returns the kinds of problems found while reading, most frequent first.
    pub fn diagnostics(&self) -> Result<Vec<(String, u64)>> {
        self.named_counts(
            "SELECT kind, sum(count) AS n FROM diagnostics GROUP BY 1 ORDER BY n DESC, 1",
        )
    }

    /// Returns the number of sessions with a passage for each agent that has any.
    pub fn sessions_by_agent(&self) -> Result<BTreeMap<Agent, u64>> {
        self.select(
            "SELECT agent, count(*) FROM sessions s
             WHERE EXISTS (SELECT 1 FROM passages WHERE session = s.id) GROUP BY agent",
            [],
            |row| Ok((super::agent(row, 0)?, row.get(1)?)),
        )
    }

    fn named_counts(&self, sql: &str) -> Result<Vec<(String, u64)>> {
        self.select(sql, [], |row| Ok((row.get(0)?, row.get(1)?)))
    }

    /// Returns the position up to which the journal was applied.
    pub fn journal_cursor(&self) -> Result<Option<String>> {
        self.meta("journal")
    }

    /// Returns the position up to which the events of the journal were ingested.
    pub fn events_cursor(&self) -> Result<Option<String>> {
        self.meta("events")
    }

    /// Returns the fingerprint of the redaction rules by which everything in the store was cleaned, at
    /// least.
    pub fn redactor(&self) -> Result<Option<String>> {
        self.meta("redactor")
    }

    /// Returns what [`Batch::set_cleaning`](crate::Batch::set_cleaning) recorded.
    pub fn cleaning(&self) -> Result<Option<String>> {
        self.meta("cleaning")
    }

    pub(super) fn meta(&self, key: &str) -> Result<Option<String>> {
        self.find("SELECT value FROM meta WHERE key = ?1", [key], |row| row.get(0))
    }

    /// Returns the sessions that the user has forgotten.
    pub fn forgotten(&self) -> Result<Vec<SessionKey>> {
        self.select("SELECT agent, session FROM forgotten", [], |row| {
            Ok(SessionKey {
                agent: super::agent(row, 0)?,
                id: SessionId::new(row.get::<_, String>(1)?),
            })
        })
    }

    /// Returns dangling references, a sentence for each; empty if there are none.
    pub fn contradictions(&self) -> Result<Vec<String>> {
        let mut statement = self.connection.prepare(
            "SELECT \"table\", parent, count(*) FROM pragma_foreign_key_check GROUP BY 1, 2",
        )?;
        let found = statement
            .query_map([], |row| {
                let (table, parent): (String, String) = (row.get(0)?, row.get(1)?);
                let number: u64 = row.get(2)?;
                Ok(format!("{number} rows of {table} refer to missing rows of {parent}"))
            })?
            .collect::<rusqlite::Result<_>>()?;
        Ok(found)
    }
}

fn stamped(row: &rusqlite::Row<'_>) -> rusqlite::Result<(String, Stamped)> {
    let size: i64 = row.get(1)?;
    let stamp = SourceStamp { size: size.max(0) as u64, modified: row.get(2)? };
    let archived = row.get::<_, Option<u64>>(4)?.unwrap_or(0);
    Ok((row.get(0)?, Stamped { stamp, entry: row.get(3)?, archived }))
}

pub(crate) fn sources_of(connection: &Connection, session: i64) -> Result<Vec<i64>> {
    connection.select("SELECT id FROM sources WHERE session = ?1", [session], |row| row.get(0))
}
