//! Damage of an index. Nothing of it is repaired: the index is made of the store, so that it is removed and made again.

use std::cell::Cell;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use tantivy::directory::MmapDirectory;
use tantivy::{Index, TantivyError};
use thru_core::Layout;

use super::collection::Collection;
use super::directory::ReadingDirectory;
use super::search::{COMMIT, Part};
use crate::error::{Result, StoreError};
use crate::store::Store;

thread_local! {
    static IS_GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// A damaged index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    directory: PathBuf,
    /// The damaged file and what is wrong with it.
    pub detail: String,
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.detail)
    }
}

impl From<&Damage> for StoreError {
    fn from(damage: &Damage) -> Self {
        Self::Corrupt { path: PathBuf::from("index"), detail: damage.detail.clone() }
    }
}

impl Damage {
    /// Removes the index, unless its writer has made it anew in the meantime. Returns true if it was removed. The caller
    /// holds the intake lock.
    ///
    /// # Errors
    /// Returns an error if the directory cannot be removed.
    pub fn remove(&self) -> Result<bool> {
        if Self::at(self.directory.clone()).is_none() {
            return Ok(false);
        }
        let removed = std::fs::remove_dir_all(&self.directory);
        removed.map_err(|source| StoreError::io(&self.directory, source))?;
        Ok(true)
    }

    /// Looks for damage in the index of one collection: reads every file of its last commit, and compares the checksums.
    pub fn of(layout: &Layout, store: &Store, collection: Collection) -> Result<Option<Self>> {
        Ok(Self::at(super::directory(layout, &store.generation()?, collection)))
    }

    fn all(layout: &Layout) -> Vec<Self> {
        let entries = std::fs::read_dir(layout.index()).into_iter().flatten().flatten();
        entries.filter_map(|entry| Self::at(entry.path())).collect()
    }

    fn at(directory: PathBuf) -> Option<Self> {
        if !is_there(&directory) {
            return None;
        }
        let checked = quietly(|| check(&directory));
        let detail = match checked {
            Some(Ok(())) => return None,
            Some(Err(detail)) => detail,
            None => "its files cannot be read".to_owned(),
        };
        Some(Self { directory, detail })
    }
}

/// Runs work that uses the indexes. Tantivy trusts its files, so that a changed byte may be an error or a panic: where the
/// work ends with one and an index turns out to be damaged, `mend` is called for it, and the work is run again.
///
/// `is_suspect` tells which errors may be due to damage: looking for it reads all files.
///
/// # Errors
/// As `work` and `mend`.
pub fn guarded<T, E>(
    layout: &Layout,
    work: impl Fn() -> Result<T, E>,
    is_suspect: impl FnOnce(&E) -> bool,
    mend: impl Fn(&Damage) -> Result<(), E>,
) -> Result<T, E> {
    let error = match quietly(&work) {
        Some(Err(error)) if is_suspect(&error) => Some(error),
        Some(outcome) => return outcome,
        None => None,
    };
    let damage = Damage::all(layout);
    match error {
        Some(error) if damage.is_empty() => Err(error),
        // Without damage the panic was a mistake in the program, which the second run does not hide.
        _ => {
            damage.iter().try_for_each(mend)?;
            work()
        }
    }
}

/// True if there is an index, whole or damaged. One that is just being created has no files yet.
pub(super) fn is_there(directory: &Path) -> bool {
    let is_of_segment =
        |entry: std::fs::DirEntry| entry.path().extension().is_some_and(|kind| kind == "term");
    let mut entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    directory.join(COMMIT).exists() || entries.any(is_of_segment)
}

/// True while this thread runs work whose panic is caught and dealt with: there is nothing to report.
pub fn is_guarded() -> bool {
    IS_GUARDED.get()
}

/// Runs work; `None` if it panicked.
fn quietly<T>(work: impl FnOnce() -> T) -> Option<T> {
    let before = IS_GUARDED.replace(true);
    let outcome = catch_unwind(AssertUnwindSafe(work));
    IS_GUARDED.set(before);
    outcome.ok()
}

/// The files of a segment. Some are opened only when a question needs them.
const FILES: [&str; 6] = ["fast", "fieldnorm", "idx", "pos", "store", "term"];

/// Returns the first damaged file of an index, with what is wrong.
fn check(directory: &Path) -> Result<(), String> {
    let said = |error: TantivyError| error.to_string();
    let named = |file: &str, detail: &str| format!("{file} {detail}");
    if !directory.join(COMMIT).exists() {
        return Err(named(COMMIT, "is missing"));
    }
    let mapped = MmapDirectory::open(directory).map_err(|error| error.to_string())?;
    let index = Index::open(ReadingDirectory(mapped)).map_err(said)?;
    let segments = index.searchable_segment_metas().map_err(said)?;
    let ids: Vec<String> = segments.iter().map(|segment| segment.id().uuid_string()).collect();
    for (id, kind) in ids.iter().flat_map(|id| FILES.map(|kind| (id, kind))) {
        let name = format!("{id}.{kind}");
        if !directory.join(&name).exists() {
            return Err(named(&name, "is missing"));
        }
    }
    let entries = std::fs::read_dir(directory).map_err(|error| error.to_string())?;
    for entry in entries.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if ids.iter().any(|id| name.starts_with(id)) {
            match index.directory().validate_checksum(Path::new(&name)) {
                Ok(true) => {}
                Ok(false) => return Err(named(&name, "is not as it was written")),
                Err(_) => return Err(named(&name, "is cut off or not as it was written")),
            }
        }
    }
    // A commit that names other segments than there are, or deletions that are missing.
    let part = Part::new(&index).map_err(|error| error.to_string())?;
    for segment in part.searcher.segment_readers() {
        let rows = segment.fast_fields().u64("row").map_err(said)?;
        if rows.values.num_vals() != segment.max_doc() {
            return Err(named(COMMIT, "does not fit its segments"));
        }
    }
    Ok(())
}
