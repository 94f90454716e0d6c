//! Writing compactions of contexts, and snapshots of what sessions held then.

use thru_core::{Boundary, CompactSummary, Snapshot, Timestamp};
use thru_redact::Clean;

use super::{Batch, time};
use crate::error::Result;
use crate::statements::Statements;

/// A hook's report of a compaction: that it begins, or that it has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompactionEvent {
    /// The key of the journal's record.
    pub key: String,
    /// The name of the event, the same for all agents.
    pub event: String,
    /// Its time.
    pub at: Timestamp,
    /// The trigger.
    pub trigger: Option<String>,
    /// The user's instructions for the summary.
    pub asked: Option<String>,
    /// The agent's own summary.
    pub summary: Option<String>,
}

/// The combined reports of hooks about one compaction.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReportedCompaction {
    /// The key of the record made before it, else of the one made after it.
    pub event: String,
    /// Its time.
    pub at: Timestamp,
    /// The trigger.
    pub trigger: Option<String>,
    /// The user's instructions for the summary.
    pub asked: Option<String>,
    /// The agent's own summary.
    pub summary: Option<String>,
}

impl Batch<'_> {
    /// Writes the compactions in a transcript, and the summaries that the agent put in place of the
    /// context, each once. Returns true if any of it may be new.
    pub(super) fn put_compactions(
        &self,
        source: i64,
        session: i64,
        boundaries: &[Boundary],
        summaries: &[CompactSummary],
    ) -> Result<bool> {
        for boundary in boundaries {
            // If two files report it, the choice between them does not depend on their order.
            self.run(
                "INSERT INTO compactions
                     (session, source, record, ordinal, at, cause, before, after)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
                 ON CONFLICT (session, record) DO UPDATE SET
                     source = excluded.source, ordinal = excluded.ordinal
                 WHERE (SELECT entry FROM sources WHERE id = excluded.source)
                     < (SELECT entry FROM sources WHERE id = compactions.source)",
                rusqlite::params![
                    session,
                    source,
                    boundary.record.as_str(),
                    boundary.ordinal,
                    boundary.at.unwrap_or_default().as_millisecond(),
                    boundary.trigger,
                    boundary.before.map(u64::cast_signed),
                    boundary.after.map(u64::cast_signed),
                ],
            )?;
        }
        for summary in summaries {
            self.run(
                "UPDATE compactions SET summary = ?3
                 WHERE session = ?1 AND record = ?2 AND summary IS NULL",
                (session, summary.boundary.as_str(), &summary.text),
            )?;
        }
        Ok(!boundaries.is_empty() || !summaries.is_empty())
    }

    /// Returns the reports of hooks about the compactions of a session, in order.
    pub fn compaction_events(&self, session: i64) -> Result<Vec<CompactionEvent>> {
        self.select(
            "SELECT key, event, at, payload ->> '$.trigger', payload ->> '$.custom_instructions',
                    payload ->> '$.compact_summary'
             FROM events WHERE session = ?1 AND event IN ('PreCompact', 'PostCompact')
             ORDER BY at, key",
            [session],
            |row| {
                let text = |column| -> rusqlite::Result<Option<String>> {
                    Ok(row.get::<_, Option<String>>(column)?.filter(|text| !text.trim().is_empty()))
                };
                Ok(CompactionEvent {
                    key: row.get(0)?,
                    event: row.get(1)?,
                    at: time(row.get(2)?),
                    trigger: text(3)?,
                    asked: text(4)?,
                    summary: text(5)?,
                })
            },
        )
    }

    /// Returns the compactions in the transcripts of a session, by their records, in order.
    pub fn boundaries(&self, session: i64, hooks: i64) -> Result<Vec<(String, Timestamp)>> {
        self.select(
            "SELECT record, at FROM compactions WHERE session = ?1 AND source <> ?2
             ORDER BY at, ordinal, record",
            [session, hooks],
            |row| Ok((row.get(0)?, time(row.get(1)?))),
        )
    }

    /// Deletes the reports of hooks about the compactions of a session, to be written again.
    pub fn untell_compactions(&self, session: i64, hooks: i64) -> Result<()> {
        for (sql, with_source) in [
            ("DELETE FROM compactions WHERE session = ?1 AND source = ?2", true),
            (
                "UPDATE compactions SET event = NULL, asked = NULL, told = NULL WHERE session = ?1",
                false,
            ),
        ] {
            let mut statement = self.transaction.prepare_cached(sql)?;
            match with_source {
                true => statement.execute([session, hooks])?,
                false => statement.execute([session])?,
            };
        }
        Ok(())
    }

    /// Records the reports of hooks about a compaction: one at a boundary in a transcript, or one that
    /// is in no transcript.
    pub fn put_reported_compaction(
        &self,
        session: i64,
        hooks: i64,
        boundary: Option<&str>,
        told: &ReportedCompaction,
    ) -> Result<()> {
        let of_hooks = (&told.event, &told.asked, &told.summary);
        match boundary {
            Some(record) => self.run(
                "UPDATE compactions SET event = ?3, asked = ?4, told = ?5
                 WHERE session = ?1 AND record = ?2",
                (session, record, of_hooks.0, of_hooks.1, of_hooks.2),
            )?,
            None => self.run(
                "INSERT OR IGNORE INTO compactions
                     (session, source, record, ordinal, at, cause, event, asked, told)
                 VALUES (?1, ?2, ?3, 0, ?6, ?7, ?3, ?4, ?5)",
                (
                    session,
                    hooks,
                    of_hooks.0,
                    of_hooks.1,
                    of_hooks.2,
                    told.at.as_millisecond(),
                    told.trigger.as_deref().unwrap_or("unknown"),
                ),
            )?,
        };
        Ok(())
    }

    /// Writes a snapshot of a session at a compaction, once.
    pub fn put_snapshot(
        &self,
        key: &str,
        session: i64,
        snapshot: &Clean<Snapshot>,
    ) -> Result<bool> {
        let snapshot = snapshot.get();
        let written = self.run(
            "INSERT OR IGNORE INTO snapshots (key, session, event, at, body)
             VALUES (?1, ?2, ?3, ?4, ?5)",
            (
                key,
                session,
                &snapshot.event,
                snapshot.at.as_millisecond(),
                serde_json::to_string(snapshot).unwrap_or_default(),
            ),
        )?;
        Ok(written > 0)
    }

    /// Deletes all records of the compactions of a session.
    pub(super) fn remove_compactions_of(&self, session: i64) -> Result<()> {
        for sql in [
            "DELETE FROM compactions WHERE session = ?1",
            "DELETE FROM snapshots WHERE session = ?1",
        ] {
            self.transaction.execute(sql, [session])?;
        }
        Ok(())
    }
}
