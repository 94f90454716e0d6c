//! The order of questions, their cost, and the fate of a question without an answer.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use proptest::prelude::*;
use thru_config::Limit;
use thru_core::{Layout, Micros, SystemClock};
use thru_intake::{Intake, Options};
use thru_journal::journal::{Journal, Stored};
use thru_models::{AskError, Usage};

use crate::records::{ONE, TWO};
use crate::stage::{BOUNDLESS, SMALL, Stage, reply};

#[test]
fn what_was_left_comes_first_and_turns_before_their_session() {
    let stage = Stage::new(&[(ONE, 2), (TWO, 2)], |request, _| reply(request, SMALL));
    stage.queue(&[ONE, TWO], &[TWO]);
    let report = stage.run();
    assert_eq!((report.turns, report.sessions), (4, 1), "{report:?}");
    assert_eq!(stage.asked(), ["s2 1", "s2 2", "s2", "s1 1", "s1 2"]);
    assert_eq!(stage.jobs(), []);
    assert_eq!(stage.at_once(), 1);
}

#[test]
fn several_are_asked_at_once_where_that_is_wanted() {
    let asked = AtomicUsize::new(0);
    let mut stage = Stage::new(&[(ONE, 5)], move |request, number| {
        asked.fetch_add(1, Ordering::Relaxed);
        if number == 0 {
            wait_until(|| asked.load(Ordering::Relaxed) > 1);
        }
        reply(request, SMALL)
    });
    stage.concurrency = 3;
    stage.queue(&[ONE], &[ONE]);
    assert_eq!(stage.run().turns, 5);
    assert_eq!(stage.asked().last().unwrap(), "s1", "the whole comes last all the same");
    assert!((2..=3).contains(&stage.at_once()), "{}", stage.at_once());
}

#[test]
fn a_session_waits_for_its_turns_and_not_for_those_that_were_given_up() {
    let stage = Stage::new(&[(ONE, 2)], |request, number| match number {
        0 | 2 => Err(AskError::Unusable { spent: SMALL }),
        _ => reply(request, SMALL),
    });
    stage.queue(&[ONE], &[ONE]);
    assert_eq!(stage.run().failed, 1);
    assert_eq!(stage.asked(), ["s1 1", "s1 2"]);
    stage.wait(Duration::from_hours(1));
    let report = stage.run();
    assert_eq!((report.failed, report.sessions), (1, 1), "{report:?}");
    assert_eq!(stage.asked(), ["s1 1", "s1 2", "s1 1", "s1"]);
}

#[test]
fn the_same_is_not_asked_twice_and_costs_nothing_the_second_time() {
    let stage = Stage::new(&[(ONE, 2)], |request, _| reply(request, SMALL));
    stage.queue(&[ONE], &[ONE]);
    stage.run();
    let spent = stage.spent();
    stage.queue(&[ONE], &[ONE]);
    let report = stage.run();
    assert_eq!((report.reused, report.turns, report.sessions), (3, 2, 1), "{report:?}");
    assert_eq!((stage.asked().len(), stage.spent(), report.spent.tokens()), (3, spent, 0));
}

#[test]
fn what_is_told_of_two_sessions_in_the_same_words_cites_each_its_own() {
    const COPY: &str = "1aaaaaaa-cccc-4ccc-8ccc-000000000003";
    let stage = Stage::new(&[(ONE, 1), (COPY, 1)], |request, _| reply(request, SMALL));
    stage.queue(&[ONE, COPY], &[]);
    assert_eq!(stage.run().turns, 2);
    let sent = stage.sent();
    assert_eq!(sent[0].prompt, sent[1].prompt, "they are told in the same words");
    let store = stage.store();
    for session in [ONE, COPY] {
        let row = store.session_by_key(&crate::machine::key(session)).unwrap().unwrap();
        let filter = thru_store::MemoryFilter { session: Some(row), ..Default::default() };
        let memories = store.memories(&filter).unwrap();
        let refined = memories.iter().find(|memory| {
            memory.flags.is_refined && memory.kind != thru_core::MemoryKind::Summary
        });
        let thru_store::MemoryBody::Observation(observation) =
            store.body_of(refined.unwrap()).unwrap()
        else {
            panic!("it is an observation");
        };
        let passages = store.passages(thru_store::PassageFilter::Session(row)).unwrap();
        assert!(!observation.sources.is_empty());
        for source in &observation.sources {
            assert!(passages.iter().any(|passage| passage.id == *source), "{session}");
        }
    }
}

#[test]
fn what_is_forgotten_after_its_answer_came_stays_forgotten() {
    // While a model is asked about the second session, the first one is forgotten, whose answer is in
    // the journal but not yet in the store.
    let machine: Arc<OnceLock<(Layout, Options)>> = Arc::default();
    let known = Arc::clone(&machine);
    let second_asked = AtomicBool::new(false);
    let mut stage = Stage::new(&[(ONE, 1), (TWO, 1)], move |request, _| {
        if request.prompt.contains("session-2") {
            second_asked.store(true, Ordering::Release);
            let (layout, options) = known.get().unwrap().clone();
            wait_until(|| answers(&layout, ONE) == 1);
            let intake = Intake::new(layout, Arc::new(SystemClock), options).unwrap();
            let lock = intake.try_lock(Duration::from_secs(5)).unwrap().unwrap();
            intake.forget(&lock, &[&crate::machine::key(ONE)]).unwrap();
        } else {
            wait_until(|| second_asked.load(Ordering::Acquire));
        }
        reply(request, SMALL)
    });
    assert!(machine.set((stage.machine.layout(), stage.machine.options.clone())).is_ok());
    stage.concurrency = 2;
    stage.queue(&[ONE, TWO], &[]);
    stage.run();
    assert_eq!(stage.at_once(), 2);
    let layout = stage.machine.layout();
    assert_eq!((answers(&layout, ONE), answers(&layout, TWO)), (0, 1));
    assert_eq!(stage.jobs(), []);
    stage.machine.assert_sound();
}

/// Returns the number of refined turns of a session in the journal.
fn answers(layout: &Layout, session: &str) -> usize {
    let journal = Journal::open(layout.journal(), "test").unwrap();
    let is_of =
        |record: &&Stored| record.kind == "turn-refined" && record.body["session"]["id"] == session;
    journal.replay().unwrap().entries.iter().filter(is_of).count()
}

/// Waits for another thread, however slow the machine is.
fn wait_until(holds: impl Fn() -> bool) {
    let end = Instant::now() + Duration::from_secs(60);
    while !holds() {
        assert!(Instant::now() < end, "it never came");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The fate of a question, and of the next one.
#[derive(Debug, PartialEq)]
struct Fate {
    /// True if it is not retried.
    is_dead: bool,
    /// Minutes until it is asked again, rounded up.
    minutes: i64,
    /// True if others were asked after it.
    others: bool,
    /// Its cost in tokens.
    tokens: u64,
}

fn fate_of(error: impl Fn() -> AskError + Send + Sync + 'static) -> Fate {
    let stage = Stage::new(&[(ONE, 2)], move |request, number| match number {
        0 => Err(error()),
        _ => reply(request, Usage { input: 0, output: 0, ..SMALL }),
    });
    stage.queue(&[ONE], &[]);
    stage.run();
    let now = stage.now();
    let jobs = stage.jobs();
    let job = jobs.iter().find(|job| job.error.is_some()).unwrap();
    let seconds = job.due.unwrap().duration_since(now).as_secs();
    Fate {
        is_dead: job.is_dead,
        minutes: (seconds + 59) / 60,
        others: stage.asked().len() > 1,
        tokens: stage.spent().tokens(),
    }
}

#[test]
fn a_failure_says_when_to_ask_again_and_whether_to_ask_others() {
    let said = String::new;
    let fate = |minutes, others, tokens| Fate { is_dead: false, minutes, others, tokens };
    let after = Some(Duration::from_mins(40));
    // A provider that is away, or rate-limited, would not answer others either.
    assert_eq!(fate_of(move || AskError::RateLimited { after, said: said() }), fate(40, false, 0));
    assert_eq!(fate_of(move || AskError::Overloaded { after, said: said() }), fate(40, false, 0));
    assert_eq!(
        fate_of(move || AskError::RateLimited { after: None, said: said() }),
        fate(5, false, 0)
    );
    assert_eq!(fate_of(move || AskError::Unreachable { said: said() }), fate(5, false, 0));
    let advice = String::new;
    assert_eq!(
        fate_of(move || AskError::Unauthorized { said: said(), advice: advice() }),
        fate(15, false, 0)
    );
    assert_eq!(
        fate_of(move || AskError::Rejected { status: 404, said: said() }),
        fate(15, false, 0)
    );
    // The question or the server may be at fault: that counts, and others wait.
    assert_eq!(fate_of(move || AskError::Server { status: 500, said: said() }), fate(1, false, 0));
    // A provider that rejects this question may accept the next.
    assert_eq!(fate_of(move || AskError::Rejected { status: 400, said: said() }), fate(1, true, 0));
    // A paid failure counts, and is retried once.
    let limit = Duration::from_secs(1);
    assert_eq!(
        fate_of(move || AskError::Timeout { limit, spent: Some(SMALL) }),
        fate(1, false, 110)
    );
    assert_eq!(fate_of(|| AskError::Unusable { spent: SMALL }), fate(1, true, 110));
    assert_eq!(fate_of(|| AskError::Truncated { spent: SMALL }), fate(1, true, 110));
    assert_eq!(
        fate_of(move || AskError::Refused { said: said(), spent: SMALL }),
        fate(1, true, 110)
    );
    // A stopped run asks no other provider, and leaves the question as it was.
    let stopped = fate_of(|| AskError::Stopped { spent: Some(SMALL) });
    assert_eq!(stopped, fate(0, false, 110));
}

#[test]
fn an_answer_of_no_use_is_paid_for_twice_and_then_given_up() {
    let stage = Stage::new(&[(ONE, 1)], |_, _| Err(AskError::Unusable { spent: SMALL }));
    stage.queue(&[ONE], &[]);
    for _ in 0..5 {
        stage.run();
        stage.wait(Duration::from_hours(6));
    }
    assert_eq!(stage.asked().len(), 2);
    assert!(stage.jobs().iter().all(|job| job.is_dead));
    // A person may have it asked again.
    stage.queue(&[ONE], &[]);
    stage.run();
    assert_eq!(stage.asked().len(), 3);
}

#[test]
fn no_question_is_given_up_because_its_provider_is_away() {
    let stage = Stage::new(&[(ONE, 1)], |request, number| match number {
        0..30 => Err(AskError::Unreachable { said: String::new() }),
        _ => reply(request, SMALL),
    });
    stage.queue(&[ONE], &[]);
    for _ in 0..30 {
        let report = stage.run();
        assert!(report.trouble.is_some(), "{report:?}");
        stage.wait(Duration::from_hours(1));
    }
    assert_eq!(stage.run().turns, 1);
}

#[test]
fn until_when_a_provider_wants_to_be_left_alone_is_said() {
    let after = Some(Duration::from_mins(40));
    let stage = Stage::new(&[(ONE, 2)], move |_, _| {
        Err(AskError::RateLimited { after, said: String::new() })
    });
    stage.queue(&[ONE], &[]);
    let report = stage.run();
    let wait = report.not_before.unwrap().duration_since(stage.now());
    assert!((2_395..=2_400).contains(&wait.as_secs()), "{wait}");
}

#[test]
fn a_thread_that_is_lost_is_not_replaced_for_ever() {
    let stage = Stage::new(&[(ONE, 1)], |_, _| panic!("a fault of ours"));
    stage.queue(&[ONE], &[]);
    stage.run();
    assert_eq!(stage.asked().len(), 1);
    // Its possible cost counts.
    let sent = stage.sent();
    assert_eq!(stage.spent().tokens(), stage.most(&sent[0]).tokens());
}

#[test]
fn what_one_project_has_spent_ends_only_what_is_of_it() {
    let mut stage = Stage::new(&[(ONE, 3)], |request, _| reply(request, SMALL));
    stage.budget.project_daily = Limit { tokens: 1, ..BOUNDLESS };
    stage.queue(&[ONE], &[ONE]);
    let report = stage.run();
    assert!(report.exhausted.is_some_and(|exhausted| exhausted.is_of_project), "{report:?}");
    assert_eq!((stage.asked().len(), stage.jobs().len()), (0, 4));
    assert!(stage.jobs().iter().all(|job| job.attempts == 0 && !job.is_dead));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    /// Whatever answers cost, and whichever fail, spending stays within the limits.
    #[test]
    fn what_is_spent_stays_within_the_limits(
        concurrency in 1..6_usize,
        tokens in 0..20_000_u64,
        cents in 0..3_u64,
        shares in prop::collection::vec((0..=100_u64, 0..5_u8), 8),
    ) {
        let mut stage = Stage::new(&[(ONE, 4), (TWO, 3)], move |request, number| {
            let (share, fate) = shares[number % shares.len()];
            // No more than was reserved.
            let input = (request.prompt.len() + request.system.len()).div_ceil(3) as u64;
            let output = u64::from(request.max_output_tokens);
            let usage = Usage { input: input * share / 100, output: output * share / 100, ..SMALL };
            match fate {
                0 => Err(AskError::Unusable { spent: usage }),
                1 => Err(AskError::Server { status: 500, said: String::new() }),
                2 => panic!("a fault of ours"),
                _ => reply(request, usage),
            }
        });
        stage.concurrency = concurrency;
        let limit = Limit { tokens, cents };
        stage.budget.daily = limit;
        stage.budget.monthly = limit;
        stage.queue(&[ONE, TWO], &[ONE, TWO]);
        for _ in 0..3 {
            stage.run();
            let spent = stage.spent();
            prop_assert!(spent.tokens() <= tokens, "{spent:?}");
            prop_assert!(spent.cost.unwrap_or_default() <= Micros::from_cents(cents), "{spent:?}");
            stage.wait(Duration::from_mins(20));
        }
        prop_assert!(stage.at_once() <= concurrency);
    }
}
