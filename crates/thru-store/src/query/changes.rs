//! What is new since a moment, by rows that only grow.

use rusqlite::Row;
use thru_core::{Id, SessionKey};

use crate::error::Result;
use crate::statements::Statements;
use crate::store::Store;

/// A moment of one store: the last rows that were there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LastRows {
    /// The last passage.
    pub passage: i64,
    /// The last memory.
    pub memory: i64,
    /// The last decision.
    pub operation: i64,
    /// The last injection.
    pub injection: i64,
    /// The last change of a session's phase.
    pub phase: i64,
}

/// The rows that are new since a moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewRows {
    /// Sessions with new passages, or in a new phase.
    pub sessions: Vec<SessionNews>,
    /// New memories, and those that were written anew.
    pub memories: Vec<Id>,
    /// The number of new decisions.
    pub operations: u64,
    /// Sessions that were given something.
    pub given: Vec<SessionKey>,
}

/// A session that something is new about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionNews {
    /// Its agent and id.
    pub key: SessionKey,
    /// True if it has new passages.
    pub has_grown: bool,
    /// Its phase, if that is new.
    pub phase: Option<String>,
}

impl Store {
    /// Returns the last rows that are there now.
    pub fn last_rows(&self) -> Result<LastRows> {
        self.one(
            "SELECT (SELECT coalesce(max(row), 0) FROM passages),
             (SELECT coalesce(max(row), 0) FROM memories),
             (SELECT coalesce(max(number), 0) FROM operations),
             (SELECT coalesce(max(id), 0) FROM injections),
             (SELECT coalesce(max(row), 0) FROM phases)",
            [],
            |row| {
                Ok(LastRows {
                    passage: row.get(0)?,
                    memory: row.get(1)?,
                    operation: row.get(2)?,
                    injection: row.get(3)?,
                    phase: row.get(4)?,
                })
            },
        )
    }

    /// Returns the rows that are new since a moment, at most so many sessions and memories.
    pub fn rows_since(&self, since: LastRows, limit: usize) -> Result<NewRows> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let sessions = self.select(
            "SELECT s.agent, s.session, max(n.grown), max(n.phase) FROM (
                 SELECT * FROM (SELECT DISTINCT session, 1 AS grown, NULL AS phase
                                FROM passages WHERE row > ?1 LIMIT ?3)
                 UNION ALL SELECT session, 0, phase FROM phases WHERE row > ?2) n
             JOIN sessions s ON s.id = n.session GROUP BY s.id LIMIT ?3",
            (since.passage, since.phase, limit),
            |row| Ok(SessionNews { key: key(row)?, has_grown: row.get(2)?, phase: row.get(3)? }),
        )?;
        let given = self.select(
            "SELECT DISTINCT s.agent, s.session FROM injections i
             JOIN sessions s ON s.id = i.session WHERE i.id > ?1 LIMIT ?2",
            (since.injection, limit),
            key,
        )?;
        let mut memories = self
            .connection
            .prepare_cached("SELECT id FROM memories WHERE row > ?1 ORDER BY row LIMIT ?2")?;
        let memories = memories
            .query_map((since.memory, limit), |row| Ok(Id::from_bytes(row.get(0)?)))?
            .collect::<rusqlite::Result<_>>()?;
        let mut operations =
            self.connection.prepare_cached("SELECT count(*) FROM operations WHERE number > ?1")?;
        Ok(NewRows {
            sessions,
            memories,
            operations: operations.query_row([since.operation], |row| row.get(0))?,
            given,
        })
    }

    /// Returns the rows of the sessions whose memories were written since this row of a memory; `None` among them stands for
    /// memories outside of sessions.
    pub fn sessions_distilled_since(&self, memory: i64) -> Result<Vec<Option<i64>>> {
        self.select("SELECT DISTINCT session FROM memories WHERE row > ?1", [memory], |row| {
            row.get(0)
        })
    }
}

fn key(row: &Row<'_>) -> rusqlite::Result<SessionKey> {
    let id: String = row.get(1)?;
    Ok(SessionKey { agent: super::agent(row, 0)?, id: thru_core::SessionId::new(id) })
}
