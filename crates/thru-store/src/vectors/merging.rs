//! The choice of segments to merge, and merging them.

use std::path::Path;

use super::Shape;
use super::compose::write_segment;
use super::segment::{Row, Segment};
use crate::error::Result;

/// This many of similar size become one. Each vector is then copied once for each power of eight that
/// its segment grows by.
const MERGED_AT_ONCE: usize = 8;

/// Segments with fewer vectors than this count as similar in size: batches of some hundred texts would
/// otherwise make tiers of their own. A million vectors then make four tiers.
const SMALL: usize = 8_192;

/// Returns which of the segments with these numbers of vectors are to be merged: the smallest first.
pub(super) fn to_merge(vectors: &[usize]) -> Option<Vec<usize>> {
    let mut by_tier: Vec<(u32, usize)> =
        vectors.iter().enumerate().map(|(position, vectors)| (tier(*vectors), position)).collect();
    by_tier.sort_unstable();
    by_tier
        .chunk_by(|left, right| left.0 == right.0)
        .find(|tier| tier.len() >= MERGED_AT_ONCE)
        .map(|tier| tier.iter().map(|(_, position)| *position).collect())
}

fn tier(vectors: usize) -> u32 {
    (vectors / SMALL).checked_ilog(MERGED_AT_ONCE).map_or(0, |power| power + 1)
}

/// Writes everything in the segments to a new one. A key in several of them is taken from the first: it
/// has the same vectors everywhere.
pub(super) fn merge(path: &Path, shape: &Shape, segments: &[&Segment]) -> Result<()> {
    let mut rows: Vec<VectorPosition> =
        Vec::with_capacity(segments.iter().map(|segment| segment.len()).sum());
    for (segment, number) in segments.iter().zip(0_u32..) {
        rows.extend(segment.keys().zip(0..).map(|(key, row)| VectorPosition {
            key,
            segment: number,
            row,
        }));
    }
    rows.sort_unstable();
    let mut first = None;
    rows.retain(|position| match first {
        Some((key, segment)) if key == position.key => segment == position.segment,
        _ => {
            first = Some((position.key, position.segment));
            true
        }
    });
    write_positions(path, shape, segments, &rows)
}

/// Writes the vectors of a segment whose keys are wanted to a new one, unless there are none. Returns
/// their number.
pub(super) fn filter(
    path: &Path,
    shape: &Shape,
    segment: &Segment,
    is_wanted: impl Fn(u64) -> bool,
) -> Result<usize> {
    let positions =
        segment.keys().zip(0..).map(|(key, row)| VectorPosition { key, segment: 0, row });
    let rows: Vec<VectorPosition> = positions.filter(|position| is_wanted(position.key)).collect();
    if !rows.is_empty() {
        write_positions(path, shape, &[segment], &rows)?;
    }
    Ok(rows.len())
}

/// The position of a vector.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct VectorPosition {
    key: u64,
    segment: u32,
    row: u32,
}

fn write_positions(
    path: &Path,
    shape: &Shape,
    segments: &[&Segment],
    positions: &[VectorPosition],
) -> Result<()> {
    let keys: Vec<u64> = positions.iter().map(|position| position.key).collect();
    let row = |at: usize| -> Row<'_> {
        let position = positions[at];
        segments[position.segment as usize].row(position.row as usize)
    };
    write_segment(path, shape, &keys, row)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_million_vectors_in_small_batches_lie_in_few_segments() {
        let (mut segments, mut most, mut copied) = (Vec::new(), 0, 0);
        for _ in 0..1_000_000 / 300 {
            segments.push(300);
            while let Some(positions) = to_merge(&segments) {
                let merged: usize = positions.iter().map(|position| segments[*position]).sum();
                for position in positions.iter().rev() {
                    segments.remove(*position);
                }
                segments.push(merged);
                copied += merged;
            }
            most = most.max(segments.len());
        }
        assert_eq!(segments.iter().sum::<usize>(), 999_900);
        assert!(most <= 22, "{most}");
        assert!(copied < 6 * 1_000_000, "{copied}");
    }

    #[test]
    fn the_smallest_tier_that_is_full_is_merged() {
        let small = vec![1, 8_191, 8_192, 20_000, 0, 5];
        assert_eq!(to_merge(&small), None);
        let full = [vec![70_000; 8], vec![9_000; 9], small].concat();
        assert_eq!(to_merge(&full).unwrap().len(), 11);
        assert_eq!([8_191, 8_192, 65_535, 65_536].map(tier), [0, 1, 1, 2]);
    }
}
