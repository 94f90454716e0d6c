//! Private files and directories, and atomic writes.
//!
//! It is the only place that sets modes and syncs directories. It must not know what is in the files.

use std::fs::{self, DirBuilder, File, Metadata, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use thru_core::FileId;

use crate::error::{At, Error, Result};

/// Creates `path` and its missing parents, readable by the user only (0700).
///
/// # Errors
/// Returns an error if a directory cannot be created or synced.
pub fn create_dir_private(path: &Path) -> Result<()> {
    if path.is_dir() {
        return Ok(());
    }
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    if let Some(parent) = parent {
        create_dir_private(parent)?;
    }
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    match builder.create(path) {
        // Another process created it at the same moment.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => Ok(()),
        Err(error) => Err(Error::io(path, error)),
        Ok(()) => parent.map_or(Ok(()), sync_dir),
    }
}

/// Makes files created with `options` readable by the user only (0600).
pub fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    options
}

/// Creates a file that must not exist yet.
pub(crate) fn create_new_private(path: &Path) -> io::Result<File> {
    private(OpenOptions::new().read(true).append(true).create_new(true)).open(path)
}

/// Syncs a directory: without it, a new file can vanish in a power cut.
///
/// # Errors
/// Returns an error if the directory cannot be opened or synced.
pub fn sync_dir(path: &Path) -> Result<()> {
    // Elsewhere a directory cannot be opened as a file, and the file system orders this itself.
    if cfg!(unix) {
        File::open(path).and_then(|directory| directory.sync_all()).at(path)?;
    }
    Ok(())
}

/// True if `path` still refers to the `open` file, which may have been replaced since.
pub(crate) fn is_still(path: &Path, open: &Metadata) -> Result<bool> {
    match fs::metadata(path) {
        Ok(named) => Ok(FileId::of(&named) == FileId::of(open)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(Error::io(path, error)),
    }
}

/// Fills `buffer` from `offset`.
pub(crate) fn read_exact_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<()> {
    #[cfg(unix)]
    return std::os::unix::fs::FileExt::read_exact_at(file, buffer, offset);
    #[cfg(not(unix))]
    {
        let mut file = file;
        io::Seek::seek(&mut file, io::SeekFrom::Start(offset))?;
        io::Read::read_exact(&mut file, buffer)
    }
}

/// Removes a file; returns true if it existed.
///
/// # Errors
/// Returns an error if the file exists and cannot be removed.
pub fn remove(path: &Path) -> Result<bool> {
    match fs::remove_file(path) {
        Ok(()) => path.parent().map_or(Ok(()), sync_dir).map(|()| true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(Error::io(path, error)),
    }
}

/// Replaces the content of a file atomically.
///
/// # Errors
/// Returns an error if the disk cannot be written; the old content is then still there.
pub fn replace(path: &Path, content: &[u8]) -> Result<()> {
    let mut replacement = Replacement::begin(path)?;
    replacement.write(content)?;
    replacement.commit()
}

/// The separator between the name of a file and the number of a replacement for it.
pub(crate) const TEMPORARY: &str = ".tmp-";

/// Removes leftovers of killed processes that were replacing `target`. The caller ensures that no
/// replacement is in progress.
pub(crate) fn remove_leftovers(target: &Path) -> Result<()> {
    let (Some(directory), Some(name)) = (target.parent(), target.file_name()) else {
        return Ok(());
    };
    let prefix = [name.as_encoded_bytes(), TEMPORARY.as_bytes()].concat();
    for item in fs::read_dir(directory).at(directory)? {
        let item = item.at(directory)?;
        if item.file_name().as_encoded_bytes().starts_with(&prefix) {
            remove(&item.path())?;
        }
    }
    Ok(())
}

/// A file being written beside its target, which it replaces on [`Replacement::commit`]. Dropped before
/// that, it leaves no trace.
pub struct Replacement {
    target: PathBuf,
    temporary: PathBuf,
    file: Option<File>,
}

impl Replacement {
    /// Starts a replacement of `target`, in the same directory so that it can be renamed.
    ///
    /// # Errors
    /// Returns an error if the temporary file cannot be created.
    pub fn begin(target: &Path) -> Result<Self> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        loop {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let mut temporary = target.as_os_str().to_owned();
            temporary.push(format!("{TEMPORARY}{}-{number}", std::process::id()));
            let temporary = PathBuf::from(temporary);
            match create_new_private(&temporary) {
                // A leftover of a killed process with our number.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(Error::io(&temporary, error)),
                Ok(file) => {
                    return Ok(Self { target: target.to_owned(), temporary, file: Some(file) });
                }
            }
        }
    }

    /// Appends to the new content.
    ///
    /// # Errors
    /// Returns an error if the disk cannot be written.
    pub fn write(&mut self, bytes: &[u8]) -> Result<()> {
        match &mut self.file {
            Some(file) => io::Write::write_all(file, bytes).at(&self.temporary),
            None => Ok(()),
        }
    }

    /// Replaces the old content with the new, durably.
    ///
    /// # Errors
    /// Returns an error if the disk cannot be written; the old content may then still be there.
    pub fn commit(mut self) -> Result<()> {
        if let Some(file) = &self.file {
            file.sync_all().at(&self.temporary)?;
        }
        fs::rename(&self.temporary, &self.target).at(&self.target)?;
        self.file = None;
        self.target.parent().map_or(Ok(()), sync_dir)
    }
}

impl Drop for Replacement {
    fn drop(&mut self) {
        if self.file.take().is_some() {
            // Nothing can be done about a failure, and the leftover is ignored by its name.
            let _ = fs::remove_file(&self.temporary);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_replacement_is_whole_or_not_there() {
        let dir = tempfile::tempdir().unwrap();
        let target = dir.path().join("file");
        fs::write(&target, "old").unwrap();

        let mut abandoned = Replacement::begin(&target).unwrap();
        abandoned.write(b"half").unwrap();
        drop(abandoned);
        assert_eq!(fs::read_to_string(&target).unwrap(), "old");

        let mut replacement = Replacement::begin(&target).unwrap();
        replacement.write(b"new").unwrap();
        replacement.commit().unwrap();
        assert_eq!(fs::read_to_string(&target).unwrap(), "new");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "no temporary file is left");
    }

    #[cfg(unix)]
    #[test]
    fn what_is_created_is_for_the_user_alone() {
        use std::os::unix::fs::PermissionsExt;
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let dir = tempfile::tempdir().unwrap();
        let deep = dir.path().join("a/b");
        create_dir_private(&deep).unwrap();
        create_new_private(&deep.join("f")).unwrap();
        assert_eq!(mode(&dir.path().join("a")), 0o700);
        assert_eq!(mode(&deep), 0o700);
        assert_eq!(mode(&deep.join("f")), 0o600);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_disk_is_recognised() {
        let path = Path::new("/dev/full");
        let mut file = OpenOptions::new().write(true).open(path).unwrap();
        let error = io::Write::write_all(&mut file, b"x").at(path).unwrap_err();
        assert!(matches!(error, Error::DiskFull { .. }), "{error:?}");
    }
}
