//! Compactions of sessions, from transcripts and hooks, and the snapshots taken before them.
//!
//! A transcript marks a compaction by a boundary, hooks by an event before it and one after it. As with
//! passages, the hooks' events are merged with the transcripts anew whenever either grows, so that the result
//! does not depend on which came first (invariants I-3 and I-4). A snapshot is a record of the journal: it is
//! made once, and a rebuild finds it there.

use std::time::Duration;

use thru_core::{Id, SNAPSHOT_RECORD, SessionKey, Snapshot, Timestamp};
use thru_journal::journal::{Durability, Entry, Stored};
use thru_redact::{Clean, Report};
use thru_store::{Batch, CompactionEvent, CompactionRow, ReportedCompaction, Store};

use crate::snapshots::SnapshotEnd;
use crate::{Intake, IntakeLock, Result};

/// The event before a compaction, as agents' hooks name it.
const BEFORE: &str = "PreCompact";
/// The clock skew allowed between a hook and a transcript.
const SLACK: Duration = Duration::from_secs(2);

/// The moment that a snapshot is taken for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompactionMoment {
    /// The session.
    pub session: SessionKey,
    /// The key of the hook's record, or the agent's id of the boundary.
    pub event: String,
    /// The time of the compaction.
    pub at: Timestamp,
    /// The trigger of the compaction, as the agent names it.
    pub trigger: String,
    /// Instructions that the user gave the compaction.
    pub custom_instructions: Option<String>,
    /// The root of the session's project.
    pub directory: Option<String>,
    /// The position in the transcript, if known: the row of the file, and the number of its passages that come
    /// before.
    pub place: Option<(i64, u32)>,
}

impl Intake {
    /// Merges the compactions that hooks recorded for a session with those in its transcripts.
    pub(crate) fn settle_compactions(
        &self,
        batch: &Batch<'_>,
        session: i64,
        hooks: i64,
    ) -> Result<()> {
        let reported = pair_events(batch.compaction_events(session)?);
        batch.untell_compactions(session, hooks)?;
        let boundaries = batch.boundaries(session, hooks)?;
        for (compaction, boundary) in match_boundaries(reported, &boundaries) {
            batch.put_reported_compaction(session, hooks, boundary, &compaction.reported)?;
        }
        Ok(())
    }

    /// Takes a snapshot of a session at a moment, as a record of the journal and a row of the store, or returns
    /// the one that was taken for that moment before. Returns nothing if the store does not know the session.
    ///
    /// # Errors
    /// Fails if the journal or the store cannot be read or written.
    pub fn take_snapshot(
        &self,
        _lock: &IntakeLock,
        moment: CompactionMoment,
    ) -> Result<Option<Clean<Snapshot>>> {
        let mut store = self.open_store(&mut |_, _, _| {})?;
        let Some(row) = store.session_by_key(&moment.session)? else { return Ok(None) };
        let made = store.snapshots(row)?;
        if let Some(known) = made.into_iter().find(|made| made.snapshot.event == moment.event) {
            return Ok(Some(self.kept_snapshot(&store, row, known.snapshot)?));
        }
        // The instructions come from outside.
        let Some(clean) = self
            .snapshot_of_record(&store, row, moment)?
            .map(|snapshot| self.cleaned_snapshot(snapshot))
        else {
            return Ok(None);
        };
        let snapshot = clean.get();
        let key = key(&snapshot.session, &snapshot.event);
        let entry = Entry {
            key: key.clone(),
            at: snapshot.at,
            kind: SNAPSHOT_RECORD.to_owned(),
            body: clean.derive(|snapshot| serde_json::to_value(snapshot).unwrap_or_default()),
        };
        self.journal.append(&entry, Durability::Synced)?;
        let batch = store.begin()?;
        if batch.is_forgotten(&snapshot.session)? {
            return Ok(None);
        }
        batch.put_snapshot(&key, row, &clean)?;
        self.queue_compacted(&batch, row, snapshot.at)?;
        batch.commit()?;
        Ok(Some(clean))
    }

    /// Computes the snapshot of a session at a moment without keeping it. Returns nothing if it would be empty.
    ///
    /// # Errors
    /// Fails if the store cannot be read.
    pub fn snapshot(
        &self,
        store: &Store,
        session: i64,
        moment: CompactionMoment,
    ) -> Result<Option<Clean<Snapshot>>> {
        let snapshot = self.snapshot_of_record(store, session, moment)?;
        let snapshot = snapshot.map(|snapshot| self.overlay_snapshot(store, session, snapshot));
        Ok(snapshot.transpose()?.map(|snapshot| self.cleaned_snapshot(snapshot)))
    }

    /// Computes a snapshot from the record of the session, without the answers of models.
    fn snapshot_of_record(
        &self,
        store: &Store,
        session: i64,
        moment: CompactionMoment,
    ) -> Result<Option<Snapshot>> {
        let messages = store.messages_before(session, moment.place, moment.at)?;
        if messages == 0 {
            return Ok(None);
        }
        let end = match moment.place {
            Some((source, ordinal)) => SnapshotEnd::Position { source, ordinal },
            None => SnapshotEnd::Time(moment.at),
        };
        let content = self.snapshot_content(store, session, end)?;
        let asked = moment.custom_instructions.clone();
        let content = content.map(|mut content| {
            content.favour(asked.as_deref().unwrap_or_default());
            content
        });
        let snapshot = content.map(|content| Snapshot {
            session: moment.session,
            event: moment.event,
            at: moment.at,
            trigger: moment.trigger,
            custom_instructions: moment.custom_instructions,
            directory: moment.directory,
            messages,
            content,
        });
        Ok(Some(snapshot.into_inner()))
    }

    /// Cleans a kept snapshot by today's rules of redaction, with what a model has told of its session since. It
    /// is computed anew if people have since decided about memories of its session, so that text they had
    /// forgotten or overwritten does not come back.
    ///
    /// # Errors
    /// Fails if the store cannot be read.
    pub fn kept_snapshot(
        &self,
        store: &Store,
        session: i64,
        kept: Snapshot,
    ) -> Result<Clean<Snapshot>> {
        if store.is_decided_about(&kept.session)? {
            let moment = CompactionMoment {
                session: kept.session.clone(),
                event: kept.event.clone(),
                at: kept.at,
                trigger: kept.trigger.clone(),
                custom_instructions: kept.custom_instructions.clone(),
                directory: kept.directory.clone(),
                place: None,
            };
            if let Some(anew) = self.snapshot(store, session, moment)? {
                return Ok(anew);
            }
        }
        Ok(self.cleaned_snapshot(self.overlay_snapshot(store, session, kept)?))
    }

    fn cleaned_snapshot(&self, snapshot: Snapshot) -> Clean<Snapshot> {
        self.redactor.clean_texts(snapshot, Snapshot::texts, &mut Report::default())
    }

    /// Lists the compactions since a time that have no snapshot.
    ///
    /// # Errors
    /// Fails if the store cannot be read.
    pub fn moments_without_snapshot(&self, since: Timestamp) -> Result<Vec<CompactionMoment>> {
        let Some(store) = Store::open_if_there(&self.layout)? else { return Ok(Vec::new()) };
        if store.schema_version()? != thru_store::SCHEMA_VERSION {
            return Ok(Vec::new());
        }
        let missing = store.compactions_without_snapshot(since)?;
        let moments =
            missing.iter().map(|compaction| CompactionMoment::from_row(&store, compaction));
        Ok(moments.collect::<Result<Vec<_>>>()?.into_iter().flatten().collect())
    }

    /// Writes a snapshot of the journal to the store.
    pub(crate) fn put_snapshot(&self, batch: &Batch<'_>, stored: Stored) -> Result<()> {
        // It was cleaned when it was recorded; the rules may be newer.
        let body = self.redactor.clean_value(stored.body, &mut Report::default());
        // A form that only a newer version understands is left to that version.
        let Ok(snapshot) = serde_json::from_value::<Snapshot>(body.get().clone()) else {
            return Ok(());
        };
        if !batch.is_forgotten(&snapshot.session)? {
            let session = batch.session(&snapshot.session)?;
            batch.put_snapshot(&stored.key, session, &body.derive(|_| snapshot))?;
        }
        Ok(())
    }
}

impl CompactionMoment {
    /// Returns the moment of a compaction, or nothing if its session is gone.
    ///
    /// # Errors
    /// Fails if the store cannot be read.
    pub fn from_row(store: &Store, compaction: &CompactionRow) -> Result<Option<Self>> {
        let Some(session) = store.session_key(compaction.session)? else { return Ok(None) };
        let mut places = store.places_of_sessions(&[compaction.session])?;
        let place = places.remove(&compaction.session).unwrap_or_default();
        Ok(Some(Self {
            session,
            event: compaction.event.clone().unwrap_or_else(|| compaction.record.clone()),
            at: compaction.at.unwrap_or_default(),
            trigger: compaction.trigger.clone(),
            custom_instructions: compaction.asked.clone(),
            directory: place.directory,
            place: compaction.place,
        }))
    }
}

/// The key of the record of a session's snapshot at an event.
fn key(session: &SessionKey, event: &str) -> String {
    let (agent, id) = (session.agent.as_str().as_bytes(), session.id.as_str().as_bytes());
    Id::derive(&[b"snapshot", agent, id, event.as_bytes()]).to_string()
}

/// A compaction as hooks recorded it.
struct HookCompaction {
    reported: ReportedCompaction,
    /// The time of the event that ended it, if hooks recorded one.
    ended: Option<Timestamp>,
    began: Option<Timestamp>,
}

/// Pairs events into compactions: each begins with an event before it, if there is one, and ends with the event
/// after it.
fn pair_events(events: Vec<CompactionEvent>) -> Vec<HookCompaction> {
    let mut all: Vec<HookCompaction> = Vec::new();
    for event in events {
        let open = all.last_mut().filter(|last| last.ended.is_none());
        match (event.event == BEFORE, open) {
            (false, Some(last)) => {
                last.ended = Some(event.at);
                last.reported.summary = event.summary;
            }
            (is_before, _) => all.push(HookCompaction {
                ended: (!is_before).then_some(event.at),
                began: is_before.then_some(event.at),
                reported: ReportedCompaction {
                    event: event.key,
                    at: event.at,
                    trigger: event.trigger,
                    asked: event.asked,
                    summary: event.summary,
                },
            }),
        }
    }
    all
}

/// Matches each compaction with a boundary of the transcript: the first free one between its beginning and its
/// end, or the beginning of the next.
fn match_boundaries(
    reported: Vec<HookCompaction>,
    boundaries: &[(String, Timestamp)],
) -> Vec<(HookCompaction, Option<&str>)> {
    let ends: Vec<Timestamp> = reported
        .iter()
        .enumerate()
        .map(|(number, one)| {
            let next = reported.get(number + 1).map(|next| next.began.unwrap_or(next.reported.at));
            one.ended.map(|ended| ended + SLACK).or(next).unwrap_or(Timestamp::MAX)
        })
        .collect();
    let mut free = boundaries.iter().peekable();
    reported
        .into_iter()
        .zip(ends)
        .map(|(one, end)| {
            let begin = one.began.map(|began| began - SLACK);
            while free.next_if(|(_, at)| begin.is_some_and(|begin| *at < begin)).is_some() {}
            let mut found = free.next_if(|(_, at)| *at <= end);
            // Without a recorded beginning, it is the last boundary before its end.
            while begin.is_none()
                && let Some(later) = free.next_if(|(_, at)| *at <= end)
            {
                found = Some(later);
            }
            (one, found.map(|(record, _)| record.as_str()))
        })
        .collect()
}
