//! The lifecycle of sessions: when a session is over, when it is indexed, and as which episode.
//!
//! The rules are `thru-lifecycle`'s; here they meet the store. A session is indexed in the transaction that
//! writes its memories, or, if there was nothing left to distil, in one of its own. A kill on the way
//! leaves a job behind, or nothing at all.

use std::cell::RefCell;
use std::collections::HashMap;

use serde_json::{Value, json};
use thru_agents::hooks;
use thru_core::{Id, SessionKey, Timestamp};
use thru_lifecycle::content::{Content, FILTER_VERSION};
use thru_lifecycle::conversation::{CLOCKS_DIFFER, Event, MessageState};
use thru_lifecycle::indexing::{Effect, Event as Work};
use thru_lifecycle::retry::{Backoff, Retry};
use thru_lifecycle::{Conversation, Indexing};
use thru_store::{
    Batch, Episode, JobKind, LifecycleEvent, NewEvent, SessionFilter, SessionState, Store,
};

use crate::distil::{DistilScope, rows_of};
use crate::projection::{Projection, SessionContent};
use crate::{Finding, Intake, IntakeLock, Operation, Result, RetiredEpisode};

/// The store's name for the event by which a person, or an agent, closed a session.
const CLOSED: &str = "Closed";

/// The outcome of indexing a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Indexed {
    /// Newly indexed as this episode.
    New(Id),
    /// Indexed as this episode, which replaces an earlier one.
    Replaced(Id),
    /// Already indexed as this episode, and unchanged since.
    Unchanged(Id),
    /// Nothing to index.
    Empty,
    /// Not distilled, so its content is unknown.
    Undistilled,
    /// Failed with this error; it is tried again.
    Failed(String),
}

impl Indexed {
    /// Returns the episode that the session is indexed as.
    pub const fn episode(&self) -> Option<Id> {
        match self {
            Self::New(episode) | Self::Replaced(episode) | Self::Unchanged(episode) => {
                Some(*episode)
            }
            Self::Empty | Self::Undistilled | Self::Failed(_) => None,
        }
    }
}

/// The outcomes for all sessions in one run of intake.
#[derive(Clone, Debug, Default)]
pub struct IndexedSessions(HashMap<SessionKey, Indexed>);

impl IndexedSessions {
    /// Returns the outcome for one session.
    pub fn get(&self, session: &SessionKey) -> Option<&Indexed> {
        self.0.get(session)
    }

    /// Returns all outcomes.
    pub fn iter(&self) -> impl Iterator<Item = (&SessionKey, &Indexed)> {
        self.0.iter()
    }

    /// Returns the number of sessions with a new episode.
    pub fn changed(&self) -> usize {
        let is_changed = |one: &&Indexed| matches!(one, Indexed::New(_) | Indexed::Replaced(_));
        self.0.values().filter(is_changed).count()
    }
}

/// Indexes sessions during one run.
pub(crate) struct Indexer<'a> {
    intake: &'a Intake,
    now: Timestamp,
    /// The sessions with unreadable files in this run, and the problem of each.
    pub(crate) unreadable: HashMap<SessionKey, String>,
    done: RefCell<IndexedSessions>,
    /// True if the transcripts were read as well: without them, only half of a session would be indexed.
    may_index: bool,
}

impl<'a> Indexer<'a> {
    pub(crate) fn new(intake: &'a Intake) -> Self {
        Self {
            intake,
            now: intake.clock.now(),
            unreadable: HashMap::new(),
            done: RefCell::default(),
            may_index: true,
        }
    }

    /// Returns an indexer for callers that distil the store's content without checking transcripts for
    /// growth.
    pub(crate) fn without_transcripts(intake: &'a Intake) -> Self {
        Self { may_index: false, ..Self::new(intake) }
    }

    /// Ends the run, and returns what became of the sessions in it.
    pub(crate) fn finish(self) -> IndexedSessions {
        self.done.into_inner()
    }

    /// Indexes a session if it was left; otherwise notes the time at which that may change by itself.
    fn index_if_left(&self, batch: &Batch<'_>, session: i64) -> Result<()> {
        let Some(state) = batch.session_state(session)? else { return Ok(()) };
        let limits = &self.intake.options.limits;
        let Some(conversation) = state.lifecycle.at(self.now, limits) else { return Ok(()) };
        batch.note_phase(session, &conversation, limits)?;
        let options = &self.intake.options;
        let is_wanted = self.may_index && (options.index_left || state.indexing.is_running());
        match conversation.left() {
            Some(reason) if is_wanted => self.index(batch, &state, &reason.to_string()),
            _ => Ok(()),
        }
    }

    /// Indexes a session as a whole: the same content is the same episode, other content replaces the
    /// episode.
    fn index(&self, batch: &Batch<'_>, state: &SessionState, reason: &str) -> Result<()> {
        let outcome = self.outcome(batch, state, reason)?;
        if !matches!(outcome, Indexed::Failed(_)) {
            batch.remove_job(JobKind::Index, state.row)?;
        }
        self.done.borrow_mut().0.insert(state.key.clone(), outcome);
        Ok(())
    }

    fn outcome(&self, batch: &Batch<'_>, state: &SessionState, reason: &str) -> Result<Indexed> {
        let row = state.row;
        let (working, effect) = state.indexing.step(Work::Asked);
        // What it began with says nothing of what was said since.
        let is_begun = |content: &Content| content.messages > 0 || !state.is_stale;
        let Some(content) = state.content.filter(is_begun) else {
            // Never distilled since something was said; distilling may be off.
            batch.set_indexing(row, working.step(Work::Abandoned).0)?;
            return Ok(Indexed::Undistilled);
        };
        if content.messages == 0 {
            batch.set_indexing(row, working.step(Work::Succeeded).0)?;
            return Ok(Indexed::Empty);
        }
        let known = state.episode.as_ref();
        // Sessions that were never indexed, or by another filter, are examined again.
        let comparable = known.filter(|known| known.filter == FILTER_VERSION);
        if let Some(known) = comparable
            && effect == Some(Effect::Skip)
        {
            return Ok(Indexed::Unchanged(known.uuid));
        }
        if let Some(trouble) = self.unreadable.get(&state.key) {
            return self.failed(batch, state, reason, trouble);
        }
        // Requested again although it is indexed, or grown only by what does not count.
        if let Some(known) = comparable.filter(|known| known.content == content.hash) {
            batch.set_indexing(row, working.step(Work::Unchanged).0)?;
            return Ok(Indexed::Unchanged(known.uuid));
        }
        let episode = Episode {
            uuid: Batch::episode_id(&state.key, &content),
            content: content.hash,
            filter: FILTER_VERSION,
            messages: content.messages,
            as_of: state.lifecycle.last(),
            indexed: self.now,
            reason: reason.to_owned(),
            retired: None,
        };
        // Journal first: the earlier episode cannot be computed again.
        if let Some(known) = known {
            let retired = RetiredEpisode::from_episode(&state.key, known, self.now);
            self.intake.record(&[Operation::EpisodeRetired(retired)])?;
        }
        batch.put_episode(row, &episode)?;
        self.intake.queue_session(batch, state, content.hash)?;
        batch.set_indexing(row, working.step(Work::Succeeded).0)?;
        Ok(match known {
            Some(_) => Indexed::Replaced(episode.uuid),
            None => Indexed::New(episode.uuid),
        })
    }

    /// Notes that a bug of ours kept a session from being distilled.
    pub(crate) fn not_distilled(&self, batch: &Batch<'_>, session: i64) -> Result<()> {
        if let Some(state) = batch.session_state(session)? {
            let trouble = "distilling failed: a fault of ours";
            let outcome = self.failed(batch, &state, "retry", trouble)?;
            self.done.borrow_mut().0.insert(state.key, outcome);
        }
        Ok(())
    }

    /// Notes that a session could not be indexed, and when to try again.
    fn failed(
        &self,
        batch: &Batch<'_>,
        state: &SessionState,
        reason: &str,
        trouble: &str,
    ) -> Result<Indexed> {
        batch.set_indexing(state.row, state.indexing.failed())?;
        let attempts = batch.job_attempts(JobKind::Index, state.row)?;
        if attempts.is_none() {
            batch.put_job(JobKind::Index, state.row, reason, self.now)?;
        }
        let id = Id::derive(&[b"index", state.key.id.as_str().as_bytes()]);
        let again = match Backoff::default().after(attempts.unwrap_or(0) + 1, id) {
            Retry::After(wait) => self.now.checked_add(wait).ok(),
            Retry::GiveUp => None,
        };
        batch.job_failed(JobKind::Index, state.row, trouble, again)?;
        Ok(Indexed::Failed(trouble.to_owned()))
    }
}

impl Projection for Indexer<'_> {
    fn name(&self) -> &'static str {
        "episodes"
    }

    /// Each episode names the version of the filter that made it.
    fn version(&self) -> Option<u32> {
        None
    }

    fn replace(&self, batch: &mut Batch<'_>, content: &SessionContent) -> Result<()> {
        let session = content.session;
        batch.set_content(session, &content.content)?;
        batch.put_turns(session, &content.turns)?;
        self.intake.queue_turns(batch, session, &content.turns)?;
        self.index_if_left(batch, session)
    }

    fn forget(&self, batch: &Batch<'_>, session: i64, _: &SessionKey) -> Result<()> {
        Ok(batch.remove_episodes_of(session)?)
    }

    /// Finds nothing of its own: a session without any message is indexed and has no episode.
    fn verify(&self, _: &Store, _: &mut dyn FnMut(Finding)) -> Result<()> {
        Ok(())
    }

    fn dump(&self, store: &Store, line: &mut dyn FnMut(String)) -> Result<()> {
        for session in store.sessions(&SessionFilter::default())? {
            let (id, state) = (&session.key.id, session.indexing.as_str());
            line(format!("episode of session {id}: {state}, {:?}", session.episode));
        }
        Ok(())
    }
}

impl Intake {
    /// Closes a session for now, at the caller's word. Its events must be applied before. Records nothing
    /// if nothing happened since it was last closed.
    ///
    /// # Errors
    /// Fails if the journal or the store cannot be written.
    pub fn record_close(
        &self,
        _lock: &IntakeLock,
        session: &SessionKey,
        reason: &str,
    ) -> Result<()> {
        let mut store = self.open_store(&mut |_, _, _| {})?;
        self.ingest_recorded(&mut store)?;
        self.retry_failed(&mut store, session)?;
        if let Some(row) = store.session_by_key(session)?
            && let Some(state) = store.session_state(row)?
            && let Some(conversation) = state.lifecycle.at(self.clock.now(), &self.options.limits)
        {
            match conversation.messages() {
                MessageState::Closed(close) if !close.reason.is_assumed() => return Ok(()),
                MessageState::Nothing => return Ok(()),
                MessageState::New | MessageState::Closed(_) => {}
            }
        }
        self.record(&[Operation::SessionClosed {
            session: session.clone(),
            reason: reason.to_owned(),
        }])?;
        self.ingest_recorded(&mut store)?;
        Ok(())
    }

    /// Retries a failed session at once, because it was requested.
    fn retry_failed(&self, store: &mut Store, session: &SessionKey) -> Result<()> {
        let Some(row) = store.session_by_key(session)? else { return Ok(()) };
        let batch = store.begin()?;
        if let Some(state) = batch.session_state(row)?
            && state.indexing == Indexing::Failed
        {
            batch.set_indexing(row, state.indexing.given_back())?;
            batch.put_job(JobKind::Index, row, "asked", self.clock.now())?;
            batch.commit()?;
        }
        Ok(())
    }

    /// Computes the state of a session anew from all events of hooks and people, and queues it for
    /// indexing if it was left.
    pub(crate) fn settle_lifecycle(&self, batch: &Batch<'_>, session: i64) -> Result<()> {
        let (now, limits) = (self.clock.now(), &self.options.limits);
        let events = batch.lifecycle_events(session)?;
        // Of a clock that runs behind for now, all that was is ahead: the session is settled again by a later one.
        if !events.iter().any(|event| is_ahead(event.at, now)) {
            batch.settled(session)?;
        }
        let events = in_order(events, now);
        let conversation = Conversation::fold(events.iter().map(lifecycle_event), limits);
        batch.set_conversation(session, conversation.as_ref())?;
        let Some(state) = batch.session_state(session)? else { return Ok(()) };
        self.queue_if_left(batch, &state)
    }

    /// Queues a session that was left, unless it is indexed, and notes the time of the next change that
    /// time alone brings.
    fn queue_if_left(&self, batch: &Batch<'_>, state: &SessionState) -> Result<()> {
        let (now, limits) = (self.clock.now(), &self.options.limits);
        let Some(conversation) = state.lifecycle.at(now, limits) else { return Ok(()) };
        batch.note_phase(state.row, &conversation, limits)?;
        if let Some(reason) = conversation.left()
            && state.indexing == Indexing::Unindexed
            && self.options.index_left
        {
            batch.put_job(JobKind::Index, state.row, &reason.to_string(), now)?;
        }
        Ok(())
    }

    /// Closes the sessions that were inactive for long.
    pub(crate) fn close_inactive(&self, store: &mut Store) -> Result<()> {
        let due = store.sessions_due(self.clock.now())?;
        if due.is_empty() {
            return Ok(());
        }
        let batch = store.begin()?;
        for session in due {
            if let Some(state) = batch.session_state(session)? {
                self.queue_if_left(&batch, &state)?;
            }
        }
        batch.commit()?;
        Ok(())
    }

    /// Requeues sessions whose indexing was cut short by a kill.
    pub(crate) fn requeue_abandoned(&self, store: &mut Store) -> Result<()> {
        let batch = store.begin()?;
        for session in batch.abandoned_sessions()? {
            let waiting = (Indexing::Running { grew: false }).given_back();
            batch.set_indexing(session, waiting)?;
            let failures = batch.job_attempts(JobKind::Index, session)?.unwrap_or(0) + 1;
            batch.put_job(JobKind::Index, session, "abandoned", self.clock.now())?;
            // The process may have run out of time. If a session ends every process that tries, it is left
            // to people.
            let again = (failures < Backoff::default().limit).then(|| self.clock.now());
            let error = "the process that indexed it ended before it was done";
            batch.job_failed(JobKind::Index, session, error, again)?;
            if again.is_none() {
                batch.set_indexing(session, waiting.failed())?;
            }
        }
        batch.commit()?;
        Ok(())
    }

    /// Marks the requested sessions as being indexed, if they were left.
    pub(crate) fn mark_indexing(&self, store: &mut Store, scope: DistilScope<'_>) -> Result<()> {
        let DistilScope::These(asked) = scope else { return Ok(()) };
        let rows = rows_of(store, asked)?;
        let now = self.clock.now();
        let batch = store.begin()?;
        for row in rows {
            let Some(state) = batch.session_state(row)? else { continue };
            let Some(reason) = state.lifecycle.left(now, &self.options.limits) else { continue };
            // A failed session is tried again when it is due, or on request.
            if state.indexing == Indexing::Failed {
                continue;
            }
            let (working, effect) = state.indexing.step(Work::Asked);
            if effect == Some(Effect::Index) {
                batch.set_indexing(row, working)?;
                batch.put_job(JobKind::Index, row, &reason.to_string(), now)?;
            }
        }
        batch.commit()?;
        Ok(())
    }

    /// Indexes the due sessions of the queue that distilling did not index.
    pub(crate) fn index_queued(
        &self,
        store: &mut Store,
        scope: DistilScope<'_>,
        indexer: &Indexer<'_>,
    ) -> Result<()> {
        // A session requested in this run is due since the request, which is later than the start of the
        // run.
        let now = self.clock.now();
        let mut due = store.jobs()?;
        due.retain(|job| job.kind == Some(JobKind::Index) && job.is_due(now));
        if let DistilScope::These(asked) = scope {
            due.retain(|job| asked.contains(&job.key));
        }
        if due.is_empty() {
            return Ok(());
        }
        let batch = store.begin()?;
        for job in due {
            let Some(state) = batch.session_state(job.session)? else { continue };
            if state.is_stale && self.options.distil {
                // Its last turn is still under way, or the run was interrupted.
                continue;
            }
            indexer.index(&batch, &state, &job.reason)?;
        }
        batch.commit()?;
        Ok(())
    }
}

/// Writes a close by a person or an agent as an event among those of hooks.
pub(crate) fn put_close(
    batch: &Batch<'_>,
    key: &str,
    at: Timestamp,
    session: &SessionKey,
    reason: &str,
) -> Result<()> {
    if batch.is_forgotten(session)? {
        return Ok(());
    }
    let session = batch.session(session)?;
    let event = NewEvent {
        key: key.to_owned(),
        at,
        event: CLOSED.to_owned(),
        prompt: None,
        tool: None,
        hash: None,
        fingerprint: None,
        detail: json!({ "reason": reason }).to_string(),
        payload: None,
    };
    batch.put_event(session, &event)?;
    Ok(())
}

/// Sorts events by time, those of one time as they came in. A clock that ran ahead for a while leaves times in the
/// future; such an event takes the time of the one that came in before it, the first ones that of the next.
fn in_order(mut events: Vec<LifecycleEvent>, now: Timestamp) -> Vec<LifecycleEvent> {
    let next = events.iter().map(|event| event.at).find(|at| !is_ahead(*at, now));
    let mut before = next.map_or(now, |next| next.min(now));
    for event in &mut events {
        if is_ahead(event.at, now) {
            event.at = before;
        }
        before = event.at.min(now);
    }
    events.sort_by_key(|event| event.at);
    events
}

/// True for a time in the future, beyond what correct clocks differ by.
fn is_ahead(at: Timestamp, now: Timestamp) -> bool {
    at > now + CLOCKS_DIFFER
}

/// Converts an event to its meaning for the state of its session.
fn lifecycle_event(event: &LifecycleEvent) -> (Event, Timestamp) {
    let detail: Value = serde_json::from_str(&event.detail).unwrap_or_default();
    let reported = match event.event.as_str() {
        CLOSED => {
            let reason = detail.get("reason").and_then(Value::as_str).unwrap_or_default();
            Event::Closed(reason.to_owned())
        }
        name => hooks::course(&hooks::Event::named(name), &detail),
    };
    (reported, event.at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_of_a_clock_that_ran_ahead_stay_in_their_order() {
        let now: Timestamp = "2026-08-20T09:00:00Z".parse().unwrap();
        let event = |name: &str, seconds: i64| LifecycleEvent {
            event: name.to_owned(),
            at: now + jiff::SignedDuration::from_secs(seconds),
            detail: String::new(),
        };
        let names = |events: Vec<LifecycleEvent>| -> Vec<String> {
            in_order(events, now).into_iter().map(|event| event.event).collect()
        };
        let day = 24 * 3600;
        let played =
            ["SessionStart", "UserPromptSubmit", "PostToolUse", "Stop", "UserPromptSubmit"];
        let at_work = |begin: i64| -> Vec<LifecycleEvent> {
            (0..).zip(played).map(|(second, name)| event(name, begin + second)).collect()
        };
        // The clock was set back since.
        assert_eq!(names(at_work(day)), played);
        // Several in one millisecond.
        assert_eq!(names(played.map(|name| event(name, -60)).into()), played);
        let closed = [at_work(day), vec![event(CLOSED, 0)]].concat();
        assert_eq!(names(closed).last().unwrap(), CLOSED);
        // Work goes on after a close.
        let resumed = [vec![event(CLOSED, -9)], at_work(day)].concat();
        assert_eq!(names(resumed)[1..], played);
    }
}
