//! Asking about one item: one provider after the other, each question journalled before it is sent, and
//! only the grounded part of an answer kept.

use std::panic::AssertUnwindSafe;
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use serde::de::DeserializeOwned;
use thru_config::Limits as BudgetLimits;
use thru_core::{Id, Made, ProjectKey, Purpose, RefinedSession, RefinedTurn, Spent, Timestamp};
use thru_intake::{Intake, Operation, REUSED, Refined, RetryPolicy};
use thru_lifecycle::content::ContentHash;
use thru_models::{AskError, Retry};
use thru_redact::Report as Redacted;
use thru_store::{JobKind, JobRow, Store, StoreError};

use crate::budget::{Exhausted, Meter};
use crate::chain::{Chain, ChainLink};
use crate::questions::{Grounding, Question};
use crate::refiner::{RefineEvent, Refiner};

/// Delay before a question is retried when no provider can be asked.
const LATER: Duration = Duration::from_mins(15);
/// Delay when the provider is away: that is not the question's fault, and never makes it give up.
const AWAY: Duration = Duration::from_mins(5);
/// Longest model name that is accepted from a reply, in bytes.
const MODEL_NAME: usize = 100;
/// Paid but unusable answers after which a question is given up.
const MOST_WASTED: u32 = 2;

/// A queued question that is ready to be asked.
pub(crate) struct Prepared {
    pub(crate) job: JobRow,
    pub(crate) kind: JobKind,
    pub(crate) content: ContentHash,
    pub(crate) project: Option<ProjectKey>,
    pub(crate) limits: BudgetLimits,
    pub(crate) question: Question,
}

/// The outcome of a question.
pub(crate) struct Asked {
    pub(crate) prepared: Prepared,
    pub(crate) answer: Result<RefinedAnswer, Failure>,
}

/// The result, and the way it was made.
pub(crate) struct RefinedAnswer {
    pub(crate) operation: Operation,
    pub(crate) made: Made,
}

/// The reason a question has no result.
pub(crate) struct Failure {
    pub(crate) error: String,
    pub(crate) retry: RetryPolicy,
    /// True if other questions need not be tried now.
    pub(crate) is_general: bool,
    /// True if another provider may be asked instead.
    goes_on: bool,
    pub(crate) exhausted: Option<Exhausted>,
    /// The time before which the provider must not be asked again.
    pub(crate) not_before: Option<Timestamp>,
}

impl Refiner<'_> {
    /// Asks all of these at the same time.
    pub(crate) fn ask_all(
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
                        // Its possible cost counts; the question is not asked again at once.
                        let ask = AssertUnwindSafe(|| self.ask(intake, purse, &one, stop));
                        let answer = std::panic::catch_unwind(ask).unwrap_or_else(|_| {
                            Err(Failure::own("a fault of ours".to_owned(), RetryPolicy::Backoff))
                        });
                        Asked { prepared: one, answer }
                    })
                })
                .collect();
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
    ) -> Result<RefinedAnswer, Failure> {
        if let Some(answer) = self.known(intake, purse, prepared)? {
            return Ok(answer);
        }
        let chain = self.chain_of(prepared.kind);
        let mut failures: Vec<Failure> = Vec::new();
        for (place, link) in chain.links.iter().enumerate() {
            match self.ask_link(intake, purse, prepared, chain, link, stop) {
                Ok(answer) => return Ok(answer),
                Err(mut failure) => {
                    let next = chain.links.get(place + 1).map(|link| link.name.as_str());
                    let provider = link.name.as_str();
                    if failure.exhausted.is_none() {
                        let error = failure.error.as_str();
                        (self.on_event)(&RefineEvent::Failed { provider, error, next });
                    }
                    failure.error = format!("{provider}: {}", failure.error);
                    let goes_on = failure.goes_on;
                    failures.push(failure);
                    if !goes_on {
                        break;
                    }
                }
            }
        }
        Err(Failure::of_all(failures))
    }

    const fn chain_of(&self, kind: JobKind) -> &Chain {
        match kind {
            JobKind::RefineSession => self.sessions,
            _ => self.turns,
        }
    }

    /// Returns the earlier answer to exactly this question, so that it is not asked again. Answers about
    /// other sessions do not count, even with the same wording: they were grounded there and cite
    /// passages there.
    fn known(
        &self,
        intake: &Intake,
        purse: &Mutex<Purse>,
        prepared: &Prepared,
    ) -> Result<Option<RefinedAnswer>, Failure> {
        let mut found = None;
        for link in &self.chain_of(prepared.kind).links {
            let input = prepared.question.input(link.provider.model());
            let known = {
                let purse = purse.lock().unwrap_or_else(PoisonError::into_inner);
                purse.store.refinement_of_input(&input)
            };
            let known = known.map_err(|error| Failure::general(error.to_string()))?;
            if let Some(body) = known {
                found = Some((input, body));
                break;
            }
        }
        let Some((input, body)) = found else { return Ok(None) };
        // Each time a new record, which takes the question out of the queue.
        let now = self.clock.now().as_nanosecond().to_le_bytes();
        let number = prepared.job.number.to_le_bytes();
        let question = Id::derive(&[b"reused", input.as_bytes(), &number, &now]);
        let question = format!("{REUSED}{question}");
        let made_anew = |made: Made| Made { spent: Spent::default(), latency_ms: 0, ..made };
        let answer = match prepared.kind {
            JobKind::RefineSession => {
                let Some(known) = prepared.own::<RefinedSession>(&body) else { return Ok(None) };
                let made = made_anew(known.made);
                let refined = known.refined;
                prepared.answer(question, input, made, refined, Operation::SessionRefined)
            }
            _ => {
                let Some(known) = prepared.own::<RefinedTurn>(&body) else { return Ok(None) };
                let made = made_anew(known.made);
                let refined = known.refined;
                prepared.answer(question, input, made, refined, Operation::TurnRefined)
            }
        };
        keep(intake, purse, prepared, &answer.operation)?;
        Ok(Some(answer))
    }

    fn ask_link(
        &self,
        intake: &Intake,
        purse: &Mutex<Purse>,
        prepared: &Prepared,
        chain: &Chain,
        link: &ChainLink,
        stop: &AtomicBool,
    ) -> Result<RefinedAnswer, Failure> {
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
        // Journal first: the cost counts even if this process dies.
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
        let grounding = prepared.question.material.ground(&reply.text, reply.structured.as_ref());
        let grounding = match grounding {
            Ok(grounding) => grounding,
            Err(unusable) => {
                let error = format!("the answer is unusable: {unusable}");
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
        // Model output passes the redaction rules like everything else.
        let report = &mut Redacted::default();
        let answer = match grounding {
            Grounding::Turn(grounded) => {
                let made = made(grounded.dropped.statements());
                let refined =
                    RefinedTurn { observations: grounded.observations, digest: grounded.digest };
                let clean = redactor.clean_texts(refined, RefinedTurn::texts, report).into_inner();
                prepared.answer(question, input, made, clean, Operation::TurnRefined)
            }
            Grounding::Session(grounded) => {
                let made = made(grounded.dropped.statements());
                let clean = redactor
                    .clean_texts(grounded.session, RefinedSession::texts, report)
                    .into_inner();
                prepared.answer(question, input, made, clean, Operation::SessionRefined)
            }
        };
        keep(intake, purse, prepared, &answer.operation)?;
        Ok(answer)
    }

    /// Reserves the most that a question may cost.
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
                retry: RetryPolicy::At(exhausted.until),
                is_general: false,
                goes_on: true,
                exhausted: Some(exhausted),
                not_before: None,
            });
        }
        purse.reserved.push((project.cloned(), most));
        Ok(purse.reserved.len() - 1)
    }

    /// Handles a provider's failure to answer.
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
        // Other questions would meet the same failure.
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
        let (retry, not_before) = match error.retry() {
            Retry::After(wait) => (RetryPolicy::At(after(wait)), Some(after(wait))),
            // This question itself may be the cause of the server's failure.
            Retry::Backoff if matches!(error, AskError::Server { .. }) => {
                (RetryPolicy::Backoff, None)
            }
            Retry::Backoff if is_general => (RetryPolicy::At(after(AWAY)), None),
            Retry::Backoff => (RetryPolicy::Backoff, None),
            Retry::No if is_general => (RetryPolicy::At(after(LATER)), None),
            Retry::No => (RetryPolicy::Backoff, None),
        };
        Failure { error: text, retry, is_general, goes_on, exhausted: None, not_before }
    }

    /// Handles an answer that was paid for and is unusable. Limits how often the same question is paid
    /// for.
    fn wasted(
        &self,
        intake: &Intake,
        question: String,
        spent: Spent,
        prepared: &Prepared,
        error: String,
    ) -> Failure {
        let recorded = record_failure(intake, question, spent, &error);
        let retry = match prepared.job.attempts + 1 >= MOST_WASTED {
            true => RetryPolicy::Never,
            false => RetryPolicy::Backoff,
        };
        Failure { is_general: recorded.is_err(), goes_on: true, ..Failure::own(error, retry) }
    }
}

impl Prepared {
    /// Returns the earlier result for the same session.
    fn own<T: DeserializeOwned>(&self, body: &str) -> Option<Refined<T>> {
        let known: Refined<T> = serde_json::from_str(body).ok()?;
        (known.session == self.job.key).then_some(known)
    }

    fn answer<T>(
        &self,
        question: String,
        input: Id,
        made: Made,
        refined: T,
        operation: fn(Box<Refined<T>>) -> Operation,
    ) -> RefinedAnswer {
        let operation = operation(Box::new(Refined {
            question,
            session: self.job.key.clone(),
            content: self.content,
            input,
            made: made.clone(),
            refined,
        }));
        RefinedAnswer { operation, made }
    }
}

impl Failure {
    /// Combines the failures of all providers asked. A paid failure counts, whatever the others were; if
    /// all were too expensive, nothing failed.
    fn of_all(failures: Vec<Self>) -> Self {
        let rank = |failure: &Self| match (&failure.exhausted, failure.retry) {
            (Some(_), _) => 0,
            (None, RetryPolicy::At(_)) => 1,
            (None, RetryPolicy::Backoff) => 2,
            (None, RetryPolicy::Never) => 3,
        };
        let is_general =
            failures.iter().all(|failure| failure.is_general || failure.exhausted.is_some());
        let stopped = failures.iter().any(|failure| !failure.goes_on);
        let not_before = failures.iter().filter_map(|failure| failure.not_before).max();
        let said: Vec<String> = failures.iter().map(|failure| failure.error.clone()).collect();
        match failures.into_iter().max_by_key(rank) {
            None => Self::general("no provider is set".to_owned()),
            Some(worst) => Self {
                error: said.join("; "),
                is_general: worst.exhausted.is_none() && (is_general || stopped),
                not_before,
                ..worst
            },
        }
    }

    /// A failure that any other question would meet as well.
    fn general(error: String) -> Self {
        Self {
            error,
            retry: RetryPolicy::Backoff,
            is_general: true,
            goes_on: false,
            exhausted: None,
            not_before: None,
        }
    }

    /// A failure of this question alone.
    fn own(error: String, retry: RetryPolicy) -> Self {
        Self { retry, is_general: false, ..Self::general(error) }
    }
}

/// Reservations for questions under way, beside the spending known to the store.
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

/// Records a result, unless the session was forgotten in the meantime: then only its cost is kept.
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
    Err(Failure::own(error, RetryPolicy::Never))
}

/// Returns the name a model calls itself, if that is a valid name; else the name it was asked by.
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
