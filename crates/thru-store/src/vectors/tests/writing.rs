//! Adding, merging and removing, with concurrent readers.

use std::sync::atomic::{AtomicU64, Ordering};

use super::*;

/// True if a file of the folder contains these bytes.
fn on_disk(folder: &Path, bytes: &[u8]) -> bool {
    names(folder).iter().any(|name| {
        fs::read(folder.join(name)).unwrap().windows(bytes.len()).any(|window| window == bytes)
    })
}

/// Returns the quantised bytes of the vector of a key.
fn kept_bytes(key: u64, dimensions: usize) -> Vec<u8> {
    quantised::Quantised::new(&text(key, dimensions).1[0]).unwrap().values
}

#[test]
fn what_is_removed_is_in_no_file_and_the_rest_stays() {
    let directory = tempfile::tempdir().unwrap();
    let folder = directory.path();
    let mut writer = writer(folder, 64);
    writer.add(texts(0..20, 64)).unwrap();
    writer.add(texts(20..21, 64)).unwrap();
    writer.add(texts(21..40, 64)).unwrap();
    let before = reader(folder, 64);
    assert!([3, 20, 25].iter().all(|key| on_disk(folder, &kept_bytes(*key, 64))));

    assert_eq!(writer.remove(&[25, 3, 20, 999]).unwrap(), 3);
    assert_eq!(names(folder), ["00000001.vectors", "00000003.vectors"]);
    let after = reader(folder, 64);
    for key in 0..40 {
        let is_removed = [3, 20, 25].contains(&key);
        assert_eq!(on_disk(folder, &kept_bytes(key, 64)), !is_removed, "{key}");
        assert_eq!(after.contains(key), !is_removed, "{key}");
        assert_eq!(writer.contains(key), !is_removed, "{key}");
    }
    assert_eq!((after.len(), after.verify()), (37, vec![]));

    // A reader that had opened them keeps working, and is no longer current.
    let query = Query::new(&text(25, 64).1[0]).unwrap();
    assert_eq!(before.nearest(&query, Among::All, 1)[0].0, 25);
    assert_eq!((before.len(), before.verify()), (40, vec![]));
    assert!(!before.is_current().unwrap() && after.is_current().unwrap());

    // And they can come back.
    writer.add(texts([3], 64)).unwrap();
    assert!(reader(folder, 64).contains(3));
    assert_eq!(writer.retain(|key| key < 2).unwrap(), 36);
    assert_eq!(reader(folder, 64).len(), 2);
    assert_eq!(writer.retain(|_| false).unwrap(), 2);
    assert_eq!(names(folder), [""; 0]);
}

#[test]
fn segments_of_similar_size_are_merged_and_their_files_removed() {
    let directory = tempfile::tempdir().unwrap();
    let mut writer = writer(directory.path(), 32);
    for batch in 0..7 {
        writer.add(texts(batch * 3..batch * 3 + 3, 32)).unwrap();
    }
    assert_eq!(names(directory.path()).len(), 7);
    let before = reader(directory.path(), 32);
    writer.add(texts(21..24, 32)).unwrap();
    assert_eq!(names(directory.path()), ["00000009.vectors"]);
    let after = reader(directory.path(), 32);
    assert_eq!((after.len(), after.verify()), (24, vec![]));
    let query = Query::new(&text(100, 32).1[0]).unwrap();
    for key in 0..21 {
        assert_eq!(before.similarity(&query, key), after.similarity(&query, key));
        assert_eq!(before.nearest_chunk(&query, key), after.nearest_chunk(&query, key));
    }
    assert_eq!(before.verify(), []);
}

#[test]
fn a_text_that_is_there_is_passed_over() {
    let directory = tempfile::tempdir().unwrap();
    let mut writer = writer(directory.path(), 32);
    let [first, other] = [1, 2].map(|seed| Numbers(seed).unit_vector(32));
    writer.add(vec![(7, vec![first.clone()]), (7, vec![other.clone()])]).unwrap();
    writer.add(vec![(7, vec![other])]).unwrap();
    let vectors = reader(directory.path(), 32);
    assert_eq!((vectors.len(), vectors.segments()), (1, 1));
    assert!(vectors.similarity(&Query::new(&first).unwrap(), 7).unwrap() > 0.99);
}

#[test]
fn what_cannot_be_kept_is_said_and_adds_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let mut writer = writer(directory.path(), 32);
    let mut said = |chunks| {
        let added = writer.add(vec![text(1, 32), (2, chunks)]);
        added.unwrap_err().to_string()
    };
    insta::assert_snapshot!(said(vec![vec![1.0; 16]]), @"vectors cannot be used: a vector of 16 dimensions instead of 32");
    insta::assert_snapshot!(said(vec![vec![f32::INFINITY; 32]]), @"vectors cannot be used: a component is not a finite number");
    insta::assert_snapshot!(said(vec![vec![1.0; 32]; 9]), @"vectors cannot be used: 9 for one text, more than 8");
    let odd = VectorWriter::open(directory.path(), 30, MODEL).err().unwrap().to_string();
    insta::assert_snapshot!(odd, @"vectors cannot be used: 30 dimensions, not a multiple of 8 up to 8192");
    assert_eq!(names(directory.path()), [""; 0]);
}

#[test]
fn one_writes_at_a_time() {
    let directory = tempfile::tempdir().unwrap();
    let first = writer(directory.path(), 32);
    let second = VectorWriter::open(directory.path(), 32, MODEL);
    assert!(matches!(second.err(), Some(StoreError::Busy { .. })));
    drop(first);
    writer(directory.path(), 32).add(texts(0..1, 32)).unwrap();
}

#[cfg(unix)]
#[test]
fn files_are_for_the_user_alone() {
    use std::os::unix::fs::PermissionsExt;
    let directory = tempfile::tempdir().unwrap();
    let folder = directory.path().join("vectors").join("a model");
    writer(&folder, 32).add(texts(0..3, 32)).unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&folder), 0o700);
    for entry in fs::read_dir(&folder).unwrap() {
        assert_eq!(mode(&entry.unwrap().path()), 0o600);
    }
}

#[test]
fn readers_see_all_that_was_added_while_segments_are_merged_and_rewritten() {
    let directory = tempfile::tempdir().unwrap();
    let folder = directory.path();
    // Keys from the first up exist; those below the second were removed.
    let (added, removed, stop) = (AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let mut rounds = 0;
                while stop.load(Ordering::SeqCst) == 0 || rounds == 0 {
                    let there = added.load(Ordering::SeqCst);
                    let vectors = reader(folder, 32);
                    let gone = removed.load(Ordering::SeqCst);
                    assert_eq!(vectors.problems(), []);
                    for key in gone..there {
                        assert!(vectors.contains(key), "{key} of {gone}..{there}");
                    }
                    let query = Query::new(&text(there, 32).1[0]).unwrap();
                    let mut found = vectors.nearest(&query, Among::All, 1_000);
                    assert_eq!(found.len(), vectors.len());
                    found.sort_by_key(|(key, _)| *key);
                    found.dedup_by_key(|(key, _)| *key);
                    assert_eq!(found.len(), vectors.len(), "a key was there twice");
                    assert_eq!(vectors.verify(), []);
                    rounds += 1;
                }
            });
        }
        let mut writer = writer(folder, 32);
        for key in 0..120 {
            writer.add(texts([key], 32)).unwrap();
            added.store(key + 1, Ordering::SeqCst);
            if key % 5 == 4 {
                removed.store(key / 10, Ordering::SeqCst);
                writer.retain(|other| other >= key / 10).unwrap();
            }
        }
        stop.store(1, Ordering::SeqCst);
    });
    assert_eq!(reader(folder, 32).len(), 120 - 11);
}
