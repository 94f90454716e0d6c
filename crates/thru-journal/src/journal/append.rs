//! Adding records. Hooks do this hundreds of times a day, each in a process of its own, while an agent
//! waits: it does no more system calls than are needed to keep a record from being lost.

use std::fs::{File, TryLockError};
use std::io;
use std::path::Path;
use std::sync::PoisonError;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use super::record::{self, Entry};
use super::{Durability, Journal, segment};
use crate::error::{At, Result};
use crate::files;

impl Journal {
    /// Adds a record.
    ///
    /// # Errors
    /// [`Unrecordable`](crate::error::Error::Unrecordable) if the entry has no key, is too long or nested too deeply; other errors
    /// if the disk cannot be written. Nothing was recorded then, unless only the sync failed; appending
    /// the same entry again is safe in both cases, because each key is delivered once.
    pub fn append(&self, entry: &Entry, durability: Durability) -> Result<()> {
        let record = record::encode(&self.host, entry)?;
        if self.append_to_active(&record, durability)? {
            return Ok(());
        }
        self.append_to_spill(&record, durability)
    }

    /// Appends to the active segment; returns false if others kept it locked for too long.
    fn append_to_active(&self, record: &[u8], durability: Durability) -> Result<bool> {
        let mut number = match self.active.load(Ordering::Relaxed) {
            // One listing of a small directory. A file that names the active segment would be as fast
            // to read, but could be wrong.
            0 => segment::newest(&self.dir, &self.host)?.max(1),
            known => known,
        };
        loop {
            self.active.store(number, Ordering::Relaxed);
            let path = self.dir.join(segment::name(&self.host, number));
            let file = self.open_segment(&path)?;
            if !lock(&file, self.lock_patience) {
                return Ok(false);
            }
            // Closing the file releases the lock.
            let open = file.metadata().at(&path)?;
            if !segment::may_grow(&path, &open)? {
                // Sealed or rewritten since it was looked up.
                number = segment::newest(&self.dir, &self.host)?.max(number + 1);
                continue;
            }
            // Full segments stay full, so that all writers choose the same next one.
            if open.len() >= self.segment_limit {
                number += 1;
                continue;
            }
            segment::append(&*self.disk, (&path, &file), open.len(), record, durability)?;
            // It can be sealed now: a spill is used only as long as the lock is unavailable.
            self.leave_spill();
            return Ok(true);
        }
    }

    fn open_segment(&self, path: &Path) -> Result<File> {
        match self.disk.open(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                files::create_dir_private(&self.dir)?;
                self.disk.open(path).at(path)
            }
            opened => opened.at(path),
        }
    }

    fn append_to_spill(&self, record: &[u8], durability: Durability) -> Result<()> {
        let mut spill = self.spill.lock().unwrap_or_else(PoisonError::into_inner);
        let full = |file: &File| file.metadata().is_ok_and(|open| open.len() >= self.segment_limit);
        let (path, file) = match spill.take().filter(|(_, file)| !full(file)) {
            Some(ours) => ours,
            None => {
                let number = self.active.load(Ordering::Relaxed);
                segment::create_spill(&*self.disk, &self.dir, &self.host, number)?
            }
        };
        let len = file.metadata().at(&path)?.len();
        let appended = segment::append(&*self.disk, (&path, &file), len, record, durability);
        *spill = Some((path, file));
        appended
    }

    /// Closes the spill of this process, if there is one, which makes it ready to be sealed.
    pub(super) fn leave_spill(&self) {
        *self.spill.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

/// Locks a segment; returns false after `patience`. Where files cannot be locked, it always returns
/// false.
pub(super) fn lock(file: &File, patience: Duration) -> bool {
    let deadline = Instant::now() + patience;
    let mut pause = Duration::from_micros(100);
    loop {
        match file.try_lock() {
            Ok(()) => return true,
            Err(TryLockError::Error(_)) => return false,
            Err(TryLockError::WouldBlock) => {}
        }
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return false;
        }
        thread::sleep(pause.min(left));
        pause = (pause * 2).min(Duration::from_millis(4));
    }
}
