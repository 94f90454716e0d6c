//! The queue of jobs, each of which may fail and be retried.

use rusqlite::Row;
use thru_core::{SessionId, SessionKey, Timestamp};
use thru_lifecycle::content::ContentHash;

use super::passages::time;
use crate::error::Result;
use crate::statements::Statements;
use crate::store::Store;

/// The kind of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum JobKind {
    /// Index a session.
    Index,
    /// Ask a model about a turn of a session, by its number.
    RefineTurn(u32),
    /// Ask a model about a session as a whole.
    RefineSession,
    /// Deliver the memories of a session to the server that the user configured.
    Deliver,
}

impl JobKind {
    /// Returns its name in the store.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Index => "index",
            Self::RefineTurn(_) => "refine-turn",
            Self::RefineSession => "refine-session",
            Self::Deliver => "deliver",
        }
    }

    /// Returns the turn that it is about; 0 for the whole session.
    pub const fn turn(self) -> u32 {
        match self {
            Self::RefineTurn(turn) => turn,
            Self::Index | Self::RefineSession | Self::Deliver => 0,
        }
    }

    fn from_name(name: &str, turn: u32) -> Option<Self> {
        [Self::Index, Self::RefineTurn(turn), Self::RefineSession, Self::Deliver]
            .into_iter()
            .find(|kind| kind.as_str() == name)
    }
}

/// A job that is pending or failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobRow {
    /// Its number.
    pub number: i64,
    /// Its kind; `None` if only a newer version knows it.
    pub kind: Option<JobKind>,
    /// The row of the session that it is for.
    pub session: i64,
    /// The agent and id of the session.
    pub key: SessionKey,
    /// The reason for the job.
    pub reason: String,
    /// The time it was created.
    pub created: Option<Timestamp>,
    /// The earliest time to run it.
    pub due: Option<Timestamp>,
    /// The number of failed attempts.
    pub attempts: u32,
    /// True if it is not retried automatically.
    pub is_dead: bool,
    /// The error of the last attempt.
    pub error: Option<String>,
    /// The hash of the content that it is about, if it is only about that content.
    pub content: Option<ContentHash>,
}

impl JobRow {
    /// True if the job asks a model.
    pub const fn is_question(&self) -> bool {
        matches!(self.kind, Some(JobKind::RefineTurn(_) | JobKind::RefineSession))
    }

    /// True if the job is to be run now.
    pub fn is_due(&self, now: Timestamp) -> bool {
        !self.is_dead && self.due.is_none_or(|due| due <= now)
    }
}

impl Store {
    /// Returns all jobs, including those that were given up, in the order in which they are due.
    pub fn jobs(&self) -> Result<Vec<JobRow>> {
        self.select(
            "SELECT j.id, j.kind, j.session, s.agent, s.session, j.reason, j.created, j.due, j.attempts,
                    j.dead, j.error, j.turn, j.content
             FROM jobs j JOIN sessions s ON s.id = j.session WHERE j.dead < 2
             ORDER BY j.dead, j.due, j.id",
            [],
            job,
        )
    }
}

fn job(row: &Row<'_>) -> rusqlite::Result<JobRow> {
    Ok(JobRow {
        number: row.get(0)?,
        kind: JobKind::from_name(&row.get::<_, String>(1)?, row.get(11)?),
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
