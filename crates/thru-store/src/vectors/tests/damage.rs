//! Segments that are damaged or foreign.

use proptest::prelude::*;

use super::*;

/// Writes a valid header before changed keys, which does not happen by accident.
fn sealed_again(bytes: &mut [u8]) {
    let shape = Shape::new(64, MODEL).unwrap();
    let header = segment::header(&shape, 10, &bytes[64..64 + 10 * 8]);
    bytes[..64].copy_from_slice(&header);
}

/// Creates a folder with an intact segment (1), one to be damaged (2) and an intact one (3).
fn three_segments() -> (tempfile::TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let mut writer = writer(directory.path(), 64);
    writer.add(texts(0..10, 64)).unwrap();
    writer.add(texts(10..20, 64)).unwrap();
    writer.add(texts(20..30, 64)).unwrap();
    let path = directory.path().join("00000002.vectors");
    (directory, path)
}

/// Returns the problem reported for the second of three segments after a change. It is left out by
/// readers, removed by the writer, and its texts can be added again.
fn said_of(change: impl FnOnce(&mut Vec<u8>)) -> String {
    let (directory, path) = three_segments();
    let mut bytes = fs::read(&path).unwrap();
    change(&mut bytes);
    fs::write(&path, &bytes).unwrap();

    let vectors = reader(directory.path(), 64);
    assert!(vectors.contains(9) && !vectors.contains(10) && vectors.contains(29));
    let [problem] = vectors.problems() else { panic!("{:?}", vectors.problems()) };
    assert_eq!(problem.path, path);
    assert_eq!(vectors.verify(), vectors.problems());

    let mut writer = writer(directory.path(), 64);
    assert_eq!(writer.problems(), vectors.problems());
    assert!(!path.exists() && !writer.contains(10));
    writer.add(texts(10..20, 64)).unwrap();
    let vectors = reader(directory.path(), 64);
    assert_eq!((vectors.len(), vectors.problems()), (30, &[][..]));
    problem.detail.clone()
}

#[test]
fn a_segment_that_cannot_be_used_is_named_and_made_again() {
    insta::assert_snapshot!(said_of(|bytes| bytes.clear()), @"it has 0 bytes, fewer than a header");
    insta::assert_snapshot!(said_of(|bytes| bytes.truncate(63)), @"it has 63 bytes, fewer than a header");
    insta::assert_snapshot!(said_of(|bytes| { bytes.pop(); }), @"10 vectors do not make 1055 bytes");
    insta::assert_snapshot!(said_of(|bytes| bytes.push(0)), @"10 vectors do not make 1057 bytes");
    insta::assert_snapshot!(said_of(|bytes| bytes[0] = b'T'), @"it is not a vector segment");
    insta::assert_snapshot!(said_of(|bytes| bytes[8] = 2), @"its format version is 2; this build supports 1");
    insta::assert_snapshot!(said_of(|bytes| bytes[12] = 128), @"its vectors have 128 dimensions instead of 64");
    insta::assert_snapshot!(said_of(|bytes| bytes[16] = 11), @"11 vectors do not make 1056 bytes");
    insta::assert_snapshot!(said_of(|bytes| bytes[16..24].fill(0xff)), @"18446744073709551615 vectors do not make 1056 bytes");
    insta::assert_snapshot!(said_of(|bytes| bytes[30] ^= 1), @"its vectors are of another model");
    insta::assert_snapshot!(said_of(|bytes| bytes[64] ^= 1), @"its keys do not match their checksum");
    let unsorted = |bytes: &mut Vec<u8>| {
        bytes.swap(64, 72);
        sealed_again(bytes);
    };
    insta::assert_snapshot!(said_of(unsorted), @"its keys are not in order");
}

#[test]
fn a_damaged_value_is_found_by_a_full_check_and_never_copied() {
    let (directory, path) = three_segments();
    let mut bytes = fs::read(&path).unwrap();
    let place = bytes.len() - 100;
    bytes[place] ^= 4;
    fs::write(&path, &bytes).unwrap();
    let vectors = reader(directory.path(), 64);
    assert_eq!(vectors.problems(), []);
    let found = vectors.verify();
    assert_eq!(found.len(), 1);
    insta::assert_snapshot!(found[0].detail, @"its content does not match its checksum");

    // Not by a merge.
    let mut merging = writer(directory.path(), 64);
    for key in 30..35 {
        merging.add(texts([key], 64)).unwrap();
    }
    assert_eq!(merging.problems(), found);
    assert!(!path.exists());
    let vectors = reader(directory.path(), 64);
    assert_eq!((vectors.len(), vectors.verify()), (25, vec![]));
}

#[test]
fn nothing_is_taken_out_of_a_damaged_segment_but_all_of_it() {
    let (directory, path) = three_segments();
    let mut writer = writer(directory.path(), 64);
    let mut bytes = fs::read(&path).unwrap();
    let place = bytes.len() - 40;
    bytes[place] ^= 1;
    fs::write(&path, &bytes).unwrap();
    assert_eq!(writer.remove(&[12]).unwrap(), 10);
    assert_eq!(writer.problems().len(), 1);
    assert!(!path.exists() && !writer.contains(13) && writer.contains(9));
    let vectors = reader(directory.path(), 64);
    assert_eq!((vectors.len(), vectors.verify()), (20, vec![]));
}

#[test]
fn vectors_of_two_models_never_mix() {
    let directory = tempfile::tempdir().unwrap();
    writer(directory.path(), 64).add(texts(0..5, 64)).unwrap();
    let other = Vectors::open(directory.path(), 64, "another model").unwrap();
    assert!(other.is_empty());
    insta::assert_snapshot!(other.problems()[0].detail, @"its vectors are of another model");
    let smaller = Vectors::open(directory.path(), 32, MODEL).unwrap();
    assert!(smaller.is_empty());
    insta::assert_snapshot!(smaller.problems()[0].detail, @"its vectors have 64 dimensions instead of 32");
    assert_eq!(reader(directory.path(), 64).len(), 5);
}

#[test]
fn a_writer_killed_before_the_rename_leaves_nothing_that_counts() {
    let directory = tempfile::tempdir().unwrap();
    writer(directory.path(), 64).add(texts(0..5, 64)).unwrap();
    let segment = fs::read(only_segment(directory.path())).unwrap();
    let leftovers = ["00000002.vectors.tmp-77-0", "00000001.vectors.tmp-77-1"];
    for name in leftovers {
        fs::write(directory.path().join(name), &segment[..segment.len() / 2]).unwrap();
    }
    for name in ["notes.txt", "2.vectors", "x.vectors"] {
        fs::write(directory.path().join(name), "not ours").unwrap();
    }
    let vectors = reader(directory.path(), 64);
    assert_eq!((vectors.len(), vectors.problems()), (5, &[][..]));
    let writer = writer(directory.path(), 64);
    assert_eq!(writer.problems(), []);
    assert_eq!(
        names(directory.path()),
        ["00000001.vectors", "2.vectors", "notes.txt", "x.vectors"],
        "what is not ours stays"
    );
}

#[test]
fn a_writer_killed_between_merging_and_removing_leaves_no_duplicates() {
    let directory = tempfile::tempdir().unwrap();
    let folder = directory.path();
    let mut merging = writer(folder, 64);
    for key in 0..7 {
        merging.add(texts([key, key + 100], 64)).unwrap();
    }
    let before: Vec<(String, Vec<u8>)> = names(folder)
        .into_iter()
        .map(|name| (name.clone(), fs::read(folder.join(name)).unwrap()))
        .collect();
    merging.add(texts([7], 64)).unwrap();
    drop(merging);
    let merged = only_segment(folder);
    for (name, bytes) in &before[2..5] {
        fs::write(folder.join(name), bytes).unwrap();
    }

    let vectors = reader(folder, 64);
    assert_eq!((vectors.len(), vectors.segments(), vectors.problems()), (15, 1, &[][..]));
    let mut writer = writer(folder, 64);
    assert_eq!((only_segment(folder), writer.problems()), (merged, &[][..]));
    writer.remove(&[3]).unwrap();
    assert!(!reader(folder, 64).contains(3));
}

#[test]
fn files_that_overlap_say_each_key_once() {
    let (directory, path) = three_segments();
    let mut writer = writer(directory.path(), 64);
    writer.remove(&[10]).unwrap();
    let rest = fs::read(&path).unwrap();
    fs::remove_file(&path).unwrap();
    drop(writer);
    // As if the folder had been put together by hand: two segments that have keys in common.
    let mut writer = self::writer(directory.path(), 64);
    writer.add(texts([10, 11, 12], 64)).unwrap();
    fs::write(directory.path().join("00000099.vectors"), rest).unwrap();
    drop(writer);
    let vectors = reader(directory.path(), 64);
    let query = Query::new(&text(11, 64).1[0]).unwrap();
    let keys = |vectors: &Vectors| -> Vec<u64> {
        vectors.nearest(&query, Among::All, 100).into_iter().map(|(key, _)| key).collect()
    };
    let found = keys(&vectors);
    assert_eq!((found.len(), vectors.len()), (30, 32));
    // A merge removes the duplicates.
    let mut writer = self::writer(directory.path(), 64);
    for key in 30..34 {
        writer.add(texts([key], 64)).unwrap();
    }
    let vectors = reader(directory.path(), 64);
    assert_eq!((vectors.segments(), vectors.len(), keys(&vectors).len()), (1, 34, 34));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Any changed byte causes no panic, and a full check detects it.
    #[test]
    fn a_changed_byte_never_goes_unnoticed(place in any::<prop::sample::Index>(), change in 1_u8..) {
        let directory = tempfile::tempdir().unwrap();
        writer(directory.path(), 16).add(texts(0..5, 16)).unwrap();
        let path = only_segment(directory.path());
        let mut bytes = fs::read(&path).unwrap();
        let place = place.index(bytes.len());
        bytes[place] ^= change;
        fs::write(&path, &bytes).unwrap();
        let vectors = reader(directory.path(), 16);
        prop_assert_eq!(vectors.verify().len(), 1);
        let query = Query::new(&[0.25; 16]).unwrap();
        for (_, similarity) in vectors.nearest(&query, Among::All, 9) {
            prop_assert!(similarity.is_finite());
        }
        prop_assert!(place >= 64 + 5 * 8 || vectors.is_empty(), "header and keys are looked at");
        drop(vectors);
        let mut writer = writer(directory.path(), 16);
        writer.remove(&[3]).unwrap();
        prop_assert_eq!(reader(directory.path(), 16).verify(), vec![]);
    }
}
