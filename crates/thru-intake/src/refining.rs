//! What models are asked and make, as far as journal and store are concerned: which turns and sessions
//! wait for a model, what was asked and spent, and what came of it.
//!
//! Who asks, and whether the budget allows it, is decided elsewhere. Each answer holds for one content and
//! lies in the journal: a rebuild asks nobody again (invariant I-4).

use std::sync::atomic::AtomicBool;

use serde::Serialize;
use thru_core::{Id, Question, SessionKey, Spent, Timestamp};
use thru_lifecycle::content::ContentHash;
use thru_lifecycle::retry::{Backoff, Retry};
use thru_store::{Batch, Course, Fate, JobKind, NewRefinement, NewTurn};

use crate::distilling::Which;
use crate::operations::Refined;
use crate::sessions::Indexer;
use crate::stages::Stages;
use crate::{Intake, IntakeLock, Operation, Result};

/// A turn that just ended may lack its last words: the transcript is written behind the hooks.
const SETTLING: std::time::Duration = std::time::Duration::from_secs(5);
/// A turn with fewer messages (a prompt and what came of it) has nothing to make anything of.
const FEWEST_MESSAGES: u64 = 2;

impl Intake {
    /// Notes which turns of a session a model is to be asked about.
    pub(crate) fn queue_turns(
        &self,
        batch: &Batch<'_>,
        session: i64,
        turns: &[NewTurn],
    ) -> Result<()> {
        let now = self.clock.now();
        let under_way = batch
            .course(session)?
            .and_then(|course| course.heard.at(now, &self.options.limits))
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

    /// Notes that a model is to be asked about a session that was indexed, its turns first, and all of
    /// that before what others wait for; and that what is known of it is to be delivered.
    pub(crate) fn queue_session(
        &self,
        batch: &Batch<'_>,
        course: &Course,
        content: ContentHash,
    ) -> Result<()> {
        let now = self.clock.now();
        let happened = |since: Option<Timestamp>| {
            since.is_some_and(|since| course.heard.last().is_some_and(|last| last >= since))
        };
        if happened(self.options.deliver_since) {
            batch.put_question_job(JobKind::Deliver, course.row, content, now)?;
        }
        if !happened(self.options.refine_since) || batch.is_refined(course.row, true, content)? {
            return Ok(());
        }
        // Those that nobody noted: the last one was under way when it was distilled.
        let turns = batch.turns_of(course.row)?;
        self.queue_finished(batch, course.row, &turns)?;
        batch.put_question_job(JobKind::RefineSession, course.row, content, now)?;
        batch.hurry_question_jobs(course.row, now)?;
        Ok(())
    }

    /// Has a model asked about these turns and sessions, whenever they were: somebody wants that.
    ///
    /// # Errors
    /// Where the store cannot be written.
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

    /// Records a question, durably and before it is sent, and says by which key.
    ///
    /// # Errors
    /// Where the journal cannot be written. Then nobody must be asked.
    pub fn record_question(&self, question: Question) -> Result<String> {
        let keys = self.record(&[Operation::QuestionAsked(question)])?;
        Ok(keys.into_iter().next().unwrap_or_default())
    }

    /// Brings the store up to what was asked and answered, and what these sessions are remembered as up to
    /// that. The text index is left to others.
    ///
    /// # Errors
    /// Where journal or store cannot be read or written.
    pub fn apply_answers(&self, _lock: &IntakeLock, sessions: &[SessionKey]) -> Result<()> {
        let mut store = self.open_store(&mut |_, _, _| {})?;
        self.apply_journal(&mut store)?;
        if !sessions.is_empty() {
            let (never, stages) = (AtomicBool::new(false), Stages::default());
            let indexer = &mut Indexer::without_transcripts(self);
            let which = Which::These(sessions);
            self.distil(&mut store, which, indexer, &never, &stages, &mut |_| {})?;
        }
        Ok(())
    }

    /// Notes that a question could not be asked, or was not answered: when to try again.
    ///
    /// # Errors
    /// Where the store cannot be written.
    pub fn question_failed(
        &self,
        _lock: &IntakeLock,
        kind: JobKind,
        session: i64,
        error: &str,
        again: Again,
    ) -> Result<()> {
        let mut store = self.open_store(&mut |_, _, _| {})?;
        let now = self.clock.now();
        let batch = store.begin()?;
        if let Some(attempts) = batch.job_attempts(kind, session)? {
            let again = match again {
                Again::Never => None,
                Again::At(at) => {
                    batch.postpone_job(kind, session, error, at)?;
                    batch.commit()?;
                    return Ok(());
                }
                Again::Backoff => {
                    let id = Id::derive(&[kind.as_str().as_bytes(), &session.to_le_bytes()]);
                    match Backoff::default().after(attempts + 1, id) {
                        Retry::After(wait) => now.checked_add(wait).ok(),
                        Retry::GiveUp => None,
                    }
                }
            };
            batch.job_failed(kind, session, error, again)?;
        }
        batch.commit()?;
        Ok(())
    }

    /// Takes a question out of the queue: it is not to be asked, as long as it is about the same.
    ///
    /// # Errors
    /// Where the store cannot be written.
    pub fn drop_question(&self, _lock: &IntakeLock, kind: JobKind, session: i64) -> Result<()> {
        let mut store = self.open_store(&mut |_, _, _| {})?;
        let batch = store.begin()?;
        batch.let_question_be(kind, session)?;
        batch.commit()?;
        Ok(())
    }
}

/// How the question of an answer begins that was taken over from an earlier one: nobody was asked.
pub const REUSED: &str = "reused-";

/// When something that failed is to be tried again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Again {
    /// By itself never.
    Never,
    /// At this time. It was nobody's fault, or the provider's: it does not count as a failure of its own.
    At(Timestamp),
    /// After a while, which grows with each failure.
    Backoff,
}

/// Writes what became of a question whose answer nothing was made of.
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

/// Writes what a model made.
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
