//! Writing what a session has become: its course as hooks told it, its content, and the episode that it
//! is indexed as.

use rusqlite::OptionalExtension;
use thru_core::{Id, SessionKey, Timestamp};
use thru_lifecycle::content::{Content, FILTER_VERSION};
use thru_lifecycle::{Conversation, Indexing, indexing};

use super::Batch;
use crate::error::Result;
use crate::query::{Course, Episode, course_of, current_episode};

/// An event as far as the course of its session depends on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CourseEvent {
    /// The key of its record.
    pub key: String,
    /// The event, as the agent names it.
    pub event: String,
    /// When.
    pub at: Timestamp,
    /// What else is known of it, as JSON.
    pub detail: String,
}

impl Batch<'_> {
    /// What hooks and people told of a session, in the order in which it came in.
    pub fn course_events(&self, session: i64) -> Result<Vec<CourseEvent>> {
        let mut statement = self.transaction.prepare_cached(
            "SELECT event, at, detail, key FROM events WHERE session = ?1 ORDER BY id",
        )?;
        let rows = statement.query_map([session], |row| {
            Ok(CourseEvent {
                event: row.get(0)?,
                at: super::time(row.get(1)?),
                detail: row.get(2)?,
                key: row.get(3)?,
            })
        })?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    /// Notes the course of a session as hooks told it.
    pub fn set_conversation(
        &self,
        session: i64,
        conversation: Option<&Conversation>,
    ) -> Result<()> {
        let conversation = conversation.map(|one| serde_json::to_string(one).unwrap_or_default());
        self.transaction
            .prepare_cached("UPDATE sessions SET conversation = ?2 WHERE id = ?1")?
            .execute((session, conversation))?;
        Ok(())
    }

    /// Notes when time alone changes something next.
    pub fn set_due(&self, session: i64, due: Option<Timestamp>) -> Result<()> {
        self.transaction
            .prepare_cached("UPDATE sessions SET due = ?2 WHERE id = ?1 AND due IS NOT ?2")?
            .execute((session, due.map(Timestamp::as_millisecond)))?;
        Ok(())
    }

    /// Notes what all that was distilled of a session comes to.
    pub fn set_content(&self, session: i64, content: &Content) -> Result<()> {
        self.transaction
            .prepare_cached("UPDATE sessions SET content = ?2, messages = ?3 WHERE id = ?1")?
            .execute((session, content.hash.as_bytes(), content.messages.cast_signed()))?;
        Ok(())
    }

    /// The course of a session, and what it is indexed as.
    pub fn course(&self, session: i64) -> Result<Option<Course>> {
        course_of(&self.transaction, session)
    }

    /// Notes how far our work on a session is.
    pub fn set_indexing(&self, session: i64, indexing: Indexing) -> Result<()> {
        self.transaction
            .prepare_cached("UPDATE sessions SET indexing = ?2 WHERE id = ?1 AND indexing <> ?2")?
            .execute((session, indexing.code()))?;
        Ok(())
    }

    /// Sessions that somebody began to index and did not come to the end with: whoever it was is gone.
    pub fn abandoned_sessions(&self) -> Result<Vec<i64>> {
        // The first condition is the one that there is an index for.
        let mut statement = self
            .transaction
            .prepare_cached("SELECT id FROM sessions WHERE indexing <> 2 AND indexing IN (1, 4)")?;
        let rows = statement.query_map([], |row| row.get(0))?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    /// Makes an episode the one that a session is indexed as. The one before stays, retired.
    pub fn put_episode(&self, session: i64, episode: &Episode) -> Result<()> {
        self.transaction
            .prepare_cached(
                "UPDATE episodes SET retired = ?2 WHERE session = ?1 AND retired IS NULL",
            )?
            .execute((session, episode.indexed.as_millisecond()))?;
        self.write_episode(session, episode)
    }

    /// Writes an episode that was retired, as the journal tells of it. One that was taken into use again
    /// since stays in use.
    pub fn put_retired_episode(&self, key: &SessionKey, episode: &Episode) -> Result<()> {
        let known: Option<i64> = self
            .transaction
            .prepare_cached("SELECT indexed FROM episodes WHERE uuid = ?1")?
            .query_row([episode.uuid.as_bytes()], |row| row.get(0))
            .optional()?;
        if known.is_some_and(|known| known > episode.indexed.as_millisecond()) {
            return Ok(());
        }
        let session = self.session(key)?;
        let was_in_use = current_episode(&self.transaction, session)?
            .is_some_and(|current| current.uuid == episode.uuid);
        self.write_episode(session, episode)?;
        if was_in_use {
            self.set_indexing(session, Indexing::Unindexed)?;
        }
        Ok(())
    }

    fn write_episode(&self, session: i64, episode: &Episode) -> Result<()> {
        self.transaction
            .prepare_cached(
                "INSERT INTO episodes
                     (uuid, session, content, filter, messages, as_of, indexed, reason, retired)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
                 ON CONFLICT (uuid) DO UPDATE SET as_of = excluded.as_of, reason = excluded.reason,
                     indexed = excluded.indexed, retired = excluded.retired",
            )?
            .execute(rusqlite::params![
                episode.uuid.as_bytes(),
                session,
                episode.content.as_bytes(),
                episode.filter,
                episode.messages.cast_signed(),
                episode.as_of.map(Timestamp::as_millisecond),
                episode.indexed.as_millisecond(),
                episode.reason,
                episode.retired.map(Timestamp::as_millisecond),
            ])?;
        Ok(())
    }

    /// What is known of a session grew: what it is indexed as no longer tells all of it.
    pub(crate) fn mark_grown(&self, session: i64) -> Result<()> {
        let known: Option<u8> = self
            .transaction
            .prepare_cached("SELECT indexing FROM sessions WHERE id = ?1")?
            .query_row([session], |row| row.get(0))
            .optional()?;
        let Some(known) = known.and_then(Indexing::from_code) else { return Ok(()) };
        let (next, _) = known.step(indexing::Event::Grew);
        self.set_indexing(session, next)
    }

    /// Takes out what a session is and was indexed as, and what was to be done about it.
    pub(super) fn remove_episodes_of(&self, session: i64) -> Result<()> {
        for table in ["episodes", "jobs"] {
            self.transaction
                .execute(&format!("DELETE FROM {table} WHERE session = ?1"), [session])?;
        }
        Ok(())
    }

    /// The id that the episode of a session with this content has, whoever makes it.
    pub fn episode_id(session: &SessionKey, content: &Content) -> Id {
        Id::derive(&[
            b"episode",
            session.agent.as_str().as_bytes(),
            session.id.as_str().as_bytes(),
            &FILTER_VERSION.to_le_bytes(),
            content.hash.as_bytes(),
        ])
    }
}
