//! Compressed copies of the agents' transcript files, one archive file per source file.
//!
//! An archive file is a sequence of pairs. Each pair is a zstd *skippable frame* that holds a header (a
//! checked line of JSON) and one independent zstd frame that holds a block of whole lines. Any zstd
//! tool skips skippable frames, so
//!
//! ```text
//! zstd -dc <entry>.zst
//! ```
//!
//! prints the transcript as the plain JSONL it was: leaving Throughline does not require Throughline.
//!
//! Files only grow, a pair at a time and in one write. Readers ignore whatever a kill or a power cut
//! leaves after the last whole pair, and the next appender cuts it off; the source position steps back
//! with it, so that the caller reads those lines again. Damage anywhere else is reported, never
//! repaired, and never keeps the other blocks from being read.
//!
//! This module does not watch, read or parse transcripts, and never decides where a block ends.

mod appender;
mod block;
mod compact;
mod header;
mod name;
mod reader;
mod rewrite;
mod source;
mod walk;

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

pub use appender::Appender;
pub use block::{BLOCK_BYTES, Block, Compressor, MAX_BLOCK_BYTES, PreparedBlock, pieces};
pub use compact::Compacted;
pub use name::{EntryName, InvalidEntryName};
pub use reader::{ArchiveReader, Blocks, Lines};
pub use rewrite::EntryReport;
pub use source::{FINGERPRINTED_BYTES, Fingerprint, SourceInfo, SourcePosition};
pub use walk::{BlockInfo, Damage};

use crate::error::{At, Error, Result};
use crate::files;

/// The extension of an entry's file.
const SUFFIX: &str = ".zst";

/// Below zstd's own default. Measured on real transcripts, level 3 saves 3 % of the disk and takes half as long
/// again; level 1 is no faster and needs 5 % more.
pub const DEFAULT_LEVEL: i32 = 2;

/// A directory of archive files.
#[derive(Clone, Debug)]
pub struct Archive {
    root: PathBuf,
}

impl Archive {
    /// Returns the archive below `root`, which is created on the first write.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// Returns a compressor for a worker thread that prepares blocks.
    ///
    /// # Errors
    /// As for [`Compressor::new`].
    pub fn compressor(&self) -> Result<Compressor> {
        Compressor::new(DEFAULT_LEVEL)
    }

    /// Returns every entry, sorted by name. Only regular files count: links are not followed.
    ///
    /// # Errors
    /// Returns an error if a directory cannot be read.
    pub fn entries(&self) -> Result<Vec<EntryName>> {
        let mut entries = Vec::new();
        // A worklist rather than recursion, and links are never entered: no loop, no depth limit.
        let mut pending = vec![(self.root.clone(), String::new())];
        while let Some((directory, prefix)) = pending.pop() {
            let listing = match fs::read_dir(&directory) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                listing => listing.at(&directory)?,
            };
            for item in listing {
                let item = item.at(&directory)?;
                let kind = item.file_type().at(&item.path())?;
                let name = item.file_name();
                // Every name that we write is UTF-8.
                let Some(name) = name.to_str() else { continue };
                if kind.is_dir() {
                    pending.push((item.path(), format!("{prefix}{name}/")));
                } else if kind.is_file()
                    && let Some(stem) = name.strip_suffix(SUFFIX)
                {
                    entries.extend(EntryName::stored(format!("{prefix}{stem}")));
                }
            }
        }
        entries.sort();
        Ok(entries)
    }

    /// Returns the path of an entry's file, whether it exists or not.
    pub fn path(&self, entry: &EntryName) -> PathBuf {
        let mut path = self.root.clone();
        path.extend(entry.as_str().split('/'));
        path.as_mut_os_string().push(SUFFIX);
        path
    }

    /// Opens an entry for reading; returns `None` if it does not exist.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read, or is no archive file that this version
    /// understands.
    pub fn reader(&self, entry: &EntryName) -> Result<Option<ArchiveReader>> {
        let path = self.path(entry);
        match File::open(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            file => ArchiveReader::new(file.at(&path)?, path).map(Some),
        }
    }

    /// Opens an entry for appending, creating it if necessary. `info` describes its source; it is
    /// written with the first block.
    ///
    /// # Errors
    /// [`Error::Locked`] if another writer has the entry open; other errors if the file cannot be read
    /// or written, or is of a newer version.
    pub fn appender(&self, entry: &EntryName, info: &SourceInfo) -> Result<Appender> {
        let path = self.path(entry);
        if let Some(directory) = path.parent() {
            files::create_dir_private(directory)?;
        }
        let file = lock(&path, files::private(OpenOptions::new().create(true)))?;
        match file {
            Some(file) => Appender::new(file, path, info, self.compressor()?),
            None => Err(Error::io(&path, io::ErrorKind::NotFound.into())),
        }
    }

    /// Removes an entry durably; returns true if it existed.
    ///
    /// # Errors
    /// [`Error::Locked`] if another writer has the entry open; other errors if the disk cannot be
    /// written.
    pub fn remove(&self, entry: &EntryName) -> Result<bool> {
        let path = self.path(entry);
        let Some(_held) = lock(&path, &mut OpenOptions::new())? else {
            return Ok(false);
        };
        files::remove_leftovers(&path)?;
        files::remove(&path)
    }

    /// Makes everything that was appended to these entries survive a power cut.
    ///
    /// If the system can sync a whole file system at once, that is one call: syncing twenty thousand
    /// new files one by one takes minutes.
    ///
    /// # Errors
    /// Returns an error if a file or directory cannot be synced.
    pub fn sync<'a>(&self, entries: impl Iterator<Item = &'a EntryName>) -> Result<()> {
        #[cfg(target_os = "linux")]
        {
            if entries.count() > 0 {
                let root = File::open(&self.root).at(&self.root)?;
                rustix::fs::syncfs(&root).map_err(io::Error::from).at(&self.root)?;
            }
            Ok(())
        }
        #[cfg(not(target_os = "linux"))]
        {
            let mut directories = std::collections::BTreeSet::new();
            for entry in entries {
                let path = self.path(entry);
                match File::open(&path).and_then(|file| file.sync_all()) {
                    Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                    synced => synced.at(&path)?,
                }
                directories.extend(path.parent().map(std::path::Path::to_owned));
            }
            directories.iter().try_for_each(|directory| files::sync_dir(directory))
        }
    }

    /// Returns the size of an entry's file in bytes; `None` if it does not exist.
    ///
    /// # Errors
    /// Returns an error if the file cannot be inspected.
    pub fn size(&self, entry: &EntryName) -> Result<Option<u64>> {
        let path = self.path(entry);
        match fs::metadata(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            metadata => Ok(Some(metadata.at(&path)?.len())),
        }
    }
}

/// Opens and locks a file for writing; returns `None` if it does not exist and `options` do not create
/// it.
fn lock(path: &Path, options: &mut OpenOptions) -> Result<Option<File>> {
    loop {
        let file = match options.read(true).write(true).truncate(false).open(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            file => file.at(path)?,
        };
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(Error::Locked { path: path.to_owned() });
            }
            Err(TryLockError::Error(error)) => return Err(Error::io(path, error)),
        }
        // Between opening and locking the file may have been replaced; this one would then be unlinked.
        if files::is_still(path, &file.metadata().at(path)?)? {
            return Ok(Some(file));
        }
    }
}
