//! The folders of all models, one of which is in use.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use super::Shape;
use super::folder::{is_leftover, is_segment};
use super::segment::{HEADER_LENGTH, dimensions_in};
use super::writer::lock;
use crate::error::{Result, StoreError};

/// The vectors of one model on the disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelFolder {
    /// The model's name, which is also the name of the folder.
    pub model: String,
    /// The folder.
    pub path: PathBuf,
    /// The size of the files in it.
    pub bytes: u64,
    /// The number of dimensions of its vectors, if it holds any.
    pub dimensions: Option<usize>,
}

impl ModelFolder {
    /// Returns the folder of this model below `folder`.
    ///
    /// # Errors
    /// Returns an error if it exists and cannot be read.
    pub fn at(folder: &Path, model: &str) -> Result<Self> {
        let path = folder.join(model);
        let failed = |error| StoreError::io(&path, error);
        let (mut bytes, mut dimensions) = (0, BTreeMap::new());
        let entries = match fs::read_dir(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            entries => Some(entries.map_err(failed)?),
        };
        for entry in entries.into_iter().flatten() {
            let entry = entry.map_err(failed)?;
            // Segments that are merged meanwhile are counted in another file.
            bytes += entry.metadata().map_or(0, |metadata| metadata.len());
            if is_segment(&entry.file_name())
                && let Some(found) = dimensions_of(&entry.path())
            {
                *dimensions.entry(found).or_insert(0) += 1;
            }
        }
        // A single damaged file does not decide for the others.
        let dimensions = dimensions.into_iter().max_by_key(|(_, files)| *files);
        let dimensions = dimensions.map(|(dimensions, _)| dimensions);
        Ok(Self { model: model.to_owned(), path, bytes, dimensions })
    }

    /// Returns the folders of all models below `folder`, by name.
    ///
    /// # Errors
    /// Returns an error if a folder exists and cannot be read.
    pub fn all(folder: &Path) -> Result<Vec<Self>> {
        let failed = |error| StoreError::io(folder, error);
        let entries = match fs::read_dir(folder) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries.map_err(failed)?,
        };
        let mut found = Vec::new();
        for entry in entries {
            let entry = entry.map_err(failed)?;
            if entry.file_type().is_ok_and(|kind| kind.is_dir())
                && let Some(model) = entry.file_name().to_str()
            {
                found.push(Self::at(folder, model)?);
            }
        }
        found.sort_by(|left, right| left.model.cmp(&right.model));
        Ok(found)
    }

    /// Removes its segments, usable or not; returns their number.
    ///
    /// # Errors
    /// [`StoreError::Busy`] if another process is writing to it; other errors if the disk cannot be
    /// written.
    pub fn remove_segments(&self) -> Result<u64> {
        let failed = |error| StoreError::io(&self.path, error);
        let _lock = lock(&self.path)?;
        let mut removed = 0;
        for entry in fs::read_dir(&self.path).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let name = entry.file_name();
            if is_segment(&name) || is_leftover(&name) {
                thru_journal::files::remove(&entry.path())?;
                removed += 1;
            }
        }
        Ok(removed)
    }

    /// Removes the folder and everything in it.
    ///
    /// # Errors
    /// [`StoreError::Busy`] if another process is writing to it; other errors if the disk cannot be
    /// written.
    pub fn remove(self) -> Result<()> {
        let lock = lock(&self.path)?;
        let removed = fs::remove_dir_all(&self.path);
        drop(lock);
        removed.map_err(|error| StoreError::io(&self.path, error))
    }
}

/// Returns the number of dimensions in the header of a segment. The rest is checked when it is opened.
fn dimensions_of(path: &Path) -> Option<usize> {
    let mut header = [0; HEADER_LENGTH];
    File::open(path).ok()?.read_exact(&mut header).ok()?;
    dimensions_in(&header).filter(|dimensions| Shape::new(*dimensions, "").is_ok())
}
