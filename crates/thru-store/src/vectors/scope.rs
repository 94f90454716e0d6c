//! The vectors that a search considers.

use super::segment::Segment;

/// The texts to search.
#[derive(Clone, Copy, Debug)]
pub enum Among<'a> {
    /// All of them.
    All,
    /// Those with these keys, which must be in ascending order.
    Keys(&'a [u64]),
}

/// Some rows of a segment, in order.
pub(super) enum Rows {
    All(usize),
    Some(Vec<u32>),
}

impl Among<'_> {
    /// Returns the rows of a segment that are to be searched.
    pub(super) fn rows(self, segment: &Segment) -> Rows {
        let keys = match self {
            Self::All => return Rows::All(segment.len()),
            Self::Keys(keys) => keys,
        };
        let mut rows = Vec::with_capacity(keys.len().min(segment.len()));
        // The position that lags behind leaps to the other one.
        let (mut place, mut row) = (0, 0);
        while let (Some(&wanted), Some(found)) = (keys.get(place), segment.key(row)) {
            if found < wanted {
                row = leap(row, segment.len(), |row| {
                    segment.key(row).is_some_and(|key| key < wanted)
                });
            } else if found > wanted {
                place = leap(place, keys.len(), |place| keys[place] < found);
            } else {
                rows.push(row as u32);
                row += 1;
            }
        }
        Rows::Some(rows)
    }
}

/// Returns the first position from `start` on that is not before the target, found in steps that double
/// and then halve: few for near targets, not many more for far ones.
fn leap(start: usize, end: usize, is_before: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut step) = (start, 1);
    while low + step < end && is_before(low + step) {
        low += step;
        step *= 2;
    }
    // `low` is before the target, `high` is not.
    let mut high = end.min(low + step);
    while low + 1 < high {
        let middle = low.midpoint(high);
        if is_before(middle) { low = middle } else { high = middle }
    }
    high
}

impl Rows {
    pub(super) fn len(&self) -> usize {
        match self {
            Self::All(count) => *count,
            Self::Some(rows) => rows.len(),
        }
    }

    /// Returns the rows whose distance, given for each in turn, is at most `most`.
    pub(super) fn within(&self, distances: &[u16], most: u16) -> Self {
        let near = |(row, distance): (u32, &u16)| (*distance <= most).then_some(row);
        Self::Some(match self {
            Self::All(_) => (0..).zip(distances).filter_map(near).collect(),
            Self::Some(rows) => rows.iter().copied().zip(distances).filter_map(near).collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_leap_lands_where_a_walk_does(
            mut keys in prop::collection::vec(0_u32..60, 1..50), wanted in 0_u32..70, start in 0_usize..50,
        ) {
            keys.sort_unstable();
            let start = start % keys.len();
            prop_assume!(keys[start] < wanted);
            let walked = keys.partition_point(|key| *key < wanted);
            prop_assert_eq!(leap(start, keys.len(), |place| keys[place] < wanted), walked);
        }
    }
}
