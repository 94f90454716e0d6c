//! Adding and removing vectors.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions, TryLockError};
use std::path::Path;

use super::compose::write_segment;
use super::folder::{Folder, remove};
use super::merging::{filter, merge, to_merge};
use super::quantised::Quantised;
use super::segment::{Row, Segment};
use super::{MOST_CHUNKS, SegmentProblem, Shape};
use crate::error::{Result, StoreError};
use crate::files;

/// The lock file in the folder, held by the writer. It remains when the lock is released.
const LOCK: &str = "writer.lock";

/// The writer of the vectors of a model. There is one at a time.
///
/// Every change is completely on the disk when a method returns; a kill in between leaves the folder in
/// the state before or after it. Leftovers of killed writers are removed when the next one opens.
pub struct VectorWriter {
    folder: Folder,
    /// Sorted by number.
    segments: Vec<Segment>,
    problems: Vec<SegmentProblem>,
    next_number: u64,
    _lock: File,
}

impl VectorWriter {
    /// Opens the folder of this model, creating it if it is missing, and removes unusable segments: see
    /// [`VectorWriter::problems`].
    ///
    /// # Errors
    /// [`StoreError::Busy`] if another process is writing; other errors if the folder, or a segment in
    /// it, cannot be read or written, or if vectors cannot have these dimensions.
    pub fn open(folder: &Path, dimensions: usize, model: &str) -> Result<Self> {
        let shape = Shape::new(dimensions, model)?;
        files::create_private_directory(folder)?;
        let lock = lock(folder)?;
        let folder = Folder { path: folder.to_owned(), shape };
        folder.remove_leftovers()?;
        let contents = folder.open()?;
        if let Some(SegmentProblem { path, detail }) = contents.unreadable.first() {
            return Err(StoreError::io(path, std::io::Error::other(detail.clone())));
        }
        for problem in &contents.damaged {
            remove(&problem.path)?;
        }
        for path in &contents.superseded {
            remove(path)?;
        }
        let next_number = contents.listing.last().map_or(1, |last| last.number.saturating_add(1));
        let (segments, problems) = (contents.segments, contents.damaged);
        Ok(Self { folder, segments, problems, next_number, _lock: lock })
    }

    /// Returns the damaged segments found since opening. They were removed: their texts have to be
    /// embedded again.
    pub fn problems(&self) -> &[SegmentProblem] {
        &self.problems
    }

    /// True if there are vectors of this text.
    pub fn contains(&self, key: u64) -> bool {
        self.segments.iter().any(|segment| segment.contains(key))
    }

    /// Adds the vectors of texts: for each its key and a vector of unit length for each of its chunks.
    /// Texts that already have vectors are skipped, since a key stands for one text and its vectors.
    /// Creates one segment, so that batches of some hundred texts are best.
    ///
    /// # Errors
    /// Returns an error, and adds nothing, if a vector has other dimensions or a component that is not
    /// a finite number, or a text has more than [`MOST_CHUNKS`]; also if the disk cannot be written.
    pub fn add(&mut self, texts: Vec<(u64, Vec<Vec<f32>>)>) -> Result<()> {
        let mut added: BTreeMap<u64, Vec<Quantised>> = BTreeMap::new();
        for (key, chunks) in texts {
            if chunks.len() > MOST_CHUNKS {
                let detail = format!("{} for one text, more than {MOST_CHUNKS}", chunks.len());
                return Err(StoreError::Vectors { detail });
            }
            let quantise = |chunk: &Vec<f32>| Quantised::of_shape(chunk, &self.folder.shape);
            let chunks = chunks.iter().map(quantise).collect::<Result<_>>()?;
            if !self.contains(key) {
                added.entry(key).or_insert(chunks);
            }
        }
        let rows: Vec<(u64, Quantised)> = added
            .into_iter()
            .flat_map(|(key, chunks)| chunks.into_iter().map(move |chunk| (key, chunk)))
            .collect();
        if rows.is_empty() {
            return Ok(());
        }
        let keys: Vec<u64> = rows.iter().map(|(key, _)| *key).collect();
        let number = self.next_number;
        let path = self.folder.segment_path(number);
        write_segment(&path, &self.folder.shape, &keys, |place| Row::from(&rows[place].1))?;
        self.take_in(number)?;
        self.merge_tiers()
    }

    /// Removes the vectors of these texts; returns the number of vectors removed. None of their bytes
    /// is in any file afterwards; open readers keep seeing them.
    ///
    /// # Errors
    /// Returns an error if the disk cannot be written. Calling it again continues.
    pub fn remove(&mut self, keys: &[u64]) -> Result<usize> {
        let mut keys = keys.to_vec();
        keys.sort_unstable();
        self.retain(|key| keys.binary_search(&key).is_err())
    }

    /// Removes the vectors of all texts that are not wanted, as [`VectorWriter::remove`] does.
    ///
    /// # Errors
    /// As for [`VectorWriter::remove`].
    pub fn retain(&mut self, is_wanted: impl Fn(u64) -> bool) -> Result<usize> {
        let mut removed = 0;
        let mut place = 0;
        while let Some(segment) = self.segments.get(place) {
            if segment.keys().all(&is_wanted) {
                place += 1;
                continue;
            }
            // Damaged vectors must not get a new checksum: the segment is removed as a whole.
            if let Err(problem) = segment.verify() {
                removed += segment.len();
                self.discard(place, problem)?;
                continue;
            }
            // Under the same name, so that there is no moment at which both exist.
            let kept = filter(&segment.path, &self.folder.shape, segment, &is_wanted)?;
            removed += segment.len() - kept;
            if kept == 0 {
                remove(&segment.path)?;
                self.segments.remove(place);
            } else {
                self.segments[place] = self.folder.open_segment(segment.number)?;
                place += 1;
            }
        }
        Ok(removed)
    }

    /// Reads every byte and removes damaged segments: see [`VectorWriter::problems`].
    ///
    /// # Errors
    /// Returns an error if the disk cannot be written.
    pub fn remove_damaged(&mut self) -> Result<()> {
        let mut place = 0;
        while let Some(segment) = self.segments.get(place) {
            match segment.verify() {
                Err(problem) => self.discard(place, problem)?,
                Ok(()) => place += 1,
            }
        }
        Ok(())
    }

    /// Merges segments of similar size until no tier is full.
    fn merge_tiers(&mut self) -> Result<()> {
        loop {
            let lengths: Vec<usize> = self.segments.iter().map(Segment::len).collect();
            let Some(places) = to_merge(&lengths) else { return Ok(()) };
            let damaged = places.iter().find_map(|place| {
                self.segments[*place].verify().err().map(|problem| (*place, problem))
            });
            if let Some((place, problem)) = damaged {
                self.discard(place, problem)?;
                continue;
            }
            let number = self.next_number;
            let merged: Vec<&Segment> = places.iter().map(|place| &self.segments[*place]).collect();
            merge(&self.folder.segment_path(number), &self.folder.shape, &merged)?;
            self.take_in(number)?;
            // From here on they hold nothing that the new one does not hold.
            for place in places.into_iter().rev() {
                remove(&self.segments[place].path)?;
                self.segments.remove(place);
            }
        }
    }

    /// Opens the newly written segment of this number.
    fn take_in(&mut self, number: u64) -> Result<()> {
        self.segments.push(self.folder.open_segment(number)?);
        self.next_number = number.saturating_add(1);
        Ok(())
    }

    /// Removes a damaged segment.
    fn discard(&mut self, place: usize, problem: SegmentProblem) -> Result<()> {
        remove(&problem.path)?;
        self.segments.remove(place);
        self.problems.push(problem);
        Ok(())
    }
}

pub(super) fn lock(folder: &Path) -> Result<File> {
    let path = folder.join(LOCK);
    let failed = |error| StoreError::io(&path, error);
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false);
    let file = thru_journal::files::private(&mut options).open(&path).map_err(failed)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(StoreError::Busy { path: folder.to_owned() }),
        Err(TryLockError::Error(error)) => Err(failed(error)),
    }
}
