//! A vector segment with arbitrary content: it is used or reported as damaged, queries get finite
//! numbers, and the rest is intact after a removal.
//!
//! The first byte selects how the rest is used:
//!
//! - `S`: a byte for the number of vectors, then keys, signs, scales and values as they are, between a
//!   matching header and checksum;
//! - `K`: the same, with a checksum that does not match;
//! - anything else: the whole file, including this byte.
#![no_main]

use std::fs;
use std::path::PathBuf;
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use thru_fuzz::empty_directory;
use thru_store::vectors::{Among, Query, VectorWriter, Vectors};

static FOLDER: LazyLock<PathBuf> = LazyLock::new(|| empty_directory("vectors"));

const DIMENSIONS: usize = 16;
const MODEL: &str = "m";

fuzz_target!(|data: &[u8]| {
    for file in fs::read_dir(FOLDER.as_path()).unwrap() {
        fs::remove_file(file.unwrap().path()).unwrap();
    }
    let segment = match data {
        [kind @ (b'S' | b'K'), count, rest @ ..] => forge(*count, rest, *kind == b'S'),
        _ => data.to_vec(),
    };
    let path = FOLDER.join("00000005.vectors");
    fs::write(&path, &segment).unwrap();
    check_reading();

    let mut writer = VectorWriter::open(&FOLDER, DIMENSIONS, MODEL).unwrap();
    assert_eq!(path.exists(), writer.problems().is_empty());
    writer.remove(&[7]).unwrap();
    assert!(!writer.contains(7));
    writer.add(vec![(u64::MAX, vec![vec![0.25; DIMENSIONS]; 2]), (7, vec![])]).unwrap();
    assert!(writer.contains(u64::MAX) && !writer.contains(7));
    check_reading();
    for key in 0..7 {
        writer.add(vec![(key << 32 | 9, vec![vec![0.5; DIMENSIONS]])]).unwrap();
    }
    check_reading();
    writer.retain(|_| false).unwrap();
    drop(writer);
    assert!(Vectors::open(&FOLDER, DIMENSIONS, MODEL).unwrap().is_empty());
});

fn check_reading() {
    let vectors = Vectors::open(&FOLDER, DIMENSIONS, MODEL).unwrap();
    vectors.verify();
    let query = Query::new(&[0.25; DIMENSIONS]).unwrap();
    let found = vectors.nearest(&query, Among::All, 50);
    assert!(found.iter().all(|(_, similarity)| similarity.is_finite()));
    assert!(found.is_sorted_by(|left, right| left.1 >= right.1));
    assert!(found.len() <= vectors.len());
    let mut keys: Vec<u64> = found.iter().map(|(key, _)| *key).collect();
    keys.sort_unstable();
    assert!(keys.is_sorted_by(|left, right| left < right), "a key is found twice");
    vectors.nearest(&query, Among::Keys(&keys), 10);
    for key in [0, 7, u64::MAX] {
        vectors.similarity(&query, key);
    }
}

/// Returns a segment with `count` vectors, filled from `rest`, in the format of segments.
fn forge(count: u8, rest: &[u8], is_whole: bool) -> Vec<u8> {
    let vectors = usize::from(count % 40);
    let mut rest = rest.iter().copied().chain(std::iter::repeat(0));
    let mut part = |width: usize| -> Vec<u8> { rest.by_ref().take(vectors * width).collect() };
    let parts = [part(8), part(DIMENSIONS / 8), part(4), part(DIMENSIONS)];

    let mut segment = b"thruvecs".to_vec();
    segment.extend(1_u32.to_le_bytes());
    segment.extend((DIMENSIONS as u32).to_le_bytes());
    segment.extend((vectors as u64).to_le_bytes());
    segment.extend(&blake3::hash(MODEL.as_bytes()).as_bytes()[..16]);
    let checked = [&segment, parts[0].as_slice()].concat();
    segment.extend(&blake3::hash(&checked).as_bytes()[..16]);
    for part in parts {
        segment.resize(segment.len().next_multiple_of(64), 0);
        segment.extend(part);
    }
    segment.resize(segment.len().next_multiple_of(64), 0);
    if is_whole {
        let checksum = blake3::hash(&segment);
        segment.extend(checksum.as_bytes());
    } else {
        segment.extend([0; 32]);
    }
    segment
}
