//! What waits to be looked at: bounded, whoever brings it and however much it is. The watcher,
//! connections and signals put things in; the loop takes them out.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::work::News;

/// Told whether the step after its poke went well.
pub(crate) type Waiter = SyncSender<bool>;

/// What came in since somebody looked.
#[derive(Debug)]
pub(crate) struct Mail {
    news: News,
    poked: Option<Instant>,
    changed: Option<Instant>,
    waiters: Vec<Waiter>,
    /// Since when something was written that is not synced.
    written: Option<Instant>,
    /// Why watching stopped.
    trouble: Option<String>,
    /// When somebody last wanted something.
    active: Instant,
}

/// How long news are left lying, so that several are brought in together.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Delays {
    pub(crate) poke: Duration,
    pub(crate) change: Duration,
    /// Changes alone are not brought in before.
    pub(crate) not_before: Instant,
}

/// The mail, and whether it is over.
#[derive(Debug)]
pub(crate) struct Mailbox {
    mail: Mutex<Mail>,
    /// There is news, or the end.
    arrived: Condvar,
    /// There is something to sync, or the end.
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

    /// A hook says that there is news. Whoever waits for them is told when they were brought in.
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

    /// The watcher saw changes.
    pub(crate) fn change(&self, add: impl FnOnce(&mut News)) {
        let (now, mut mail) = (Instant::now(), self.open());
        add(&mut mail.news);
        mail.active = now;
        if mail.changed.is_none() {
            mail.changed = Some(now);
            self.arrived.notify_one();
        }
    }

    /// Watching does not work any longer.
    pub(crate) fn trouble(&self, why: String) {
        self.open().trouble = Some(why);
        self.arrived.notify_one();
    }

    pub(crate) fn take_trouble(&self) -> Option<String> {
        self.open().trouble.take()
    }

    /// Somebody asked something.
    pub(crate) fn asked(&self) {
        self.open().active = Instant::now();
    }

    /// When somebody last wanted something.
    pub(crate) fn active(&self) -> Instant {
        self.open().active
    }

    /// Everything that came in.
    pub(crate) fn take(&self) -> (News, Vec<Waiter>) {
        let mut mail = self.open();
        (mail.poked, mail.changed) = (None, None);
        (std::mem::take(&mut mail.news), std::mem::take(&mut mail.waiters))
    }

    /// Whether what came in has lain long enough.
    pub(crate) fn is_ready(&self, delays: &Delays) -> bool {
        self.open().ready_at(delays).is_some_and(|at| at <= Instant::now())
    }

    /// Waits until what came in has lain long enough, or `deadline`, or trouble, or the end.
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

    /// Waits until something was written and `delay` is over; false at the end.
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
        // Under the lock, so that nobody looks before and goes to sleep after.
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

/// Ends a daemon from outside: for signals.
#[derive(Clone, Debug)]
pub struct Stopper {
    pub(crate) mailbox: Arc<Mailbox>,
}

impl Stopper {
    /// One for a daemon that is to be run.
    pub fn new() -> Self {
        Self { mailbox: Arc::new(Mailbox::new()) }
    }

    /// Has the daemon end after what it is doing.
    pub fn stop(&self) {
        self.mailbox.stop();
    }
}

impl Default for Stopper {
    fn default() -> Self {
        Self::new()
    }
}
