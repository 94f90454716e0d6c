//! The append-only log of everything that cannot be computed again.
//!
//! A directory of segments, each a file with one record a line:
//!
//! ```text
//! <16 hex digits of BLAKE3 over the JSON> {"v":1,"key":…,"host":…,"at":…,"kind":…,"body":{…}}
//! ```
//!
//! Any number of processes append at the same time, without a daemon. They share the *active segment*
//! of their host under a file lock; a process that cannot get the lock in time writes a segment of its
//! own (a *spill*), which is read like any other. A record is written in one call. One that was cut
//! short by a kill or a power cut is terminated with a newline by the next writer; it then fails its
//! checksum and is reported, never delivered and never dropped silently.
//!
//! Segments that get no more records are *sealed*: compressed, which changes neither their records nor
//! the positions in them. Only [`Journal::rewrite`] removes what was written, for redaction and
//! forgetting; nothing here knows what a record means.

mod append;
mod compare;
mod cursor;
mod disk;
#[cfg(test)]
mod faults;
mod record;
mod replay;
mod rewrite;
mod scan;
mod seal;
mod segment;
mod stats;

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex};
use std::time::Duration;

pub use cursor::{Cursor, Position};
use disk::Disk;
pub use record::{Entry, MAX_RECORD_BYTES};
pub use replay::{Item, JournalProblem, ProblemKind, Replay, Stored, Stream, Verification};
pub use rewrite::{Change, Damaged, Rewritten};
pub use seal::Sealed;
pub use stats::{Count, Stats};

use crate::error::{At, Error, Result};

/// The size in bytes at which the next record starts a new segment. Small enough to copy, compress and
/// inspect; large enough that a year of work is a handful.
const SEGMENT_LIMIT: u64 = 16 * 1024 * 1024;

/// The time that an append waits for other writers. A hook must answer fast, and an append takes
/// microseconds: a lock held for longer belongs to a process that hangs.
const LOCK_PATIENCE: Duration = Duration::from_millis(50);

/// The failures that an acknowledged append survives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Durability {
    /// The end of the process, but not a power cut until [`Journal::sync`] or the next synced append to
    /// the same segment.
    Buffered,
    /// A power cut as well.
    Synced,
}

/// A directory of segments.
#[derive(Debug)]
pub struct Journal {
    dir: PathBuf,
    host: String,
    segment_limit: u64,
    lock_patience: Duration,
    disk: Arc<dyn Disk>,
    /// The number of the active segment at the last lookup; 0 before that.
    active: AtomicU64,
    /// The spill of this process, if it has one. It is locked while it is open.
    spill: Mutex<Option<(PathBuf, File)>>,
}

impl Journal {
    /// Opens the journal in `dir`, which is created with the first append. `host` distinguishes the
    /// machines whose segments may end up in one directory: up to 40 lower-case letters, digits and
    /// hyphens.
    ///
    /// # Errors
    /// [`Error::Unrecordable`] if `host` has another form.
    pub fn open(dir: impl Into<PathBuf>, host: &str) -> Result<Self> {
        let allowed = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-');
        if host.is_empty() || host.len() > 40 || !host.bytes().all(allowed) {
            let rule = "must be up to 40 lower-case letters, digits and hyphens";
            return Err(Error::Unrecordable(format!("the host id `{host}` {rule}")));
        }
        Ok(Self {
            dir: dir.into(),
            host: host.to_owned(),
            segment_limit: SEGMENT_LIMIT,
            lock_patience: LOCK_PATIENCE,
            disk: Arc::new(disk::System),
            active: AtomicU64::new(0),
            spill: Mutex::new(None),
        })
    }

    /// Sets the size in bytes at which a new segment is started.
    #[must_use]
    pub fn with_segment_limit(self, segment_limit: u64) -> Self {
        Self { segment_limit, ..self }
    }

    /// Sets the maximum time to wait for other writers.
    #[must_use]
    pub fn with_lock_patience(self, lock_patience: Duration) -> Self {
        Self { lock_patience, ..self }
    }

    /// Makes every record after `synced` survive a power cut, including those of other writers.
    ///
    /// # Errors
    /// Returns an error if a segment cannot be opened or synced.
    pub fn sync(&self, synced: &Cursor) -> Result<()> {
        // Sealed segments were synced then.
        for listed in segment::list(&self.dir)?.iter().filter(|listed| !listed.sealed) {
            let path = self.dir.join(&listed.name);
            let file = match File::open(&path) {
                // Sealed since it was listed.
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                opened => opened.at(&path)?,
            };
            if file.metadata().at(&path)?.len() > synced.bytes_read(&listed.name) {
                self.disk.sync(&file).at(&path)?;
            }
        }
        Ok(())
    }

    /// Reads the whole journal.
    ///
    /// # Errors
    /// Returns an error if a segment cannot be read. Damage is not an error: it is part of the result.
    pub fn replay(&self) -> Result<Replay> {
        Replay::collect(self.stream(Cursor::default())?)
    }

    /// Reads the records after `cursor`, one by one.
    ///
    /// # Errors
    /// Returns an error if the directory cannot be read.
    pub fn stream(&self, cursor: Cursor) -> Result<Stream> {
        Stream::new(&self.dir, cursor)
    }

    /// Returns the minimum number of bytes after `cursor`, judging by names and lengths only. 0 means
    /// that everything was read.
    ///
    /// # Errors
    /// Returns an error if the directory or the length of a file cannot be read.
    pub fn behind(&self, cursor: &Cursor) -> Result<u64> {
        let mut bytes = 0;
        for listed in segment::list(&self.dir)? {
            let read = cursor.bytes_read(&listed.name);
            // Sealed segments get no more records.
            if !listed.plain && read > 0 {
                continue;
            }
            let path = self.dir.join(&listed.name);
            let path = if listed.plain { path } else { segment::sealed(&path) };
            match path.metadata() {
                Ok(metadata) => bytes += metadata.len().saturating_sub(read),
                // It was sealed since.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(Error::io(&path, error)),
            }
        }
        Ok(bytes)
    }

    /// Reads the whole journal and reports its problems.
    ///
    /// # Errors
    /// Returns an error if a segment cannot be read. Damage is not an error: it is part of the result.
    pub fn verify(&self) -> Result<Verification> {
        Verification::of(self.stream(Cursor::default())?)
    }

    /// Returns the size of all files of the journal in bytes, from one listing.
    ///
    /// # Errors
    /// Returns an error if the directory or the length of a file cannot be read.
    pub fn size(&self) -> Result<u64> {
        segment::size(&self.dir)
    }

    /// Returns the directory of the segments.
    pub fn dir(&self) -> &Path {
        &self.dir
    }
}
