//! Nearest neighbour search.

use std::path::Path;

use super::best::Best;
use super::folder::{Folder, Listed};
use super::scope::{Among, Rows};
use super::segment::Segment;
use super::{Query, SegmentProblem, Shape};
use crate::error::Result;

/// The thresholds of the prefilter, which compares signs only.
pub(super) struct Limits {
    /// The number of vectors from which the prefilter is used.
    pub(super) prefilter_from: usize,
    /// The least number of candidates that are compared exactly.
    pub(super) least_candidates: usize,
    /// The number of candidates for each wanted result that are compared exactly, if that is more.
    pub(super) candidates_per_result: usize,
}

impl Limits {
    /// Comparing 100,000 vectors exactly takes under 2 ms and misses nothing; comparing the signs of a
    /// million takes slightly longer. The 2,000 nearest by signs, or 8 for each result, contained 98 %
    /// of the ten nearest among a million (synthetic vectors, measured once).
    pub(super) const MEASURED: Self =
        Self { prefilter_from: 100_000, least_candidates: 2_000, candidates_per_result: 8 };
}

/// The vectors of a model at the time they were opened.
pub struct Vectors {
    folder: Folder,
    listing: Vec<Listed>,
    segments: Vec<Segment>,
    problems: Vec<SegmentProblem>,
}

impl Vectors {
    /// Opens the vectors in `folder`, which were made by this model; empty if there is no folder.
    /// Unusable segments are left out: see [`Vectors::problems`].
    ///
    /// # Errors
    /// Returns an error if the folder exists and cannot be read, or changes faster than it can be read,
    /// or if vectors cannot have these dimensions.
    pub fn open(folder: &Path, dimensions: usize, model: &str) -> Result<Self> {
        let shape = Shape::new(dimensions, model)?;
        let folder = Folder { path: folder.to_owned(), shape };
        let mut contents = folder.open()?;
        let mut problems = contents.damaged;
        problems.append(&mut contents.unreadable);
        problems.sort_by(|left, right| left.path.cmp(&right.path));
        let (listing, segments) = (contents.listing, contents.segments);
        Ok(Self { folder, listing, segments, problems })
    }

    /// Returns the number of vectors; a text may have several.
    pub fn len(&self) -> usize {
        self.segments.iter().map(Segment::len).sum()
    }

    /// True if there are no vectors.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of segments.
    pub fn segments(&self) -> usize {
        self.segments.len()
    }

    /// True if the folder still holds what was opened. If not, opening it again shows new segments and
    /// releases removed ones.
    ///
    /// # Errors
    /// Returns an error if the folder cannot be read.
    pub fn is_current(&self) -> Result<bool> {
        Ok(self.folder.list()? == self.listing)
    }

    /// Returns the segments that could not be used when they were opened. The writer removes damaged
    /// ones.
    pub fn problems(&self) -> &[SegmentProblem] {
        &self.problems
    }

    /// Reads every byte and returns all problems.
    pub fn verify(&self) -> Vec<SegmentProblem> {
        let damaged = self.segments.iter().filter_map(|segment| segment.verify().err());
        self.problems.iter().cloned().chain(damaged).collect()
    }

    /// True if there are vectors of this text.
    pub fn contains(&self, key: u64) -> bool {
        self.segments.iter().any(|segment| segment.contains(key))
    }

    /// Returns the similarity of a text by its best chunk, about from -1 to 1: the cosine of the angle
    /// for vectors of unit length. `None` if it has no vectors. For many texts [`Vectors::nearest`]
    /// among their keys is faster.
    pub fn similarity(&self, query: &Query, key: u64) -> Option<f32> {
        self.nearest(query, Among::Keys(&[key]), 1).first().map(|(_, similarity)| *similarity)
    }

    /// Returns the most similar chunk of a text, counted from 0; `None` if it has no vectors.
    pub fn nearest_chunk(&self, query: &Query, key: u64) -> Option<usize> {
        if !query.fits(&self.folder.shape) {
            return None;
        }
        let segment = self.segments.iter().find(|segment| segment.contains(key))?;
        let rows = segment.rows_of(key).map(|row| row as u32).collect();
        let mut similarities = Vec::new();
        segment
            .similarities(query, &Rows::Some(rows), |_, similarity| similarities.push(similarity));
        // The first of equally similar ones.
        let chunks = similarities.iter().enumerate().rev();
        chunks.max_by(|(_, a), (_, b)| a.total_cmp(b)).map(|(chunk, _)| chunk)
    }

    /// Returns the `count` most similar texts, each once with its best chunk, best first; equally
    /// similar texts are sorted by key.
    pub fn nearest(&self, query: &Query, among: Among<'_>, count: usize) -> Vec<(u64, f32)> {
        self.nearest_within(query, among, count, &Limits::MEASURED)
    }

    pub(super) fn nearest_within(
        &self,
        query: &Query,
        among: Among<'_>,
        count: usize,
        limits: &Limits,
    ) -> Vec<(u64, f32)> {
        if !query.fits(&self.folder.shape) {
            return Vec::new();
        }
        let mut scope: Vec<Rows> =
            self.segments.iter().map(|segment| among.rows(segment)).collect();
        let candidates =
            limits.least_candidates.max(count.saturating_mul(limits.candidates_per_result));
        let in_question: usize = scope.iter().map(Rows::len).sum();
        if in_question >= limits.prefilter_from && in_question > candidates {
            scope = self.nearest_by_signs(query, &scope, candidates);
        }
        let mut best = Best::new(count);
        for (segment, rows) in self.segments.iter().zip(&scope) {
            segment.similarities(query, rows, |key, similarity| best.push(key, similarity));
        }
        best.into_vec()
    }

    /// Returns the rows, about `wanted` of them, that differ from the query in the fewest signs. Rows
    /// at the same distance are all included or all excluded, so that their segment does not matter.
    fn nearest_by_signs(&self, query: &Query, scope: &[Rows], wanted: usize) -> Vec<Rows> {
        let mut distances = vec![0; scope.iter().map(Rows::len).sum()];
        let mut rest = distances.as_mut_slice();
        for (segment, rows) in self.segments.iter().zip(scope) {
            let (these, others) = rest.split_at_mut(rows.len());
            segment.distances(query, rows, these);
            rest = others;
        }
        let most = distance_of_nearest(&distances, self.folder.shape.dimensions, wanted);
        let mut rest = distances.as_slice();
        let near = |rows: &Rows| {
            let (these, others) = rest.split_at(rows.len());
            rest = others;
            rows.within(these, most)
        };
        scope.iter().map(near).collect()
    }
}

/// Returns the smallest distance within which there are `wanted` rows.
fn distance_of_nearest(distances: &[u16], largest: usize, wanted: usize) -> u16 {
    let mut counts = vec![0_usize; largest + 1];
    for distance in distances {
        counts[usize::from(*distance)] += 1;
    }
    let mut within = 0;
    let enough = counts.iter().position(|count| {
        within += count;
        within >= wanted
    });
    enough.map_or(u16::MAX, |distance| distance as u16)
}
