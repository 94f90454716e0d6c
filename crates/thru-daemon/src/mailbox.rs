//! The mailbox of pending news, bounded whatever the load. The watcher, connections and signals put things
//! in; the loop takes them out.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::work::News;

/// Receives true if the step after its poke succeeded.
pub(crate) type Waiter = SyncSender<bool>;

/// The news since the last look.
#[derive(Debug)]
pub(crate) struct Mail {
    news: News,
    poked: Option<Instant>,
    changed: Option<Instant>,
    waiters: Vec<Waiter>,
    /// The time of the oldest write that is not synced.
    written: Option<Instant>,
    /// The reason why watching stopped.
    trouble: Option<String>,
    /// The time of the last request.
    active: Instant,
}

/// The time that news wait, so that several are handled together.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Delays {
    pub(crate) poke: Duration,
    pub(crate) change: Duration,
    /// Changes alone wait until this time.
    pub(crate) not_before: Instant,
}

/// The mail, and whether the daemon is to end.
#[derive(Debug)]
pub(crate) struct Mailbox {
    mail: Mutex<Mail>,
    /// Signals news, or the end.
    arrived: Condvar,
    /// Signals unsynced writes, or the end.
    to_sync: Condvar,
    stopped: AtomicBool,
}

impl Mail {
    fn ready_at(&self, delays: &Delays) -> Option<Instant> {
        let poked = self.poked.map(|at| at + delays.poke);
        let changed = self.changed.map(|at| (at + delays.change).max(delays.not_before));
        poked.into_iter().chain(changed).min()
    }
}

impl Mailbox {
    fn new() -> Self {
        let mail = Mail {
            news: News::default(),
            poked: None,
            changed: None,
            waiters: Vec::new(),
            written: None,
            trouble: None,
            active: Instant::now(),
        };
        Self {
            mail: Mutex::new(mail),
            arrived: Condvar::new(),
            to_sync: Condvar::new(),
            stopped: AtomicBool::new(false),
        }
    }

    fn open(&self) -> MutexGuard<'_, Mail> {
        self.mail.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes a hook's poke. A waiter is notified when its news were ingested.
    pub(crate) fn poke(&self, waiter: Option<Waiter>) {
        let (now, mut mail) = (Instant::now(), self.open());
        mail.news.poked = true;
        mail.active = now;
        mail.waiters.extend(waiter);
        if mail.poked.is_none() {
            mail.poked = Some(now);
            self.arrived.notify_one();
        }
        if mail.written.is_none() {
            mail.written = Some(now);
            self.to_sync.notify_one();
        }
    }

    /// Notes changes that the watcher saw.
    pub(crate) fn change(&self, add: impl FnOnce(&mut News)) {
        let (now, mut mail) = (Instant::now(), self.open());
        add(&mut mail.news);
        mail.active = now;
        if mail.changed.is_none() {
            mail.changed = Some(now);
            self.arrived.notify_one();
        }
    }

    /// Notes that watching has stopped working.
    pub(crate) fn trouble(&self, why: String) {
        self.open().trouble = Some(why);
        self.arrived.notify_one();
    }

    pub(crate) fn take_trouble(&self) -> Option<String> {
        self.open().trouble.take()
    }

    /// Notes a request.
    pub(crate) fn asked(&self) {
        self.open().active = Instant::now();
    }

    /// Returns the time of the last request.
    pub(crate) fn active(&self) -> Instant {
        self.open().active
    }

    /// Takes all news and waiters.
    pub(crate) fn take(&self) -> (News, Vec<Waiter>) {
        let mut mail = self.open();
        (mail.poked, mail.changed) = (None, None);
        (std::mem::take(&mut mail.news), std::mem::take(&mut mail.waiters))
    }

    /// Returns true if the news have waited long enough.
    pub(crate) fn is_ready(&self, delays: &Delays) -> bool {
        self.open().ready_at(delays).is_some_and(|at| at <= Instant::now())
    }

    /// Waits until the news have waited long enough, or until `deadline`, trouble, or the end.
    pub(crate) fn wait(&self, delays: &Delays, deadline: Instant) {
        let mut mail = self.open();
        while !self.is_stopped() && mail.trouble.is_none() {
            let end = mail.ready_at(delays).map_or(deadline, |ready| ready.min(deadline));
            let Some(left) = end.checked_duration_since(Instant::now()) else { return };
            if left.is_zero() {
                return;
            }
            let waited = self.arrived.wait_timeout(mail, left);
            mail = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Waits until something was written and `delay` has passed; false at the end.
    pub(crate) fn wait_for_sync(&self, delay: Duration) -> bool {
        let mut mail = self.open();
        while !self.is_stopped() {
            mail =
                match mail.written.map(|at| (at + delay).saturating_duration_since(Instant::now()))
                {
                    Some(Duration::ZERO) => {
                        mail.written = None;
                        return true;
                    }
                    Some(left) => {
                        let waited = self.to_sync.wait_timeout(mail, left);
                        waited.unwrap_or_else(PoisonError::into_inner).0
                    }
                    None => self.to_sync.wait(mail).unwrap_or_else(PoisonError::into_inner),
                };
        }
        false
    }

    pub(crate) fn stop(&self) {
        // Under the lock, so that no thread checks before it and sleeps after it.
        let _mail = self.open();
        self.stopped.store(true, Ordering::Relaxed);
        self.arrived.notify_all();
        self.to_sync.notify_all();
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    pub(crate) fn stopped(&self) -> &AtomicBool {
        &self.stopped
    }
}

/// Ends a daemon from outside, for signals, and keeps one that is in use from ending.
#[derive(Clone, Debug)]
pub struct Stopper {
    pub(crate) mailbox: Arc<Mailbox>,
}

impl Stopper {
    /// Returns a stopper for a daemon that is yet to run.
    pub fn new() -> Self {
        Self { mailbox: Arc::new(Mailbox::new()) }
    }

    /// Notes a request that came another way than by the socket: the daemon is in use, and does not end by itself.
    pub fn note_request(&self) {
        self.mailbox.asked();
    }

    /// Ends the daemon after its current step.
    pub fn stop(&self) {
        self.mailbox.stop();
    }
}

impl Default for Stopper {
    fn default() -> Self {
        Self::new()
    }
}
