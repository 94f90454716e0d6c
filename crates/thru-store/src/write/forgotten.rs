//! Forgetting sessions for good.

use std::collections::HashSet;

use rusqlite::OptionalExtension;
use thru_core::{Agent, Id, Passage, PassageKind, SessionFacts, SessionKey};

use super::Batch;
use crate::error::Result;
use crate::query::passage_place;

impl Batch<'_> {
    /// Deletes a session with its passages and events, and records never to read it again. Projections remove their
    /// own rows before.
    ///
    /// # Errors
    /// Returns an error if the database cannot be written.
    pub fn forget_session(&mut self, key: &SessionKey) -> Result<()> {
        let parameters = (key.agent.as_str(), key.id.as_str());
        self.transaction.execute(
            "INSERT OR IGNORE INTO forgotten (agent, session) VALUES (?1, ?2)",
            parameters,
        )?;
        let session: Option<i64> = self
            .transaction
            .query_row(
                "SELECT id FROM sessions WHERE agent = ?1 AND session = ?2",
                parameters,
                |row| row.get(0),
            )
            .optional()?;
        let Some(session) = session else { return Ok(()) };
        self.remove_passages("session = ?1", [session])?;
        self.remove_events_of(session)?;
        self.remove_compactions_of(session)?;
        self.remove_refinements_of(session)?;
        for source in crate::query::sources_of(&self.transaction, session)? {
            self.take_back_results(source)?;
            self.remove_source(source)?;
        }
        for sql in [
            "DELETE FROM source_facts WHERE session = ?1",
            "DELETE FROM phases WHERE session = ?1",
            "DELETE FROM sessions WHERE id = ?1",
        ] {
            self.transaction.execute(sql, [session])?;
        }
        Ok(())
    }

    /// Deletes the names of files that are no longer referenced, after sessions were deleted.
    ///
    /// # Errors
    /// Returns an error if the database cannot be written.
    pub fn drop_unused_files(&self) -> Result<()> {
        self.transaction.execute(
            "DELETE FROM files WHERE id NOT IN (SELECT file FROM touches)
             AND id NOT IN (SELECT file FROM memory_files)",
            [],
        )?;
        Ok(())
    }

    /// True if the user has forgotten the session.
    ///
    /// # Errors
    /// Returns an error if the database cannot be read.
    pub fn is_forgotten(&self, key: &SessionKey) -> Result<bool> {
        Ok(self
            .transaction
            .prepare_cached("SELECT 1 FROM forgotten WHERE agent = ?1 AND session = ?2")?
            .exists((key.agent.as_str(), key.id.as_str()))?)
    }

    /// Records never to read these passages again, in whatever file there is a copy.
    ///
    /// # Errors
    /// Returns an error if the database cannot be written.
    pub fn leave_out(&self, passages: &[Id]) -> Result<()> {
        let mut statement = self
            .transaction
            .prepare_cached("INSERT OR IGNORE INTO forgotten_passages (id) VALUES (?1)")?;
        for passage in passages {
            statement.execute([passage.as_bytes()])?;
        }
        Ok(())
    }

    /// True if the passage was forgotten with a session: it says so itself, or it was there when that session went.
    ///
    /// # Errors
    /// Returns an error if the database cannot be read.
    pub fn is_left_out(&self, agent: Agent, passage: &Passage) -> Result<bool> {
        if let Some(original) = &passage.copied_from
            && self.is_forgotten(&SessionKey { agent, id: original.clone() })?
        {
            return Ok(true);
        }
        Ok(self
            .transaction
            .prepare_cached("SELECT 1 FROM forgotten_passages WHERE id = ?1")?
            .exists([passage.id.as_bytes()])?)
    }

    /// Finds the first prompt anew of what was read of sessions that begin with one of these: `note` notes a prompt that is
    /// left, unless there is one already.
    ///
    /// # Errors
    /// Returns an error if the database cannot be written.
    pub fn begin_otherwise(
        &self,
        prompts: &HashSet<String>,
        note: &dyn Fn(&str, &mut SessionFacts),
    ) -> Result<()> {
        let mut all =
            self.transaction.prepare("SELECT session, source, facts FROM source_facts")?;
        let mut rows = all.query([])?;
        let mut changed = Vec::new();
        while let Some(row) = rows.next()? {
            let facts: SessionFacts =
                serde_json::from_str(row.get_ref(2)?.as_str().map_err(rusqlite::Error::from)?)
                    .unwrap_or_default();
            if facts.first_prompt.as_ref().is_some_and(|prompt| prompts.contains(prompt)) {
                changed.push((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?, facts));
            }
        }
        for (session, source, mut facts) in changed {
            (facts.first_prompt, facts.first_prompt_at) = (None, None);
            let mut left = self.transaction.prepare_cached(
                "SELECT block, start, length FROM passages
                 WHERE session = ?1 AND source = ?2 AND kind = ?3 AND agent IS NULL ORDER BY ordinal",
            )?;
            let mut left = left.query((session, source, PassageKind::Human.code()))?;
            while facts.first_prompt.is_none()
                && let Some(row) = left.next()?
            {
                note(&self.text(passage_place(row, 0)?)?, &mut facts);
            }
            self.put_source_facts(session, source, &facts)?;
        }
        Ok(())
    }
}
