//! The worker: takes questions from the queue, asks, and hands on the results.

use std::collections::{HashMap, HashSet};
use std::fs::{File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use thru_config::Limits as BudgetLimits;
use thru_core::{Clock, Made, Micros, ProjectKey, SessionKey, Spent, Timestamp};
use thru_distil::refine::Limits;
use thru_intake::{Intake, IntakeError, IntakeLock, Operation, RetryPolicy};
use thru_store::{JobKind, JobRow, Store, StoreError};

use crate::asking::{Asked, Prepared, RefinedAnswer};
use crate::budget::{Exhausted, Meter};
use crate::chain::Chain;
use crate::questions::{of_session, of_turn};

/// Time to wait for another process that writes.
const PATIENCE: Duration = Duration::from_secs(10);
/// A lower bound for any question; its real cost is checked before it is asked.
const LEAST: Spent = Spent { input: 1_000, output: 0, cost: Some(Micros(0)) };
/// Delay for a question whose session has new passages that are not distilled yet.
const NEWS: Duration = Duration::from_secs(30);

/// The permission that a session's directory gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Permission {
    /// Nothing of the session may be sent anywhere.
    Off,
    /// It may be sent, within these limits.
    Within(BudgetLimits),
}

/// Limits of the worker.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// The size of a request about a turn.
    pub turn: Limits,
    /// The size of a request about a session.
    pub session: Limits,
    /// Most tokens of an answer.
    pub answer_tokens: u32,
    /// Most questions under way at a time.
    pub concurrency: usize,
}

/// An event for a log.
#[derive(Debug)]
pub enum RefineEvent<'a> {
    /// A provider gave no answer.
    Failed {
        /// The provider.
        provider: &'a str,
        /// The reason.
        error: &'a str,
        /// The provider that is asked instead; `None` if memories stay as they were distilled.
        next: Option<&'a str>,
    },
    /// Something was made.
    Refined {
        /// The session.
        session: &'a SessionKey,
        /// The turn; `None` for the session as a whole.
        turn: Option<u32>,
        /// The way it was made.
        made: &'a Made,
    },
    /// A limit is reached.
    Exhausted(Exhausted),
}

/// Counts and costs of one run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Turns that were refined.
    pub turns: u64,
    /// Sessions that were refined.
    pub sessions: u64,
    /// Questions that were not sent because the same was answered before.
    pub reused: u64,
    /// Questions without a usable answer.
    pub failed: u64,
    /// Questions that are not worth asking, or must not be sent.
    pub skipped: u64,
    /// Statements that were dropped as unsupported.
    pub dropped: u64,
    /// The cost of the run.
    pub spent: Spent,
    /// The limit that ended the run.
    pub exhausted: Option<Exhausted>,
    /// The reason no provider could be asked any more.
    pub trouble: Option<String>,
    /// The time before which the provider must not be asked again, if it named one.
    pub not_before: Option<Timestamp>,
}

/// The reason a run failed.
#[derive(Debug, thiserror::Error)]
pub enum RefineError {
    /// Journal or store.
    #[error(transparent)]
    Intake(#[from] IntakeError),
    /// The store cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The settings are unusable.
    #[error("{0}")]
    Settings(String),
    /// Another process kept writing for too long.
    #[error("another process is writing")]
    Busy,
    /// Another process is asking models.
    #[error("another process is asking models")]
    Asking,
    /// The lock on asking cannot be used.
    #[error("{}: {error}", path.display())]
    Lock {
        /// Its file.
        path: PathBuf,
        /// The underlying error.
        error: std::io::Error,
    },
}

/// Everything a run needs.
pub struct Refiner<'a> {
    /// Opens intake with the current rules.
    pub intake: &'a (dyn Fn() -> Result<Intake, RefineError> + Sync),
    /// Providers for turns.
    pub turns: &'a Chain,
    /// Providers for sessions.
    pub sessions: &'a Chain,
    /// Limits of the worker.
    pub settings: Settings,
    /// Returns the permission of a session's directory.
    pub permission: &'a (dyn Fn(Option<&str>) -> Permission + Sync),
    /// The time.
    pub clock: &'a dyn Clock,
    /// Receives events as they happen.
    pub on_event: &'a (dyn Fn(&RefineEvent<'_>) + Sync),
}

/// Permissions of the queue's sessions, each looked up once.
#[derive(Default)]
struct Allowed(HashMap<i64, Option<(BudgetLimits, Option<ProjectKey>)>>);

/// The decision about a job.
enum Fate {
    /// It is asked.
    Ask(Box<Prepared>),
    /// It is dropped: not worth a question, or not to be sent.
    LetBe,
    /// It waits: its session has new passages that are not distilled yet.
    Wait,
}

impl Refiner<'_> {
    /// Asks the questions that are due until none is left, a limit is reached, no provider can be asked,
    /// or `stop` is set. `only` restricts the run to jobs with these numbers; an empty list means all
    /// that are due.
    ///
    /// # Errors
    ///
    /// Returns an error if the journal or the store cannot be used. Answers received until then are
    /// kept.
    pub fn run(
        &self,
        only: Option<&HashSet<i64>>,
        stop: &AtomicBool,
    ) -> Result<Report, RefineError> {
        let mut report = Report::default();
        let mut held: HashSet<i64> = HashSet::new();
        // The limits hold for one asking process at a time. The lock's folder exists once intake's lock
        // was taken.
        let asking = {
            let intake = (self.intake)()?;
            drop(lock(&intake)?);
            AskingLock::take(&intake.layout().run())?
        };
        let Some(_asking) = asking else { return Err(RefineError::Asking) };
        while !stop.load(Ordering::Relaxed) {
            let intake = (self.intake)()?;
            // First the answers a killed process left behind: those are not asked again.
            intake.apply_answers(&lock(&intake)?, &[])?;
            let Some(store) = Store::open_if_there(intake.layout())? else { break };
            let jobs = self.waiting(&store, only, &held)?;
            if jobs.is_empty() {
                break;
            }
            let prepared = self.prepare_some(&intake, &store, jobs, &mut held, &mut report)?;
            if prepared.is_empty() && report.exhausted.is_some() {
                break;
            }
            let asked = self.ask_all(&intake, store, prepared, stop);
            let mut sessions: Vec<SessionKey> = Vec::new();
            let lock = lock(&intake)?;
            for Asked { prepared, answer } in asked {
                let Prepared { job, kind, .. } = prepared;
                match answer {
                    Ok(RefinedAnswer { operation, made }) => {
                        self.count(&mut report, &operation, &made);
                        let turn = (kind != JobKind::RefineSession).then_some(kind.turn());
                        (self.on_event)(&RefineEvent::Refined {
                            session: &job.key,
                            turn,
                            made: &made,
                        });
                        sessions.push(job.key);
                    }
                    Err(failure) => {
                        if let Some(exhausted) = failure.exhausted {
                            (self.on_event)(&RefineEvent::Exhausted(exhausted));
                            report.exhausted = Some(exhausted);
                            continue;
                        }
                        report.failed += 1;
                        intake.question_failed(
                            &lock,
                            kind,
                            job.session,
                            &failure.error,
                            failure.retry,
                        )?;
                        if failure.is_general {
                            report.trouble = Some(failure.error);
                            report.not_before = report.not_before.max(failure.not_before);
                        }
                    }
                }
            }
            self.forget_again(&intake, &lock, &mut sessions)?;
            intake.apply_answers(&lock, &sessions)?;
            drop(lock);
            // If only one project's budget is spent, the others go on: its jobs are held.
            if report.trouble.is_some()
                || report.exhausted.is_some_and(|exhausted| !exhausted.is_of_project)
            {
                break;
            }
        }
        Ok(report)
    }

    /// Removes records about sessions that were forgotten at that very moment: no other process would
    /// look for them.
    fn forget_again(
        &self,
        intake: &Intake,
        lock: &IntakeLock,
        sessions: &mut Vec<SessionKey>,
    ) -> Result<(), RefineError> {
        let Some(store) = Store::open_if_there(intake.layout())? else { return Ok(()) };
        let forgotten = store.forgotten()?;
        let late: Vec<&SessionKey> =
            forgotten.iter().filter(|key| sessions.contains(key)).collect();
        if !late.is_empty() {
            intake.forget(lock, &late)?;
        }
        sessions.retain(|key| !forgotten.contains(key));
        Ok(())
    }

    fn count(&self, report: &mut Report, operation: &Operation, made: &Made) {
        match operation {
            Operation::SessionRefined(_) => report.sessions += 1,
            _ => report.turns += 1,
        }
        if made.spent == Spent::default() {
            report.reused += 1;
        }
        report.dropped += made.dropped;
        report.spent = report.spent.plus(made.spent);
    }

    /// Returns the jobs that can be done now: sessions that were left before all others, and the turns
    /// of a session before the session itself.
    fn waiting(
        &self,
        store: &Store,
        only: Option<&HashSet<i64>>,
        held: &HashSet<i64>,
    ) -> Result<Vec<JobRow>, RefineError> {
        let now = self.clock.now();
        let all = store.jobs()?;
        let whole = all.iter().filter(|job| job.kind == Some(JobKind::RefineSession));
        let left: HashSet<i64> = whole.map(|job| job.session).collect();
        let is_wanted = |job: &&JobRow| {
            job.is_due(now)
                && !held.contains(&job.number)
                && only.is_none_or(|only| only.contains(&job.number))
        };
        let mut jobs: Vec<JobRow> = ready(&all).filter(is_wanted).cloned().collect();
        jobs.sort_by_key(|job| (!left.contains(&job.session), job.due, job.number));
        Ok(jobs)
    }

    /// Prepares as many of these as are asked at a time. Each stays held for this run, whatever comes of
    /// it.
    fn prepare_some(
        &self,
        intake: &Intake,
        store: &Store,
        jobs: Vec<JobRow>,
        held: &mut HashSet<i64>,
        report: &mut Report,
    ) -> Result<Vec<Prepared>, RefineError> {
        let now = self.clock.now();
        let mut allowed = Allowed::default();
        let mut meters: HashMap<Option<ProjectKey>, Meter> = HashMap::new();
        let mut prepared: Vec<Prepared> = Vec::new();
        for job in jobs {
            if prepared.len() >= self.settings.concurrency.max(1) {
                break;
            }
            let (Some(kind), number, session) = (job.kind, job.number, job.session) else {
                continue;
            };
            // Two turns with equal content are asked about once.
            let is_twin =
                |one: &Prepared| one.job.session == session && Some(one.content) == job.content;
            if prepared.iter().any(is_twin) {
                continue;
            }
            held.insert(number);
            let Some((limits, project)) = self.allowed(store, session, &mut allowed)? else {
                report.skipped += 1;
                intake.drop_question(&lock(intake)?, kind, session)?;
                continue;
            };
            // Before anything is read for it: the queue may be long, and the budget spent.
            let meter = match meters.entry(project.clone()) {
                std::collections::hash_map::Entry::Occupied(known) => *known.get(),
                std::collections::hash_map::Entry::Vacant(new) => {
                    let key = project.as_ref().map(|project| project.as_str());
                    *new.insert(Meter::read(store, now, key)?)
                }
            };
            if let Some(exhausted) = meter.exhausted(&limits, LEAST, now) {
                if report.exhausted != Some(exhausted) {
                    (self.on_event)(&RefineEvent::Exhausted(exhausted));
                }
                report.exhausted = Some(exhausted);
                if !exhausted.is_of_project {
                    break;
                }
                continue;
            }
            // One unreadable session must not block the others.
            let fate = self.prepare(intake, store, job, limits, project);
            match fate {
                Ok(Fate::Ask(one)) => prepared.push(*one),
                Ok(Fate::LetBe) => {
                    report.skipped += 1;
                    intake.drop_question(&lock(intake)?, kind, session)?;
                }
                Ok(Fate::Wait) => {
                    let later = now.checked_add(NEWS).unwrap_or(now);
                    let error = "its session goes on";
                    intake.question_failed(
                        &lock(intake)?,
                        kind,
                        session,
                        error,
                        RetryPolicy::At(later),
                    )?;
                }
                Err(error) => {
                    report.failed += 1;
                    let error = error.to_string();
                    intake.question_failed(
                        &lock(intake)?,
                        kind,
                        session,
                        &error,
                        RetryPolicy::Backoff,
                    )?;
                }
            }
        }
        Ok(prepared)
    }

    /// Returns the limits of a session; `None` if nothing of it may be sent.
    fn allowed(
        &self,
        store: &Store,
        session: i64,
        known: &mut Allowed,
    ) -> Result<Option<(BudgetLimits, Option<ProjectKey>)>, RefineError> {
        if let Some(known) = known.0.get(&session) {
            return Ok(known.clone());
        }
        let row = store.session(session)?;
        let directory = row.and_then(|row| row.facts.directory);
        let allowed = match (self.permission)(directory.as_deref()) {
            Permission::Off => None,
            Permission::Within(limits) => Some((limits, store.project_key_of_session(session)?)),
        };
        known.0.insert(session, allowed.clone());
        Ok(allowed)
    }

    /// Makes a job ready to be asked.
    fn prepare(
        &self,
        intake: &Intake,
        store: &Store,
        job: JobRow,
        limits: BudgetLimits,
        project: Option<ProjectKey>,
    ) -> Result<Fate, StoreError> {
        let (Some(kind), Some(mut content)) = (job.kind, job.content) else {
            return Ok(Fate::LetBe);
        };
        let session = job.session;
        let Some(state) = store.session_state(session)? else { return Ok(Fate::LetBe) };
        // The request must match the content that the answer is kept for.
        if state.is_stale {
            return Ok(Fate::Wait);
        }
        // A session goes on after its compaction: its summary is about what it has become by now.
        if kind == JobKind::RefineSession && awaits_summary(store, session)? {
            content = state.content.map_or(content, |known| known.hash);
        }
        let is_same = match kind {
            JobKind::RefineTurn(turn) => store.turn_content(session, turn)? == Some(content),
            // No model's summary overlays a session whose memories a person has edited.
            _ if store.is_decided_about(&job.key)? => false,
            _ => state.content.is_some_and(|known| known.hash == content),
        };
        if !is_same {
            return Ok(Fate::LetBe);
        }
        let redactor = intake.redactor();
        let (limit, tokens) = (&self.settings, self.settings.answer_tokens);
        let question = match kind {
            JobKind::RefineTurn(turn) => {
                of_turn(store, redactor, session, turn, limit.turn, tokens)?
            }
            _ => of_session(store, redactor, session, limit.session, tokens)?,
        };
        Ok(match question {
            Some(question) => {
                Fate::Ask(Box::new(Prepared { job, kind, content, project, limits, question }))
            }
            None => Fate::LetBe,
        })
    }
}

/// Returns true if no model has told of a session since its context was last compacted.
fn awaits_summary(store: &Store, session: i64) -> Result<bool, StoreError> {
    let Some(last) = store.newest_snapshot(session)? else { return Ok(false) };
    let told = store.refinements(session)?;
    Ok(!told.iter().any(|row| row.is_whole && row.at >= last.snapshot.at))
}

/// Returns the questions of a queue that wait for no other: a session waits for its turns, whatever its
/// own time.
pub fn ready(jobs: &[JobRow]) -> impl Iterator<Item = &JobRow> {
    let is_turn = |job: &&JobRow| matches!(job.kind, Some(JobKind::RefineTurn(_)));
    let open = jobs.iter().filter(is_turn).filter(|job| !job.is_dead);
    let unfinished: HashSet<i64> = open.map(|job| job.session).collect();
    jobs.iter().filter(move |job| match job.kind {
        Some(JobKind::RefineSession) => !unfinished.contains(&job.session),
        _ => job.is_question(),
    })
}

/// The right to ask models; released on drop, or by the system when the process ends.
struct AskingLock {
    _file: File,
}

impl AskingLock {
    fn take(directory: &Path) -> Result<Option<Self>, RefineError> {
        let path = directory.join("models.lock");
        let failed = |error| RefineError::Lock { path: path.clone(), error };
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(false);
        let file = thru_journal::files::private(&mut options).open(&path).map_err(failed)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Self { _file: file })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(failed(error)),
        }
    }
}

fn lock(intake: &Intake) -> Result<IntakeLock, RefineError> {
    intake.try_lock(PATIENCE)?.ok_or(RefineError::Busy)
}
