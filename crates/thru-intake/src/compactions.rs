//! Compactions: which there were, whoever told of them, and what their sessions held then.
//!
//! A transcript tells of a compaction by a boundary, hooks by an event before it and one after it. As
//! with passages, what hooks told is laid over what transcripts tell anew whenever either grows, so that
//! the answer does not depend on what came first (invariants I-3 and I-4). What a session held is a
//! record of the journal: it is made once, and a rebuild finds it there.

use std::time::Duration;

use thru_core::{Id, SNAPSHOT_RECORD, SessionKey, Snapshot, Timestamp};
use thru_journal::journal::{Durability, Entry, Stored};
use thru_redact::{Clean, Report};
use thru_store::{Batch, CompactionEvent, CompactionRow, Store, ToldCompaction};

use crate::snapshots::Before;
use crate::{Intake, IntakeLock, Result};

/// The event before a compaction, as agents' hooks name it.
const BEFORE: &str = "PreCompact";
/// How far the clocks of a hook and of a transcript may be apart.
const SLACK: Duration = Duration::from_secs(2);

/// What a snapshot is made for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moment {
    /// The session.
    pub session: SessionKey,
    /// The key of the hook's record, or the agent's id of the boundary.
    pub event: String,
    /// When the context was compacted.
    pub at: Timestamp,
    /// What for.
    pub trigger: String,
    /// What the user asked the compaction to keep.
    pub custom_instructions: Option<String>,
    /// The root of the project that the session works in.
    pub directory: Option<String>,
    /// Where in the transcript it was, if that is known: the row of the file, and how many of its passages
    /// come before.
    pub place: Option<(i64, u32)>,
}

impl Intake {
    /// Lays what hooks told of the compactions of a session over what its transcripts tell of them.
    pub(crate) fn settle_compactions(
        &self,
        batch: &Batch<'_>,
        session: i64,
        hooks: i64,
    ) -> Result<()> {
        let told = told(batch.compaction_events(session)?);
        batch.untell_compactions(session, hooks)?;
        let boundaries = batch.boundaries(session, hooks)?;
        for (compaction, boundary) in matched(told, &boundaries) {
            batch.tell_compaction(session, hooks, boundary, &compaction.told)?;
        }
        Ok(())
    }

    /// What a session held at a moment, as a record of the journal and a row of the store; nothing where
    /// the store knows nothing of the session. Made before, it is what was made then.
    ///
    /// # Errors
    /// Where journal or store cannot be read or written.
    pub fn take_snapshot(
        &self,
        _lock: &IntakeLock,
        moment: Moment,
    ) -> Result<Option<Clean<Snapshot>>> {
        let mut store = self.open_store(&mut |_, _, _| {})?;
        let Some(row) = store.session_by_key(&moment.session)? else { return Ok(None) };
        let made = store.snapshots(row)?;
        if let Some(known) = made.into_iter().find(|made| made.snapshot.event == moment.event) {
            return Ok(Some(self.kept_snapshot(&store, row, known.snapshot)?));
        }
        let Some(clean) = self.snapshot(&store, row, moment)? else { return Ok(None) };
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
        batch.commit()?;
        Ok(Some(clean))
    }

    /// What a session held at a moment, computed from what the store knows of it and kept nowhere;
    /// nothing where that is nothing.
    ///
    /// # Errors
    /// Where the store cannot be read.
    pub fn snapshot(
        &self,
        store: &Store,
        session: i64,
        moment: Moment,
    ) -> Result<Option<Clean<Snapshot>>> {
        let messages = store.messages_before(session, moment.place, moment.at)?;
        if messages == 0 {
            return Ok(None);
        }
        let before = match moment.place {
            Some((source, ordinal)) => Before::Place { source, ordinal },
            None => Before::Time(moment.at),
        };
        let content = self.snapshot_content(store, session, before)?;
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
        // What was asked comes from elsewhere.
        Ok(Some(self.cleaned_snapshot(snapshot.into_inner())))
    }

    /// A snapshot that was kept, by today's rules of redaction; made anew where people decided about
    /// memories of its session since: what they had forgotten, or wrote over, is not told again.
    ///
    /// # Errors
    /// Where the store cannot be read.
    pub fn kept_snapshot(
        &self,
        store: &Store,
        session: i64,
        kept: Snapshot,
    ) -> Result<Clean<Snapshot>> {
        if store.is_decided_about(&kept.session)? {
            let moment = Moment {
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
        Ok(self.cleaned_snapshot(kept))
    }

    fn cleaned_snapshot(&self, snapshot: Snapshot) -> Clean<Snapshot> {
        self.redactor.clean_texts(snapshot, Snapshot::texts, &mut Report::default())
    }

    /// The compactions since a time of which nobody noted what the session held.
    ///
    /// # Errors
    /// Where the store cannot be read.
    pub fn moments_without_snapshot(&self, since: Timestamp) -> Result<Vec<Moment>> {
        let Some(store) = Store::open_if_there(&self.layout)? else { return Ok(Vec::new()) };
        if store.schema_version()? != thru_store::SCHEMA_VERSION {
            return Ok(Vec::new());
        }
        let missing = store.compactions_without_snapshot(since)?;
        let moments = missing.iter().map(|compaction| Moment::of(&store, compaction));
        Ok(moments.collect::<Result<Vec<_>>>()?.into_iter().flatten().collect())
    }

    /// Brings a snapshot of the journal into the store.
    pub(crate) fn put_snapshot(&self, batch: &Batch<'_>, stored: Stored) -> Result<()> {
        // It was cleaned when it was recorded; the rules may be newer.
        let body = self.redactor.clean_value(stored.body, &mut Report::default());
        // What a newer version wrote otherwise is for that version.
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

impl Moment {
    /// The moment of a compaction; nothing where its session is gone.
    ///
    /// # Errors
    /// Where the store cannot be read.
    pub fn of(store: &Store, compaction: &CompactionRow) -> Result<Option<Self>> {
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

/// The key of the record of what a session held at an event.
fn key(session: &SessionKey, event: &str) -> String {
    let (agent, id) = (session.agent.as_str().as_bytes(), session.id.as_str().as_bytes());
    Id::derive(&[b"snapshot", agent, id, event.as_bytes()]).to_string()
}

/// A compaction as hooks told of it.
struct Heard {
    told: ToldCompaction,
    /// Whether it came to its end, as far as hooks know, and when.
    ended: Option<Timestamp>,
    began: Option<Timestamp>,
}

/// The compactions that these events tell of: each begins with the event before it, where there is one,
/// and ends with the event after it.
fn told(events: Vec<CompactionEvent>) -> Vec<Heard> {
    let mut all: Vec<Heard> = Vec::new();
    for event in events {
        let open = all.last_mut().filter(|last| last.ended.is_none());
        match (event.event == BEFORE, open) {
            (false, Some(last)) => {
                last.ended = Some(event.at);
                last.told.summary = event.summary;
            }
            (is_before, _) => all.push(Heard {
                ended: (!is_before).then_some(event.at),
                began: is_before.then_some(event.at),
                told: ToldCompaction {
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

/// Which boundary of a transcript each of the compactions stands at: the first one that nobody else took
/// between its beginning and its end, or the beginning of the next.
fn matched(heard: Vec<Heard>, boundaries: &[(String, Timestamp)]) -> Vec<(Heard, Option<&str>)> {
    let ends: Vec<Timestamp> = heard
        .iter()
        .enumerate()
        .map(|(number, one)| {
            let next = heard.get(number + 1).map(|next| next.began.unwrap_or(next.told.at));
            one.ended.map(|ended| ended + SLACK).or(next).unwrap_or(Timestamp::MAX)
        })
        .collect();
    let mut free = boundaries.iter().peekable();
    heard
        .into_iter()
        .zip(ends)
        .map(|(one, end)| {
            let begin = one.began.map(|began| began - SLACK);
            while free.next_if(|(_, at)| begin.is_some_and(|begin| *at < begin)).is_some() {}
            let mut found = free.next_if(|(_, at)| *at <= end);
            // Where nobody heard it begin, it is the last one before its end.
            while begin.is_none()
                && let Some(later) = free.next_if(|(_, at)| *at <= end)
            {
                found = Some(later);
            }
            (one, found.map(|(record, _)| record.as_str()))
        })
        .collect()
}
