//! The lock that lets one process at a time write to the store.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};
use std::time::{Duration, Instant};

use crate::{Intake, IntakeError, Result};

/// Polling interval while waiting for the lock.
const LOOK_AGAIN: Duration = Duration::from_millis(100);
/// Polling interval for callers that cannot wait long.
const AT_ONCE: Duration = Duration::from_millis(2);

/// The right to write to the store; released on drop, or by the system when the process ends.
#[derive(Debug)]
pub struct IntakeLock {
    _file: File,
}

impl Intake {
    /// Takes the intake lock. While another process holds it, `waiting` is called repeatedly with that
    /// process's id, and returns true to keep waiting.
    ///
    /// # Errors
    /// Returns [`IntakeError::Locked`] if `waiting` returns false. Fails if the lock's file cannot be
    /// opened.
    pub fn lock(&self, waiting: &mut dyn FnMut(Option<u32>) -> bool) -> Result<IntakeLock> {
        self.lock_looking(LOOK_AGAIN, waiting)
    }

    fn lock_looking(
        &self,
        every: Duration,
        waiting: &mut dyn FnMut(Option<u32>) -> bool,
    ) -> Result<IntakeLock> {
        let directory = self.layout.run();
        thru_journal::files::create_dir_private(&directory)?;
        let path = directory.join("intake.lock");
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        let mut file = thru_journal::files::private(&mut options)
            .open(&path)
            .map_err(|source| IntakeError::io(&path, source))?;
        loop {
            match file.try_lock() {
                Ok(()) => break,
                Err(TryLockError::WouldBlock) => {
                    let holder = holder(&mut file);
                    if !waiting(holder) {
                        return Err(IntakeError::Locked { holder });
                    }
                    std::thread::sleep(every);
                }
                Err(TryLockError::Error(source)) => return Err(IntakeError::io(&path, source)),
            }
        }
        // The process id is only for the messages of those who wait.
        let _ = file.set_len(0);
        let _ = file.rewind();
        let _ = write!(file, "{}", std::process::id());
        Ok(IntakeLock { _file: file })
    }
}

impl Intake {
    /// Takes the intake lock if it becomes free within `patience`.
    ///
    /// # Errors
    /// Fails if the lock's file cannot be opened.
    pub fn try_lock(&self, patience: Duration) -> Result<Option<IntakeLock>> {
        let deadline = Instant::now() + patience;
        match self.lock_looking(AT_ONCE, &mut |_| Instant::now() < deadline) {
            Ok(lock) => Ok(Some(lock)),
            Err(IntakeError::Locked { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

fn holder(file: &mut File) -> Option<u32> {
    let mut text = String::new();
    file.rewind().ok()?;
    file.read_to_string(&mut text).ok()?;
    text.trim().parse().ok()
}
