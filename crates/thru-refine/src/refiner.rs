//! The worker: takes questions from the queue, asks, and hands on what comes of it.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use thru_config::Limits as BudgetLimits;
use thru_core::{Clock, Made, Purpose, RefinedTurn, SessionKey, Timestamp};
use thru_distil::refine::Limits;
use thru_intake::{Again, Intake, IntakeError, IntakeLock, Operation, Refined, Which};
use thru_lifecycle::content::ContentHash;
use thru_models::{AskError, Reply, Retry};
use thru_store::{JobKind, JobRow, Store, StoreError};

use crate::budget::{Exhausted, Meter};
use crate::chain::{Chain, Link};
use crate::questions::{Believed, Question, of_session, of_turn};

/// How long another process that writes is waited for.
const PATIENCE: Duration = Duration::from_secs(10);
/// When questions are tried again that no provider can be asked.
const LATER: Duration = Duration::from_mins(15);
/// Answers that were paid for and could not be used, until nobody asks again.
const MOST_WASTED: u32 = 2;

/// What a session's directory allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Permission {
    /// Nothing of it is sent anywhere.
    Off,
    /// It may be sent, within these limits.
    Within(BudgetLimits),
}

/// How to ask.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// How much is sent about a turn.
    pub turn: Limits,
    /// How much is sent about a session.
    pub session: Limits,
    /// Tokens that an answer may have.
    pub answer_tokens: u32,
    /// Questions under way at a time.
    pub concurrency: usize,
}

/// Something that happened, for a log.
#[derive(Debug)]
pub enum Told<'a> {
    /// A provider gave no answer.
    Failed {
        /// Which.
        provider: &'a str,
        /// Why.
        error: &'a str,
        /// Who is asked instead; nobody, where memories stay as they were made without a model.
        next: Option<&'a str>,
    },
    /// Something was made.
    Refined {
        /// The session.
        session: &'a SessionKey,
        /// The turn; nothing for all of it.
        turn: Option<u32>,
        /// How.
        made: &'a Made,
    },
    /// A limit is reached.
    Exhausted(Exhausted),
}

/// What was done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Turns that were refined.
    pub turns: u64,
    /// Sessions that were refined.
    pub sessions: u64,
    /// Questions that were not sent because the same was answered before.
    pub reused: u64,
    /// Questions that got no answer of use.
    pub failed: u64,
    /// Questions that are not worth asking, or must not be.
    pub skipped: u64,
    /// Statements that were not believed.
    pub dropped: u64,
    /// What was spent.
    pub spent: thru_core::Spent,
    /// The limit that ended it.
    pub exhausted: Option<Exhausted>,
    /// Why no provider could be asked any more.
    pub trouble: Option<String>,
}

/// Why nothing could be done.
#[derive(Debug, thiserror::Error)]
pub enum RefineError {
    /// Journal or store.
    #[error(transparent)]
    Intake(#[from] IntakeError),
    /// The store cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Another process writes for long.
    #[error("another process writes")]
    Busy,
}

/// All that asking takes.
pub struct Refiner<'a> {
    /// Makes the parts of intake, with the rules as they are now.
    pub intake: &'a (dyn Fn() -> Result<Intake, RefineError> + Sync),
    /// Who is asked about turns.
    pub turns: &'a Chain,
    /// Who is asked about sessions.
    pub sessions: &'a Chain,
    /// How.
    pub settings: Settings,
    /// What the directory of a session allows.
    pub permission: &'a (dyn Fn(Option<&str>) -> Permission + Sync),
    /// The time.
    pub clock: &'a dyn Clock,
    /// Told what happens.
    pub told: &'a (dyn Fn(&Told<'_>) + Sync),
}

/// A question of the queue that is ready to be asked.
struct Prepared {
    job: JobRow,
    kind: JobKind,
    content: ContentHash,
    project: Option<thru_core::ProjectKey>,
    limits: BudgetLimits,
    question: Question,
}

/// What became of one.
struct Asked {
    prepared: Prepared,
    answer: Result<Answer, Failure>,
}

struct Answer {
    operation: Operation,
    made: Made,
}

struct Failure {
    error: String,
    again: Again,
    /// Whether others need not be tried now.
    is_general: bool,
    exhausted: Option<Exhausted>,
}

impl Refiner<'_> {
    /// Asks what waits until nothing is due any more, a limit is reached, nobody can be asked, or `stop` is
    /// set. `only` are the numbers of the jobs to be done; all that are due, where there are none.
    ///
    /// # Errors
    /// Where journal or store cannot be used. What was answered until then is kept.
    pub fn run(&self, only: Option<&HashSet<i64>>, stop: &AtomicBool) -> Result<Report, RefineError> {
        let mut report = Report::default();
        let mut held: HashSet<i64> = HashSet::new();
        while !stop.load(Ordering::Relaxed) {
            let intake = (self.intake)()?;
            // First what somebody who was killed left behind: it is not asked again.
            let lock = lock(&intake)?;
            intake.apply_answers(&lock, Which::These(&[]))?;
            drop(lock);
            let Some(store) = intake.store_to_read()? else { break };
            let jobs = self.waiting(&store, only, &held)?;
            if jobs.is_empty() {
                break;
            }
            let mut prepared = Vec::new();
            for job in jobs {
                if prepared.len() >= self.settings.concurrency.max(1) {
                    break;
                }
                let number = job.number;
                match self.prepare(&intake, &store, job)? {
                    Some(one) => prepared.push(one),
                    None => {
                        held.insert(number);
                        report.skipped += 1;
                    }
                }
            }
            let asked = self.ask_all(&intake, &store, prepared, stop);
            let mut sessions: Vec<SessionKey> = Vec::new();
            let lock = lock(&intake)?;
            for Asked { prepared, answer } in asked {
                let Prepared { job, kind, .. } = prepared;
                held.insert(job.number);
                match answer {
                    Ok(Answer { operation, made }) => {
                        self.count(&mut report, &operation, &made);
                        let turn = (kind != JobKind::RefineSession).then_some(kind.turn());
                        (self.told)(&Told::Refined { session: &job.key, turn, made: &made });
                        sessions.push(job.key);
                    }
                    Err(failure) => {
                        if let Some(exhausted) = failure.exhausted {
                            (self.told)(&Told::Exhausted(exhausted));
                            report.exhausted = Some(exhausted);
                            continue;
                        }
                        report.failed += 1;
                        intake.question_failed(
                            &lock,
                            kind,
                            job.session,
                            &failure.error,
                            failure.again,
                        )?;
                        if failure.is_general {
                            report.trouble = Some(failure.error);
                        }
                    }
                }
            }
            intake.apply_answers(&lock, Which::These(&sessions))?;
            drop(lock);
            // Where only one project's budget is spent, others go on: its jobs are held.
            if report.trouble.is_some() {
                break;
            }
        }
        Ok(report)
    }

    fn count(&self, report: &mut Report, operation: &Operation, made: &Made) {
        match operation {
            Operation::SessionRefined(_) => report.sessions += 1,
            _ => report.turns += 1,
        }
        if made.spent == thru_core::Spent::default() {
            report.reused += 1;
        }
        report.dropped += made.dropped;
        report.spent = report.spent.plus(made.spent);
    }

    /// The jobs that can be done now: sessions that were left before all others, and of each its turns
    /// before itself.
    fn waiting(
        &self,
        store: &Store,
        only: Option<&HashSet<i64>>,
        held: &HashSet<i64>,
    ) -> Result<Vec<JobRow>, RefineError> {
        let now = self.clock.now();
        let is_turn = |job: &JobRow| matches!(job.kind, Some(JobKind::RefineTurn(_)));
        let is_whole = |job: &JobRow| job.kind == Some(JobKind::RefineSession);
        let mut jobs = store.jobs()?;
        jobs.retain(|job| is_turn(job) || is_whole(job));
        let left: HashSet<i64> = jobs.iter().filter(|job| is_whole(job)).map(|job| job.session).collect();
        let unfinished: HashSet<i64> =
            jobs.iter().filter(|job| is_turn(job) && !job.is_dead).map(|job| job.session).collect();
        jobs.retain(|job| {
            job.is_due(now)
                && !held.contains(&job.number)
                && only.is_none_or(|only| only.contains(&job.number))
                && !(is_whole(job) && unfinished.contains(&job.session))
        });
        jobs.sort_by_key(|job| (!left.contains(&job.session), job.due, job.number));
        Ok(jobs)
    }

    /// Makes a job ready to be asked; nothing where it is not to be asked, or not any more.
    fn prepare(
        &self,
        intake: &Intake,
        store: &Store,
        job: JobRow,
    ) -> Result<Option<Prepared>, RefineError> {
        let (Some(kind), Some(content)) = (job.kind, job.content) else { return Ok(None) };
        let session = job.session;
        let Some(row) = store.session(session)? else { return Ok(None) };
        let Permission::Within(limits) = (self.permission)(row.facts.directory.as_deref()) else {
            return self.forget(intake, &job, kind);
        };
        let redactor = intake.redactor();
        let (limit, tokens) = (&self.settings, self.settings.answer_tokens);
        let question = match kind {
            JobKind::RefineTurn(turn) => of_turn(store, redactor, session, turn, limit.turn, tokens)?,
            _ => of_session(store, redactor, session, limit.session, tokens)?,
        };
        let Some(question) = question else { return self.forget(intake, &job, kind) };
        let project = store.project_key_of_session(session)?;
        Ok(Some(Prepared { job, kind, content, project, limits, question }))
    }

    fn forget(
        &self,
        intake: &Intake,
        job: &JobRow,
        kind: JobKind,
    ) -> Result<Option<Prepared>, RefineError> {
        intake.drop_question(&lock(intake)?, kind, job.session)?;
        Ok(None)
    }

    fn ask_all(
        &self,
        intake: &Intake,
        store: &Store,
        prepared: Vec<Prepared>,
        stop: &AtomicBool,
    ) -> Vec<Asked> {
        // What is asked at the same time is reserved one after the other.
        let reserving = std::sync::Mutex::new((store, Vec::<(Option<String>, thru_core::Spent)>::new()));
        let _ = &reserving;
        prepared
            .into_iter()
            .map(|one| {
                let answer = self.ask(intake, store, &one, stop);
                Asked { prepared: one, answer }
            })
            .collect()
    }

    /// Asks one provider after the other.
    fn ask(
        &self,
        intake: &Intake,
        store: &Store,
        prepared: &Prepared,
        stop: &AtomicBool,
    ) -> Result<Answer, Failure> {
        let _ = (intake, store, prepared, stop);
        todo!()
    }
}

fn lock(intake: &Intake) -> Result<IntakeLock, RefineError> {
    intake.try_lock(PATIENCE)?.ok_or(RefineError::Busy)
}
