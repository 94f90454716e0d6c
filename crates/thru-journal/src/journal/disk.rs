//! The operations by which the journal changes the disk.
//!
//! They are behind a trait for one reason: a test can make each of them fail, or cut the power between
//! two. Reading is not here, and nothing knows what a segment is.

use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::error::{At, Result};
use crate::files;

/// The operations to append to, replace and remove files. The default methods use the real file system.
pub(super) trait Disk: fmt::Debug + Send + Sync {
    /// Opens a file for appending, creating it if necessary.
    fn open(&self, path: &Path) -> io::Result<File> {
        files::private(OpenOptions::new().read(true).append(true).create(true)).open(path)
    }

    /// Creates a file that must not exist yet.
    fn create_new(&self, path: &Path) -> io::Result<File> {
        files::create_new_private(path)
    }

    /// Appends bytes to a file.
    fn write(&self, mut file: &File, bytes: &[u8]) -> io::Result<()> {
        file.write_all(bytes)
    }

    /// Truncates a file to `len` bytes.
    fn cut(&self, file: &File, len: u64) -> io::Result<()> {
        file.set_len(len)
    }

    /// Makes the content of a file survive a power cut.
    fn sync(&self, file: &File) -> io::Result<()> {
        file.sync_data()
    }

    /// Renames a file, replacing an existing one.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    /// Removes a file.
    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    /// Syncs the entries of a directory.
    fn sync_dir(&self, path: &Path) -> Result<()> {
        files::sync_dir(path)
    }
}

/// The real file system.
#[derive(Debug)]
pub(super) struct System;

impl Disk for System {}

/// Replaces the content of a file in `dir` atomically and durably.
pub(super) fn replace(disk: &dyn Disk, dir: &Path, path: &Path, content: &[u8]) -> Result<()> {
    let mut temporary = path.as_os_str().to_owned();
    temporary.push(format!("{}{}", files::TEMPORARY, std::process::id()));
    let temporary = PathBuf::from(temporary);
    let file = disk.create_new(&temporary).at(&temporary)?;
    let replaced = disk
        .write(&file, content)
        .and_then(|()| disk.sync(&file))
        .and_then(|()| disk.rename(&temporary, path));
    if let Err(error) = replaced {
        // The next sealing removes the leftover.
        let _ = disk.remove(&temporary);
        return Err(error).at(path);
    }
    disk.sync_dir(dir)
}
