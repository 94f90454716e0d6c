//! The daemon: one thread that waits, has news ingested, and checks its files now and then.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use thru_core::{Clock, Timestamp};

use crate::clockwork::Clockwork;
use crate::identity::{Hello, Identity, PROTOCOL};
use crate::lock::DaemonLock;
use crate::log::Log;
use crate::mailbox::{Delays, Mailbox, Stopper};
use crate::pages::Releasing;
use crate::paths::Paths;
use crate::program::{Program, ProgramState};
use crate::server::{Server, ServerState};
use crate::settings::Settings;
use crate::socket::Socket;
use crate::syncing;
use crate::watch::Watching;
use crate::work::{News, Outcome, Service, Work};

/// Steps that may panic in a row before the daemon gives up.
const MOST_PANICS: u32 = 3;
/// The shortest pause before due or failed work is tried again; pauses grow from there.
const SHORTEST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_mins(5);
/// The pause between two steps of work that is done in parts. Longer than any writer waits between two looks at the lock.
const BREATH: Duration = Duration::from_millis(200);
/// Full scans may take this fraction of the time: one in so many parts.
const SCAN_SHARE: u32 = 200;
/// Frequent changes may take this fraction of the time: one in so many parts.
const CHANGE_SHARE: u32 = 10;
/// The longest time without a full scan, and for changes to wait: a step that took long (the first import
/// of years, say) must not make the daemon deaf.
const LONGEST_UNSEEN: Duration = Duration::from_hours(1);
const LONGEST_DELAY: Duration = Duration::from_secs(30);

/// The parts of a daemon besides its work.
pub struct Setup {
    /// The paths of its files.
    pub paths: Paths,
    /// Its settings.
    pub settings: Settings,
    /// Its identity.
    pub identity: Identity,
    /// Its program file, to notice a replacement.
    pub program: Option<Program>,
    /// The wall clock.
    pub clock: Arc<dyn Clock>,
    /// Ends it.
    pub stopper: Stopper,
    /// The calls answered while work goes on.
    pub service: Arc<dyn Service>,
}

/// The reason why the daemon ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// On request.
    Requested,
    /// Idle for long.
    Idle,
    /// Its home or its program is gone.
    Removed,
    /// Its program was replaced. Lock and socket are free for the new one.
    Replaced,
    /// Its work asks for a new process. Lock and socket are free for that.
    Renewed,
    /// Its work panicked again and again.
    Panicked,
}

/// The error of running a daemon.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// A daemon is already running.
    #[error("a daemon runs already")]
    AlreadyRunning,
    /// One of its files cannot be used.
    #[error("{}: {error}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The underlying error.
        error: io::Error,
    },
    /// The system cannot start a thread.
    #[error("no thread can be started: {0}")]
    Thread(io::Error),
}

/// Runs the daemon until it ends.
///
/// # Errors
/// Returns [`RunError::AlreadyRunning`] if another daemon holds the lock, [`RunError::Io`] if a file or the
/// socket cannot be used, and [`RunError::Thread`] if a thread cannot be started.
pub fn run(setup: Setup, work: &mut dyn Work, log: &Arc<Log>) -> Result<End, RunError> {
    let Setup { paths, settings, identity, program, clock, stopper, service } = setup;
    let at = |path: &PathBuf| {
        let path = path.clone();
        move |error| RunError::Io { path, error }
    };
    paths.create().map_err(at(&paths.run))?;
    let lock = DaemonLock::take(&paths.lock).map_err(at(&paths.lock))?;
    let Some(mut lock) = lock else { return Err(RunError::AlreadyRunning) };
    let hello = Hello {
        version: identity.version,
        protocol: PROTOCOL,
        pid: std::process::id(),
        started: clock.now(),
        build: identity.build,
        home: identity.home,
    };
    lock.sign(&hello, &paths.socket).map_err(at(&paths.lock))?;
    let socket = Socket::listen(&paths.socket).map_err(at(&paths.socket))?;
    let mailbox = Arc::clone(&stopper.mailbox);
    let shared = Arc::new(ServerState {
        hello: hello.clone(),
        mailbox: Arc::clone(&mailbox),
        service: Arc::clone(&service),
        tools_enabled: settings.tools_enabled,
        patience: settings.patience,
        log: Arc::clone(log),
        status: Mutex::new(Value::Null),
        connections: AtomicUsize::new(0),
    });
    let (delay, for_sync) = (settings.sync_delay, Arc::clone(&mailbox));
    let now = Instant::now();
    let mut event_loop = EventLoop {
        shared: Arc::clone(&shared),
        watching: Watching::new(Arc::clone(&mailbox), settings.watch),
        clockwork: Clockwork::new(clock),
        next_check: now + settings.check_interval,
        last_scan: now,
        scan_cost: Duration::ZERO,
        outcome: Outcome::default(),
        delays: Delays { poke: settings.debounce, change: settings.change_delay, not_before: now },
        pause: Pause { length: Duration::ZERO, until: now },
        retry: false,
        last_error: None,
        last: Value::Null,
        steps: 0,
        panics: 0,
        missing_program: false,
        mailbox: Arc::clone(&mailbox),
        releasing: Arc::new(Releasing::new()),
        log,
        paths,
        settings,
        program,
        work,
    };
    event_loop.publish();
    let server = Server::start(socket, shared).map_err(RunError::Thread)?;
    service.begin();
    let syncing = syncing::start(for_sync, service, delay, Arc::clone(log));
    let syncing = syncing.map_err(RunError::Thread)?;
    let for_pages = Arc::clone(&mailbox);
    let releasing = event_loop.releasing.start(for_pages).map_err(RunError::Thread)?;
    log.info(&format!("started: version {}, process {}", hello.version, hello.pid));

    let end = event_loop.turn_until_the_end(&lock, &server);
    log.info(match end {
        End::Requested => "ended: asked to",
        End::Idle => "ended: nothing to do",
        End::Removed => "ended: the home or the program is gone",
        End::Replaced => "ended: the program was replaced",
        End::Renewed => "ended: a new process goes on, with less memory",
        End::Panicked => "ended: the work panicked again and again",
    });
    mailbox.stop();
    // Remaining waiters are notified, and writes are synced.
    drop(mailbox.take());
    let _ = syncing.join();
    releasing.thread().unpark();
    let _ = releasing.join();
    // The socket before the lock: the next holder of the lock finds no socket of ours.
    drop(server);
    drop(lock);
    Ok(end)
}

/// A pause that grows each time it is needed.
struct Pause {
    length: Duration,
    until: Instant,
}

impl Pause {
    fn lengthen(&mut self) {
        self.length = (self.length * 2).clamp(SHORTEST_PAUSE, LONGEST_PAUSE);
        self.until = Instant::now() + self.length;
    }

    fn take_breath(&mut self) {
        *self = Self { length: Duration::ZERO, until: Instant::now() + BREATH };
    }

    fn end(&mut self) {
        *self = Self { length: Duration::ZERO, until: Instant::now() };
    }
}

/// The state of the loop.
struct EventLoop<'a> {
    work: &'a mut dyn Work,
    log: &'a Log,
    paths: Paths,
    settings: Settings,
    program: Option<Program>,
    mailbox: Arc<Mailbox>,
    releasing: Arc<Releasing>,
    shared: Arc<ServerState>,
    watching: Watching,
    clockwork: Clockwork,
    next_check: Instant,
    last_scan: Instant,
    scan_cost: Duration,
    outcome: Outcome,
    delays: Delays,
    /// For work that is due again at once, and for failures.
    pause: Pause,
    /// True if the last step failed: a full scan is needed.
    retry: bool,
    last_error: Option<String>,
    /// The last step, for people.
    last: Value,
    steps: u64,
    panics: u32,
    missing_program: bool,
}

impl EventLoop<'_> {
    fn turn_until_the_end(&mut self, lock: &DaemonLock, server: &Server) -> End {
        let folders = self.watched();
        self.watching.set(folders);
        self.publish();
        // News from before the start.
        self.mailbox.change(News::add_everything);
        self.step(News::default());
        loop {
            if self.mailbox.is_stopped() {
                return End::Requested;
            }
            if self.panics >= MOST_PANICS {
                return End::Panicked;
            }
            if std::mem::take(&mut self.outcome.renew) && !self.retry {
                return End::Renewed;
            }
            // Before every step: work would recreate a home that was deleted.
            if !lock.is_in_place() || !server.is_reachable() {
                return End::Removed;
            }
            if let Some(why) = self.mailbox.take_trouble() {
                self.log.warn(&format!("{why}; polling instead"));
                self.watching.give_up(why);
                self.mailbox.change(News::add_everything);
                self.publish();
            }
            let jump = self.clockwork.jump();
            if jump > self.settings.clock_tolerance {
                self.log.info(&format!("the clock jumped by {} s", jump.as_secs()));
                self.mailbox.change(News::add_everything);
                self.pause.end();
            }
            let now = Instant::now();
            if now >= self.next_check
                && let Some(end) = self.check()
            {
                return end;
            }
            let scan = now >= self.next_scan();
            let due = self.due_at(now).is_some_and(|at| at <= now);
            if scan || due || self.mailbox.is_ready(&self.delays) {
                let mut more = News::default();
                if scan {
                    self.watching.try_again();
                    more.add_everything();
                }
                self.step(more);
                continue;
            }
            let idle_at = self.idle_at();
            if idle_at.is_some_and(|at| at <= now) {
                return End::Idle;
            }
            let mut deadline = self.next_check.min(self.next_scan());
            for moment in [self.due_at(now), idle_at].into_iter().flatten() {
                deadline = deadline.min(moment);
            }
            self.mailbox.wait(&self.delays, deadline);
        }
    }

    /// Has the work ingest the news.
    fn step(&mut self, more: News) {
        let (mut news, waiters) = self.mailbox.take();
        news.merge(more);
        if std::mem::take(&mut self.retry) {
            news.add_everything();
        }
        let began = Instant::now();
        let (work, stop) = (&mut *self.work, self.mailbox.stopped());
        let done = catch_unwind(AssertUnwindSafe(|| work.ingest(&news, stop)));
        let took = began.elapsed();
        let error = match done {
            Ok(Ok(outcome)) => {
                self.panics = 0;
                self.outcome = outcome;
                None
            }
            Ok(Err(error)) => {
                self.panics = 0;
                Some(error.to_string())
            }
            Err(_) => {
                self.panics += 1;
                Some("it panicked".to_owned())
            }
        };
        let succeeded = error.is_none();
        if let Some(error) = &error
            && self.last_error.as_ref() != Some(error)
        {
            self.log.error(&format!("ingest failed: {error}"));
        }
        self.last_error = error;
        self.retry = !succeeded;
        let is_due_again = self.outcome.due.is_some_and(|due| self.clockwork.until(due).is_zero());
        match (succeeded, is_due_again) {
            (true, _) if self.outcome.more => self.pause.take_breath(),
            (true, false) => self.pause.end(),
            _ => self.pause.lengthen(),
        }
        if news.everything && succeeded {
            (self.last_scan, self.scan_cost) = (Instant::now(), took);
        }
        self.delays.not_before = Instant::now() + (took * CHANGE_SHARE).min(LONGEST_DELAY);
        self.steps += 1;
        self.last = json!({
            "at": self.clockwork.now(),
            "milliseconds": u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
            "poked": news.poked,
            "everything": news.everything,
            "changed": news.changed.len(),
            "error": self.last_error,
        });
        let folders = self.watched();
        self.watching.set(folders);
        self.look_for_missing();
        self.publish();
        // An interrupted step is not done.
        let done = succeeded && !self.mailbox.is_stopped();
        for waiter in waiters {
            // The waiter may be gone.
            let _ = waiter.try_send(done);
        }
        self.releasing.after_work();
    }

    fn watched(&mut self) -> Vec<PathBuf> {
        let known = self.watching.folders();
        catch_unwind(AssertUnwindSafe(|| self.work.watched())).unwrap_or(known)
    }

    /// Checks that files and folders are still in place.
    fn check(&mut self) -> Option<End> {
        match self.program.as_ref().map_or(ProgramState::Same, Program::state) {
            ProgramState::Replaced => return Some(End::Replaced),
            // During an upgrade it may be gone for a moment.
            ProgramState::Gone if self.missing_program => return Some(End::Removed),
            state => self.missing_program = state == ProgramState::Gone,
        }
        if self.watching.check() {
            self.mailbox.change(News::add_everything);
            self.publish();
        }
        // Other processes write to the store, too.
        let due = catch_unwind(AssertUnwindSafe(|| self.work.due())).unwrap_or(None);
        self.outcome.due = self.outcome.due.into_iter().chain(due).min();
        self.next_check = Instant::now() + self.settings.check_interval;
        self.look_for_missing();
        None
    }

    /// Checks sooner again if a folder is missing.
    fn look_for_missing(&mut self) {
        if self.watching.misses_any() {
            let soon = Instant::now() + self.settings.missing_interval;
            self.next_check = self.next_check.min(soon);
        }
    }

    /// The time of the next full scan.
    fn next_scan(&self) -> Instant {
        let interval = match self.watching.polling() {
            Some(_) => self.settings.poll_interval,
            None => self.settings.rescan_interval,
        };
        let failed = self.retry.then_some(self.pause.until);
        let share = (self.scan_cost * SCAN_SHARE).min(LONGEST_UNSEEN);
        let regular = self.last_scan + interval.max(share);
        failed.map_or(regular, |failed| failed.min(regular))
    }

    /// The time of due work that needs no news.
    fn due_at(&self, now: Instant) -> Option<Instant> {
        if self.outcome.more {
            return Some(self.pause.until);
        }
        let due = now + self.clockwork.until(self.outcome.due?);
        Some(due.max(self.pause.until))
    }

    /// The time to end if nothing comes.
    fn idle_at(&self) -> Option<Instant> {
        let Outcome { due, busy, more, .. } = self.outcome;
        let is_idle = !busy && !more && due.is_none() && !self.retry;
        let after = self.settings.idle_exit.filter(|_| is_idle)?;
        Some(self.mailbox.active() + after)
    }

    /// Publishes the status.
    fn publish(&mut self) {
        let work = catch_unwind(AssertUnwindSafe(|| self.work.status())).unwrap_or(Value::Null);
        let hello = &self.shared.hello;
        let due: Option<Timestamp> = self.outcome.due;
        // JSON has no form for a path that is no text.
        let folders = self.watching.folders();
        let folders: Vec<_> = folders.iter().map(|folder| folder.to_string_lossy()).collect();
        let status = json!({
            "version": hello.version,
            "protocol": hello.protocol,
            "build": hello.build,
            "pid": hello.pid,
            "started": hello.started,
            "watching": if self.watching.polling().is_some() { "polling" } else { "events" },
            "polling_because": self.watching.polling(),
            "folders": folders,
            "missing_folders": self.watching.misses_any(),
            "steps": self.steps,
            "last": self.last,
            "due": due,
            "busy": self.outcome.busy,
            "log": self.paths.log.to_string_lossy(),
            "socket": self.paths.socket.to_string_lossy(),
            "work": work,
        });
        *self.shared.status.lock().unwrap_or_else(PoisonError::into_inner) = status;
    }
}
