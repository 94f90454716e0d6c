//! Search results.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::super::search::Limits;
use super::*;

/// Limits under which every vector is compared exactly.
const EXACT: Limits =
    Limits { prefilter_from: usize::MAX, least_candidates: 0, candidates_per_result: 0 };

fn nearest_by_floats(query: &[f32], vectors: &[(u64, Vec<f32>)], count: usize) -> Vec<u64> {
    let mut all: Vec<(u64, f32)> =
        vectors.iter().map(|(key, vector)| (*key, dot(query, vector))).collect();
    all.sort_by(super::super::best::order);
    all.truncate(count);
    all.into_iter().map(|(key, _)| key).collect()
}

#[test]
fn nearly_all_that_floats_find_is_found_in_eight_bits_and_by_signs() {
    const DIMENSIONS: usize = 384;
    let mut numbers = Numbers(7);
    let centres: Vec<Vec<f32>> = (0..200).map(|_| numbers.unit_vector(DIMENSIONS)).collect();
    let vectors: Vec<(u64, Vec<f32>)> = (0..20_000)
        .map(|at| (numbers.next(), numbers.near(&centres[at % centres.len()], 1.0)))
        .collect();
    let directory = tempfile::tempdir().unwrap();
    let mut writer = writer(directory.path(), DIMENSIONS);
    for batch in vectors.chunks(7_000) {
        writer
            .add(batch.iter().map(|(key, vector)| (*key, vec![vector.clone()])).collect())
            .unwrap();
    }
    let kept = reader(directory.path(), DIMENSIONS);
    assert_eq!((kept.len(), kept.segments()), (20_000, 3));

    // As many of 20,000 as the measured limits let through of 100,000.
    let by_signs = Limits { prefilter_from: 0, least_candidates: 400, candidates_per_result: 8 };
    let (mut in_eight_bits, mut by_sign) = (0, 0);
    let queries = 12;
    for at in 0..queries {
        let vector = numbers.near(&centres[at * 3], 1.0);
        let query = Query::new(&vector).unwrap();
        let expected = nearest_by_floats(&vector, &vectors, 10);
        let found = |limits| {
            let found = kept.nearest_within(&query, Among::All, 10, limits);
            assert_eq!(found.len(), 10);
            found.iter().filter(|(key, _)| expected.contains(key)).count()
        };
        in_eight_bits += found(&EXACT);
        by_sign += found(&by_signs);
    }
    let share = |found: usize| found as f64 / (10 * queries) as f64;
    assert!(share(in_eight_bits) >= 0.98, "{}", share(in_eight_bits));
    assert!(share(by_sign) >= 0.95, "{}", share(by_sign));
    assert!(by_sign <= in_eight_bits);
}

#[test]
fn a_text_counts_once_by_its_best_chunk() {
    let directory = tempfile::tempdir().unwrap();
    let mut numbers = Numbers(3);
    let near = numbers.unit_vector(64);
    let far = near.iter().map(|component| -component).collect::<Vec<f32>>();
    let mut writer = writer(directory.path(), 64);
    writer
        .add(vec![(5, vec![far.clone(), near.clone(), far.clone()]), (4, vec![far.clone()])])
        .unwrap();
    writer.add(vec![(9, vec![near.clone()]), (2, vec![near.clone()]), (1, vec![])]).unwrap();

    let vectors = reader(directory.path(), 64);
    let query = Query::new(&near).unwrap();
    let found = vectors.nearest(&query, Among::All, 10);
    assert_eq!(found.iter().map(|(key, _)| *key).collect::<Vec<_>>(), [2, 5, 9, 4]);
    assert!((found[0].1 - 1.0).abs() < 0.01 && (found[3].1 + 1.0).abs() < 0.01, "{found:?}");
    assert_eq!(vectors.similarity(&query, 5), Some(found[1].1));
    let chunks = [5, 4, 1].map(|key| vectors.nearest_chunk(&query, key));
    assert_eq!(chunks, [Some(1), Some(0), None]);
    assert_eq!(vectors.similarity(&query, 1), None, "a text without chunks is not there");
    assert!(vectors.contains(4) && !vectors.contains(1) && !vectors.contains(3));
    assert_eq!(
        vectors.nearest(&query, Among::Keys(&[1, 4, 9, u64::MAX]), 10),
        [found[2], found[3]]
    );
    assert_eq!(vectors.nearest(&query, Among::All, 0), []);
    assert_eq!(vectors.nearest(&query, Among::Keys(&[]), 3), []);
}

#[test]
fn a_query_of_other_dimensions_finds_nothing() {
    let directory = tempfile::tempdir().unwrap();
    writer(directory.path(), 64).add(texts(0..3, 64)).unwrap();
    let query = Query::new(&[1.0; 32]).unwrap();
    assert_eq!(reader(directory.path(), 64).nearest(&query, Among::All, 3), []);
    assert!(Query::new(&[f32::NAN; 64]).is_err());
}

#[test]
fn where_there_is_no_folder_there_are_no_vectors() {
    let directory = tempfile::tempdir().unwrap();
    let vectors = reader(&directory.path().join("none"), 64);
    assert!(vectors.is_empty() && vectors.problems().is_empty() && vectors.is_current().unwrap());
    assert_eq!(vectors.nearest(&Query::new(&[1.0; 64]).unwrap(), Among::All, 3), []);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// However texts are distributed over batches, and whichever are searched: exact search finds the
    /// same, and so does the prefilter if it keeps enough candidates.
    #[test]
    fn what_was_added_is_found_among_what_is_asked_for(
        batches in prop::collection::vec(prop::collection::btree_map(0_u64..60, 0_usize..4, 0..12), 0..12),
        among in prop::collection::btree_set(0_u64..60, 0..40),
        count in 1_usize..30,
    ) {
        let directory = tempfile::tempdir().unwrap();
        let mut writer = writer(directory.path(), 24);
        let mut added: BTreeMap<u64, Vec<Vec<f32>>> = BTreeMap::new();
        for (number, batch) in batches.iter().enumerate() {
            let chunks = |key: u64, chunks: usize| -> Vec<Vec<f32>> {
                (0..chunks).map(|chunk| Numbers(key * 100 + chunk as u64).unit_vector(24)).collect()
            };
            let texts: Vec<_> = batch.iter().map(|(key, n)| (*key, chunks(*key, *n))).collect();
            for (key, chunks) in texts.iter().filter(|(_, chunks)| !chunks.is_empty()) {
                added.entry(*key).or_insert_with(|| chunks.clone());
            }
            writer.add(texts).unwrap();
            prop_assert!(number > 0 || reader(directory.path(), 24).segments() <= 1);
        }
        let vectors = reader(directory.path(), 24);
        prop_assert_eq!(vectors.len(), added.values().map(Vec::len).sum::<usize>());
        prop_assert!(vectors.segments() < 8);
        prop_assert_eq!(vectors.verify(), vec![]);

        let vector = Numbers(12_345).unit_vector(24);
        let query = Query::new(&vector).unwrap();
        let kept: Vec<u64> = among.iter().copied().collect();
        let mut similarities = BTreeMap::new();
        for (key, chunks) in &added {
            let best = chunks.iter().map(|chunk| dot(chunk, &vector)).fold(-1.0, f32::max);
            let found = vectors.similarity(&query, *key).unwrap();
            prop_assert!((found - best).abs() < 0.02, "{} instead of {}", found, best);
            similarities.insert(*key, found);
        }
        for (scope, keys) in [(Among::All, None), (Among::Keys(&kept), Some(&among))] {
            let mut expected: Vec<(u64, f32)> = similarities
                .iter()
                .filter(|(key, _)| keys.is_none_or(|keys| keys.contains(key)))
                .map(|(key, similarity)| (*key, *similarity))
                .collect();
            expected.sort_by(super::super::best::order);
            expected.truncate(count);
            prop_assert_eq!(&vectors.nearest(&query, scope, count), &expected);
            // Enough candidates for all of them, so that signs cannot miss any.
            let limits = Limits { prefilter_from: 0, least_candidates: 239, candidates_per_result: 8 };
            prop_assert_eq!(&vectors.nearest_within(&query, scope, count, &limits), &expected);
        }
    }
}
