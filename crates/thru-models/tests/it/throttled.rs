//! Many threads and one provider with limits.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use thru_models::{
    AskError, Clock, Provider, Rates, Reply, Request, Retry, Stop, Throttled, Usage,
};

use crate::{GO_ON, request};

/// Counts concurrent questions, and gives scripted answers.
#[derive(Default)]
struct Counting {
    now: AtomicUsize,
    most: AtomicUsize,
    asked: AtomicUsize,
    is_limited: AtomicBool,
}

impl Provider for &Counting {
    fn name(&self) -> &str {
        "counting"
    }

    fn model(&self) -> &str {
        "none"
    }

    fn is_local(&self) -> bool {
        true
    }

    fn ask(&self, _: &Request, _: &AtomicBool) -> Result<Reply, AskError> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        let now = self.now.fetch_add(1, Ordering::SeqCst) + 1;
        self.most.fetch_max(now, Ordering::SeqCst);
        thread::sleep(Duration::from_millis(2));
        self.now.fetch_sub(1, Ordering::SeqCst);
        if self.is_limited.load(Ordering::SeqCst) {
            return Err(AskError::RateLimited {
                after: Some(Duration::from_secs(3_600)),
                said: String::new(),
            });
        }
        let latency = Duration::ZERO;
        let (usage, stopped) = (Usage::default(), Stop::Complete);
        let (text, model) = ("x".to_owned(), "m".to_owned());
        Ok(Reply { text, structured: None, model, usage, latency, stopped, cost: None })
    }
}

fn clock() -> (Arc<AtomicU64>, Clock) {
    let seconds = Arc::new(AtomicU64::new(0));
    let shown = Arc::clone(&seconds);
    (seconds, Arc::new(move || Duration::from_secs(shown.load(Ordering::SeqCst))))
}

#[test]
fn no_more_ask_at_once_than_may() {
    let counting = Counting::default();
    let throttled = Throttled::new(&counting, Rates { at_once: 3, per_minute: 1_000 }, clock().1);
    thread::scope(|scope| {
        for _ in 0..12 {
            scope.spawn(|| throttled.ask(&request(), &GO_ON).unwrap());
        }
    });
    assert_eq!(counting.asked.load(Ordering::SeqCst), 12);
    assert!(counting.most.load(Ordering::SeqCst) <= 3);
}

#[test]
fn who_has_used_up_a_minute_waits_for_the_next_or_stops() {
    let counting = Counting::default();
    let (seconds, clock) = clock();
    let throttled = Throttled::new(&counting, Rates { at_once: 3, per_minute: 2 }, clock);
    throttled.ask(&request(), &GO_ON).unwrap();
    throttled.ask(&request(), &GO_ON).unwrap();
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        let waiting = scope.spawn(|| throttled.ask(&request(), &stop));
        stop.store(true, Ordering::Relaxed);
        assert!(matches!(waiting.join().unwrap(), Err(AskError::Stopped { spent: None })));
        let waiting = scope.spawn(|| throttled.ask(&request(), &GO_ON));
        seconds.store(60, Ordering::SeqCst);
        assert!(waiting.join().unwrap().is_ok());
    });
    assert_eq!(counting.asked.load(Ordering::SeqCst), 3);
}

#[test]
fn a_provider_that_had_enough_is_left_alone() {
    let counting = Counting::default();
    counting.is_limited.store(true, Ordering::SeqCst);
    let (seconds, clock) = clock();
    let throttled = Throttled::new(&counting, Rates { at_once: 1, per_minute: 100 }, clock);
    assert!(throttled.ask(&request(), &GO_ON).is_err());
    counting.is_limited.store(false, Ordering::SeqCst);
    seconds.store(600, Ordering::SeqCst);
    // It is not even asked.
    let error = throttled.ask(&request(), &GO_ON).unwrap_err();
    assert_eq!(error.retry(), Retry::After(Duration::from_secs(3_000)));
    assert_eq!(counting.asked.load(Ordering::SeqCst), 1);
    seconds.store(3_600, Ordering::SeqCst);
    assert!(throttled.ask(&request(), &GO_ON).is_ok());
}
