//! The append-only log of everything that cannot be computed again.
//!
//! A directory of segments, each a file of one record a line:
//!
//! ```text
//! <16 hex digits of BLAKE3 over the JSON> {"v":1,"key":…,"host":…,"at":…,"kind":…,"body":{…}}
//! ```
//!
//! Any number of processes append at the same time, without a daemon. They share the *active
//! segment* of their host under a file lock; who cannot get the lock in time writes a segment of its
//! own (a *spill*), which is read like any other. A record is written in one call. One that was cut
//! short by a kill or a power cut is closed off with a newline by the next writer; it then fails its
//! checksum and is reported, never delivered and never dropped in silence.
//!
//! Nothing here deletes or changes what was written, and nothing here knows what a record means.

mod cursor;
mod record;
mod replay;
mod scan;
mod segment;

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

pub use cursor::{Cursor, Position};
pub use record::{Entry, MAX_RECORD_BYTES};
pub use replay::{Item, JournalProblem, ProblemKind, Replay, Stored, Stream, Verification};

use crate::error::{At, Error, Result};
use crate::files;

/// When a segment has this many bytes, the next record starts a new one. Small enough to copy, to
/// compress and to look at; large enough that a year of work is a handful.
const SEGMENT_LIMIT: u64 = 16 * 1024 * 1024;

/// How long an append waits for other writers. A hook must answer fast, and an append takes
/// microseconds: who waits longer waits for somebody who hangs.
const LOCK_PATIENCE: Duration = Duration::from_millis(50);

/// What an acknowledged append survives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Durability {
    /// The end of the process, but not a power cut until [`Journal::sync`] or the next synced append
    /// to the same segment.
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
    /// The number of the active segment when it was last looked up; 0 before that.
    active: AtomicU64,
    /// The segment of our own, once we needed one.
    spill: Mutex<Option<(PathBuf, File)>>,
}

impl Journal {
    /// The journal in `dir`, which is created with the first append. `host` tells the machines apart
    /// whose segments may end up in one directory: up to 40 lower-case letters, digits and hyphens.
    pub fn open(dir: impl Into<PathBuf>, host: &str) -> Result<Self> {
        let allowed = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-');
        if host.is_empty() || host.len() > 40 || !host.bytes().all(allowed) {
            let rule = "has to be up to 40 lower-case letters, digits and hyphens";
            return Err(Error::Unrecordable(format!("the host id `{host}` {rule}")));
        }
        Ok(Self {
            dir: dir.into(),
            host: host.to_owned(),
            segment_limit: SEGMENT_LIMIT,
            lock_patience: LOCK_PATIENCE,
            active: AtomicU64::new(0),
            spill: Mutex::new(None),
        })
    }

    /// The same journal, starting a new segment when the active one has this many bytes.
    #[must_use]
    pub fn with_segment_limit(self, segment_limit: u64) -> Self {
        Self { segment_limit, ..self }
    }

    /// The same journal, waiting at most this long for other writers.
    #[must_use]
    pub fn with_lock_patience(self, lock_patience: Duration) -> Self {
        Self { lock_patience, ..self }
    }

    /// Adds a record. On an error nothing was recorded, or (if only the sync failed) perhaps; the
    /// same entry may then be appended again, because it is delivered once by its key.
    pub fn append(&self, entry: &Entry, durability: Durability) -> Result<()> {
        let record = record::encode(&self.host, entry)?;
        files::create_dir_private(&self.dir)?;
        if self.append_to_active(&record, durability)? {
            return Ok(());
        }
        self.append_to_spill(&record, durability)
    }

    /// Makes every record that lies behind `synced` survive a power cut, whoever appended it.
    pub fn sync(&self, synced: &Cursor) -> Result<()> {
        for name in segment::list(&self.dir)? {
            let path = self.dir.join(&name);
            let file = File::open(&path).at(&path)?;
            if file.metadata().at(&path)?.len() > synced.bytes_read(&name) {
                file.sync_data().at(&path)?;
            }
        }
        Ok(())
    }

    /// Reads everything.
    pub fn replay(&self) -> Result<Replay> {
        Replay::collect(self.stream(Cursor::default())?)
    }

    /// Reads what lies behind `cursor`, record by record.
    pub fn stream(&self, cursor: Cursor) -> Result<Stream> {
        Stream::new(&self.dir, cursor)
    }

    /// Reads everything and says what is wrong with it.
    pub fn verify(&self) -> Result<Verification> {
        Verification::of(self.stream(Cursor::default())?)
    }

    /// Appends to the active segment; says no if others kept it locked for too long.
    fn append_to_active(&self, record: &[u8], durability: Durability) -> Result<bool> {
        let mut number = match self.active.load(Ordering::Relaxed) {
            0 => segment::newest(&self.dir, &self.host)?.unwrap_or(1),
            known => known,
        };
        loop {
            self.active.store(number, Ordering::Relaxed);
            let path = self.dir.join(segment::name(&self.host, number));
            let mut file = segment::open(&path)?;
            if !self.lock(&file) {
                return Ok(false);
            }
            // Full segments stay full, so that everybody comes to the same next one. Closing the
            // file gives the lock back.
            if file.metadata().at(&path)?.len() < self.segment_limit {
                segment::append(&mut file, &path, record, durability)?;
                return Ok(true);
            }
            number += 1;
        }
    }

    fn append_to_spill(&self, record: &[u8], durability: Durability) -> Result<()> {
        let mut spill = self.spill.lock().unwrap_or_else(PoisonError::into_inner);
        let (path, mut file) = match spill.take() {
            Some((path, file)) if file.metadata().at(&path)?.len() < self.segment_limit => {
                (path, file)
            }
            _ => segment::create_spill(&self.dir, &self.host, self.active.load(Ordering::Relaxed))?,
        };
        let appended = segment::append(&mut file, &path, record, durability);
        *spill = Some((path, file));
        appended
    }

    /// Gets the lock or gives up. Where files cannot be locked at all, everybody spills.
    fn lock(&self, file: &File) -> bool {
        let deadline = Instant::now() + self.lock_patience;
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

    /// The directory of the segments.
    pub fn dir(&self) -> &Path {
        &self.dir
    }
}
