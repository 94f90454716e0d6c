//! The queue of work that may fail. It lies in the store: what is lost with the store, a rebuild does
//! anyway.

use rusqlite::OptionalExtension;
use thru_core::Timestamp;

use super::Batch;
use crate::error::Result;
use crate::query::JobKind;

impl Batch<'_> {
    /// Notes that something is to be done for a session. What waits already waits no longer than that,
    /// and what was given up gets another try.
    pub fn put_job(&self, kind: JobKind, session: i64, reason: &str, now: Timestamp) -> Result<()> {
        self.transaction
            .prepare_cached(
                "INSERT INTO jobs (kind, session, turn, reason, created, due)
                 VALUES (?1, ?2, ?5, ?3, ?4, ?4)
                 ON CONFLICT (kind, session, turn) DO UPDATE SET reason = excluded.reason, due = excluded.due,
                     attempts = CASE dead WHEN 1 THEN 0 ELSE attempts END, dead = 0",
            )?
            .execute((kind.as_str(), session, reason, now.as_millisecond(), kind.turn()))?;
        Ok(())
    }

    /// Notes that a job failed: when to try again, or that nobody does by himself.
    pub fn job_failed(
        &self,
        kind: JobKind,
        session: i64,
        error: &str,
        again: Option<Timestamp>,
    ) -> Result<()> {
        self.transaction
            .prepare_cached(
                "UPDATE jobs SET attempts = attempts + 1, error = ?3, dead = ?4 IS NULL,
                     due = coalesce(?4, due)
                 WHERE kind = ?1 AND session = ?2 AND turn = ?5",
            )?
            .execute((
                kind.as_str(),
                session,
                error,
                again.map(Timestamp::as_millisecond),
                kind.turn(),
            ))?;
        Ok(())
    }

    /// Has a job wait, which does not count as a failure.
    pub fn postpone_job(
        &self,
        kind: JobKind,
        session: i64,
        error: &str,
        until: Timestamp,
    ) -> Result<()> {
        self.transaction
            .prepare_cached(
                "UPDATE jobs SET due = ?3, error = ?4
                 WHERE kind = ?1 AND session = ?2 AND turn = ?5",
            )?
            .execute((kind.as_str(), session, until.as_millisecond(), error, kind.turn()))?;
        Ok(())
    }

    /// Has a job tried again now, as if it had never failed.
    pub fn retry_job(&self, kind: JobKind, session: i64, now: Timestamp) -> Result<()> {
        self.transaction
            .prepare_cached(
                "UPDATE jobs SET due = ?3, attempts = 0, dead = 0
                 WHERE kind = ?1 AND session = ?2 AND turn = ?4",
            )?
            .execute((kind.as_str(), session, now.as_millisecond(), kind.turn()))?;
        Ok(())
    }

    /// How often a job failed; nothing where there is no such job.
    pub fn job_attempts(&self, kind: JobKind, session: i64) -> Result<Option<u32>> {
        Ok(self
            .transaction
            .prepare_cached(
                "SELECT attempts FROM jobs WHERE kind = ?1 AND session = ?2 AND turn = ?3",
            )?
            .query_row((kind.as_str(), session, kind.turn()), |row| row.get(0))
            .optional()?)
    }

    /// Lets a question be: it is not asked, and not noted again as long as it is about the same.
    pub fn let_question_be(&self, kind: JobKind, session: i64) -> Result<()> {
        self.transaction
            .prepare_cached(
                "UPDATE jobs SET dead = 2 WHERE kind = ?1 AND session = ?2 AND turn = ?3",
            )?
            .execute((kind.as_str(), session, kind.turn()))?;
        Ok(())
    }

    /// Takes a job out: it is done, or nobody wants it any more.
    pub fn remove_job(&self, kind: JobKind, session: i64) -> Result<bool> {
        let removed = self
            .transaction
            .prepare_cached("DELETE FROM jobs WHERE kind = ?1 AND session = ?2 AND turn = ?3")?
            .execute((kind.as_str(), session, kind.turn()))?;
        Ok(removed > 0)
    }
}
