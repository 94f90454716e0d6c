//! File operations that do not follow links: everything below the root is checked before it is used.

use std::fs::{self, DirBuilder};
use std::io;
use std::path::Path;

use thru_journal::files;

use crate::{Result, SummariesError};

/// Returns true if a folder exists. Anything else at its path, or a link, is refused.
pub(crate) fn is_folder(path: &Path) -> Result<bool> {
    is(path, fs::FileType::is_dir)
}

/// Returns true if a file exists. Anything else at its path, or a link, is refused.
pub(crate) fn is_file(path: &Path) -> Result<bool> {
    is(path, fs::FileType::is_file)
}

fn is(path: &Path, wanted: impl Fn(&fs::FileType) -> bool) -> Result<bool> {
    match fs::symlink_metadata(path) {
        Ok(found) if wanted(&found.file_type()) => Ok(true),
        Ok(_) => Err(SummariesError::Refused(path.to_owned())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(SummariesError::io(path, error)),
    }
}

/// Creates a folder if it does not exist; if it is ours, for the user alone.
pub(crate) fn make_folder(path: &Path, is_ours: bool) -> Result<()> {
    if is_folder(path)? {
        return Ok(());
    }
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    if is_ours {
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    }
    #[cfg(not(unix))]
    let _ = is_ours;
    match builder.create(path) {
        // Another process created it at the same moment.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => is_folder(path).map(drop),
        Err(error) => Err(SummariesError::io(path, error)),
        Ok(()) => Ok(()),
    }
}

/// Replaces the content of a file, in full or not at all.
pub(crate) fn replace(path: &Path, content: &[u8]) -> Result<()> {
    is_file(path)?;
    Ok(files::replace(path, content)?)
}

/// Removes a file, a link, or a folder with its content; links are not followed.
pub(crate) fn remove(path: &Path) -> Result<()> {
    let removed = match fs::symlink_metadata(path) {
        Ok(found) if found.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(error) => Err(error),
    };
    match removed {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(SummariesError::io(path, error))
        }
        _ => Ok(()),
    }
}

/// Returns the names in a folder, sorted.
pub(crate) fn names(folder: &Path) -> Result<Vec<String>> {
    /// Maximum number of entries read: more cannot be ours.
    const ENTRIES: usize = 5_000;
    let entries = fs::read_dir(folder).map_err(|error| SummariesError::io(folder, error))?;
    let names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
    let mut names: Vec<String> = names.take(ENTRIES).collect();
    names.sort();
    Ok(names)
}

/// Reads a file as text; `None` if it does not exist, or is longer than any of ours.
pub(crate) fn read(path: &Path) -> Result<Option<String>> {
    /// Bytes of the longest summary, many times over.
    const LONGEST: u64 = 4 << 20;
    if !is_file(path)? || fs::metadata(path).is_ok_and(|found| found.len() > LONGEST) {
        return Ok(None);
    }
    match fs::read(path) {
        Ok(bytes) => Ok(Some(String::from_utf8_lossy(&bytes).into_owned())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(SummariesError::io(path, error)),
    }
}

/// Returns true if an id can be the folder name of a session: it leads nowhere else, and is none of our
/// own.
pub(crate) fn is_name(id: &str) -> bool {
    (1..=128).contains(&id.len())
        && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
        && !id.eq_ignore_ascii_case("latest")
}
