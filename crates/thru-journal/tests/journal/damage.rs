//! Anything cut off or changed on disk is reported, affects nothing else, and is never delivered.

use std::fs;

use proptest::prelude::*;
use thru_journal::journal::{Durability, Journal, ProblemKind};

use super::{entry, keys};

const SEGMENT: &str = "h-00000001.jsonl";

/// Returns a journal of three records, the end of each, and its only segment.
fn three_records() -> (tempfile::TempDir, Journal, Vec<usize>, Vec<u8>) {
    let dir = tempfile::tempdir().unwrap();
    let journal = Journal::open(dir.path(), "h").unwrap();
    for key in ["a", "b", "c"] {
        journal.append(&entry(key), Durability::Buffered).unwrap();
    }
    let bytes = fs::read(dir.path().join(SEGMENT)).unwrap();
    let ends = memchr::memchr_iter(b'\n', &bytes).map(|at| at + 1).collect();
    (dir, journal, ends, bytes)
}

#[test]
fn a_segment_cut_off_anywhere_keeps_its_whole_records_and_grows_on() {
    let (dir, journal, ends, bytes) = three_records();
    for cut in 0..=bytes.len() {
        fs::write(dir.path().join(SEGMENT), &bytes[..cut]).unwrap();
        let whole = ends.iter().filter(|&&end| end <= cut).count();
        let boundary = cut == 0 || ends.contains(&cut);
        let mut expected = ["a", "b", "c"][..whole].to_vec();

        let replay = journal.replay().unwrap();
        assert_eq!(keys(&replay.entries), expected, "cut at {cut}");
        let kinds: Vec<_> = replay.problems.iter().map(|problem| problem.kind).collect();
        assert_eq!(kinds, [ProblemKind::Unfinished][..usize::from(!boundary)], "cut at {cut}");

        journal.append(&entry("more"), Durability::Buffered).unwrap();
        let only_newline_missing = ends.contains(&(cut + 1));
        expected.extend(only_newline_missing.then(|| ["a", "b", "c"][whole]));
        expected.push("more");
        let replay = journal.replay().unwrap();
        assert_eq!(keys(&replay.entries), expected, "cut at {cut}");
        let cut_short = !boundary && !only_newline_missing;
        let kinds: Vec<_> = replay.problems.iter().map(|problem| problem.kind).collect();
        assert_eq!(kinds, [ProblemKind::CutShort][..usize::from(cut_short)], "cut at {cut}");
    }
}

#[test]
fn a_cursor_before_an_unfinished_record_sees_it_finished() {
    let (dir, journal, ends, bytes) = three_records();
    fs::write(dir.path().join(SEGMENT), &bytes[..ends[1] + 9]).unwrap();
    let cursor = journal.replay().unwrap().cursor;
    assert_eq!(cursor.bytes_read(SEGMENT), ends[1] as u64);
    fs::write(dir.path().join(SEGMENT), &bytes).unwrap();
    assert_eq!(journal.stream(cursor).unwrap().count(), 1);
}

#[test]
fn a_changed_byte_never_gives_a_wrong_record() {
    let (dir, journal, _, bytes) = three_records();
    let right = journal.replay().unwrap().entries;
    for at in 0..bytes.len() {
        let mut changed = bytes.clone();
        changed[at] ^= 1 << (at % 8);
        fs::write(dir.path().join(SEGMENT), &changed).unwrap();
        let replay = journal.replay().unwrap();
        assert!(replay.entries.len() < 3 && !replay.problems.is_empty(), "byte {at}");
        for entry in &replay.entries {
            let same = right.iter().find(|right| right.key == entry.key).unwrap();
            assert_eq!((&entry.body, entry.at, &entry.kind), (&same.body, same.at, &same.kind));
        }
    }
}

#[test]
fn a_line_longer_than_any_record_is_passed_over() {
    let (dir, journal, _, mut bytes) = three_records();
    bytes.resize(bytes.len() + (17 << 20), b'x');
    bytes.push(b'\n');
    fs::write(dir.path().join(SEGMENT), &bytes).unwrap();
    let journal_after = Journal::open(dir.path(), "h").unwrap().with_segment_limit(u64::MAX);
    journal_after.append(&entry("more"), Durability::Buffered).unwrap();
    let replay = journal.replay().unwrap();
    assert_eq!(keys(&replay.entries), ["a", "b", "c", "more"]);
    assert_eq!(replay.problems.len(), 1);
    assert_eq!(replay.problems[0].position.line, 4);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_bytes_do_harm(bytes in prop::collection::vec(any::<u8>(), 0..2000)) {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join(SEGMENT), &bytes).unwrap();
        let journal = Journal::open(dir.path(), "h").unwrap();
        let replay = journal.replay().unwrap();
        prop_assert_eq!(replay.entries.len(), 0);
        prop_assert_eq!(replay.problems.is_empty(), bytes.is_empty());
        journal.append(&entry("more"), Durability::Buffered).unwrap();
        let replay = journal.replay().unwrap();
        prop_assert_eq!(keys(&replay.entries), ["more"]);
    }
}
