//! The daemon's thread that brings vault and memory together: beside its work, which it must not keep waiting.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use thru_core::Timestamp;
use thru_daemon::Log;

use crate::app::App;
use crate::call::{Call, Patience};
use crate::trouble::{Result, TroubleKind};
use crate::vault::{SyncVault, VaultSynced, sync};
use crate::words::{plural, printable};

/// The interval of a look although nothing is known to have changed: notes grow old, and watching may miss something.
const LONGEST: Duration = Duration::from_hours(1);
/// What memory learned is written no sooner than this after the last time: a session that works tells something new
/// every few seconds.
const MEMORY: Duration = Duration::from_secs(60);
/// The delay of the look after a person saved something: several notes may be saved at once. One that was saved a moment
/// ago is left to its editor, and looked at again.
const EDIT: Duration = Duration::from_millis(300);
/// The time to wait for another process that writes.
const PATIENCE: Duration = Duration::from_secs(5);
/// The interval after trouble that may pass.
const LATER: Duration = Duration::from_mins(5);

/// The cause of a look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cause {
    /// Memory may have learned something.
    Memory,
    /// Something in the vault changed.
    Edit,
}

/// Keeps the vault in the background for as long as it lives. Its thread begins once there is a vault.
pub(super) struct Vaulting {
    log: Arc<Log>,
    thread: Option<(SyncSender<Cause>, JoinHandle<()>)>,
}

impl Vaulting {
    pub(super) const fn new(log: Arc<Log>) -> Self {
        Self { log, thread: None }
    }

    /// Takes in what people saved, if any of these files is a note.
    pub(super) fn note_edits<'p>(
        &mut self,
        app: &App,
        mut changed: impl Iterator<Item = &'p PathBuf>,
    ) {
        if root(app).is_some_and(|root| changed.any(|path| is_note(path, root))) {
            self.wake(app, Cause::Edit);
        }
    }

    /// Writes what memory may have learned.
    pub(super) fn note_memory(&mut self, app: &App) {
        if root(app).is_some() {
            self.wake(app, Cause::Memory);
        }
    }

    fn wake(&mut self, app: &App, cause: Cause) {
        if self.thread.is_none() {
            self.thread = self.start(app);
        }
        if let Some((wake, _)) = &self.thread {
            // A full channel holds causes enough.
            let _ = wake.try_send(cause);
        }
    }

    fn start(&self, app: &App) -> Option<(SyncSender<Cause>, JoinHandle<()>)> {
        let (wake, woken) = sync_channel(8);
        let keeping = Keeping {
            app: app.clone(),
            log: Arc::clone(&self.log),
            last_trouble: None,
            memory: None,
        };
        let builder = std::thread::Builder::new().name("vault".to_owned());
        match builder.spawn(move || keeping.work(&woken)) {
            Ok(thread) => Some((wake, thread)),
            Err(error) => {
                self.log.warn(&format!("the vault is not kept: {error}"));
                None
            }
        }
    }
}

impl Drop for Vaulting {
    fn drop(&mut self) {
        if let Some((wake, thread)) = self.thread.take() {
            drop(wake);
            let _ = thread.join();
        }
    }
}

/// The folder of the vault, if there is one.
pub(super) fn root(app: &App) -> Option<&Path> {
    app.config.vault.path.as_deref().map(Path::new)
}

/// True for a file of the vault that is not hidden: settings of editors change all the time.
fn is_note(path: &Path, root: &Path) -> bool {
    path.strip_prefix(root).is_ok_and(|below| {
        below.components().all(|part| !part.as_os_str().to_string_lossy().starts_with('.'))
    })
}

struct Keeping {
    app: App,
    log: Arc<Log>,
    /// The last trouble that was logged, so that it is not repeated at every look.
    last_trouble: Option<String>,
    /// The time at which memory was last written.
    memory: Option<Instant>,
}

impl Keeping {
    fn work(mut self, woken: &Receiver<Cause>) {
        let mut due = Instant::now() + MEMORY;
        loop {
            match woken.recv_timeout(due.saturating_duration_since(Instant::now())) {
                Err(RecvTimeoutError::Disconnected) => return,
                Ok(Cause::Edit) => due = due.min(Instant::now() + EDIT),
                Ok(Cause::Memory) => due = due.min(self.next_for_memory()),
                Err(RecvTimeoutError::Timeout) => {
                    let wait = self.step();
                    due = Instant::now() + wait;
                }
            }
        }
    }

    fn next_for_memory(&self) -> Instant {
        self.memory.map_or_else(Instant::now, |last| last + MEMORY).max(Instant::now())
    }

    /// Brings vault and memory together. Returns the time until the next look.
    fn step(&mut self) -> Duration {
        match self.sync() {
            Ok(None) => LONGEST,
            Ok(Some(synced)) => {
                self.last_trouble = None;
                if synced.is_compared {
                    self.memory = Some(Instant::now());
                }
                self.tell(&synced);
                synced.due.map_or(LONGEST, |due| until(due, self.app.clock.now()))
            }
            Err((is_passing, trouble)) => {
                if self.last_trouble.as_ref() != Some(&trouble) {
                    self.log.warn(&format!("the vault is not kept: {}", printable(&trouble)));
                }
                self.last_trouble = Some(trouble);
                if is_passing { Duration::from_secs(5) } else { LATER }
            }
        }
    }

    /// Returns what was done, if there is a vault.
    fn sync(&mut self) -> Result<Option<VaultSynced>, (bool, String)> {
        let told = |error: crate::trouble::Trouble| {
            (error.kind() == TroubleKind::Busy, format!("{error:#}"))
        };
        self.app = self.app.again().map_err(told)?;
        if root(&self.app).is_none() || !self.app.layout.database().exists() {
            return Ok(None);
        }
        let request = SyncVault { in_background: true, ..SyncVault::default() };
        let call = Call::unattended(Patience::Within(PATIENCE));
        sync(&self.app, &request, call).map(Some).map_err(told)
    }

    /// Logs what was done; never what was said.
    fn tell(&self, synced: &VaultSynced) {
        let written = synced.created + synced.changed;
        if written > 0 {
            self.log.info(&format!("wrote {} of the vault", plural(written as u64, "note")));
        }
        let changes = synced.taken.sum();
        if changes > 0 {
            self.log.info(&format!("took in {} from the vault", plural(changes as u64, "change")));
        }
        if !synced.compacted.is_empty() {
            let sessions = plural(synced.compacted.len() as u64, "session");
            self.log.info(&format!("compacted the notes of {sessions}"));
        }
        if synced.loss.is_some() {
            self.log.warn("much of the vault is gone at once: `thru vault accept` takes it in");
        }
    }
}

fn until(due: Timestamp, now: Timestamp) -> Duration {
    Duration::try_from(due.duration_since(now)).unwrap_or_default().max(EDIT)
}
