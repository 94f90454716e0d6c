//! One call of the application: who waits for it, for how long, and who hears of its progress.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use thru_intake::{Intake, IntakeLock};

use crate::trouble::{Result, Trouble};

/// Hears of the progress of a call.
pub trait Progress: Send + Sync {
    /// Says something in a sentence: that another process is waited for.
    fn note(&self, message: &str) {
        let _ = message;
    }

    /// Says something in a sentence that only a person who watches the progress wants to know.
    fn remark(&self, message: &str) {
        self.note(message);
    }

    /// Tells that `done` of `total` units of a stage are done; `total` is 0 while it is unknown.
    fn step(&self, stage: &str, done: u64, total: u64, unit: Unit) {
        let _ = (stage, done, total, unit);
    }
}

/// The unit in which the progress of a stage is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Things that are named by the stage.
    Items,
    /// Files.
    Files,
    /// Sessions.
    Sessions,
    /// Texts.
    Texts,
    /// Bytes.
    Bytes,
}

/// Progress that goes unheard.
struct Unheard;

impl Progress for Unheard {}

/// The flag of calls that cannot be cancelled. It is never set.
static NEVER: AtomicBool = AtomicBool::new(false);

/// The time that a call may spend waiting for another process that writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Patience {
    /// As long as it takes: a person sees that it waits and can stop it.
    Endless,
    /// At most this long.
    Within(Duration),
}

/// The time to wait for another process without a word.
const QUIET: Duration = Duration::from_secs(1);
/// The same where that process is the daemon.
const QUIET_FOR_DAEMON: Duration = Duration::from_secs(5);

/// A call of the application. Copies are the same call.
#[derive(Clone, Copy)]
pub struct Call<'a> {
    cancelled: &'a AtomicBool,
    progress: &'a dyn Progress,
    patience: Patience,
}

impl<'a> Call<'a> {
    /// Makes a call. It is over once `cancelled` is set.
    pub fn new(progress: &'a dyn Progress, patience: Patience, cancelled: &'a AtomicBool) -> Self {
        Self { cancelled, progress, patience }
    }

    /// Makes a call whose progress goes unheard.
    pub fn unwatched(patience: Patience, cancelled: &'a AtomicBool) -> Self {
        Self::new(&Unheard, patience, cancelled)
    }

    /// Makes a call whose progress goes unheard and that cannot be cancelled.
    pub fn unattended(patience: Patience) -> Self {
        Self::new(&Unheard, patience, &NEVER)
    }

    /// The same call, whose progress is heard.
    #[must_use]
    pub fn heard_by<'b>(self, progress: &'b dyn Progress) -> Call<'b>
    where
        'a: 'b,
    {
        Call { progress, ..self }
    }

    /// The same call for a caller that waits this long for others.
    #[must_use]
    pub fn patient(self, patience: Patience) -> Self {
        Self { patience, ..self }
    }

    /// The flag that ends the call.
    pub fn cancelled(&self) -> &'a AtomicBool {
        self.cancelled
    }

    /// True once the caller stopped waiting.
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }

    /// Ends the call early where the caller stopped waiting.
    ///
    /// # Errors
    /// [`crate::TroubleKind::Cancelled`] then.
    pub fn check(&self) -> Result<()> {
        if self.is_cancelled() { Err(Trouble::cancelled()) } else { Ok(()) }
    }

    /// The listener.
    pub fn progress(&self) -> &'a dyn Progress {
        self.progress
    }

    /// Says something in a sentence.
    pub fn note(&self, message: &str) {
        self.progress.note(message);
    }

    /// The progress of an upgrade of the store, as intake reports it.
    pub fn upgrading(&self) -> impl FnMut(&str, u64, u64) + use<'a> {
        let progress = self.progress;
        move |stage, done, total| {
            let stage = format!("Upgrading the memory: {stage}");
            progress.step(&stage, done, total, Unit::Items);
        }
    }

    /// Takes the intake lock, as long as the patience lasts.
    ///
    /// # Errors
    /// Fails if another process still holds the lock, or the call was cancelled.
    pub fn lock(&self, intake: &Intake) -> Result<IntakeLock> {
        let deadline = match self.patience {
            Patience::Endless => None,
            Patience::Within(time) => Some(Instant::now() + time),
        };
        let (began, mut noted) = (Instant::now(), false);
        let lock = intake.lock(&mut |writer| {
            if deadline.is_none() && !noted && began.elapsed() >= QUIET {
                let daemon = thru_daemon::holder(&intake.layout().run().join("daemon.lock"));
                let is_daemon = daemon.is_some_and(|daemon| Some(daemon.pid) == writer);
                // The steps of the daemon are short, and nothing to worry about.
                if !is_daemon || began.elapsed() >= QUIET_FOR_DAEMON {
                    self.note(&match (is_daemon, writer) {
                        (true, _) => "Waiting for the daemon to finish what it reads.".to_owned(),
                        (false, Some(number)) => format!(
                            "Another `thru` (process {number}) is writing to this memory; waiting for it to finish."
                        ),
                        (false, None) => {
                            "Another `thru` is writing to this memory; waiting for it to finish.".to_owned()
                        }
                    });
                    noted = true;
                }
            }
            !self.is_cancelled() && deadline.is_none_or(|deadline| Instant::now() < deadline)
        });
        match lock {
            Err(_) if self.is_cancelled() => Err(Trouble::cancelled()),
            lock => Ok(lock?),
        }
    }
}
