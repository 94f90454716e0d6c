//! Events that hooks recorded: from the journal into the store, merged there with transcripts.
//!
//! An event that may be a passage (a prompt, a tool call, the agent's last words) is one for as long as no
//! transcript has it: one occurrence is one row, whichever way it came. Which events those are is computed anew
//! whenever a session's events or transcripts grow, from these two alone, so that the result does not depend on
//! which came first (invariants I-3 and I-4).

use std::collections::hash_map::Entry;
use std::collections::{HashMap, VecDeque};
use std::path::Path;
use std::sync::atomic::AtomicBool;

use serde_json::Value;
use thru_agents::hooks::{self, Event, Payload};
use thru_agents::{Discovery, agents};
use thru_core::{
    CapturedEvent, HOOK_RECORD, INJECTED_RECORD, Id, Injection, Layout, Passage, PassageKind,
    ReadBatch, SNAPSHOT_RECORD, SessionFacts, SessionKey, SourceKind, Timestamp, head, one_line,
};
use thru_journal::journal::{Cursor, Item, Journal, Stored};
use thru_redact::{Clean, Report};
use thru_store::{Batch, NewEvent, OpenEvent, Store, TranscriptPassage};

use crate::decisions::cursor;
use crate::distil::DistilScope;
use crate::sessions::{Indexer, put_close};
use crate::stages::Stages;
use crate::write::place_session;
use crate::{Intake, IntakeLock, Operation, Result};

/// A commit holds at most this many records.
const COMMIT_RECORDS: usize = 5_000;
/// Passages kept in memory between applying events and comparing them; the rest are made again.
const HANDED_ON: usize = 5_000;

/// Characters of the name of a project.
const PROJECT_NAME: usize = 100;

/// Bytes kept of the first line of a prompt.
const FIRST_LINE: usize = 200;

/// The rows of a session that events belong to.
struct SessionRows {
    session: i64,
    source: i64,
    /// The path of its transcript, from the last event.
    transcript: String,
}

/// The outcome of applying events.
#[derive(Default)]
pub(crate) struct Applied {
    /// Number of new events.
    new: u64,
    /// The passages made of some of them, by the keys of their records.
    passages: HashMap<String, Clean<Passage>>,
}

impl Intake {
    /// Brings the store up to the events of the journal.
    pub(crate) fn apply_events(&self, store: &mut Store) -> Result<Applied> {
        let cursor = cursor(store.events_cursor()?);
        if self.journal.behind(&cursor)? == 0 {
            return Ok(Applied::default());
        }
        let mut stream = self.journal.stream(cursor.clone())?;
        let mut placed = store.directories()?;
        let mut applied = Applied::default();
        loop {
            let batch = store.begin()?;
            let mut records = 0;
            let mut facts: HashMap<SessionKey, SessionFacts> = HashMap::new();
            let mut rows: HashMap<SessionKey, SessionRows> = HashMap::new();
            for item in stream.by_ref().take(COMMIT_RECORDS) {
                records += 1;
                // Lines that are no records are reported by `verify`.
                let Item::Entry(stored) = item? else { continue };
                match stored.kind.as_str() {
                    HOOK_RECORD => {
                        let put =
                            self.put_event(&batch, stored, &mut rows, &mut applied.passages)?;
                        if let Some((session, of_event)) = put {
                            applied.new += 1;
                            facts.entry(session).or_default().merge(of_event);
                        }
                    }
                    INJECTED_RECORD => self.put_injection(&batch, stored)?,
                    SNAPSHOT_RECORD => self.put_snapshot(&batch, stored)?,
                    // Among the events of hooks, so that they keep their order.
                    kind @ "session-closed" => {
                        if let Some(Operation::SessionClosed { session, reason }) =
                            Operation::read(kind, &stored.body)
                        {
                            put_close(&batch, &stored.key, stored.at, &session, &reason)?;
                        }
                    }
                    _ => {}
                }
            }
            if *stream.cursor() == cursor && records == 0 {
                return Ok(applied);
            }
            for (key, facts) in facts {
                let Some(known) = rows.get(&key) else { continue };
                let facts = batch.merge_facts(known.session, known.source, facts)?;
                place_session(self, &batch, known.session, &facts, &mut placed)?;
            }
            let moved = serde_json::to_string(stream.cursor()).unwrap_or_default();
            batch.set_events_cursor(&moved)?;
            batch.commit()?;
            if records < COMMIT_RECORDS {
                return Ok(applied);
            }
        }
    }

    /// Writes an event, and the facts it holds about its session, if it is new.
    fn put_event(
        &self,
        batch: &Batch<'_>,
        stored: Stored,
        rows: &mut HashMap<SessionKey, SessionRows>,
        passages: &mut HashMap<String, Clean<Passage>>,
    ) -> Result<Option<(SessionKey, SessionFacts)>> {
        let (key, at) = (stored.key, stored.at);
        let Ok(captured) = serde_json::from_value::<CapturedEvent<Value>>(stored.body) else {
            return Ok(None);
        };
        let session_key = SessionKey { agent: captured.agent, id: captured.session.clone() };
        // Another program's session is not this agent's, whatever id it gave.
        if captured.foreign || batch.is_forgotten(&session_key)? {
            return Ok(None);
        }
        // The payload was cleaned when it was recorded; the rules may be newer.
        let payload = self.redactor.clean_value(captured.payload, &mut Report::default());
        let event = Event::named(&captured.event);
        let passage = hooks::passage(captured.agent, &event, &captured.session, &key, at, &payload);
        let fields = Payload::new(captured.agent, payload.get());
        let known = match rows.entry(session_key.clone()) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => {
                let session = batch.session(&session_key)?;
                let source = hook_source(batch, &session_key, session)?;
                new.insert(SessionRows { session, source, transcript: String::new() })
            }
        };
        let session = known.session;
        if let Some(transcript) = fields.transcript()
            && known.transcript != transcript
        {
            batch.set_source_path(known.source, transcript)?;
            transcript.clone_into(&mut known.transcript);
        }
        let is_new = batch.put_event(
            session,
            &NewEvent {
                key: key.clone(),
                at,
                event: captured.event,
                prompt: captured.prompt,
                tool: fields.tool().map(str::to_owned),
                hash: captured.hash,
                fingerprint: passage.as_ref().map(|passage| passage.get().fingerprint()),
                detail: fields.details(),
                payload: match event {
                    Event::PreCompact | Event::PostCompact => Some(fields.compaction()),
                    _ => passage.is_some().then(|| payload.get().to_string()),
                },
            },
        )?;
        let prompt = passage.as_ref().filter(|passage| passage.get().kind == PassageKind::Human);
        // A session that starts or resumes has done nothing yet.
        let active = (event != Event::SessionStart).then_some(at);
        let facts = SessionFacts {
            first: active,
            last: active,
            directory: fields.directory().map(str::to_owned),
            // A hook that could not wait wrote to a segment of its own, which a rebuild reads later.
            directory_at: Some(at),
            project: fields
                .project()
                .map(|name| one_line(name, PROJECT_NAME))
                .filter(|name| !name.is_empty()),
            // As in transcripts, a command is not the subject of a session.
            first_prompt: prompt
                .map(|passage| first_line(&passage.get().text))
                .filter(|line| !line.starts_with('/')),
            first_prompt_at: Some(at),
            ..SessionFacts::default()
        };
        if is_new && passages.len() < HANDED_ON {
            passages.extend(passage.map(|passage| (key, passage)));
        }
        Ok(is_new.then_some((session_key, facts)))
    }

    fn put_injection(&self, batch: &Batch<'_>, stored: Stored) -> Result<()> {
        let Ok(injection) = serde_json::from_value::<Injection>(stored.body) else {
            return Ok(());
        };
        let session = SessionKey { agent: injection.agent, id: injection.session.clone() };
        if !batch.is_forgotten(&session)? {
            let session = batch.session(&session)?;
            batch.put_injection(&stored.key, session, stored.at, &injection)?;
        }
        Ok(())
    }

    /// Applies recorded events without looking at any transcript, and returns the number of new ones. Upgrades
    /// the store first if needed.
    ///
    /// # Errors
    /// Fails if the journal or the store cannot be read or written.
    pub fn ingest_events(
        &self,
        _lock: &IntakeLock,
        migrating: thru_store::Progress<'_>,
    ) -> Result<u64> {
        self.ingest_recorded(&mut self.open_store(migrating)?)
    }

    /// [`Self::ingest_events`] for callers that cannot wait: an upgrade is left to others, and nothing is
    /// distilled if that would be more than `sessions` sessions. The text index is left as it is; readers scan
    /// the few new rows without it.
    ///
    /// # Errors
    /// Fails if the journal or the store cannot be read or written.
    pub fn drain(&self, _lock: &IntakeLock, sessions: usize) -> Result<()> {
        // An upgrade takes time, and so does a store that is lost; both are left to a caller that has it.
        if Self::is_lost(&self.layout)? {
            return Ok(());
        }
        if let Some(known) = Store::open_if_there(&self.layout)?
            && known.schema_version()? != thru_store::SCHEMA_VERSION
        {
            return Ok(());
        }
        let mut store = self.open_store(&mut |_, _, _| {})?;
        self.ingest_recorded(&mut store)?;
        self.see_commits(&mut store)?;
        let projections = self.projections(Indexer::without_transcripts(self));
        let is_little =
            projections.would_keep(&store)? && store.stale_sessions()?.len() <= sessions;
        if is_little {
            let (cancelled, stages) = (AtomicBool::new(false), Stages::default());
            self.distil(
                &mut store,
                DistilScope::All,
                &projections,
                &cancelled,
                &stages,
                &mut |_| {},
            )?;
        }
        Ok(())
    }

    pub(crate) fn ingest_recorded(&self, store: &mut Store) -> Result<u64> {
        self.apply_journal(store)?;
        let applied = self.apply_events(store)?;
        let new = applied.new;
        self.settle_events(store, applied)?;
        Ok(new)
    }

    /// Returns the bytes of the journal that this store has not applied, at least, without reading any.
    ///
    /// # Errors
    /// Fails if the journal or the store cannot be read.
    pub fn news(layout: &Layout, host: &str, store: &Store) -> Result<u64> {
        Ok(Journal::open(layout.journal(), host)?.behind(&cursor(store.events_cursor()?))?)
    }

    /// Lists the source files of sessions with hook events since a time, of the given projects if any.
    ///
    /// # Errors
    /// Fails if the store cannot be read.
    pub fn recorded_sources(
        store: &Store,
        since: Timestamp,
        projects: Option<&[i64]>,
    ) -> Result<Discovery> {
        let mut all = Discovery::default();
        for (session, transcript) in store.recorded_transcripts(since, projects)? {
            let found =
                agents::discover_session(session.agent, Path::new(&transcript), &session.id);
            all.sources.extend(found.sources);
            all.problems.extend(found.problems);
        }
        Ok(all)
    }

    /// Compares events with transcripts, for every session in which either grew.
    pub(crate) fn settle_events(&self, store: &mut Store, mut applied: Applied) -> Result<()> {
        let batch = store.begin()?;
        let sessions = batch.unsettled_sessions()?;
        drop(batch);
        for session in sessions {
            let Some(key) = store.session_key(session)? else { continue };
            let mut batch = store.begin()?;
            let events = batch.open_events(session)?;
            let passages = batch.transcript_passages(session)?;
            let (mut unmatched, matched) = compare(events, &passages);
            for event in &matched {
                if event.payload.is_some() {
                    batch.drop_event_payload(event.row)?;
                }
            }
            let source = hook_source(&batch, &key, session)?;
            let known = batch.hook_passages(session, source)?;
            let wanted: Vec<(Id, u32)> = unmatched
                .iter()
                .map(|(event, turn)| (hooks::passage_id(key.agent, &event.key), *turn))
                .collect();
            // In most cases the list only grew at its end.
            let kept = match wanted.starts_with(&known) {
                true => known.len(),
                false => {
                    batch.remove_hook_passages(session, source)?;
                    0
                }
            };
            let new = &mut unmatched[kept..];
            if new.iter().any(|(event, _)| event.payload.is_none()) {
                self.restore_payloads(&batch, new)?;
            }
            let passages = self.passages(&key, new, kept, &mut applied.passages);
            let read = passages.map(|passages| ReadBatch { passages, ..ReadBatch::default() });
            batch.apply(key.agent, source, session, &read)?;
            self.settle_compactions(&batch, session, source)?;
            self.settle_lifecycle(&batch, session)?;
            batch.commit()?;
        }
        Self::settle_projects(store)
    }

    /// Makes the passages of events that no transcript has, numbered from `first` on.
    fn passages(
        &self,
        session: &SessionKey,
        unmatched: &[(OpenEvent, u32)],
        first: usize,
        known: &mut HashMap<String, Clean<Passage>>,
    ) -> Clean<Vec<Passage>> {
        let made = |event: &OpenEvent| {
            let payload = serde_json::from_str(event.payload.as_deref()?).ok()?;
            // The payload was clean when it was written; the rules may be newer.
            let payload = self.redactor.clean_value(payload, &mut Report::default());
            let kind = Event::named(&event.event);
            hooks::passage(session.agent, &kind, &session.id, &event.key, event.at, &payload)
        };
        let passages: Vec<Clean<Passage>> = unmatched
            .iter()
            .zip(first..)
            .filter_map(|((event, turn), ordinal)| {
                let passage = known.remove(&event.key).or_else(|| made(event))?;
                let ordinal = u32::try_from(ordinal).unwrap_or(u32::MAX);
                Some(passage.map(|passage| Passage { turn: *turn, ordinal, ..passage }))
            })
            .collect();
        Clean::gather(&passages).map(|passages| passages.into_iter().cloned().collect())
    }

    /// Returns the event recorded under a key, cleaned by today's rules.
    pub(crate) fn recorded_event(&self, key: &str) -> Result<Option<Clean<Vec<u8>>>> {
        for item in self.journal.stream(Cursor::default())? {
            if let Item::Entry(stored) = item?
                && stored.key == key
            {
                let (body, report) = (stored.body.to_string(), &mut Report::default());
                return Ok(Some(self.redactor.clean_json_line(body.as_bytes(), report)));
            }
        }
        Ok(None)
    }

    /// Reads from the journal the payloads of events whose transcripts left the store. Rare: a store that is
    /// behind its archive reads files again.
    fn restore_payloads(
        &self,
        batch: &Batch<'_>,
        unmatched: &mut [(OpenEvent, u32)],
    ) -> Result<()> {
        let mut missing: HashMap<String, &mut OpenEvent> = unmatched
            .iter_mut()
            .filter(|(event, _)| event.payload.is_none())
            .map(|(event, _)| (event.key.clone(), event))
            .collect();
        for item in self.journal.stream(Cursor::default())? {
            let Item::Entry(stored) = item? else { continue };
            let Some(event) = missing.remove(&stored.key) else { continue };
            let Ok(captured) = serde_json::from_value::<CapturedEvent<Value>>(stored.body) else {
                continue;
            };
            let payload = self.redactor.clean_value(captured.payload, &mut Report::default());
            let payload = payload.get().to_string();
            batch.restore_event(&stored.key, &payload)?;
            event.payload = Some(payload);
        }
        Ok(())
    }
}

/// Splits events into those no transcript has, each with its turn, and those one has. A passage of a transcript
/// stands for at most one event.
fn compare(
    events: Vec<OpenEvent>,
    passages: &[TranscriptPassage],
) -> (Vec<(OpenEvent, u32)>, Vec<OpenEvent>) {
    let mut by_fingerprint: HashMap<u64, VecDeque<&TranscriptPassage>> = HashMap::new();
    for passage in passages {
        if let Some(fingerprint) = passage.fingerprint {
            by_fingerprint.entry(fingerprint).or_default().push_back(passage);
        }
    }
    let transcript_ends = passages.iter().filter_map(|passage| passage.at).max();
    let (mut unmatched, mut known) = (Vec::new(), Vec::new());
    let mut turn = 0;
    for event in events {
        let is_prompt = event.event == Event::UserPromptSubmit.as_str();
        let passage = by_fingerprint.get_mut(&event.fingerprint).and_then(VecDeque::pop_front);
        if let Some(passage) = passage {
            turn = passage.turn.max(turn);
            known.push(event);
            continue;
        }
        // A transcript that continues after the end of the agent's turn holds the agent's last words, perhaps
        // in several pieces.
        let is_said = event.event == Event::Stop.as_str()
            && transcript_ends.is_some_and(|end| end >= event.at);
        // A transcript that there is has each call, with the id that this report left out.
        let is_call = event.event == Event::PostToolUse.as_str()
            || event.event == Event::PostToolUseFailure.as_str();
        if is_said || is_call && !event.is_named && !passages.is_empty() {
            known.push(event);
            continue;
        }
        if is_prompt {
            turn = turn.max(turn_at(passages, event.at)) + 1;
        }
        unmatched.push((event, turn));
    }
    (unmatched, known)
}

/// Returns the last turn that a transcript had begun at a time.
fn turn_at(passages: &[TranscriptPassage], at: Timestamp) -> u32 {
    passages
        .iter()
        .filter(|passage| passage.at.is_some_and(|begun| begun <= at))
        .map(|passage| passage.turn)
        .max()
        .unwrap_or(0)
}

/// Returns the row that stands for a session's hook events, beside its transcripts.
fn hook_source(batch: &Batch<'_>, key: &SessionKey, session: i64) -> Result<i64> {
    let entry = format!("hooks/{}/{}", key.agent.as_str(), key.id);
    Ok(batch.source(&entry, "", SourceKind::Hooks, Some(session))?)
}

fn first_line(text: &str) -> String {
    let line = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default().trim();
    head(line, FIRST_LINE).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(event: &str, at: i64, fingerprint: u64) -> OpenEvent {
        OpenEvent {
            row: at,
            key: at.to_string(),
            event: event.to_owned(),
            at: Timestamp::from_second(at).unwrap(),
            fingerprint,
            is_named: true,
            payload: Some("{}".to_owned()),
        }
    }

    fn passage(kind: PassageKind, at: i64, fingerprint: u64, turn: u32) -> TranscriptPassage {
        let at = Timestamp::from_second(at).ok();
        TranscriptPassage { kind, fingerprint: Some(fingerprint), turn, at }
    }

    fn unmatched(events: Vec<OpenEvent>, passages: &[TranscriptPassage]) -> Vec<(i64, u32)> {
        compare(events, passages).0.into_iter().map(|(event, turn)| (event.row, turn)).collect()
    }

    #[test]
    fn a_call_without_an_id_is_told_where_there_is_no_transcript() {
        let call = OpenEvent { is_named: false, ..event("PostToolUse", 2, 20) };
        assert_eq!(unmatched(vec![call.clone()], &[]), [(2, 0)]);
        assert_eq!(unmatched(vec![call], &[passage(PassageKind::Tool, 2, 21, 1)]), []);
    }

    #[test]
    fn what_a_transcript_tells_is_told_once() {
        let events = || {
            vec![
                event("UserPromptSubmit", 1, 10),
                event("PostToolUse", 2, 20),
                event("Stop", 3, 30),
                event("UserPromptSubmit", 4, 10),
                event("PostToolUse", 5, 21),
            ]
        };
        assert_eq!(unmatched(events(), &[]), [(1, 1), (2, 1), (3, 1), (4, 2), (5, 2)]);
        // The same words twice are two prompts.
        let first = [passage(PassageKind::Human, 1, 10, 1), passage(PassageKind::Tool, 2, 20, 1)];
        assert_eq!(unmatched(events(), &first), [(3, 1), (4, 2), (5, 2)]);
        let all = [
            passage(PassageKind::Human, 1, 10, 1),
            passage(PassageKind::Tool, 2, 20, 1),
            passage(PassageKind::Human, 4, 10, 2),
            passage(PassageKind::Tool, 5, 21, 2),
        ];
        assert_eq!(unmatched(events(), &all), []);
    }

    #[test]
    fn turns_go_on_where_the_transcript_is() {
        // The transcript counted a command that hooks never saw.
        let known = [passage(PassageKind::Human, 1, 10, 1), passage(PassageKind::Human, 2, 99, 2)];
        let events = vec![event("UserPromptSubmit", 1, 10), event("UserPromptSubmit", 3, 11)];
        assert_eq!(unmatched(events, &known), [(3, 3)]);
    }
}
