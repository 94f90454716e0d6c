//! The daemon's thread that brings vault and memory together: beside its work, which it must not keep waiting.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use thru_core::Timestamp;
use thru_daemon::Log;

use crate::app::App;
use crate::call::{Call, Patience};
use crate::trouble::{Result, TroubleKind};
use crate::vault::{Following, Look, VaultSynced};
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
#[derive(Clone, Debug, PartialEq, Eq)]
enum Cause {
    /// Memory may have learned something.
    Memory,
    /// These files of the vault were written: by a person, by another program, or by us.
    Edit(Vec<PathBuf>),
}

/// Keeps the vault in the background for as long as it lives. Its thread begins once there is a vault.
pub(super) struct Vaulting {
    log: Arc<Log>,
    thread: Option<(Sender<Cause>, JoinHandle<()>)>,
}

impl Vaulting {
    pub(super) const fn new(log: Arc<Log>) -> Self {
        Self { log, thread: None }
    }

    /// Takes in what people saved, if any of these files is a note.
    pub(super) fn note_edits<'p>(&mut self, app: &App, changed: impl Iterator<Item = &'p PathBuf>) {
        let Some(root) = root(app) else { return };
        let notes: Vec<PathBuf> = changed.filter(|path| is_note(path, root)).cloned().collect();
        if !notes.is_empty() {
            self.wake(app, Cause::Edit(notes));
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
            // Its thread ends with this channel only.
            let _ = wake.send(cause);
        }
    }

    fn start(&self, app: &App) -> Option<(Sender<Cause>, JoinHandle<()>)> {
        let (wake, woken) = channel();
        let keeping = Keeping {
            app: app.clone(),
            log: Arc::clone(&self.log),
            last_trouble: None,
            memory: None,
            following: Following::default(),
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
    following: Following,
}

impl Keeping {
    fn work(mut self, woken: &Receiver<Cause>) {
        // The next look at every file, at the files that were written, and at what memory learned.
        let mut all = Instant::now() + MEMORY;
        let (mut written, mut learned) = (None::<Instant>, None::<Instant>);
        let mut files = BTreeSet::new();
        loop {
            let due = [written, learned].into_iter().flatten().fold(all, Instant::min);
            match woken.recv_timeout(due.saturating_duration_since(Instant::now())) {
                Err(RecvTimeoutError::Disconnected) => return,
                Ok(Cause::Edit(changed)) => {
                    files.extend(changed);
                    written.get_or_insert_with(|| Instant::now() + EDIT);
                }
                Ok(Cause::Memory) => {
                    learned.get_or_insert_with(|| self.next_for_memory());
                }
                Err(RecvTimeoutError::Timeout) => {
                    let now = Instant::now();
                    let is_due = |at: &mut Instant| *at <= now;
                    if written.take_if(is_due).is_some()
                        && self.differs(&std::mem::take(&mut files))
                    {
                        all = now;
                    }
                    let is_learned = learned.take_if(is_due).is_some();
                    if all <= now {
                        let wait = self.step(Look::Everywhere);
                        all = Instant::now() + wait;
                    } else if is_learned {
                        let wait = self.step(Look::Sessions);
                        all = all.min(Instant::now() + wait);
                    }
                }
            }
        }
    }

    /// True if any of these files is not as we wrote it.
    fn differs(&self, files: &BTreeSet<PathBuf>) -> bool {
        root(&self.app).is_some_and(|root| self.following.differs(root, files))
    }

    fn next_for_memory(&self) -> Instant {
        self.memory.map_or_else(Instant::now, |last| last + MEMORY).max(Instant::now())
    }

    /// Brings vault and memory together. Returns the time until the next look.
    fn step(&mut self, look: Look) -> Duration {
        match self.sync(look) {
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
    fn sync(&mut self, look: Look) -> Result<Option<VaultSynced>, (bool, String)> {
        let told = |error: crate::trouble::Trouble| {
            (error.kind() == TroubleKind::Busy, format!("{error:#}"))
        };
        self.app = self.app.again().map_err(told)?;
        if root(&self.app).is_none() || !self.app.layout.database().exists() {
            return Ok(None);
        }
        let call = Call::unattended(Patience::Within(PATIENCE));
        self.following.sync(&self.app, look, call).map(Some).map_err(told)
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
            self.log.warn("much of the vault disappeared at once: `thru vault accept` takes it in");
        }
    }
}

fn until(due: Timestamp, now: Timestamp) -> Duration {
    Duration::try_from(due.duration_since(now)).unwrap_or_default().max(EDIT)
}
