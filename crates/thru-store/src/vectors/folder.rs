//! The folder of a model and its segments.

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use tantivy::directory::MmapDirectory;

use super::segment::{Flaw, Segment};
use super::{SegmentProblem, Shape};
use crate::error::{Result, StoreError};

const EXTENSION: &str = ".vectors";

/// The number of times that a folder is listed again because it changed meanwhile. Every change is
/// synced to the disk, which takes longer than listing, so that more than twice is rare.
const TRIES: usize = 100;

/// An open segment, or its path and the reason why it cannot be used.
type Opened = Result<Segment, (PathBuf, Flaw)>;

/// A file with the name of a segment.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Listed {
    pub(super) number: u64,
    length: u64,
    changed: Option<SystemTime>,
}

/// The contents of a folder at one moment.
#[derive(Default)]
pub(super) struct Contents {
    /// All segments, usable or not, by number.
    pub(super) listing: Vec<Listed>,
    /// The usable segments, by number.
    pub(super) segments: Vec<Segment>,
    /// Segments whose vectors are all in others too: a writer was killed after merging and before
    /// removing them.
    pub(super) superseded: Vec<PathBuf>,
    /// Segments that can never be used.
    pub(super) damaged: Vec<SegmentProblem>,
    /// Segments that could not be read this time.
    pub(super) unreadable: Vec<SegmentProblem>,
}

/// A folder and the shape of the vectors in it.
#[derive(Clone, Debug)]
pub(super) struct Folder {
    pub(super) path: PathBuf,
    pub(super) shape: Shape,
}

impl Folder {
    pub(super) fn segment_path(&self, number: u64) -> PathBuf {
        self.path.join(format!("{number:08}{EXTENSION}"))
    }

    /// Lists the segments by number; empty if there is no folder.
    pub(super) fn list(&self) -> Result<Vec<Listed>> {
        let failed = |error| StoreError::io(&self.path, error);
        let mut listing = Vec::new();
        let entries = match fs::read_dir(&self.path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(listing),
            entries => entries.map_err(failed)?,
        };
        for entry in entries {
            let entry = entry.map_err(failed)?;
            let Some(number) = entry.file_name().to_str().and_then(segment_number) else {
                continue;
            };
            match entry.metadata() {
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                metadata => {
                    let metadata = metadata.map_err(failed)?;
                    let changed = metadata.modified().ok();
                    listing.push(Listed { number, length: metadata.len(), changed });
                }
            }
        }
        listing.sort_unstable();
        Ok(listing)
    }

    /// Opens the segments. A folder that changes meanwhile is listed again, since between two of its
    /// files a merge could remove one and add another; segments already opened stay open, so that
    /// another pass takes hardly longer than listing the files.
    pub(super) fn open(&self) -> Result<Contents> {
        let mut listing = self.list()?;
        let mut opened = BTreeMap::new();
        for _ in 0..TRIES {
            opened.retain(|listed, _| listing.contains(listed));
            self.open_listed(&listing, &mut opened)?;
            let now = self.list()?;
            if now == listing {
                return Ok(Contents::new(listing, opened.into_values().collect()));
            }
            listing = now;
        }
        Err(StoreError::Busy { path: self.path.clone() })
    }

    /// Opens a freshly written segment.
    pub(super) fn open_segment(&self, number: u64) -> Result<Segment> {
        let path = self.segment_path(number);
        Segment::open(&self.mapped()?, path.clone(), number, &self.shape).map_err(|flaw| {
            let detail = match flaw {
                Flaw::Gone => "it is missing".to_owned(),
                Flaw::Unreadable(detail) | Flaw::Damaged(detail) => detail,
            };
            StoreError::Corrupt { path, detail }
        })
    }

    /// Removes unfinished files of killed writers. There must be no other writer.
    pub(super) fn remove_leftovers(&self) -> Result<()> {
        let failed = |error| StoreError::io(&self.path, error);
        for entry in fs::read_dir(&self.path).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            if is_leftover(&entry.file_name()) {
                thru_journal::files::remove(&entry.path())?;
            }
        }
        Ok(())
    }

    /// Opens the folder as a Tantivy directory that maps files. Each pass uses a new one: a directory
    /// keeps returning the same mapping for a name while a reader holds it, even if the file was
    /// replaced since.
    fn mapped(&self) -> Result<MmapDirectory> {
        MmapDirectory::open(&self.path)
            .map_err(|error| StoreError::io(&self.path, std::io::Error::other(error.to_string())))
    }

    /// Opens those of the segments that are not open yet.
    fn open_listed(&self, listing: &[Listed], opened: &mut BTreeMap<Listed, Opened>) -> Result<()> {
        if listing.iter().all(|listed| opened.contains_key(listed)) {
            return Ok(());
        }
        let mapped = self.mapped()?;
        for listed in listing {
            opened.entry(listed.clone()).or_insert_with(|| {
                let path = self.segment_path(listed.number);
                Segment::open(&mapped, path.clone(), listed.number, &self.shape)
                    .map_err(|flaw| (path, flaw))
            });
        }
        Ok(())
    }
}

impl Contents {
    /// Classifies the opened segments, which are sorted by number.
    fn new(listing: Vec<Listed>, opened: Vec<Opened>) -> Self {
        let mut contents = Self { listing, ..Self::default() };
        // Newest first: older segments need not hold what it holds. Most are told apart by their first
        // key.
        for opened in opened.into_iter().rev() {
            match opened {
                Ok(segment) => {
                    let mut newer = contents.segments.iter();
                    if newer.any(|newer| segment.keys().all(|key| newer.contains(key))) {
                        contents.superseded.push(segment.path);
                    } else {
                        contents.segments.push(segment);
                    }
                }
                Err((_, Flaw::Gone)) => {}
                Err((path, Flaw::Unreadable(detail))) => {
                    contents.unreadable.push(SegmentProblem { path, detail });
                }
                Err((path, Flaw::Damaged(detail))) => {
                    contents.damaged.push(SegmentProblem { path, detail });
                }
            }
        }
        contents.segments.reverse();
        contents
    }
}

/// Returns the number in the name of a segment.
fn segment_number(name: &str) -> Option<u64> {
    let number = name.strip_suffix(EXTENSION)?;
    // Another spelling of the number would be another file.
    number.parse().ok().filter(|parsed| format!("{parsed:08}") == number)
}

/// True if a file is named like a segment.
pub(super) fn is_segment(name: &std::ffi::OsStr) -> bool {
    name.to_str().and_then(segment_number).is_some()
}

/// True if a file is an unfinished one of a killed writer.
pub(super) fn is_leftover(name: &std::ffi::OsStr) -> bool {
    name.to_str()
        .and_then(|name| name.split_once(EXTENSION))
        .is_some_and(|(number, rest)| is_number(number) && rest.starts_with('.'))
}

fn is_number(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit())
}

/// Removes a segment's file.
pub(super) fn remove(path: &Path) -> Result<()> {
    thru_journal::files::remove(path)?;
    Ok(())
}
