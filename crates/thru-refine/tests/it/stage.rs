//! A machine with sessions, and a scripted model.

use std::sync::atomic::{AtomicBool, AtomicI64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use thru_config::{Limit, Limits as Budget};
use thru_core::Micros;
use thru_core::{Clock, Spent, Timestamp};
use thru_distil::refine::Limits;
use thru_intake::Intake;
use thru_lifecycle::content::ContentHash;
use thru_models::{AskError, Price, Prices, Provider, Reply, Request, Stop, Usage};
use thru_refine::{Chain, ChainLink, Meter, Permission, Refiner, Report, Settings};
use thru_store::{JobKind, JobRow, Store, TurnFilter};

use crate::machine::Machine;
use crate::records::{Author, file};

/// A clock that advances by a millisecond on each reading, and further on request.
pub(crate) struct Time(AtomicI64);

impl Clock for Time {
    fn now(&self) -> Timestamp {
        Timestamp::from_millisecond(self.0.fetch_add(1, Ordering::Relaxed)).unwrap()
    }
}

/// The answer of a model to the question of this number.
type Answer = Box<dyn Fn(&Request, usize) -> Result<Reply, AskError> + Send + Sync>;

/// A model that gives scripted answers.
pub(crate) struct Scripted {
    answer: Answer,
    asked: Arc<Mutex<Vec<Request>>>,
    under_way: AtomicUsize,
    /// The most questions that were asked at the same time.
    most: Arc<AtomicUsize>,
}

impl Provider for Scripted {
    fn name(&self) -> &'static str {
        "scripted"
    }

    fn model(&self) -> &'static str {
        "model-1"
    }

    fn is_local(&self) -> bool {
        false
    }

    fn ask(&self, request: &Request, _stop: &AtomicBool) -> Result<Reply, AskError> {
        let number = {
            let mut asked = self.asked.lock().unwrap();
            asked.push(request.clone());
            asked.len() - 1
        };
        let under_way = self.under_way.fetch_add(1, Ordering::Relaxed) + 1;
        self.most.fetch_max(under_way, Ordering::Relaxed);
        // Time for the others that may be asked at once.
        std::thread::sleep(Duration::from_millis(5));
        let answer = (self.answer)(request, number);
        self.under_way.fetch_sub(1, Ordering::Relaxed);
        answer
    }
}

/// The fixture of a test.
pub(crate) struct Stage {
    pub(crate) machine: Machine,
    time: Arc<Time>,
    chain: Chain,
    asked: Arc<Mutex<Vec<Request>>>,
    most: Arc<AtomicUsize>,
    pub(crate) budget: Budget,
    pub(crate) concurrency: usize,
}

/// A budget without limits.
pub(crate) const BOUNDLESS: Limit = Limit { tokens: u64::MAX, cents: u64::MAX / 100_000 };

impl Stage {
    /// Creates sessions, each of so many turns, and a model with this answer.
    pub(crate) fn new(
        sessions: &[(&str, u32)],
        answer: impl Fn(&Request, usize) -> Result<Reply, AskError> + Send + Sync + 'static,
    ) -> Self {
        let machine = Machine::new();
        for (session, turns) in sessions {
            machine.write(&file(session), turns_of(session, *turns));
        }
        machine.import();
        let (asked, most) = (Arc::default(), Arc::default());
        let provider = Scripted {
            answer: Box::new(answer),
            asked: Arc::clone(&asked),
            under_way: AtomicUsize::new(0),
            most: Arc::clone(&most),
        };
        let link = ChainLink { name: "scripted".to_owned(), provider: Box::new(provider) };
        // A dollar for a million tokens.
        let each = Micros(1_000_000);
        let price = Price { input: each, output: each, cached_input: each };
        let prices = Prices::new([("model-1".to_owned(), price)]);
        let all = BOUNDLESS;
        Self {
            machine,
            // Later than the machine's own clock, in the morning.
            time: Arc::new(Time(AtomicI64::new(1_893_484_800_000))),
            chain: Chain { links: vec![link], prices },
            asked,
            most,
            budget: Budget { daily: all, monthly: all, project_daily: all, project_monthly: all },
            concurrency: 1,
        }
    }

    pub(crate) fn intake(&self) -> Intake {
        let time: Arc<dyn Clock> = Arc::clone(&self.time) as Arc<dyn Clock>;
        Intake::new(self.machine.layout(), time, self.machine.options.clone()).unwrap()
    }

    pub(crate) fn store(&self) -> Store {
        Store::open_to_read(&self.machine.layout()).unwrap()
    }

    /// Queues the turns of these sessions, and some sessions as a whole.
    pub(crate) fn queue(&self, turns: &[&str], whole: &[&str]) {
        let store = self.store();
        let row =
            |session: &&str| store.session_by_key(&crate::machine::key(session)).unwrap().unwrap();
        let mut jobs: Vec<(JobKind, i64, ContentHash)> = Vec::new();
        for session in turns.iter().map(row) {
            let filter = TurnFilter { session: Some(session), ..TurnFilter::default() };
            let mut turns = store.turns(&filter).unwrap();
            turns.sort_by_key(|turn| turn.turn);
            let of =
                |turn: thru_store::TurnRow| (JobKind::RefineTurn(turn.turn), session, turn.content);
            jobs.extend(turns.into_iter().filter(|turn| turn.turn > 0).map(of));
        }
        for session in whole.iter().map(row) {
            let content = store.session_state(session).unwrap().and_then(|state| state.content);
            let content = content
                .map_or(ContentHash::from_bytes([7; ContentHash::BYTES]), |content| content.hash);
            jobs.push((JobKind::RefineSession, session, content));
        }
        let intake = self.intake();
        let lock = intake.try_lock(Duration::from_secs(5)).unwrap().unwrap();
        intake.queue_questions(&lock, &jobs).unwrap();
    }

    /// Asks the questions that are due.
    pub(crate) fn run(&self) -> Report {
        let make = || Ok(self.intake());
        let permission = |_: Option<&str>| Permission::Within(self.budget);
        let refiner = Refiner {
            intake: &make,
            turns: &self.chain,
            sessions: &self.chain,
            settings: Settings {
                turn: Limits::TURN,
                session: Limits::SESSION,
                answer_tokens: 1_000,
                concurrency: self.concurrency,
            },
            permission: &permission,
            clock: self.time.as_ref(),
            on_event: &|_| {},
        };
        refiner.run(None, &AtomicBool::new(false)).unwrap()
    }

    /// Advances the clock.
    pub(crate) fn wait(&self, time: Duration) {
        self.time.0.fetch_add(i64::try_from(time.as_millis()).unwrap(), Ordering::Relaxed);
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.time.now()
    }

    /// Returns the questions that were asked, in order: `s1 2` for the second turn of the first session,
    /// `s1` for all of it.
    pub(crate) fn asked(&self) -> Vec<String> {
        let asked = self.asked.lock().unwrap();
        asked.iter().map(name_of).collect()
    }

    /// Returns the requests that were sent, in order.
    pub(crate) fn sent(&self) -> Vec<Request> {
        self.asked.lock().unwrap().clone()
    }

    /// Returns the most questions that were under way at the same time.
    pub(crate) fn at_once(&self) -> usize {
        self.most.load(Ordering::Relaxed)
    }

    /// Returns the most that a question may cost.
    pub(crate) fn most(&self, request: &Request) -> Spent {
        self.chain.most(&self.chain.links[0], request)
    }

    pub(crate) fn spent(&self) -> Spent {
        Meter::read(&self.store(), self.now(), None).unwrap().day
    }

    pub(crate) fn jobs(&self) -> Vec<JobRow> {
        self.store().jobs().unwrap()
    }
}

/// Returns the topic of a question, by the record's words for it.
fn name_of(request: &Request) -> String {
    let word = |mark: &str| -> String {
        let at = request.prompt.find(mark).map_or(0, |at| at + mark.len());
        request.prompt[at..].chars().take_while(char::is_ascii_digit).collect()
    };
    match request.system.contains("errors_resolved") {
        true => format!("s{}", word("session-")),
        false => format!("s{} {}", word("session-"), word("turn-")),
    }
}

/// Returns a transcript of so many turns.
fn turns_of(session: &str, turns: u32) -> String {
    let mut author = Author::of(session);
    let name: String = session.chars().take(1).collect();
    for turn in 1..=turns {
        author
            .asks(&format!("Why does the valve of session-{name} turn-{turn} stay shut?"))
            .runs(&format!("toolu_{name}_{turn}"), "cargo test valve")
            .gets(&format!("toolu_{name}_{turn}"), "error: the lock is held")
            .says("The lock was never released, so the valve stayed shut.");
    }
    author.text()
}

/// Returns a good answer of this size.
pub(crate) fn reply(request: &Request, usage: Usage) -> Result<Reply, AskError> {
    let summary = json!({ "request": "Find out why the valve stays shut", "investigated": [],
        "learned": ["The lock was never released"], "completed": [], "next_steps": [] });
    let said: Value = match request.system.contains("errors_resolved") {
        true => {
            let mut said = summary;
            said["title"] = json!("Why the valve stayed shut");
            said
        }
        false => json!({ "observations": [{
            "type": "bugfix", "title": "The valve was closed by a lock", "narrative": "The lock was never released.",
            "facts": [], "concepts": [], "files_read": [], "files_modified": [], "cite": [1] }],
            "summary": summary }),
    };
    Ok(Reply {
        text: said.to_string(),
        structured: Some(said),
        model: "model-1".to_owned(),
        usage,
        latency: Duration::from_millis(10),
        stopped: Stop::Complete,
        cost: None,
    })
}

/// The tokens of a small answer.
pub(crate) const SMALL: Usage = Usage { input: 100, output: 10, cached_input: 0, estimated: false };
