//! The daemon's log: plain lines, never the content of sessions.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use thru_core::{Clock, one_line};

use crate::paths::private;

/// Bytes after which a log is renamed and a new one begins.
const LARGEST: u64 = 1024 * 1024;
/// Maximum characters of a line: an error may quote a file.
const LONGEST_LINE: usize = 400;

/// The severity of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Normal operation.
    Info,
    /// A problem that the daemon works around.
    Warn,
    /// A failure.
    Error,
}

/// A log file, or standard error if a person or a service manager watches.
pub struct Log {
    path: Option<PathBuf>,
    clock: Arc<dyn Clock>,
    file: Mutex<Option<File>>,
}

impl Log {
    /// Opens the log at `path` for appending.
    ///
    /// # Errors
    /// Fails if the file cannot be opened.
    pub fn open(path: &Path, clock: Arc<dyn Clock>) -> io::Result<Self> {
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        let file = Mutex::new(Some(append_to(path)?));
        Ok(Self { path: Some(path.to_owned()), clock, file })
    }

    /// Returns a log to standard error.
    pub fn to_stderr(clock: Arc<dyn Clock>) -> Self {
        Self { path: None, clock, file: Mutex::new(None) }
    }

    /// Logs normal operation.
    pub fn info(&self, message: &str) {
        self.say(Level::Info, message);
    }

    /// Logs a problem that the daemon works around.
    pub fn warn(&self, message: &str) {
        self.say(Level::Warn, message);
    }

    /// Logs a failure.
    pub fn error(&self, message: &str) {
        self.say(Level::Error, message);
    }

    fn say(&self, level: Level, message: &str) {
        let level = match level {
            Level::Info => "info",
            Level::Warn => "warn",
            Level::Error => "error",
        };
        let at = self.clock.now().strftime("%Y-%m-%dT%H:%M:%SZ");
        let line = format!("{at} {level} {}\n", one_line(message, LONGEST_LINE));
        // A failure to log cannot be reported anywhere.
        let _ = match &self.path {
            Some(path) => self.append(path, &line),
            None => io::stderr().write_all(line.as_bytes()),
        };
    }

    fn append(&self, path: &Path, line: &str) -> io::Result<()> {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let length = file.as_ref().map_or(0, |file| file.metadata().map_or(0, |file| file.len()));
        if length > LARGEST {
            *file = None;
            let mut older = path.as_os_str().to_owned();
            older.push(".1");
            std::fs::rename(path, older)?;
        }
        let file = match &mut *file {
            Some(file) => file,
            none => none.insert(append_to(path)?),
        };
        file.write_all(line.as_bytes())
    }
}

fn append_to(path: &Path) -> io::Result<File> {
    private(OpenOptions::new().append(true).create(true)).open(path)
}

/// Has the log tell of panics, which are caught and counted where they happen. Their messages may quote what a session
/// said, so only their places are told.
pub fn quiet_panics(log: &Arc<Log>) {
    let log = Arc::clone(log);
    std::panic::set_hook(Box::new(move |panic| {
        let place = panic.location().map_or_else(String::new, |place| place.to_string());
        log.error(&format!("panicked at {place}"));
    }));
}

#[cfg(test)]
mod tests {
    use thru_core::{FixedClock, Timestamp};

    use super::*;

    #[test]
    fn lines_are_dated_and_short_and_the_file_begins_anew() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run/daemon.log");
        let clock = Arc::new(FixedClock(Timestamp::from_second(1_795_262_400).unwrap()));
        let log = Log::open(&path, clock).unwrap();
        log.info("started\nas \u{1b}[31mprocess 7");
        log.warn(&"long ".repeat(1_000));
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(text.lines().next().unwrap(), "2026-11-21T12:00:00Z info started as process 7");
        assert_eq!(text.lines().count(), 2);
        assert!(text.len() < 600);
        for _ in 0..3_000 {
            log.error(&"x".repeat(390));
        }
        assert!(std::fs::metadata(&path).unwrap().len() < LARGEST);
        let older = folder.path().join("run/daemon.log.1");
        assert!(std::fs::metadata(&older).unwrap().len() >= LARGEST);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        }
    }
}
