//! Rate limiting: questions at once, questions per minute, and a pause after the provider asked for one.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use thru_outside::Retry;

use crate::error::AskError;
use crate::provider::Provider;
use crate::request::{Reply, Request};

const MINUTE: Duration = Duration::from_secs(60);

/// The pause after a provider was overloaded and named no time.
const COOL_DOWN: Duration = Duration::from_secs(15);

/// Longest wait for a turn. Beyond it the caller gets an error, so that its thread can do something
/// else.
const LONGEST_WAIT: Duration = Duration::from_secs(90);

/// Interval at which waiting threads check `stop`.
const LOOK: Duration = Duration::from_millis(100);

/// A monotonic clock with an arbitrary origin.
pub type Clock = Arc<dyn Fn() -> Duration + Send + Sync>;

/// Limits on the rate of questions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rates {
    /// Most questions at the same time.
    pub at_once: usize,
    /// Most questions in any minute.
    pub per_minute: usize,
}

/// The reason a question has to wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// Until a running question ends.
    ForOthers,
    /// Until this time.
    Until(Duration),
}

/// The state of a rate limiter. Pure: the caller passes the time in.
#[derive(Debug)]
pub struct Throttle {
    rates: Rates,
    running: usize,
    /// The times at which the newest questions began, at most a minute's worth.
    begun: VecDeque<Duration>,
    cool_until: Duration,
}

impl Throttle {
    /// Creates a limiter. Limits of 0 count as 1.
    pub fn new(rates: Rates) -> Self {
        let rates = Rates { at_once: rates.at_once.max(1), per_minute: rates.per_minute.max(1) };
        Self { rates, running: 0, begun: VecDeque::new(), cool_until: Duration::ZERO }
    }

    /// Begins a question.
    ///
    /// # Errors
    ///
    /// Returns the [`Wait`] before another try makes sense.
    pub fn begin(&mut self, now: Duration) -> Result<(), Wait> {
        if now < self.cool_until {
            return Err(Wait::Until(self.cool_until));
        }
        if self.running >= self.rates.at_once {
            return Err(Wait::ForOthers);
        }
        if self.begun.len() >= self.rates.per_minute
            && let Some(oldest) = self.begun.front()
        {
            let free = *oldest + MINUTE;
            if now < free {
                return Err(Wait::Until(free));
            }
            self.begun.pop_front();
        }
        self.begun.push_back(now);
        self.running += 1;
        Ok(())
    }

    /// Ends a question. With a time, none begins until then.
    pub fn end(&mut self, cool_until: Option<Duration>) {
        self.running = self.running.saturating_sub(1);
        self.cool_until = self.cool_until.max(cool_until.unwrap_or_default());
    }
}

/// A provider that is never asked beyond its limits. Callers block until it is their turn.
pub struct Throttled<P> {
    provider: P,
    throttle: Mutex<Throttle>,
    has_ended: Condvar,
    clock: Clock,
}

impl<P: Provider> Throttled<P> {
    /// Wraps this provider with these limits.
    pub fn new(provider: P, rates: Rates, clock: Clock) -> Self {
        let throttle = Mutex::new(Throttle::new(rates));
        Self { provider, throttle, has_ended: Condvar::new(), clock }
    }

    /// Waits for its turn.
    fn begin(&self, stop: &AtomicBool) -> Result<(), AskError> {
        let mut throttle = self.lock();
        loop {
            if stop.load(Ordering::Relaxed) {
                return Err(AskError::Stopped { spent: None });
            }
            let now = (self.clock)();
            let wait = match throttle.begin(now) {
                Ok(()) => return Ok(()),
                Err(Wait::ForOthers) => LOOK,
                Err(Wait::Until(time)) => time.saturating_sub(now),
            };
            if wait > LONGEST_WAIT {
                return Err(AskError::RateLimited { after: Some(wait), said: String::new() });
            }
            let waited = self.has_ended.wait_timeout(throttle, wait.min(LOOK));
            throttle = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn lock(&self) -> MutexGuard<'_, Throttle> {
        self.throttle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<P: Provider> Provider for Throttled<P> {
    fn name(&self) -> &str {
        self.provider.name()
    }

    fn model(&self) -> &str {
        self.provider.model()
    }

    fn is_local(&self) -> bool {
        self.provider.is_local()
    }

    fn ask(&self, request: &Request, stop: &AtomicBool) -> Result<Reply, AskError> {
        self.begin(stop)?;
        // Releases its slot even if the provider panics.
        let mut turn = Turn { throttled: self, rest: None };
        let answer = self.provider.ask(request, stop);
        if let Err(error @ (AskError::RateLimited { .. } | AskError::Overloaded { .. })) = &answer {
            turn.rest = Some(match error.retry() {
                Retry::After(time) => time,
                Retry::Backoff | Retry::No => COOL_DOWN,
            });
        }
        answer
    }
}

impl Provider for Box<dyn Provider> {
    fn name(&self) -> &str {
        (**self).name()
    }

    fn model(&self) -> &str {
        (**self).model()
    }

    fn is_local(&self) -> bool {
        (**self).is_local()
    }

    fn ask(&self, request: &Request, stop: &AtomicBool) -> Result<Reply, AskError> {
        (**self).ask(request, stop)
    }
}

/// A question that is being asked.
struct Turn<'t, P: Provider> {
    throttled: &'t Throttled<P>,
    /// The pause that the provider asked for.
    rest: Option<Duration>,
}

impl<P: Provider> Drop for Turn<'_, P> {
    fn drop(&mut self) {
        let until = self.rest.map(|rest| (self.throttled.clock)() + rest);
        self.throttled.lock().end(until);
        self.throttled.has_ended.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[derive(Clone, Debug)]
    enum Step {
        Pass(u64),
        Begin,
        End,
        Rest(u64),
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let step = prop_oneof![
            (0..30_000_u64).prop_map(Step::Pass),
            Just(Step::Begin),
            Just(Step::Begin),
            Just(Step::End),
            (0..90_000_u64).prop_map(Step::Rest),
        ];
        prop::collection::vec(step, 0..200)
    }

    proptest! {
        #[test]
        fn no_limit_is_passed_and_no_wait_is_in_vain(steps in steps(), at_once in 1..5_usize, per_minute in 1..8_usize) {
            let mut throttle = Throttle::new(Rates { at_once, per_minute });
            let (mut now, mut running, mut cool_until) = (Duration::ZERO, 0_usize, Duration::ZERO);
            let mut begun: Vec<Duration> = Vec::new();
            for step in steps {
                match step {
                    Step::Pass(time) => now += Duration::from_millis(time),
                    Step::End | Step::Rest(_) if running == 0 => {}
                    Step::End => {
                        throttle.end(None);
                        running -= 1;
                    }
                    Step::Rest(time) => {
                        throttle.end(Some(now + Duration::from_millis(time)));
                        running -= 1;
                        cool_until = cool_until.max(now + Duration::from_millis(time));
                    }
                    Step::Begin => {
                        let minute = begun.iter().filter(|&&time| now - time < MINUTE).count();
                        let may = running < at_once && minute < per_minute && now >= cool_until;
                        match throttle.begin(now) {
                            Ok(()) => {
                                prop_assert!(may);
                                begun.push(now);
                                running += 1;
                            }
                            Err(Wait::ForOthers) => prop_assert!(!may && running >= at_once),
                            Err(Wait::Until(time)) => {
                                prop_assert!(!may && time > now);
                                // At that time, only running questions or the other limit can be the
                                // cause.
                                if time == cool_until && running == 0 {
                                    let still = begun.iter().filter(|&&begun| time - begun < MINUTE).count();
                                    prop_assert_eq!(throttle.begin(time).is_ok(), still < per_minute);
                                    // The state moved on; so does this test.
                                    if still < per_minute { begun.push(time); running += 1; }
                                    now = time;
                                }
                            }
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn limits_of_nothing_let_one_through() {
        let mut throttle = Throttle::new(Rates { at_once: 0, per_minute: 0 });
        assert_eq!(throttle.begin(Duration::ZERO), Ok(()));
        assert_eq!(throttle.begin(Duration::ZERO), Err(Wait::ForOthers));
        throttle.end(None);
        assert_eq!(throttle.begin(Duration::from_secs(1)), Err(Wait::Until(MINUTE)));
    }
}
