//! Commits that repositories told of.

use thru_core::SeenCommit;

use super::Batch;
use crate::error::Result;
use crate::statements::Statements;

impl Batch<'_> {
    /// Writes the commits that were made in the time of a session, each once, and marks the session to be distilled again
    /// if one is new.
    pub fn put_commits(&self, session: i64, commits: &[SeenCommit]) -> Result<()> {
        let mut insert = self.transaction.prepare_cached(
            "INSERT OR IGNORE INTO commits (session, hash, at, subject) VALUES (?1, ?2, ?3, ?4)",
        )?;
        let mut written = 0;
        for commit in commits {
            let at = commit.at.as_millisecond();
            written += insert.execute((session, &commit.hash, at, &commit.subject))?;
        }
        if written > 0 {
            self.run("UPDATE sessions SET stale = 1 WHERE id = ?1", [session])?;
        }
        Ok(())
    }
}
