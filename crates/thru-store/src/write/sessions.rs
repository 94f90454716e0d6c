//! Writing the state of a session: its lifecycle as reported by hooks, its content, and its current
//! episode.

use thru_core::{Id, SessionKey, Timestamp};
use thru_lifecycle::content::{Content, FILTER_VERSION};
use thru_lifecycle::{Conversation, Indexing, Limits, indexing};

use super::Batch;
use crate::error::Result;
use crate::query::{Episode, SessionState, current_episode, session_state_of};
use crate::statements::Statements;

/// An event, reduced to what its session's lifecycle depends on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LifecycleEvent {
    /// The name of the event, the same for all agents.
    pub event: String,
    /// Its time.
    pub at: Timestamp,
    /// Further details, as JSON.
    pub detail: String,
}

impl Batch<'_> {
    /// Returns the lifecycle events of a session that hooks and people reported, in the order of
    /// arrival.
    pub fn lifecycle_events(&self, session: i64) -> Result<Vec<LifecycleEvent>> {
        self.select(
            "SELECT event, at, detail FROM events WHERE session = ?1 ORDER BY id",
            [session],
            |row| {
                Ok(LifecycleEvent {
                    event: row.get(0)?,
                    at: super::time(row.get(1)?),
                    detail: row.get(2)?,
                })
            },
        )
    }

    /// Records the lifecycle of a session as hooks reported it.
    pub fn set_conversation(
        &self,
        session: i64,
        conversation: Option<&Conversation>,
    ) -> Result<()> {
        let conversation = conversation.map(|one| serde_json::to_string(one).unwrap_or_default());
        self.run("UPDATE sessions SET conversation = ?2 WHERE id = ?1", (session, conversation))?;
        Ok(())
    }

    /// Records the phase of a session, and the time at which it changes without an event.
    pub fn note_phase(
        &self,
        session: i64,
        conversation: &Conversation,
        limits: &Limits,
    ) -> Result<()> {
        self.run(
            "UPDATE sessions SET due = ?2 WHERE id = ?1 AND due IS NOT ?2",
            (session, conversation.due(limits).map(Timestamp::as_millisecond)),
        )?;
        // Only a change takes a new row.
        self.run(
            "INSERT OR REPLACE INTO phases (session, phase) SELECT ?1, ?2
             WHERE NOT EXISTS (SELECT 1 FROM phases WHERE session = ?1 AND phase = ?2)",
            (session, conversation.phase().as_str()),
        )?;
        Ok(())
    }

    /// Records the hash and size of all that was distilled of a session.
    pub fn set_content(&self, session: i64, content: &Content) -> Result<()> {
        self.run(
            "UPDATE sessions SET content = ?2, messages = ?3 WHERE id = ?1",
            (session, content.hash.as_bytes(), content.messages.cast_signed()),
        )?;
        Ok(())
    }

    /// Returns the lifecycle of a session and its current episode.
    pub fn session_state(&self, session: i64) -> Result<Option<SessionState>> {
        session_state_of(&self.transaction, session)
    }

    /// Records the state of a session's indexing.
    pub fn set_indexing(&self, session: i64, indexing: Indexing) -> Result<()> {
        self.run(
            "UPDATE sessions SET indexing = ?2 WHERE id = ?1 AND indexing <> ?2",
            (session, indexing.code()),
        )?;
        Ok(())
    }

    /// Returns the sessions whose indexing was begun and not finished: the process that did it is gone.
    pub fn abandoned_sessions(&self) -> Result<Vec<i64>> {
        // The first condition is the indexed one.
        self.select(
            "SELECT id FROM sessions WHERE indexing <> 2 AND indexing IN (1, 4)",
            [],
            |row| row.get(0),
        )
    }

    /// Makes an episode the current one of a session. The previous one is kept, retired.
    pub fn put_episode(&self, session: i64, episode: &Episode) -> Result<()> {
        self.run(
            "UPDATE episodes SET retired = ?2 WHERE session = ?1 AND retired IS NULL",
            (session, episode.indexed.as_millisecond()),
        )?;
        self.write_episode(session, episode)
    }

    /// Writes a retired episode from the journal. One that has become current again stays current.
    pub fn put_retired_episode(&self, key: &SessionKey, episode: &Episode) -> Result<()> {
        let known: Option<i64> = self.find(
            "SELECT indexed FROM episodes WHERE uuid = ?1",
            [episode.uuid.as_bytes()],
            |row| row.get(0),
        )?;
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
        self.run(
            "INSERT INTO episodes
                 (uuid, session, content, filter, messages, as_of, indexed, reason, retired)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
             ON CONFLICT (uuid) DO UPDATE SET as_of = excluded.as_of, reason = excluded.reason,
                 indexed = excluded.indexed, retired = excluded.retired",
            rusqlite::params![
                episode.uuid.as_bytes(),
                session,
                episode.content.as_bytes(),
                episode.filter,
                episode.messages.cast_signed(),
                episode.as_of.map(Timestamp::as_millisecond),
                episode.indexed.as_millisecond(),
                episode.reason,
                episode.retired.map(Timestamp::as_millisecond),
            ],
        )?;
        Ok(())
    }

    /// Marks a session that has grown: its episode no longer covers all of it.
    pub(crate) fn mark_grown(&self, session: i64) -> Result<()> {
        let known: Option<u8> =
            self.find("SELECT indexing FROM sessions WHERE id = ?1", [session], |row| row.get(0))?;
        let Some(known) = known.and_then(Indexing::from_code) else { return Ok(()) };
        let (next, _) = known.step(indexing::Event::Grew);
        self.set_indexing(session, next)
    }

    /// Deletes all episodes of a session, and the jobs for it.
    pub fn remove_episodes_of(&self, session: i64) -> Result<()> {
        for table in ["episodes", "jobs"] {
            self.transaction
                .execute(&format!("DELETE FROM {table} WHERE session = ?1"), [session])?;
        }
        Ok(())
    }

    /// Returns the id of the episode of a session with this content, which depends on nothing else.
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
