//! Compactions of contexts, and snapshots of what sessions held then.

use rusqlite::{OptionalExtension, Row};
use thru_core::{Snapshot, Timestamp};

use super::passages::time;
use crate::error::Result;
use crate::statements::Statements;
use crate::store::Store;

/// A snapshot belongs to the compaction that it was made for. Where only the time connects the two, it
/// may be this many milliseconds late.
const LATE_MS: i64 = 2_000;

/// A compaction of the context of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompactionRow {
    /// Its row.
    pub row: i64,
    /// The row of the session.
    pub session: i64,
    /// The id of the record that reports it: the boundary in the transcript, else the key of the hook's
    /// record.
    pub record: String,
    /// The row of the transcript that reports it, and the number of passages before it; `None` if it is
    /// not in a transcript.
    pub place: Option<(i64, u32)>,
    /// Its time.
    pub at: Option<Timestamp>,
    /// The trigger: `manual`, `auto`, or any other value that the agent reported.
    pub trigger: String,
    /// The size of the context in tokens before …
    pub before: Option<u64>,
    /// … and after.
    pub after: Option<u64>,
    /// The key of the record that a hook made before it.
    pub event: Option<String>,
    /// The user's instructions for the summary.
    pub asked: Option<String>,
    /// The agent's own summary.
    pub summary: Option<String>,
}

/// A snapshot of a session at a compaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SnapshotRow {
    /// The key of the journal's record.
    pub key: String,
    /// The row of the session.
    pub session: i64,
    /// The snapshot.
    pub snapshot: Snapshot,
}

const COMPACTION: &str =
    "SELECT c.id, c.session, c.record, CASE f.kind WHEN 'hooks' THEN NULL ELSE c.source END, c.at,
            c.cause, c.before, c.after, c.event, c.asked, coalesce(c.summary, c.told), c.ordinal
     FROM compactions c JOIN sources f ON f.id = c.source";

impl Store {
    /// Returns the compactions of a session in order.
    pub fn compactions(&self, session: i64) -> Result<Vec<CompactionRow>> {
        let sql = format!("{COMPACTION} WHERE c.session = ?1 ORDER BY c.at, c.ordinal, c.record");
        self.select(&sql, [session], compaction)
    }

    /// Returns the compactions since a time that have no snapshot, in order.
    pub fn compactions_without_snapshot(&self, since: Timestamp) -> Result<Vec<CompactionRow>> {
        let sql = format!(
            "{COMPACTION} WHERE c.at >= ?1 AND NOT EXISTS (
                 SELECT 1 FROM snapshots n WHERE n.session = c.session
                 AND (n.event IN (c.event, c.record) OR n.at <= c.at + {LATE_MS} AND n.at > coalesce(
                     (SELECT max(p.at) FROM compactions p WHERE p.session = c.session AND p.at < c.at),
                     0)))
             ORDER BY c.at, c.session, c.ordinal"
        );
        self.select(&sql, [since.as_millisecond()], compaction)
    }

    /// Returns the snapshot of a session at a compaction, if there is one.
    pub fn snapshot_of(&self, compaction: &CompactionRow) -> Result<Option<SnapshotRow>> {
        let sql = format!(
            "SELECT key, session, body FROM snapshots n WHERE session = ?1
             AND (event IN (?2, ?3) OR at <= ?4 + {LATE_MS} AND at > coalesce(
                 (SELECT max(p.at) FROM compactions p WHERE p.session = ?1 AND p.at < ?4), 0))
             ORDER BY event IN (?2, ?3) DESC, at DESC, key LIMIT 1"
        );
        let at = compaction.at.unwrap_or_default().as_millisecond();
        let (event, record) = (compaction.event.as_deref(), compaction.record.as_str());
        self.connection
            .prepare_cached(&sql)?
            .query_row((compaction.session, event, record, at), snapshot)
            .optional()
            .map(Option::flatten)
            .map_err(Into::into)
    }

    /// Returns the number of prompts, texts and tool calls of a session before a position in its
    /// transcript, or before a time.
    pub fn messages_before(
        &self,
        session: i64,
        place: Option<(i64, u32)>,
        at: Timestamp,
    ) -> Result<u64> {
        let counted: i64 = match place {
            Some((source, ordinal)) => self.one(
                "SELECT count(*) FROM passages
                 WHERE session = ?1 AND source = ?2 AND ordinal < ?3",
                (session, source, ordinal),
                |row| row.get(0),
            )?,
            None => self.one(
                "SELECT count(*) FROM passages WHERE session = ?1 AND (at IS NULL OR at <= ?2)",
                (session, at.as_millisecond()),
                |row| row.get(0),
            )?,
        };
        Ok(counted.cast_unsigned())
    }

    /// Returns the snapshot of a session at its last compaction.
    pub fn newest_snapshot(&self, session: i64) -> Result<Option<SnapshotRow>> {
        Ok(self.snapshots_where("session = ?1 ORDER BY at DESC, key LIMIT 1", session)?.pop())
    }

    /// Returns all snapshots of a session, earliest first.
    pub fn snapshots(&self, session: i64) -> Result<Vec<SnapshotRow>> {
        self.snapshots_where("session = ?1 ORDER BY at, key", session)
    }

    fn snapshots_where(&self, which: &str, session: i64) -> Result<Vec<SnapshotRow>> {
        let sql = format!("SELECT key, session, body FROM snapshots WHERE {which}");
        let rows: Vec<Option<SnapshotRow>> = self.select(&sql, [session], snapshot)?;
        Ok(rows.into_iter().flatten().collect())
    }
}

fn compaction(row: &Row<'_>) -> rusqlite::Result<CompactionRow> {
    let tokens = |column| -> rusqlite::Result<Option<u64>> {
        Ok(row.get::<_, Option<i64>>(column)?.map(i64::cast_unsigned))
    };
    let ordinal: u32 = row.get(11)?;
    Ok(CompactionRow {
        row: row.get(0)?,
        session: row.get(1)?,
        record: row.get(2)?,
        place: row.get::<_, Option<i64>>(3)?.map(|source| (source, ordinal)),
        at: time(row, 4)?,
        trigger: row.get(5)?,
        before: tokens(6)?,
        after: tokens(7)?,
        event: row.get(8)?,
        asked: row.get(9)?,
        summary: row.get(10)?,
    })
}

/// Reads a snapshot; `None` if a newer version wrote it in a different form.
fn snapshot(row: &Row<'_>) -> rusqlite::Result<Option<SnapshotRow>> {
    let body: String = row.get(2)?;
    let (key, session) = (row.get(0)?, row.get(1)?);
    let snapshot = serde_json::from_str(&body).ok();
    Ok(snapshot.map(|snapshot| SnapshotRow { key, session, snapshot }))
}
