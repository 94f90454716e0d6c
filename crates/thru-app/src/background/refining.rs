//! The daemon's thread that asks models and delivers what is known to the server of the user's choice:
//! beside its work, which it must not keep waiting.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::trouble::Result;
use thru_core::Timestamp;
use thru_daemon::Log;
use thru_refine::{RefineError, RefineEvent};
use thru_store::Store;

use crate::app::App;
use crate::deliver;
use crate::models::Models;
use crate::words::printable;

/// The interval of a look although nothing seems to be due.
const LONGEST: Duration = Duration::from_mins(15);
/// … and after something went wrong that may pass.
const LATER: Duration = Duration::from_mins(5);

/// Asks models in the background for as long as it lives.
pub struct Refining {
    wake: Option<SyncSender<()>>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Refining {
    /// Starts the thread. Nothing is asked before it is woken.
    pub fn start(app: &App, log: &Arc<Log>) -> Self {
        let (wake, woken) = sync_channel(1);
        let stop = Arc::new(AtomicBool::new(false));
        let asking = Asking {
            app: app.clone(),
            log: Arc::clone(log),
            stop: Arc::clone(&stop),
            last_trouble: None,
            rest: None,
            models: None,
        };
        let builder = std::thread::Builder::new().name("refining".to_owned());
        let thread = match builder.spawn(move || asking.work(&woken)) {
            Ok(thread) => Some(thread),
            Err(error) => {
                log.warn(&format!("models cannot be asked: {error}"));
                None
            }
        };
        Self { wake: Some(wake), stop, thread }
    }

    /// Says that there may be something to ask.
    pub fn wake(&self) {
        if let Some(wake) = &self.wake {
            // One that is awake looks again anyway.
            let _ = wake.try_send(());
        }
    }
}

impl Drop for Refining {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        self.wake = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

struct Asking {
    app: App,
    log: Arc<Log>,
    stop: Arc<AtomicBool>,
    /// The last trouble that was logged, so that it is not repeated at every look.
    last_trouble: Option<String>,
    /// The providers that are left alone, and until when: every hook wakes us.
    rest: Option<(Vec<String>, Timestamp)>,
    /// The models, and the settings that they follow from.
    models: Option<(Vec<String>, Models)>,
}

impl Asking {
    fn work(mut self, woken: &Receiver<()>) {
        let mut wait = LONGEST;
        loop {
            match woken.recv_timeout(wait) {
                Err(RecvTimeoutError::Disconnected) => return,
                Ok(()) | Err(RecvTimeoutError::Timeout) => {}
            }
            if self.stop.load(Ordering::Relaxed) {
                return;
            }
            wait = match self.step() {
                Ok(wait) => {
                    self.last_trouble = None;
                    wait
                }
                Err(error) => {
                    self.trouble(format!("{error:#}"));
                    LATER
                }
            };
        }
    }

    fn trouble(&mut self, trouble: String) {
        if self.last_trouble.as_ref() != Some(&trouble) {
            self.log.warn(&format!("models are not asked: {}", printable(&trouble)));
        }
        self.last_trouble = Some(trouble);
    }

    /// Asks what is due. Returns the time until something is due again.
    fn step(&mut self) -> Result<Duration> {
        self.app = self.app.again()?;
        let asked = self.ask();
        // Behind it, so that what a model said is delivered. A failure of one does not stop the other.
        let trouble = match deliver::deliver(&self.app, &self.stop) {
            Ok(delivered) => {
                if delivered.things > 0 {
                    self.log.info(&format!("delivered {} to sinks.mcp", delivered.things));
                }
                delivered.trouble
            }
            Err(error) => Some(format!("{error:#}")),
        };
        let Some(trouble) = trouble else { return asked };
        self.log.warn(&format!("sinks.mcp: {}", printable(&trouble)));
        Ok(asked?.min(LATER))
    }

    fn ask(&mut self) -> Result<Duration> {
        if self.app.config.models.provider().is_none() {
            return Ok(LONGEST);
        }
        let now = self.app.clock.now();
        if let Some((whom, over)) = self.rest.take()
            && now < over
            && whom == self.whom()
        {
            self.rest = Some((whom, over));
            return Ok(until(over, now));
        }
        match self.next_due()? {
            None => return Ok(LONGEST),
            Some(due) if due > now => return Ok(until(due, now)),
            Some(_) => {}
        }
        // One throttle for as long as the settings stay: limits of a provider outlast one look.
        let whom = self.whom();
        if self.models.as_ref().is_none_or(|(known, _)| *known != whom) {
            self.models = Models::from_config(&self.app)?.map(|models| (whom, models));
        }
        let Some((_, models)) = &self.models else { return Ok(LONGEST) };
        let log = &self.log;
        let on_event = |event: &RefineEvent<'_>| log_event(log, event);
        let report = match models.run(&self.app, None, &self.stop, &on_event) {
            // Another process asks: by hand, or a daemon that is ending.
            Err(RefineError::Asking | RefineError::Busy) => return Ok(LATER),
            report => report?,
        };
        let now = self.app.clock.now();
        if report.trouble.is_some() {
            // A key may be another one the next time.
            self.models = None;
            // A provider that says when to come back knows better.
            let over = report.not_before.or_else(|| now.checked_add(LATER).ok()).unwrap_or(now);
            self.rest = Some((self.whom(), over));
            return Ok(until(over, now).max(Duration::from_secs(1)));
        }
        if let Some(exhausted) = report.exhausted {
            // Another project's budget may have room, and settings change: look now and then.
            let over = now.checked_add(LATER).unwrap_or(now).min(exhausted.until);
            self.rest = Some((self.whom(), over));
            return Ok(until(over, now));
        }
        Ok(self.next_due()?.map_or(LONGEST, |due| until(due, now).max(Duration::from_secs(1))))
    }

    /// The settings of models and budgets.
    fn whom(&self) -> Vec<String> {
        let all = self.app.config.all();
        let is_ours = |key: &str| key.starts_with("models.") || key.starts_with("budget.");
        let ours = all.filter(|setting| is_ours(setting.key));
        ours.map(|setting| format!("{}={}", setting.key, setting.value)).collect()
    }

    fn next_due(&self) -> Result<Option<Timestamp>> {
        let Some(store) = Store::open_if_there(&self.app.layout)? else { return Ok(None) };
        if store.schema_version()? != thru_store::SCHEMA_VERSION {
            return Ok(None);
        }
        let jobs = store.jobs()?;
        let alive = thru_refine::ready(&jobs).filter(|job| !job.is_dead);
        Ok(alive.filter_map(|job| job.due).min())
    }
}

fn until(due: Timestamp, now: Timestamp) -> Duration {
    Duration::try_from(due.duration_since(now)).unwrap_or_default().min(LONGEST)
}

/// Logs the fate of a question; never what was said.
fn log_event(log: &Log, event: &RefineEvent<'_>) {
    match event {
        RefineEvent::Refined { session, turn, made } => {
            let what = turn.map_or("the whole".to_owned(), |turn| format!("turn {turn}"));
            log.info(&format!(
                "{} {} described {what} of session {} ({} tokens, {} statements dropped)",
                made.provider,
                printable(&made.model),
                session.id,
                made.spent.tokens(),
                made.dropped
            ));
        }
        RefineEvent::Failed { provider, error, next: Some(next) } => {
            log.warn(&format!("{provider}: {}; {next} is asked instead", printable(error)));
        }
        RefineEvent::Failed { provider, error, next: None } => log.warn(&format!(
            "{provider}: {}; memories stay as they were made without a model",
            printable(error)
        )),
        RefineEvent::Exhausted(exhausted) => log.info(&format!(
            "{} are spent: memories are made without a model until {}",
            exhausted.what, exhausted.until
        )),
    }
}
