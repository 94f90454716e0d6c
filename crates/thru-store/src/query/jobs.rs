//! The queue of work that may fail.

use rusqlite::Row;
use thru_core::{SessionId, SessionKey, Timestamp};
use thru_lifecycle::content::ContentHash;

use super::passages::time;
use crate::error::Result;
use crate::store::Store;

/// What is to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum JobKind {
    /// Index a session.
    Index,
    /// Ask a model about a turn of a session, by its number.
    RefineTurn(u32),
    /// Ask a model about a session as a whole.
    RefineSession,
    /// Deliver what is known of a session to the server that the user named.
    Deliver,
}

impl JobKind {
    /// Its name in the store.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Index => "index",
            Self::RefineTurn(_) => "refine-turn",
            Self::RefineSession => "refine-session",
            Self::Deliver => "deliver",
        }
    }

    /// The turn that it is about; 0 for all of a session.
    pub const fn turn(self) -> u32 {
        match self {
            Self::RefineTurn(turn) => turn,
            Self::Index | Self::RefineSession | Self::Deliver => 0,
        }
    }

    fn of(name: &str, turn: u32) -> Option<Self> {
        [Self::Index, Self::RefineTurn(turn), Self::RefineSession, Self::Deliver]
            .into_iter()
            .find(|kind| kind.as_str() == name)
    }
}

/// Something that is to be done, or that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobRow {
    /// Its number.
    pub number: i64,
    /// What is to be done; nothing where a newer version knows.
    pub kind: Option<JobKind>,
    /// The row of the session that it is for.
    pub session: i64,
    /// Which session.
    pub key: SessionKey,
    /// What for.
    pub reason: String,
    /// Since when.
    pub created: Option<Timestamp>,
    /// Not before.
    pub due: Option<Timestamp>,
    /// How often it failed.
    pub attempts: u32,
    /// Whether nobody tries it again by himself.
    pub is_dead: bool,
    /// How it failed last.
    pub error: Option<String>,
    /// The hash of what it is about, where it is about that and nothing else.
    pub content: Option<ContentHash>,
}

impl JobRow {
    /// Whether a model is to be asked.
    pub const fn is_question(&self) -> bool {
        matches!(self.kind, Some(JobKind::RefineTurn(_) | JobKind::RefineSession))
    }

    /// Whether somebody is to try it now.
    pub fn is_due(&self, now: Timestamp) -> bool {
        !self.is_dead && self.due.is_none_or(|due| due <= now)
    }
}

impl Store {
    /// All that is to be done, and what was given up: in the order in which it is due.
    pub fn jobs(&self) -> Result<Vec<JobRow>> {
        let mut statement = self.connection.prepare_cached(
            "SELECT j.id, j.kind, j.session, s.agent, s.session, j.reason, j.created, j.due, j.attempts,
                    j.dead, j.error, j.turn, j.content
             FROM jobs j JOIN sessions s ON s.id = j.session WHERE j.dead < 2
             ORDER BY j.dead, j.due, j.id",
        )?;
        let rows = statement.query_map([], job)?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }
}

fn job(row: &Row<'_>) -> rusqlite::Result<JobRow> {
    Ok(JobRow {
        number: row.get(0)?,
        kind: JobKind::of(&row.get::<_, String>(1)?, row.get(11)?),
        session: row.get(2)?,
        key: SessionKey {
            agent: super::agent(row, 3)?,
            id: SessionId::new(row.get::<_, String>(4)?),
        },
        reason: row.get(5)?,
        created: time(row, 6)?,
        due: time(row, 7)?,
        attempts: row.get(8)?,
        is_dead: row.get(9)?,
        error: row.get(10)?,
        content: row.get::<_, Option<[u8; ContentHash::BYTES]>>(12)?.map(ContentHash::from_bytes),
    })
}
