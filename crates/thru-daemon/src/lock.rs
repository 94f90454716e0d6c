//! The lock that a daemon holds while it lives. The system releases it when the process is gone, however it
//! went; a process id in a file would prove nothing.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use thru_core::Timestamp;

use crate::identity::Hello;
use crate::paths::{file_version, private};

/// The time for which another process may probe the lock.
const LOOKING: Duration = Duration::from_millis(300);

/// A lock file of ours, held until dropped.
#[derive(Debug)]
pub struct DaemonLock {
    path: PathBuf,
    file: File,
}

/// The identity that the holder wrote into the lock, for people. It may have ended since.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    /// The version of its program.
    pub version: String,
    /// Its process id.
    pub pid: u32,
    /// The time when it started.
    pub started: Timestamp,
    /// The path of its socket, which may differ from today's settings.
    #[serde(default)]
    pub socket: Option<PathBuf>,
}

impl DaemonLock {
    /// Takes the lock, if it is free.
    pub(crate) fn try_take(path: &Path) -> io::Result<Option<Self>> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        loop {
            let file = private(&mut options).open(path)?;
            match file.try_lock() {
                Err(TryLockError::WouldBlock) => return Ok(None),
                Err(TryLockError::Error(error)) => return Err(error),
                Ok(()) => {}
            }
            let lock = Self { path: path.to_owned(), file };
            // If the home was deleted and made again in between, our lock is on a file that no other
            // process sees.
            if lock.is_in_place() {
                return Ok(Some(lock));
            }
        }
    }

    /// [`DaemonLock::try_take`], but waits for processes that only probe the lock.
    pub(crate) fn take(path: &Path) -> io::Result<Option<Self>> {
        let deadline = Instant::now() + LOOKING;
        loop {
            match Self::try_take(path)? {
                None if Instant::now() < deadline => thread::sleep(Duration::from_millis(20)),
                taken => return Ok(taken),
            }
        }
    }

    /// Returns true if the path still names this file.
    pub(crate) fn is_in_place(&self) -> bool {
        let (named, ours) = (std::fs::metadata(&self.path), self.file.metadata());
        matches!((named, ours), (Ok(named), Ok(ours)) if file_version(&named) == file_version(&ours))
    }

    /// Writes the holder's identity into the lock, for people.
    pub(crate) fn sign(&mut self, hello: &Hello, socket: &Path) -> io::Result<()> {
        // JSON has no room for a path that is no text; such a socket is where the settings say.
        let socket = socket.to_str().map(PathBuf::from);
        let holder = Holder { socket, ..Holder::from(hello) };
        let line = serde_json::to_string(&holder)? + "\n";
        self.file.rewind()?;
        self.file.set_len(0)?;
        self.file.write_all(line.as_bytes())
    }
}

/// Returns true if a daemon holds the lock.
///
/// # Errors
/// Fails if the lock file cannot be opened or locked.
pub fn is_held(path: &Path) -> io::Result<bool> {
    let file = match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        opened => opened?,
    };
    // Shared with other probes, which must not take each other for a daemon.
    match file.try_lock_shared() {
        Err(TryLockError::WouldBlock) => Ok(true),
        Err(TryLockError::Error(error)) => Err(error),
        Ok(()) => Ok(false),
    }
}

/// Returns the holder's identity, while the lock is held.
pub fn holder(path: &Path) -> Option<Holder> {
    if !is_held(path).ok()? {
        return None;
    }
    let mut text = String::new();
    File::open(path).ok()?.take(4096).read_to_string(&mut text).ok()?;
    serde_json::from_str(&text).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_holds_it_until_it_lets_go_or_the_file_goes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        assert!(!is_held(&path).unwrap());
        let mut lock = DaemonLock::try_take(&path).unwrap().unwrap();
        assert!(is_held(&path).unwrap() && DaemonLock::take(&path).unwrap().is_none());
        let hello = Hello {
            version: "1.2.3".to_owned(),
            protocol: 1,
            pid: 7,
            started: Timestamp::UNIX_EPOCH,
            build: String::new(),
            home: String::new(),
        };
        lock.sign(&hello, Path::new("s")).unwrap();
        assert_eq!(holder(&path).unwrap().pid, 7);
        #[cfg(unix)]
        {
            let odd: &std::ffi::OsStr = std::os::unix::ffi::OsStrExt::from_bytes(b"/h\xff/s");
            lock.sign(&hello, Path::new(odd)).unwrap();
            assert_eq!(holder(&path).unwrap().socket, None);
        }

        std::fs::remove_file(&path).unwrap();
        assert!(!lock.is_in_place());
        assert!(DaemonLock::try_take(&path).unwrap().is_some(), "another file, another lock");
        drop(lock);
        assert!(holder(&path).is_none(), "a free lock says nothing");
    }
}
