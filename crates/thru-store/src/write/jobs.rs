//! The queue of jobs. It is kept in the store: a rebuild does all lost jobs anyway.

use thru_core::Timestamp;

use super::Batch;
use crate::error::Result;
use crate::query::JobKind;
use crate::statements::Statements;

impl Batch<'_> {
    /// Adds a job for a session. One that is pending already is brought forward to this time, and one
    /// that was given up is retried.
    pub fn put_job(&self, kind: JobKind, session: i64, reason: &str, now: Timestamp) -> Result<()> {
        self.run(
            "INSERT INTO jobs (kind, session, turn, reason, created, due)
             VALUES (?1, ?2, ?5, ?3, ?4, ?4)
             ON CONFLICT (kind, session, turn) DO UPDATE SET reason = excluded.reason, due = excluded.due,
                 attempts = CASE dead WHEN 1 THEN 0 ELSE attempts END, dead = 0",
            (kind.as_str(), session, reason, now.as_millisecond(), kind.turn()),
        )?;
        Ok(())
    }

    /// Records a failed attempt: the time of the next one, or that it is not retried automatically.
    pub fn job_failed(
        &self,
        kind: JobKind,
        session: i64,
        error: &str,
        again: Option<Timestamp>,
    ) -> Result<()> {
        self.run(
            "UPDATE jobs SET attempts = attempts + 1, error = ?3, dead = ?4 IS NULL,
                 due = coalesce(?4, due)
             WHERE kind = ?1 AND session = ?2 AND turn = ?5",
            (kind.as_str(), session, error, again.map(Timestamp::as_millisecond), kind.turn()),
        )?;
        Ok(())
    }

    /// Postpones a job, which does not count as a failure.
    pub fn postpone_job(
        &self,
        kind: JobKind,
        session: i64,
        error: &str,
        until: Timestamp,
    ) -> Result<()> {
        self.run(
            "UPDATE jobs SET due = ?3, error = ?4
             WHERE kind = ?1 AND session = ?2 AND turn = ?5",
            (kind.as_str(), session, until.as_millisecond(), error, kind.turn()),
        )?;
        Ok(())
    }

    /// Retries a job now, as if it had never failed.
    pub fn retry_job(&self, kind: JobKind, session: i64, now: Timestamp) -> Result<()> {
        self.run(
            "UPDATE jobs SET due = ?3, attempts = 0, dead = 0
             WHERE kind = ?1 AND session = ?2 AND turn = ?4",
            (kind.as_str(), session, now.as_millisecond(), kind.turn()),
        )?;
        Ok(())
    }

    /// Returns the number of failed attempts of a job; `None` if there is no such job.
    pub fn job_attempts(&self, kind: JobKind, session: i64) -> Result<Option<u32>> {
        self.find(
            "SELECT attempts FROM jobs WHERE kind = ?1 AND session = ?2 AND turn = ?3",
            (kind.as_str(), session, kind.turn()),
            |row| row.get(0),
        )
    }

    /// Drops a question: it is not asked, and not added again as long as its content is the same.
    pub fn let_question_be(&self, kind: JobKind, session: i64) -> Result<()> {
        self.run(
            "UPDATE jobs SET dead = 2 WHERE kind = ?1 AND session = ?2 AND turn = ?3",
            (kind.as_str(), session, kind.turn()),
        )?;
        Ok(())
    }

    /// Removes a job that is done or no longer wanted. Returns true if there was one.
    pub fn remove_job(&self, kind: JobKind, session: i64) -> Result<bool> {
        let removed = self.run(
            "DELETE FROM jobs WHERE kind = ?1 AND session = ?2 AND turn = ?3",
            (kind.as_str(), session, kind.turn()),
        )?;
        Ok(removed > 0)
    }
}
