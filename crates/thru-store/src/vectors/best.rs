//! The best of many keys, without duplicates.

use std::cmp::Ordering;

/// A key and the similarity of its text.
pub(super) type Scored = (u64, f32);

/// The best so far, best first; equally good keys in ascending order.
///
/// A key that occurs again (another chunk of its text) counts with its best, so that at every moment
/// the best of all keys so far are kept.
pub(super) struct Best {
    count: usize,
    /// Sorted. Scanned for a key, but only for one that is good enough: with some hundred results out
    /// of 100,000 that is some thousand times.
    kept: Vec<Scored>,
}

impl Best {
    pub(super) fn new(count: usize) -> Self {
        Self { count, kept: Vec::with_capacity(count.min(1_024)) }
    }

    #[inline]
    pub(super) fn push(&mut self, key: u64, similarity: f32) {
        let found = (key, similarity);
        let is_full = self.kept.len() >= self.count;
        // A scale that was damaged on the disk must not come first.
        if !similarity.is_finite()
            || is_full && self.kept.last().is_none_or(|last| order(&found, last).is_ge())
        {
            return;
        }
        self.insert(found);
    }

    fn insert(&mut self, found: Scored) {
        if let Some(place) = self.kept.iter().position(|(key, _)| *key == found.0) {
            if order(&found, &self.kept[place]).is_ge() {
                return;
            }
            self.kept.remove(place);
        }
        let place = self.kept.partition_point(|other| order(other, &found).is_lt());
        self.kept.insert(place, found);
        self.kept.truncate(self.count);
    }

    pub(super) fn into_vec(self) -> Vec<Scored> {
        self.kept
    }
}

/// Orders by descending similarity, then by key.
pub(super) fn order(left: &Scored, right: &Scored) -> Ordering {
    right.1.total_cmp(&left.1).then(left.0.cmp(&right.0))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_is_kept_is_what_sorting_everything_gives(
            found in prop::collection::vec((0_u64..20, -3_i8..3), 0..80),
            count in 0_usize..25,
        ) {
            let mut best = Best::new(count);
            let mut by_key: BTreeMap<u64, f32> = BTreeMap::new();
            for (key, similarity) in found {
                let similarity = f32::from(similarity);
                best.push(key, similarity);
                by_key.entry(key).and_modify(|old| *old = old.max(similarity)).or_insert(similarity);
            }
            let mut all: Vec<Scored> = by_key.into_iter().collect();
            all.sort_by(order);
            all.truncate(count);
            prop_assert_eq!(best.into_vec(), all);
        }
    }

    #[test]
    fn a_similarity_that_is_not_a_number_never_counts() {
        let mut best = Best::new(3);
        for similarity in [f32::NAN, f32::INFINITY, 0.5] {
            best.push(1, similarity);
        }
        assert_eq!(best.into_vec(), [(1, 0.5)]);
    }
}
