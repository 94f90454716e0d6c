//! A daemon of one test, and its work.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;
use thru_core::{Clock, Layout, SystemClock, Timestamp};
use thru_daemon::{
    Client, End, Identity, Log, News, Outcome, Paths, RunError, Service, Settings, Setup, Stopper,
    ToolError, Work, WorkError, socket_path,
};

/// Longer than anything takes.
pub(crate) const LONG: Duration = Duration::from_secs(20);

/// Instructions for the work, and a record of its steps.
#[derive(Default)]
pub(crate) struct Notes {
    pub(crate) steps: Mutex<Vec<News>>,
    pub(crate) times: Mutex<Vec<Instant>>,
    pub(crate) folders: Mutex<Vec<PathBuf>>,
    pub(crate) outcome: Mutex<Outcome>,
    pub(crate) fail: AtomicBool,
    pub(crate) panic: AtomicBool,
    /// A step lasts as long as this is true.
    pub(crate) hold: AtomicBool,
    pub(crate) synced: AtomicUsize,
}

pub(crate) struct Counted(pub(crate) Arc<Notes>);

impl Work for Counted {
    fn ingest(&mut self, news: &News, stop: &AtomicBool) -> Result<Outcome, WorkError> {
        self.0.times.lock().unwrap().push(Instant::now());
        self.0.steps.lock().unwrap().push(news.clone());
        while self.0.hold.load(Ordering::Relaxed) && !stop.load(Ordering::Relaxed) {
            thread::sleep(Duration::from_millis(2));
        }
        assert!(!self.0.panic.load(Ordering::Relaxed), "as asked");
        match self.0.fail.load(Ordering::Relaxed) {
            true => Err("the disk is full".into()),
            false => Ok(*self.0.outcome.lock().unwrap()),
        }
    }

    fn watched(&mut self) -> Vec<PathBuf> {
        self.0.folders.lock().unwrap().clone()
    }

    fn status(&mut self) -> Value {
        json!({ "steps": self.0.steps.lock().unwrap().len() })
    }
}

pub(crate) struct Counting(pub(crate) Arc<Notes>);

/// The error of the tool that fails.
pub(crate) fn no_session() -> Value {
    json!({ "status": "error", "kind": "not_found", "message": "no such session", "remedy": null })
}

impl Service for Counting {
    fn call(&self, tool: &str, arguments: &Value) -> Result<Value, ToolError> {
        match tool {
            "session_tracking_close" => Ok(json!({ "status": "success", "given": arguments })),
            "fails" => Err(ToolError::Failed(no_session())),
            "panics" => panic!("as asked"),
            "long" => Ok(json!("x".repeat(2 * 1024 * 1024))),
            _ => Err(ToolError::Unknown(tool.to_owned())),
        }
    }

    fn sync(&self) -> Result<(), WorkError> {
        self.0.synced.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }
}

/// A clock that can be put forward.
pub(crate) struct Movable(pub(crate) Mutex<i64>);

impl Clock for Movable {
    fn now(&self) -> Timestamp {
        Timestamp::now() + jiff::SignedDuration::from_secs(*self.0.lock().unwrap())
    }
}

/// A home. Gone when dropped, as are the daemons in it.
pub(crate) struct Stage {
    pub(crate) folder: TempDir,
    pub(crate) paths: Paths,
    pub(crate) notes: Arc<Notes>,
    pub(crate) settings: Settings,
    pub(crate) clock: Arc<dyn Clock>,
}

/// A daemon in a thread of ours.
pub(crate) struct Daemon {
    pub(crate) stopper: Stopper,
    thread: Option<JoinHandle<Result<End, RunError>>>,
}

pub(crate) fn identity(version: &str) -> Identity {
    Identity { version: version.to_owned(), build: "test".to_owned(), home: String::new() }
}

impl Stage {
    pub(crate) fn new() -> Self {
        Self::at(tempfile::tempdir().unwrap())
    }

    /// For thousands of files: in memory, if there is a file system for that.
    pub(crate) fn in_memory() -> Self {
        let memory = tempfile::tempdir_in("/dev/shm");
        Self::at(memory.or_else(|_| tempfile::tempdir()).unwrap())
    }

    fn at(folder: TempDir) -> Self {
        let layout = Layout::new(folder.path().join("home"));
        let socket = socket_path(&layout, None, None, folder.path(), "1");
        let settings = Settings {
            debounce: Duration::from_millis(5),
            change_delay: Duration::from_millis(20),
            sync_delay: Duration::from_millis(5),
            check_interval: Duration::from_millis(50),
            missing_interval: Duration::from_millis(20),
            ..Settings::default()
        };
        Self {
            paths: Paths::new(&layout, socket),
            notes: Arc::default(),
            settings,
            clock: Arc::new(SystemClock),
            folder,
        }
    }

    pub(crate) fn watched(&self) -> PathBuf {
        let folder = self.folder.path().join("projects");
        std::fs::create_dir_all(&folder).unwrap();
        *self.notes.folders.lock().unwrap() = vec![folder.clone()];
        folder
    }

    pub(crate) fn setup(&self, version: &str, stopper: &Stopper) -> Setup {
        Setup {
            paths: self.paths.clone(),
            settings: self.settings.clone(),
            identity: identity(version),
            program: None,
            clock: Arc::clone(&self.clock),
            stopper: stopper.clone(),
            service: Arc::new(Counting(Arc::clone(&self.notes))),
        }
    }

    /// Starts a daemon and waits for its first full scan.
    pub(crate) fn start(&self) -> Daemon {
        let daemon = self.start_as("1.0.0", |_| {});
        self.wait_for_steps(1);
        daemon
    }

    pub(crate) fn start_as(&self, version: &str, change: impl FnOnce(&mut Setup)) -> Daemon {
        let stopper = Stopper::new();
        let mut setup = self.setup(version, &stopper);
        change(&mut setup);
        let notes = Arc::clone(&self.notes);
        let log = Arc::new(Log::open(&self.paths.log, Arc::clone(&self.clock)).unwrap());
        let thread = thread::spawn(move || thru_daemon::run(setup, &mut Counted(notes), &log));
        Daemon { stopper, thread: Some(thread) }
    }

    pub(crate) fn client(&self) -> Client {
        let mut last = None;
        until(|| {
            last = Client::connect(&self.paths.socket, Duration::from_secs(1)).ok();
            last.is_some()
        });
        last.unwrap()
    }

    pub(crate) fn steps(&self) -> Vec<News> {
        self.notes.steps.lock().unwrap().clone()
    }

    #[track_caller]
    pub(crate) fn wait_for_steps(&self, number: usize) {
        until(|| self.steps().len() >= number);
    }

    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(&self.paths.log).unwrap_or_default()
    }
}

impl Daemon {
    /// Returns how it ended, which it must do by itself.
    #[track_caller]
    pub(crate) fn end(mut self) -> Result<End, RunError> {
        let thread = self.thread.take().unwrap();
        until(|| thread.is_finished());
        thread.join().unwrap()
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        self.stopper.stop();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Waits until a condition holds.
#[track_caller]
pub(crate) fn until(mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + LONG;
    while !holds() {
        assert!(Instant::now() < deadline, "it never came");
        thread::sleep(Duration::from_millis(2));
    }
}

pub(crate) fn write(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}
