//! Writing the records of hooks: events, the passages that stand for them until a transcript has them,
//! and injections.

use thru_core::{Id, Injection, PassageKind, Timestamp};

use super::{Batch, time};
use crate::error::Result;
use crate::statements::Statements;

/// Two equal events without an id of their own count as one within this time.
const AT_ONCE_MS: i64 = 2_000;

/// An event to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewEvent {
    /// The key of the journal's record.
    pub key: String,
    /// The name of the event, the same for all agents.
    pub event: String,
    /// Its time.
    pub at: Timestamp,
    /// The number of the prompt in the session, as counted by hooks.
    pub prompt: Option<u32>,
    /// The tool that ran.
    pub tool: Option<String>,
    /// The hash of the agent's payload, if the event has no id of its own.
    pub hash: Option<Id>,
    /// The fingerprint of its passage; `None` if it is no passage.
    pub fingerprint: Option<u64>,
    /// Further details, as JSON.
    pub detail: String,
    /// The agent's payload, as JSON, if the event may be a passage.
    pub payload: Option<String>,
}

/// An event that may be a passage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenEvent {
    /// Its row.
    pub row: i64,
    /// The key of the journal's record.
    pub key: String,
    /// The name of the event, the same for all agents.
    pub event: String,
    /// Its time.
    pub at: Timestamp,
    /// The fingerprint of its passage.
    pub fingerprint: u64,
    /// True if the agent gave it an id: its transcript has the same.
    pub is_named: bool,
    /// The agent's payload; `None` once a transcript has the event.
    pub payload: Option<String>,
}

/// A passage in a transcript that may correspond to an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TranscriptPassage {
    /// Its kind.
    pub kind: PassageKind,
    /// The fingerprint of the event.
    pub fingerprint: Option<u64>,
    /// The turn it belongs to.
    pub turn: u32,
    /// Its time.
    pub at: Option<Timestamp>,
}

impl Batch<'_> {
    /// Writes an event, once. Returns false if it is known already, or if it is another copy of one
    /// that has no id of its own.
    pub fn put_event(&self, session: i64, event: &NewEvent) -> Result<bool> {
        if let Some(hash) = &event.hash {
            let at = event.at.as_millisecond();
            let copy: Option<(i64, i64, String)> = self.find(
                "SELECT id, at, key FROM events WHERE session = ?1 AND at BETWEEN ?2 AND ?3
                 AND event = ?4 AND hash = ?5 ORDER BY at, key LIMIT 1",
                (
                    session,
                    at.saturating_sub(AT_ONCE_MS),
                    at.saturating_add(AT_ONCE_MS),
                    &event.event,
                    hash.as_bytes(),
                ),
                |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
            )?;
            if let Some((row, known_at, known_key)) = copy {
                // The earlier one stands for both, regardless of the order of reading.
                if (at, event.key.as_str()) < (known_at, known_key.as_str()) {
                    self.run(
                        "UPDATE OR IGNORE events SET key = ?2, at = ?3 WHERE id = ?1",
                        (row, &event.key, at),
                    )?;
                    self.mark_unsettled(session)?;
                }
                return Ok(false);
            }
        }
        let written = self.run(
            "INSERT OR IGNORE INTO events
                 (key, session, event, at, prompt, tool, hash, fingerprint, detail, payload)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
            rusqlite::params![
                event.key,
                session,
                event.event,
                event.at.as_millisecond(),
                event.prompt,
                event.tool,
                event.hash.as_ref().map(Id::as_bytes),
                event.fingerprint.map(u64::cast_signed),
                event.detail,
                event.payload,
            ],
        )?;
        if written > 0 {
            self.mark_unsettled(session)?;
        }
        Ok(written > 0)
    }

    /// Records the path of the transcript, as reported by hooks.
    pub fn set_source_path(&self, source: i64, path: &str) -> Result<()> {
        self.run("UPDATE sources SET path = ?2 WHERE id = ?1 AND path <> ?2", (source, path))?;
        Ok(())
    }

    /// Marks a session whose events have to be compared with its transcript again.
    pub(super) fn mark_unsettled(&self, session: i64) -> Result<()> {
        self.run(
            "UPDATE sessions SET unsettled = 1 WHERE id = ?1 AND unsettled = 0
             AND EXISTS (SELECT 1 FROM events WHERE session = ?1)",
            [session],
        )?;
        Ok(())
    }

    /// Returns the sessions whose events have to be compared with their transcripts.
    pub fn unsettled_sessions(&self) -> Result<Vec<i64>> {
        let mut statement =
            self.transaction.prepare("SELECT id FROM sessions WHERE unsettled = 1 ORDER BY id")?;
        let rows = statement.query_map([], |row| row.get(0))?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    /// Returns the events of a session that may be passages, in order; those of one millisecond as they came in, so that
    /// one that comes in later never goes before one that is there.
    pub fn open_events(&self, session: i64) -> Result<Vec<OpenEvent>> {
        self.select(
            "SELECT id, key, event, at, fingerprint, hash IS NULL, payload FROM events
             WHERE session = ?1 AND fingerprint IS NOT NULL ORDER BY at, id",
            [session],
            |row| {
                Ok(OpenEvent {
                    row: row.get(0)?,
                    key: row.get(1)?,
                    event: row.get(2)?,
                    at: time(row.get(3)?),
                    fingerprint: row.get::<_, i64>(4)?.cast_unsigned(),
                    is_named: row.get(5)?,
                    payload: row.get(6)?,
                })
            },
        )
    }

    /// Returns the passages in the transcripts of a session, in order.
    pub fn transcript_passages(&self, session: i64) -> Result<Vec<TranscriptPassage>> {
        self.select(
            "SELECT p.kind, p.fingerprint, p.turn, p.at FROM passages p
             JOIN sources s ON s.id = p.source
             WHERE p.session = ?1 AND s.kind <> 'hooks' ORDER BY s.kind <> 'main', p.ordinal",
            [session],
            |row| {
                Ok(TranscriptPassage {
                    kind: PassageKind::from_code(row.get(0)?).unwrap_or(PassageKind::Tool),
                    fingerprint: row.get::<_, Option<i64>>(1)?.map(i64::cast_unsigned),
                    turn: row.get(2)?,
                    at: row.get::<_, Option<i64>>(3)?.map(time),
                })
            },
        )
    }

    /// Drops the payload of an event, because a transcript has it.
    pub fn drop_event_payload(&self, row: i64) -> Result<()> {
        self.run("UPDATE events SET payload = NULL WHERE id = ?1", [row])?;
        Ok(())
    }

    /// Restores the payload of an event that is no longer in any transcript.
    pub fn restore_event(&self, key: &str, payload: &str) -> Result<()> {
        self.run(
            "UPDATE events SET payload = ?2 WHERE key = ?1 AND payload IS NULL",
            (key, payload),
        )?;
        Ok(())
    }

    /// Returns the passages of a session that only hooks have reported so far, with their turns, in
    /// order.
    pub fn hook_passages(&self, session: i64, source: i64) -> Result<Vec<(Id, u32)>> {
        self.select(
            "SELECT id, turn FROM passages WHERE session = ?1 AND source = ?2 ORDER BY ordinal",
            [session, source],
            |row| Ok((Id::from_bytes(row.get(0)?), row.get(1)?)),
        )
    }

    /// Deletes the passages of a session that only hooks have reported.
    pub fn remove_hook_passages(&self, session: i64, source: i64) -> Result<()> {
        self.mark_stale(session)?;
        // By the session, which is indexed.
        self.remove_passages("session = ?1 AND source = ?2", [session, source])
    }

    /// Records that a session's events were compared with its transcripts.
    pub fn settled(&self, session: i64) -> Result<()> {
        self.run("UPDATE sessions SET unsettled = 0 WHERE id = ?1", [session])?;
        Ok(())
    }

    /// Writes an injection into a session, once.
    pub fn put_injection(
        &self,
        key: &str,
        session: i64,
        at: Timestamp,
        injection: &Injection,
    ) -> Result<()> {
        let written = self.run(
            "INSERT OR IGNORE INTO injections (key, session, at, occasion, tokens)
             VALUES (?1, ?2, ?3, ?4, ?5)",
            (
                key,
                session,
                at.as_millisecond(),
                &injection.occasion,
                injection.tokens.cast_signed(),
            ),
        )?;
        if written == 0 {
            return Ok(());
        }
        let row = self.transaction.last_insert_rowid();
        for (place, memory) in injection.memories.iter().enumerate() {
            self.run(
                "INSERT INTO injected_memories (injection, place, memory, reason)
                 VALUES (?1, ?2, ?3, ?4)",
                (row, place as i64, memory.id.as_bytes(), &memory.reason),
            )?;
        }
        Ok(())
    }

    /// Deletes the records of hooks about a session.
    pub(super) fn remove_events_of(&self, session: i64) -> Result<()> {
        for sql in [
            "DELETE FROM injected_memories
             WHERE injection IN (SELECT id FROM injections WHERE session = ?1)",
            "DELETE FROM injections WHERE session = ?1",
            "DELETE FROM events WHERE session = ?1",
        ] {
            self.transaction.execute(sql, [session])?;
        }
        Ok(())
    }

    /// Records the position up to which the events of the journal were ingested, together with them.
    pub fn set_events_cursor(&self, cursor: &str) -> Result<()> {
        self.run("INSERT OR REPLACE INTO meta (key, value) VALUES ('events', ?1)", [cursor])?;
        Ok(())
    }
}
