//! One process at a time brings things in.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};
use std::time::{Duration, Instant};

use crate::{Intake, IntakeError, Result};

/// How often somebody who waits for the lock looks again.
const LOOK_AGAIN: Duration = Duration::from_millis(100);
/// … and somebody who cannot wait long.
const AT_ONCE: Duration = Duration::from_millis(2);

/// The right to write to the store; given back when dropped, or by the system when the process ends.
#[derive(Debug)]
pub struct IntakeLock {
    _file: File,
}

impl Intake {
    /// Takes the intake lock. Where another process holds it, `waiting` is asked again and again, with
    /// that process's number, whether to go on waiting.
    ///
    /// # Errors
    /// [`IntakeError::Locked`] when `waiting` says no.
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
        // Who holds it is told to those who wait; nothing depends on it.
        let _ = file.set_len(0);
        let _ = file.rewind();
        let _ = write!(file, "{}", std::process::id());
        Ok(IntakeLock { _file: file })
    }
}

impl Intake {
    /// Takes the intake lock if it is free or becomes free in this time.
    ///
    /// # Errors
    /// Where the lock's file cannot be opened.
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
