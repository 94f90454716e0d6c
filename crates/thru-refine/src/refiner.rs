//! The worker: takes questions from the queue, asks, and hands on what comes of it.

use std::collections::HashSet;
use std::fs::{File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use serde::de::DeserializeOwned;
use thru_config::Limits as BudgetLimits;
use thru_core::{
    Clock, Id, Made, ProjectKey, Purpose, RefinedSession, RefinedTurn, SessionKey, Spent, Timestamp,
};
use thru_distil::refine::Limits;
use thru_intake::{Again, Intake, IntakeError, IntakeLock, Operation, Refined};
use thru_lifecycle::content::ContentHash;
use thru_models::{AskError, Retry};
use thru_redact::Report as Redacted;
use thru_store::{JobKind, JobRow, Store, StoreError};

use crate::budget::{Exhausted, Meter};
use crate::chain::{Chain, Link};
use crate::questions::{Believed, Question, of_session, of_turn};

/// How long another process that writes is waited for.
const PATIENCE: Duration = Duration::from_secs(10);
/// When questions are tried again that no provider can be asked.
const LATER: Duration = Duration::from_mins(15);
/// … and where the provider is away: that is not the question's fault, which is not given up for it.
const AWAY: Duration = Duration::from_mins(5);
/// The longest name that a model may call itself by.
const MODEL_NAME: usize = 100;
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
    pub spent: Spent,
    /// The limit that ended it.
    pub exhausted: Option<Exhausted>,
    /// Why no provider could be asked any more.
    pub trouble: Option<String>,
    /// Until when the provider wants to be left alone, where it said so.
    pub not_before: Option<Timestamp>,
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
    /// The settings cannot be used.
    #[error("{0}")]
    Settings(String),
    /// Another process writes for long.
    #[error("another process writes")]
    Busy,
    /// Another process asks models.
    #[error("another process is asking models")]
    Asking,
    /// The lock of those who ask.
    #[error("{}: {error}", path.display())]
    Lock {
        /// Its file.
        path: PathBuf,
        /// What is wrong with it.
        error: std::io::Error,
    },
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
    project: Option<ProjectKey>,
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
    /// Whether another provider may be asked instead.
    goes_on: bool,
    exhausted: Option<Exhausted>,
    /// Until when the provider wants to be left alone.
    not_before: Option<Timestamp>,
}

impl Refiner<'_> {
    /// Asks what waits until nothing is due any more, a limit is reached, nobody can be asked, or `stop` is
    /// set. `only` are the numbers of the jobs to be done; all that are due, where there are none.
    ///
    /// # Errors
    /// Where journal or store cannot be used. What was answered until then is kept.
    pub fn run(
        &self,
        only: Option<&HashSet<i64>>,
        stop: &AtomicBool,
    ) -> Result<Report, RefineError> {
        let mut report = Report::default();
        let mut held: HashSet<i64> = HashSet::new();
        // Limits are kept by one who asks at a time. The lock's folder is there once intake's was taken.
        drop(lock(&(self.intake)()?)?);
        let Some(_asking) = AskingLock::take(&(self.intake)()?.layout().run())? else {
            return Err(RefineError::Asking);
        };
        while !stop.load(Ordering::Relaxed) {
            let intake = (self.intake)()?;
            // First what somebody who was killed left behind: it is not asked again.
            intake.apply_answers(&lock(&intake)?, &[])?;
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
            // Also one whose thread is lost is not asked twice.
            held.extend(prepared.iter().map(|one| one.job.number));
            let asked = self.ask_all(&intake, store, prepared, stop);
            let mut sessions: Vec<SessionKey> = Vec::new();
            let lock = lock(&intake)?;
            for Asked { prepared, answer } in asked {
                let Prepared { job, kind, .. } = prepared;
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
                            report.not_before = report.not_before.max(failure.not_before);
                        }
                    }
                }
            }
            self.forget_again(&intake, &lock, &mut sessions)?;
            intake.apply_answers(&lock, &sessions)?;
            drop(lock);
            // Where only one project's budget is spent, others go on: its jobs are held.
            if report.trouble.is_some()
                || report.exhausted.is_some_and(|exhausted| !exhausted.is_of_project)
            {
                break;
            }
        }
        Ok(report)
    }

    /// Takes out what was recorded of sessions that somebody had forgotten at that very moment: nobody
    /// else would look for it.
    fn forget_again(
        &self,
        intake: &Intake,
        lock: &IntakeLock,
        sessions: &mut Vec<SessionKey>,
    ) -> Result<(), RefineError> {
        let Some(store) = intake.store_to_read()? else { return Ok(()) };
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
        let left: HashSet<i64> =
            jobs.iter().filter(|job| is_whole(job)).map(|job| job.session).collect();
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
            JobKind::RefineTurn(turn) => {
                of_turn(store, redactor, session, turn, limit.turn, tokens)?
            }
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

    /// Asks all of these at the same time.
    fn ask_all(
        &self,
        intake: &Intake,
        store: Store,
        prepared: Vec<Prepared>,
        stop: &AtomicBool,
    ) -> Vec<Asked> {
        let purse = Mutex::new(Purse { store, reserved: Vec::new() });
        std::thread::scope(|scope| {
            let asking: Vec<_> = prepared
                .into_iter()
                .map(|one| {
                    let purse = &purse;
                    scope.spawn(move || {
                        let answer = self.ask(intake, purse, &one, stop);
                        Asked { prepared: one, answer }
                    })
                })
                .collect();
            // One that panicked is as if it had been killed: what it may have cost counts.
            asking.into_iter().filter_map(|asking| asking.join().ok()).collect()
        })
    }

    /// Asks one provider after the other.
    fn ask(
        &self,
        intake: &Intake,
        purse: &Mutex<Purse>,
        prepared: &Prepared,
        stop: &AtomicBool,
    ) -> Result<Answer, Failure> {
        if let Some(answer) = self.known(intake, purse, prepared)? {
            return Ok(answer);
        }
        let chain = self.chain_of(prepared.kind);
        let mut failures: Vec<String> = Vec::new();
        let mut last = None;
        for (place, link) in chain.links.iter().enumerate() {
            match self.ask_link(intake, purse, prepared, chain, link, stop) {
                Ok(answer) => return Ok(answer),
                Err(failure) => {
                    let next = chain.links.get(place + 1).map(|link| link.name.as_str());
                    if failure.exhausted.is_none() {
                        let (provider, error) = (link.name.as_str(), failure.error.as_str());
                        (self.told)(&Told::Failed { provider, error, next });
                        failures.push(format!("{provider}: {error}"));
                    }
                    let goes_on = failure.goes_on;
                    last = Some(failure);
                    if !goes_on {
                        break;
                    }
                }
            }
        }
        let last = last.unwrap_or_else(|| Failure::general("no provider is set".to_owned()));
        Err(Failure { error: failures.join("; "), ..last })
    }

    const fn chain_of(&self, kind: JobKind) -> &Chain {
        match kind {
            JobKind::RefineSession => self.sessions,
            _ => self.turns,
        }
    }

    /// What was answered to exactly this before: nobody is asked again. Not what was answered about another
    /// session, though it was told in the same words: that was looked up there, and cites what stands there.
    fn known(
        &self,
        intake: &Intake,
        purse: &Mutex<Purse>,
        prepared: &Prepared,
    ) -> Result<Option<Answer>, Failure> {
        let chain = self.chain_of(prepared.kind);
        let Some(link) = chain.links.first() else { return Ok(None) };
        let input = prepared.question.input(link.provider.model());
        let known =
            purse.lock().unwrap_or_else(PoisonError::into_inner).store.refinement_of_input(&input);
        let Some(body) = known.map_err(|error| Failure::general(error.to_string()))? else {
            return Ok(None);
        };
        let question = format!("{input}-{}-{}", prepared.job.key.id, prepared.content);
        let made_anew = |made: Made| Made { spent: Spent::default(), latency_ms: 0, ..made };
        let (made, operation) = match prepared.kind {
            JobKind::RefineSession => {
                let Some(known) = prepared.own::<RefinedSession>(&body) else { return Ok(None) };
                let made = made_anew(known.made);
                let refined = known.refined;
                (
                    made.clone(),
                    prepared.refined(question, input, made, refined, Operation::SessionRefined),
                )
            }
            _ => {
                let Some(known) = prepared.own::<RefinedTurn>(&body) else { return Ok(None) };
                let made = made_anew(known.made);
                let refined = known.refined;
                (
                    made.clone(),
                    prepared.refined(question, input, made, refined, Operation::TurnRefined),
                )
            }
        };
        keep(intake, purse, prepared, &operation)?;
        Ok(Some(Answer { operation, made }))
    }

    fn ask_link(
        &self,
        intake: &Intake,
        purse: &Mutex<Purse>,
        prepared: &Prepared,
        chain: &Chain,
        link: &Link,
        stop: &AtomicBool,
    ) -> Result<Answer, Failure> {
        let request = prepared.question.request.get();
        let most = chain.most(link, request);
        let place = self.reserve(purse, prepared, most)?;
        let purpose = match prepared.kind {
            JobKind::RefineSession => Purpose::Session,
            _ => Purpose::Turn,
        };
        let asked = thru_core::Question {
            purpose,
            session: Some(prepared.job.key.clone()),
            project: prepared.project.clone(),
            provider: link.name.clone(),
            model: link.provider.model().to_owned(),
            spent: most,
        };
        // First to the journal: what is spent counts whatever becomes of us.
        let question =
            intake.record_question(asked).map_err(|error| Failure::general(error.to_string()))?;
        let answer = link.provider.ask(request, stop);
        let spent = match &answer {
            Ok(reply) => chain.paid(link, reply),
            Err(error) => chain.lost(link, error.spent()),
        };
        settle(purse, place, spent);
        let reply = match answer {
            Ok(reply) => reply,
            Err(error) => return Err(self.gave_none(intake, question, spent, prepared, &error)),
        };
        let believed = prepared.question.material.believe(&reply.text, reply.structured.as_ref());
        let believed = match believed {
            Ok(believed) => believed,
            Err(unusable) => {
                let error = format!("the answer is of no use: {unusable}");
                return Err(self.wasted(intake, question, spent, prepared, error));
            }
        };
        let made = |dropped: u32| Made {
            provider: link.name.clone(),
            model: model_name(&reply.model, link.provider.model()),
            prompt: prepared.question.prompt.to_owned(),
            spent,
            latency_ms: u64::try_from(reply.latency.as_millis()).unwrap_or(u64::MAX),
            dropped: dropped.into(),
        };
        let input = prepared.question.input(link.provider.model());
        let redactor = intake.redactor();
        // What a model says passes the rules like everything else.
        let report = &mut Redacted::default();
        let (made, operation) = match believed {
            Believed::Turn(grounded) => {
                let made = made(grounded.dropped.statements());
                let refined =
                    RefinedTurn { observations: grounded.observations, digest: grounded.digest };
                let clean = redactor.clean_texts(refined, RefinedTurn::texts, report).into_inner();
                (
                    made.clone(),
                    prepared.refined(question, input, made, clean, Operation::TurnRefined),
                )
            }
            Believed::Session(grounded) => {
                let made = made(grounded.dropped.statements());
                let clean = redactor
                    .clean_texts(grounded.session, RefinedSession::texts, report)
                    .into_inner();
                (
                    made.clone(),
                    prepared.refined(question, input, made, clean, Operation::SessionRefined),
                )
            }
        };
        keep(intake, purse, prepared, &operation)?;
        Ok(Answer { operation, made })
    }

    /// Sets aside the most that a question may cost.
    fn reserve(
        &self,
        purse: &Mutex<Purse>,
        prepared: &Prepared,
        most: Spent,
    ) -> Result<usize, Failure> {
        let mut purse = purse.lock().unwrap_or_else(PoisonError::into_inner);
        let (now, project) = (self.clock.now(), prepared.project.as_ref());
        let read = Meter::read(&purse.store, now, project.map(|project| project.as_str()));
        let mut meter = read.map_err(|error| Failure::general(error.to_string()))?;
        for (of, spent) in &purse.reserved {
            meter.add(*spent, project.is_some() && of.as_ref() == project);
        }
        if let Some(exhausted) = meter.exhausted(&prepared.limits, most, now) {
            return Err(Failure {
                error: format!("{} are spent", exhausted.what),
                again: Again::At(exhausted.until),
                is_general: false,
                goes_on: true,
                exhausted: Some(exhausted),
                not_before: None,
            });
        }
        purse.reserved.push((project.cloned(), most));
        Ok(purse.reserved.len() - 1)
    }

    /// A provider gave no answer.
    fn gave_none(
        &self,
        intake: &Intake,
        question: String,
        spent: Spent,
        prepared: &Prepared,
        error: &AskError,
    ) -> Failure {
        let text = error.to_string();
        let goes_on = !matches!(error, AskError::Stopped { .. });
        // Others would wait as long, or be told the same.
        let is_of_provider = error.concerns_provider()
            || matches!(
                error,
                AskError::Server { .. }
                    | AskError::Timeout { .. }
                    | AskError::Rejected { status: 404, .. }
            );
        if spent.tokens() > 0 && goes_on {
            let wasted = self.wasted(intake, question, spent, prepared, text);
            return Failure { is_general: wasted.is_general || is_of_provider, ..wasted };
        }
        let recorded = record_failure(intake, question, spent, &text);
        let is_general = is_of_provider || !goes_on || recorded.is_err();
        let now = self.clock.now();
        let after = |wait| now.checked_add(wait).unwrap_or(Timestamp::MAX);
        let (again, not_before) = match error.retry() {
            Retry::After(wait) => (Again::At(after(wait)), Some(after(wait))),
            // It may be this question that the server fails at.
            Retry::Backoff if matches!(error, AskError::Server { .. }) => (Again::Backoff, None),
            Retry::Backoff if is_general => (Again::At(after(AWAY)), None),
            Retry::Backoff => (Again::Backoff, None),
            Retry::No if is_general => (Again::At(after(LATER)), None),
            Retry::No => (Again::Backoff, None),
        };
        Failure { error: text, again, is_general, goes_on, exhausted: None, not_before }
    }

    /// An answer was paid for and is of no use. The same question is not paid for again and again.
    fn wasted(
        &self,
        intake: &Intake,
        question: String,
        spent: Spent,
        prepared: &Prepared,
        error: String,
    ) -> Failure {
        let recorded = record_failure(intake, question, spent, &error);
        let again = match prepared.job.attempts + 1 >= MOST_WASTED {
            true => Again::Never,
            false => Again::Backoff,
        };
        Failure { is_general: recorded.is_err(), goes_on: true, ..Failure::own(error, again) }
    }
}

impl Prepared {
    /// What was made of the same session.
    fn own<T: DeserializeOwned>(&self, body: &str) -> Option<Refined<T>> {
        let known: Refined<T> = serde_json::from_str(body).ok()?;
        (known.session == self.job.key).then_some(known)
    }

    fn refined<T>(
        &self,
        question: String,
        input: Id,
        made: Made,
        refined: T,
        operation: fn(Box<Refined<T>>) -> Operation,
    ) -> Operation {
        operation(Box::new(Refined {
            question,
            session: self.job.key.clone(),
            content: self.content,
            input,
            made,
            refined,
        }))
    }
}

impl Failure {
    /// One that any other question would meet as well.
    fn general(error: String) -> Self {
        Self {
            error,
            again: Again::Backoff,
            is_general: true,
            goes_on: false,
            exhausted: None,
            not_before: None,
        }
    }

    /// One of this question alone.
    fn own(error: String, again: Again) -> Self {
        Self { again, is_general: false, ..Self::general(error) }
    }
}

/// What is set aside for questions under way, beside what the store knows.
struct Purse {
    store: Store,
    reserved: Vec<(Option<ProjectKey>, Spent)>,
}

fn settle(purse: &Mutex<Purse>, place: usize, spent: Spent) {
    let mut purse = purse.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, reserved)) = purse.reserved.get_mut(place) {
        *reserved = spent;
    }
}

fn record(intake: &Intake, operation: &Operation) -> Result<(), Failure> {
    let recorded = intake.record(std::slice::from_ref(operation));
    recorded.map(drop).map_err(|error| Failure::general(error.to_string()))
}

/// Records what a model made, unless somebody had the session forgotten meanwhile: then what it cost is
/// all that stays.
fn keep(
    intake: &Intake,
    purse: &Mutex<Purse>,
    prepared: &Prepared,
    operation: &Operation,
) -> Result<(), Failure> {
    let failed = |error: StoreError| Failure::general(error.to_string());
    let forgotten = {
        let purse = purse.lock().unwrap_or_else(PoisonError::into_inner);
        purse.store.forgotten().map_err(failed)?
    };
    if !forgotten.contains(&prepared.job.key) {
        return record(intake, operation);
    }
    let (question, spent) = match operation {
        Operation::TurnRefined(refined) => (refined.question.clone(), refined.made.spent),
        Operation::SessionRefined(refined) => (refined.question.clone(), refined.made.spent),
        _ => return Ok(()),
    };
    let error = "the session was forgotten meanwhile".to_owned();
    record_failure(intake, question, spent, &error)?;
    Err(Failure::own(error, Again::Never))
}

/// What a model calls itself, where that is a name; else what it was asked by.
fn model_name(said: &str, asked: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._:/@+-".contains(c);
    let is_name = !said.is_empty() && said.len() <= MODEL_NAME && said.chars().all(is_plain);
    if is_name { said } else { asked }.to_owned()
}

fn record_failure(
    intake: &Intake,
    question: String,
    spent: Spent,
    error: &str,
) -> Result<(), Failure> {
    record(intake, &Operation::QuestionSettled { question, spent, error: Some(error.to_owned()) })
}

/// The right to ask models; given back when dropped, or by the system when the process ends.
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
