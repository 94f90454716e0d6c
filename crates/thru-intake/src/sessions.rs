//! Sessions that close themselves: what a session's course is, when it is indexed, and as what.
//!
//! The rules are `thru-lifecycle`'s; here they meet the store. A session is indexed in the transaction
//! that writes its memories, or, where nothing was left to distil, in one of its own. Whoever is killed
//! on the way leaves a job, or nothing at all.

use std::collections::HashMap;

use serde_json::{Value, json};
use thru_agents::claude_code::hooks;
use thru_core::{Id, SessionKey, Timestamp};
use thru_lifecycle::content::FILTER_VERSION;
use thru_lifecycle::conversation::{CLOCKS_DIFFER, Event, Said};
use thru_lifecycle::indexing::{Effect, Event as Work};
use thru_lifecycle::retry::{Backoff, Retry};
use thru_lifecycle::{Conversation, Indexing};
use thru_store::{Batch, Course, CourseEvent, Episode, JobKind, NewEvent, Store};

use crate::distilling::{Which, rows_of};
use crate::{Intake, IntakeLock, Operation, Result, RetiredEpisode};

/// What the store calls the event that a person, or an agent, closed a session.
const CLOSED: &str = "Closed";

/// What came of indexing a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Indexed {
    /// It is indexed as this, newly.
    New(Id),
    /// It is indexed as this instead of what it was indexed as before.
    Replaced(Id),
    /// It was indexed as this before, and nothing of it has changed.
    Unchanged(Id),
    /// There is nothing in it to index.
    Empty,
    /// It was not distilled, which is how one knows what there is.
    Undistilled,
    /// It could not be indexed; it is tried again.
    Failed(String),
}

impl Indexed {
    /// The episode that the session is indexed as.
    pub const fn episode(&self) -> Option<Id> {
        match self {
            Self::New(episode) | Self::Replaced(episode) | Self::Unchanged(episode) => {
                Some(*episode)
            }
            Self::Empty | Self::Undistilled | Self::Failed(_) => None,
        }
    }
}

/// What became of sessions in one run of intake.
#[derive(Clone, Debug, Default)]
pub struct IndexedSessions(HashMap<SessionKey, Indexed>);

impl IndexedSessions {
    /// What became of one.
    pub fn get(&self, session: &SessionKey) -> Option<&Indexed> {
        self.0.get(session)
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = (&SessionKey, &Indexed)> {
        self.0.iter()
    }

    /// How many have another episode now.
    pub fn changed(&self) -> usize {
        let is_changed = |one: &&Indexed| matches!(one, Indexed::New(_) | Indexed::Replaced(_));
        self.0.values().filter(is_changed).count()
    }
}

/// How a session that is to be indexed is looked at.
pub(crate) struct Indexer<'a> {
    intake: &'a Intake,
    now: Timestamp,
    /// Sessions of which something could not be read in this run, and what.
    pub(crate) troubled: HashMap<SessionKey, String>,
    pub(crate) done: IndexedSessions,
    /// Whether the transcripts were read as well: without them, a session would be indexed as half of it.
    may_index: bool,
}

impl<'a> Indexer<'a> {
    pub(crate) fn new(intake: &'a Intake) -> Self {
        Self {
            intake,
            now: intake.clock.now(),
            troubled: HashMap::new(),
            done: IndexedSessions::default(),
            may_index: true,
        }
    }

    /// For those who distil what is in the store, and do not look whether transcripts grew.
    pub(crate) fn without_transcripts(intake: &'a Intake) -> Self {
        Self { may_index: false, ..Self::new(intake) }
    }

    /// Indexes a session if somebody left it; else notes when time alone may change that.
    pub(crate) fn index_if_left(&mut self, batch: &Batch<'_>, session: i64) -> Result<()> {
        let Some(course) = batch.course(session)? else { return Ok(()) };
        let limits = &self.intake.options.limits;
        let Some(conversation) = course.heard.at(self.now, limits) else { return Ok(()) };
        batch.set_due(session, conversation.due(limits))?;
        let options = &self.intake.options;
        let is_wanted = self.may_index && (options.index_left || course.indexing.is_running());
        match conversation.left() {
            Some(reason) if is_wanted => self.index(batch, &course, &reason.to_string()),
            _ => Ok(()),
        }
    }

    /// Indexes a session as a whole: the same content again is the same episode, another one takes the
    /// place of the one before.
    pub(crate) fn index(&mut self, batch: &Batch<'_>, course: &Course, reason: &str) -> Result<()> {
        let outcome = self.outcome(batch, course, reason)?;
        if !matches!(outcome, Indexed::Failed(_)) {
            batch.remove_job(JobKind::Index, course.row)?;
        }
        self.done.0.insert(course.key.clone(), outcome);
        Ok(())
    }

    fn outcome(&self, batch: &Batch<'_>, course: &Course, reason: &str) -> Result<Indexed> {
        let row = course.row;
        let (working, effect) = course.indexing.step(Work::Asked);
        let Some(content) = course.content else {
            // It was never distilled; that may be switched off.
            batch.set_indexing(row, working.step(Work::Abandoned).0)?;
            return Ok(Indexed::Undistilled);
        };
        if content.messages == 0 {
            batch.set_indexing(row, working.step(Work::Succeeded).0)?;
            return Ok(Indexed::Empty);
        }
        let known = course.episode.as_ref();
        // What was indexed by another filter is looked at again, and so is what was never indexed.
        let comparable = known.filter(|known| known.filter == FILTER_VERSION);
        if let Some(known) = comparable
            && effect == Some(Effect::Skip)
        {
            return Ok(Indexed::Unchanged(known.uuid));
        }
        if let Some(trouble) = self.troubled.get(&course.key) {
            return self.failed(batch, course, reason, trouble);
        }
        // Asked again for what is indexed, or it grew by nothing that counts.
        if let Some(known) = comparable.filter(|known| known.content == content.hash) {
            batch.set_indexing(row, working.step(Work::Unchanged).0)?;
            return Ok(Indexed::Unchanged(known.uuid));
        }
        let episode = Episode {
            uuid: Batch::episode_id(&course.key, &content),
            content: content.hash,
            filter: FILTER_VERSION,
            messages: content.messages,
            as_of: course.heard.last(),
            indexed: self.now,
            reason: reason.to_owned(),
            retired: None,
        };
        // First to the journal: what was, cannot be computed again.
        if let Some(known) = known {
            let retired = RetiredEpisode::of(&course.key, known, self.now);
            self.intake.record(&[Operation::EpisodeRetired(retired)])?;
        }
        batch.put_episode(row, &episode)?;
        self.intake.queue_session(batch, course, content.hash)?;
        batch.set_indexing(row, working.step(Work::Succeeded).0)?;
        Ok(match known {
            Some(_) => Indexed::Replaced(episode.uuid),
            None => Indexed::New(episode.uuid),
        })
    }

    /// Notes that a fault of ours kept a session from being distilled.
    pub(crate) fn not_distilled(&mut self, batch: &Batch<'_>, session: i64) -> Result<()> {
        if let Some(course) = batch.course(session)? {
            let trouble = "distilling failed: a fault of ours";
            let outcome = self.failed(batch, &course, "retry", trouble)?;
            self.done.0.insert(course.key, outcome);
        }
        Ok(())
    }

    /// Notes that a session could not be indexed, and when it is tried again.
    fn failed(
        &self,
        batch: &Batch<'_>,
        course: &Course,
        reason: &str,
        trouble: &str,
    ) -> Result<Indexed> {
        batch.set_indexing(course.row, course.indexing.failed())?;
        let attempts = batch.job_attempts(JobKind::Index, course.row)?;
        if attempts.is_none() {
            batch.put_job(JobKind::Index, course.row, reason, self.now)?;
        }
        let id = Id::derive(&[b"index", course.key.id.as_str().as_bytes()]);
        let again = match Backoff::default().after(attempts.unwrap_or(0) + 1, id) {
            Retry::After(wait) => self.now.checked_add(wait).ok(),
            Retry::GiveUp => None,
        };
        batch.job_failed(JobKind::Index, course.row, trouble, again)?;
        Ok(Indexed::Failed(trouble.to_owned()))
    }
}

impl Intake {
    /// Closes a session: whoever asks says that it is over, for now. Its words are to be brought in before.
    /// Nothing is recorded where nothing happened since it was closed last.
    ///
    /// # Errors
    /// Where journal or store cannot be written.
    pub fn record_close(
        &self,
        _lock: &IntakeLock,
        session: &SessionKey,
        reason: &str,
    ) -> Result<()> {
        let mut store = self.open_store(&mut |_, _, _| {})?;
        self.bring_up(&mut store)?;
        self.try_again(&mut store, session)?;
        if let Some(row) = store.session_by_key(session)?
            && let Some(course) = store.course(row)?
            && let Some(conversation) = course.heard.at(self.clock.now(), &self.options.limits)
            && matches!(conversation.said(), Said::Closed(_) | Said::Nothing)
        {
            return Ok(());
        }
        self.record(&[Operation::SessionClosed {
            session: session.clone(),
            reason: reason.to_owned(),
        }])?;
        self.bring_up(&mut store)?;
        Ok(())
    }

    /// What failed by itself is tried at once where somebody asks for it.
    fn try_again(&self, store: &mut Store, session: &SessionKey) -> Result<()> {
        let Some(row) = store.session_by_key(session)? else { return Ok(()) };
        let batch = store.begin()?;
        if let Some(course) = batch.course(row)?
            && course.indexing == Indexing::Failed
        {
            batch.set_indexing(row, course.indexing.given_back())?;
            batch.put_job(JobKind::Index, row, "asked", self.clock.now())?;
            batch.commit()?;
        }
        Ok(())
    }

    /// Computes the course of a session anew from all that hooks and people told, and has it indexed
    /// where that says that it was left.
    pub(crate) fn settle_course(&self, batch: &Batch<'_>, session: i64) -> Result<()> {
        let events = batch.course_events(session)?;
        let limits = &self.options.limits;
        let events = in_order(events, self.clock.now());
        let told = Conversation::fold(events.iter().map(of_course), limits);
        batch.set_conversation(session, told.as_ref())?;
        let Some(course) = batch.course(session)? else { return Ok(()) };
        self.have_indexed(batch, &course)
    }

    /// Puts a session that was left into the queue, unless it is indexed; and notes when time alone
    /// changes something next.
    fn have_indexed(&self, batch: &Batch<'_>, course: &Course) -> Result<()> {
        let (now, limits) = (self.clock.now(), &self.options.limits);
        let Some(conversation) = course.heard.at(now, limits) else { return Ok(()) };
        batch.set_due(course.row, conversation.due(limits))?;
        if let Some(reason) = conversation.left()
            && course.indexing == Indexing::Unindexed
            && self.options.index_left
        {
            batch.put_job(JobKind::Index, course.row, &reason.to_string(), now)?;
        }
        Ok(())
    }

    /// Closes the sessions that nobody has touched for long.
    pub(crate) fn close_inactive(&self, store: &mut Store) -> Result<()> {
        let due = store.sessions_due(self.clock.now())?;
        if due.is_empty() {
            return Ok(());
        }
        let batch = store.begin()?;
        for session in due {
            if let Some(course) = batch.course(session)? {
                self.have_indexed(&batch, &course)?;
            }
        }
        batch.commit()?;
        Ok(())
    }

    /// Sessions that somebody began to index and was killed before the end: they wait again.
    pub(crate) fn take_up_abandoned(&self, store: &mut Store) -> Result<()> {
        let batch = store.begin()?;
        for session in batch.abandoned_sessions()? {
            let waiting = (Indexing::Running { grew: false }).given_back();
            batch.set_indexing(session, waiting)?;
            let failures = batch.job_attempts(JobKind::Index, session)?.unwrap_or(0) + 1;
            batch.put_job(JobKind::Index, session, "abandoned", self.clock.now())?;
            // Whoever had it may have run out of time. If it ends everybody who tries, it is left to people.
            let again = (failures < Backoff::default().limit).then(|| self.clock.now());
            let error = "whoever indexed it ended before it was done";
            batch.job_failed(JobKind::Index, session, error, again)?;
            if again.is_none() {
                batch.set_indexing(session, waiting.failed())?;
            }
        }
        batch.commit()?;
        Ok(())
    }

    /// Notes that the sessions which somebody asks for are being indexed, where they were left.
    pub(crate) fn begin_to_index(&self, store: &mut Store, which: Which<'_>) -> Result<()> {
        let Which::These(asked) = which else { return Ok(()) };
        let rows = rows_of(store, asked)?;
        let now = self.clock.now();
        let batch = store.begin()?;
        for row in rows {
            let Some(course) = batch.course(row)? else { continue };
            let Some(reason) = course.heard.left(now, &self.options.limits) else { continue };
            // What failed is tried again when its time comes, or when somebody says so.
            if course.indexing == Indexing::Failed {
                continue;
            }
            let (working, effect) = course.indexing.step(Work::Asked);
            if effect == Some(Effect::Index) {
                batch.set_indexing(row, working)?;
                batch.put_job(JobKind::Index, row, &reason.to_string(), now)?;
            }
        }
        batch.commit()?;
        Ok(())
    }

    /// Does what is due in the queue, as far as distilling did not do it.
    pub(crate) fn index_queued(
        &self,
        store: &mut Store,
        which: Which<'_>,
        indexer: &mut Indexer<'_>,
    ) -> Result<()> {
        // What was asked for in this run is due since it was asked for, which is later than its start.
        let now = self.clock.now();
        let mut due = store.jobs()?;
        due.retain(|job| job.kind == Some(JobKind::Index) && job.is_due(now));
        if let Which::These(asked) = which {
            due.retain(|job| asked.contains(&job.key));
        }
        if due.is_empty() {
            return Ok(());
        }
        let batch = store.begin()?;
        for job in due {
            let Some(course) = batch.course(job.session)? else { continue };
            if course.is_stale && self.options.distil {
                // Its last turn goes on, or somebody asked this to stop.
                continue;
            }
            indexer.index(&batch, &course, &job.reason)?;
        }
        batch.commit()?;
        Ok(())
    }
}

/// Writes that somebody closed a session, as an event among those of hooks.
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

/// Events in the order in which they happened: by their times. A clock that ran ahead for a while told
/// of times to come; such an event happened when the one did that came in before it.
fn in_order(mut events: Vec<CourseEvent>, now: Timestamp) -> Vec<CourseEvent> {
    let ahead = now + CLOCKS_DIFFER;
    let mut before = now;
    for event in &mut events {
        if event.at > ahead {
            event.at = before;
        }
        before = event.at.min(now);
    }
    events.sort_by(|a, b| (a.at, &a.key).cmp(&(b.at, &b.key)));
    events
}

/// What an event means for the course of its session.
fn of_course(event: &CourseEvent) -> (Event, Timestamp) {
    let detail: Value = serde_json::from_str(&event.detail).unwrap_or_default();
    let course = match event.event.as_str() {
        CLOSED => {
            let reason = detail.get("reason").and_then(Value::as_str).unwrap_or_default();
            Event::Closed(reason.to_owned())
        }
        name => hooks::course(&hooks::Event::named(name), &detail),
    };
    (course, event.at)
}
