//! The journal's and the store's side of model questions: the turns and sessions that wait for a model, the
//! questions and their cost, and the answers.
//!
//! Asking, and the budget for it, are decided elsewhere. Each answer holds for one content and is kept in
//! the journal: a rebuild asks no model again (invariant I-4).

use std::sync::atomic::AtomicBool;

use serde::Serialize;
use thru_core::{Id, Question, SessionKey, Spent, Timestamp};
use thru_lifecycle::content::ContentHash;
use thru_lifecycle::retry::{Backoff, Retry};
use thru_store::{Batch, Fate, JobKind, NewRefinement, NewTurn, SessionState};

use crate::distil::DistilScope;
use crate::operations::Refined;
use crate::sessions::Indexer;
use crate::stages::Stages;
use crate::{Intake, IntakeLock, Operation, Result};

/// A turn that just ended may lack its last words: the transcript is written after the hooks.
const SETTLING: std::time::Duration = std::time::Duration::from_secs(5);
/// A turn with fewer messages (a prompt and a reply) has nothing to refine.
const FEWEST_MESSAGES: u64 = 2;

impl Intake {
    /// Queues the turns of a session that a model is to be asked about.
    pub(crate) fn queue_turns(
        &self,
        batch: &Batch<'_>,
        session: i64,
        turns: &[NewTurn],
    ) -> Result<()> {
        let now = self.clock.now();
        let under_way = batch
            .session_state(session)?
            .and_then(|state| state.lifecycle.at(now, &self.options.limits))
            .is_some_and(|conversation| conversation.turn().is_some());
        match turns.split_last() {
            Some((_, finished)) if under_way => self.queue_finished(batch, session, finished),
            _ => self.queue_finished(batch, session, turns),
        }
    }

    fn queue_finished(&self, batch: &Batch<'_>, session: i64, turns: &[NewTurn]) -> Result<()> {
        let Some(since) = self.options.refine_since else { return Ok(()) };
        let now = self.clock.now();
        for turn in turns {
            let is_new = turn.at.is_some_and(|at| at >= since);
            let is_wanted = turn.turn > 0 && is_new && turn.content.messages >= FEWEST_MESSAGES;
            if is_wanted && !batch.is_refined(session, false, turn.content.hash)? {
                let kind = JobKind::RefineTurn(turn.turn);
                batch.put_question_job(kind, session, turn.content.hash, now + SETTLING)?;
            }
        }
        Ok(())
    }

    /// Queues the turns of an indexed session, the session itself, and its delivery.
    pub(crate) fn queue_session(
        &self,
        batch: &Batch<'_>,
        state: &SessionState,
        content: ContentHash,
    ) -> Result<()> {
        let now = self.clock.now();
        let happened = |since: Option<Timestamp>| {
            since.is_some_and(|since| state.lifecycle.last().is_some_and(|last| last >= since))
        };
        if happened(self.options.deliver_since) {
            batch.put_question_job(JobKind::Deliver, state.row, content, now)?;
        }
        if !happened(self.options.refine_since) || batch.is_refined(state.row, true, content)? {
            return Ok(());
        }
        // Turns not queued yet: the last one was under way when it was distilled.
        let turns = batch.turns_of(state.row)?;
        self.queue_finished(batch, state.row, &turns)?;
        batch.put_question_job(JobKind::RefineSession, state.row, content, now)?;
        batch.hurry_question_jobs(state.row, now)?;
        Ok(())
    }

    /// Queues the question about a session whose context is about to be compacted.
    pub(crate) fn queue_compacted(
        &self,
        batch: &Batch<'_>,
        session: i64,
        at: Timestamp,
    ) -> Result<()> {
        let is_wanted = self.options.refine_since.is_some_and(|since| at >= since);
        let content = batch.session_state(session)?.and_then(|state| state.content);
        if let Some(content) = content.filter(|_| is_wanted)
            && !batch.is_refined(session, true, content.hash)?
        {
            let now = self.clock.now();
            batch.put_question_job(JobKind::RefineSession, session, content.hash, now)?;
            batch.hurry_question_jobs(session, now)?;
        }
        Ok(())
    }

    /// Queues questions about these turns and sessions, whatever their age, because a person asked for it.
    ///
    /// # Errors
    /// Fails if the store cannot be written.
    pub fn queue_questions(
        &self,
        _lock: &IntakeLock,
        jobs: &[(JobKind, i64, ContentHash)],
    ) -> Result<()> {
        let mut store = self.open_store(&mut |_, _, _| {})?;
        let now = self.clock.now();
        let batch = store.begin()?;
        for (kind, session, content) in jobs {
            batch.put_question_job(*kind, *session, *content, now)?;
            batch.retry_job(*kind, *session, now)?;
        }
        batch.commit()?;
        Ok(())
    }

    /// Records a question, durably and before it is sent, and returns the record's key.
    ///
    /// # Errors
    /// Fails if the journal cannot be written. The question must not be sent then.
    pub fn record_question(&self, question: Question) -> Result<String> {
        let keys = self.record(&[Operation::QuestionAsked(question)])?;
        Ok(keys.into_iter().next().unwrap_or_default())
    }

    /// Brings the store up to the questions and answers of the journal, and the memories of these sessions
    /// up to those. The text index is left to others.
    ///
    /// # Errors
    /// Fails if the journal or the store cannot be read or written.
    pub fn apply_answers(&self, _lock: &IntakeLock, sessions: &[SessionKey]) -> Result<()> {
        let mut store = self.open_store(&mut |_, _, _| {})?;
        self.apply_journal(&mut store)?;
        if !sessions.is_empty() {
            let (never, stages) = (AtomicBool::new(false), Stages::default());
            let projections = &self.projections(Indexer::without_transcripts(self));
            let scope = DistilScope::These(sessions);
            self.distil(&mut store, scope, projections, &never, &stages, &mut |_| {})?;
        }
        Ok(())
    }

    /// Notes that a question could not be sent, or got no answer, and when to try again.
    ///
    /// # Errors
    /// Fails if the store cannot be written.
    pub fn question_failed(
        &self,
        _lock: &IntakeLock,
        kind: JobKind,
        session: i64,
        error: &str,
        retry: RetryPolicy,
    ) -> Result<()> {
        let mut store = self.open_store(&mut |_, _, _| {})?;
        let now = self.clock.now();
        let batch = store.begin()?;
        if let Some(attempts) = batch.job_attempts(kind, session)? {
            let next = match retry {
                RetryPolicy::Never => None,
                RetryPolicy::At(at) => {
                    batch.postpone_job(kind, session, error, at)?;
                    batch.commit()?;
                    return Ok(());
                }
                RetryPolicy::Backoff => {
                    let id = Id::derive(&[kind.as_str().as_bytes(), &session.to_le_bytes()]);
                    match Backoff::default().after(attempts + 1, id) {
                        Retry::After(wait) => now.checked_add(wait).ok(),
                        Retry::GiveUp => None,
                    }
                }
            };
            batch.job_failed(kind, session, error, next)?;
        }
        batch.commit()?;
        Ok(())
    }

    /// Removes a question from the queue: it is not asked again as long as its content stays the same.
    ///
    /// # Errors
    /// Fails if the store cannot be written.
    pub fn drop_question(&self, _lock: &IntakeLock, kind: JobKind, session: i64) -> Result<()> {
        let mut store = self.open_store(&mut |_, _, _| {})?;
        let batch = store.begin()?;
        batch.let_question_be(kind, session)?;
        batch.commit()?;
        Ok(())
    }
}

/// Prefix of the question key of an answer that was reused from an earlier question, without asking a
/// model.
pub const REUSED: &str = "reused-";

/// The policy for retrying something that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RetryPolicy {
    /// Never by itself.
    Never,
    /// At this time. The content is not at fault, so this does not count as a failure.
    At(Timestamp),
    /// After a while, which grows with each failure.
    Backoff,
}

/// Writes the outcome of a question without a usable answer.
pub(crate) fn settle(
    batch: &Batch<'_>,
    question: &str,
    at: Timestamp,
    spent: Spent,
    has_failed: bool,
) -> Result<()> {
    let fate = match has_failed {
        false => Fate::Answered,
        true if spent.tokens() == 0 => Fate::Free,
        true => Fate::Wasted,
    };
    Ok(batch.settle_question(question, at, fate, spent)?)
}

/// Writes an answer of a model.
pub(crate) fn put_refinement<T: Serialize>(
    batch: &Batch<'_>,
    key: &str,
    at: Timestamp,
    refined: &Refined<T>,
    is_whole: bool,
) -> Result<()> {
    if !refined.question.starts_with(REUSED) {
        batch.settle_question(&refined.question, at, Fate::Answered, refined.made.spent)?;
    }
    if batch.is_forgotten(&refined.session)? {
        return Ok(());
    }
    let session = batch.session(&refined.session)?;
    let refinement = NewRefinement {
        key: key.to_owned(),
        is_whole,
        content: refined.content,
        input: refined.input,
        at,
        body: serde_json::to_string(refined).unwrap_or_default(),
    };
    batch.put_refinement(session, &refinement)?;
    Ok(())
}

/// The id of the summary that a model made of a session.
pub(crate) fn summary_id(session: &SessionKey) -> Id {
    Id::derive(&[
        b"refined-summary",
        session.agent.as_str().as_bytes(),
        session.id.as_str().as_bytes(),
    ])
}
