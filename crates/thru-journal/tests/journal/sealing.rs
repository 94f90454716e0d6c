//! Sealed segments are equivalent to the plain ones.

use std::fs::{self, File};
use std::path::Path;
use std::process::Command;

use proptest::prelude::*;
use thru_journal::journal::{Cursor, Durability, Item, Journal, ProblemKind, Sealed};

use super::{entry, keys, segments};

/// A journal of many small segments.
fn open(dir: &Path) -> Journal {
    Journal::open(dir, "h").unwrap().with_segment_limit(300)
}

fn filled(dir: &Path, records: usize) -> Journal {
    let journal = open(dir);
    for n in 0..records {
        journal.append(&entry(&format!("key-{n}")), Durability::Buffered).unwrap();
    }
    journal
}

#[test]
fn all_but_the_newest_segment_is_sealed_and_nothing_else_changes() {
    let dir = tempfile::tempdir().unwrap();
    let journal = filled(dir.path(), 8);
    let before = journal.replay().unwrap();
    let first = fs::read(dir.path().join("h-00000001.jsonl")).unwrap();

    let sealed = journal.seal().unwrap();
    assert_eq!((sealed.segments, sealed.busy), (2, 0));
    assert_eq!(sealed.bytes, 2 * first.len() as u64);
    let expected = ["h-00000001.jsonl.zst", "h-00000002.jsonl.zst", "h-00000003.jsonl"];
    assert_eq!(segments(&journal), expected);
    assert_eq!(journal.replay().unwrap(), before);
    let packed = fs::read(dir.path().join("h-00000001.jsonl.zst")).unwrap();
    assert_eq!(zstd::decode_all(packed.as_slice()).unwrap(), first, "zstdcat prints the lines");
    assert_eq!(journal.seal().unwrap(), Sealed::default());

    journal.append(&entry("more"), Durability::Buffered).unwrap();
    let new = open(dir.path());
    new.append(&entry("more by another"), Durability::Buffered).unwrap();
    assert_eq!(new.replay().unwrap().entries.len(), 10);
    assert_eq!(new.stream(before.cursor).unwrap().count(), 2);
}

#[test]
fn the_segment_behind_the_last_sealed_one_is_a_new_one() {
    let dir = tempfile::tempdir().unwrap();
    let journal = filled(dir.path(), 4);
    journal.seal().unwrap();
    fs::remove_file(dir.path().join("h-00000002.jsonl")).unwrap();
    // A writer that remembers a number, and one that looks it up.
    journal.append(&entry("more"), Durability::Buffered).unwrap();
    fs::remove_file(dir.path().join("h-00000002.jsonl")).unwrap();
    open(dir.path()).append(&entry("yet more"), Durability::Buffered).unwrap();
    let replay = journal.replay().unwrap();
    assert_eq!(keys(&replay.entries), ["key-0", "key-1", "key-2", "yet more"]);
    journal.seal().unwrap();
    assert_eq!(segments(&journal), ["h-00000001.jsonl.zst", "h-00000002.jsonl"]);
}

#[test]
fn a_writer_that_remembers_a_sealed_segment_continues_after_it() {
    let dir = tempfile::tempdir().unwrap();
    let slow = filled(dir.path(), 1);
    filled(dir.path(), 12).seal().unwrap();
    slow.append(&entry("late"), Durability::Buffered).unwrap();
    let replay = slow.replay().unwrap();
    assert_eq!(replay.entries.len(), 13);
    assert_eq!(replay.entries[12].position.segment, "h-00000005.jsonl");
    slow.seal().unwrap();
    assert_eq!(segments(&slow).len(), 5, "{:?}", segments(&slow));
}

#[test]
fn a_spill_is_sealed_when_its_writer_left_it() {
    let dir = tempfile::tempdir().unwrap();
    let journal = filled(dir.path(), 1);
    let held = File::open(dir.path().join("h-00000001.jsonl")).unwrap();
    held.lock().unwrap();
    let other = open(dir.path());
    other.append(&entry("spilled"), Durability::Buffered).unwrap();
    assert_eq!(journal.seal().unwrap(), Sealed { busy: 1, ..Sealed::default() });

    drop(held);
    other.append(&entry("shared"), Durability::Buffered).unwrap();
    assert_eq!(journal.seal().unwrap().segments, 1);
    let spill = format!("h-00000001.spill-{}-0.jsonl.zst", std::process::id());
    assert_eq!(segments(&journal), ["h-00000001.jsonl".to_owned(), spill]);
    assert_eq!(keys(&journal.replay().unwrap().entries), ["key-0", "shared", "spilled"]);

    // The next spill does not take the name of one that was sealed.
    let held = File::open(dir.path().join("h-00000001.jsonl")).unwrap();
    held.lock().unwrap();
    other.append(&entry("spilled again"), Durability::Buffered).unwrap();
    assert_eq!(journal.replay().unwrap().entries.len(), 4);
}

#[test]
fn a_torn_end_is_closed_off_and_reported() {
    let dir = tempfile::tempdir().unwrap();
    let journal = filled(dir.path(), 4);
    let path = dir.path().join("h-00000001.jsonl");
    let whole = fs::read(&path).unwrap();
    fs::write(&path, &whole[..whole.len() - 9]).unwrap();
    let cursor = journal.replay().unwrap().cursor;
    journal.seal().unwrap();
    let items: Vec<Item> = journal.stream(cursor).unwrap().map(Result::unwrap).collect();
    let [Item::Problem(problem)] = items.as_slice() else { panic!("{items:?}") };
    assert_eq!((problem.kind, problem.position.line), (ProblemKind::CutShort, 3));
    assert_eq!(keys(&journal.replay().unwrap().entries), ["key-0", "key-1", "key-3"]);
}

#[test]
fn leftovers_of_an_interrupted_sealing_are_read_once_and_cleared() {
    let dir = tempfile::tempdir().unwrap();
    let journal = filled(dir.path(), 4);
    let plain = dir.path().join("h-00000001.jsonl");
    let content = fs::read(&plain).unwrap();
    let before = journal.replay().unwrap();
    journal.seal().unwrap();
    let sealed = dir.path().join("h-00000001.jsonl.zst");
    let packed = fs::read(&sealed).unwrap();
    // Stopped before the plain one was removed.
    fs::write(&plain, &content).unwrap();
    fs::write(dir.path().join("h-00000001.jsonl.zst.tmp-1"), "half").unwrap();
    assert_eq!(journal.replay().unwrap(), before);
    journal.seal().unwrap();
    assert_eq!(segments(&journal), ["h-00000001.jsonl.zst", "h-00000002.jsonl"]);

    // The sealed one was damaged before it was needed.
    fs::write(&plain, &content).unwrap();
    fs::write(&sealed, &packed[..packed.len() - 2]).unwrap();
    journal.seal().unwrap();
    assert_eq!(fs::read(&sealed).unwrap(), packed);
    assert_eq!(segments(&journal).len(), 2);

    // Something else was put in its place: both are kept.
    let other = Journal::open(dir.path().join("other"), "h").unwrap();
    other.append(&entry("foreign"), Durability::Buffered).unwrap();
    fs::rename(dir.path().join("other/h-00000001.jsonl"), &plain).unwrap();
    journal.seal().unwrap();
    journal.seal().unwrap();
    let replay = journal.replay().unwrap();
    assert_eq!(keys(&replay.entries), ["key-0", "key-1", "key-2", "foreign", "key-3"]);
}

#[test]
fn a_damaged_sealed_segment_is_not_replaced_by_something_else() {
    let dir = tempfile::tempdir().unwrap();
    let journal = filled(dir.path(), 1);
    let (plain, sealed) =
        (dir.path().join("h-00000001.jsonl"), dir.path().join("h-00000001.jsonl.zst"));
    fs::rename(&plain, &sealed).unwrap();
    let damaged = fs::read(&sealed).unwrap();
    for content in ["", "anything\n"] {
        fs::write(&plain, content).unwrap();
        journal.seal().unwrap();
        assert_eq!(fs::read(&sealed).unwrap(), damaged);
        assert!(!plain.exists());
    }
    assert_eq!(segments(&journal).len(), 2, "the other content is kept as well");
}

#[test]
fn damage_in_a_sealed_segment_is_reported_and_costs_no_other() {
    let dir = tempfile::tempdir().unwrap();
    let journal = filled(dir.path(), 8);
    journal.seal().unwrap();
    let right = journal.replay().unwrap();
    let path = dir.path().join("h-00000001.jsonl.zst");
    let packed = fs::read(&path).unwrap();
    for at in 0..packed.len() {
        let mut changed = packed.clone();
        changed[at] ^= 1 << (at % 8);
        fs::write(&path, &changed).unwrap();
        let replay = journal.replay().unwrap();
        for entry in &replay.entries {
            assert!(right.entries.contains(entry), "byte {at}");
        }
        assert!(keys(&replay.entries).ends_with(&["key-3", "key-4", "key-5", "key-6", "key-7"]));
        let whole = replay.entries.len() == right.entries.len();
        assert!(whole || !replay.problems.is_empty(), "byte {at} is lost in silence");
    }
    for cut in 0..packed.len() {
        fs::write(&path, &packed[..cut]).unwrap();
        assert!(!journal.verify().unwrap().problems.is_empty(), "cut at {cut}");
    }
    fs::write(&path, [packed.as_slice(), &packed].concat()).unwrap();
    let found = journal.verify().unwrap();
    assert_eq!((found.entries, found.duplicates, found.problems.len()), (8, 0, 1));
}

#[test]
fn other_hosts_segments_are_sealed_up_to_their_own_newest() {
    let dir = tempfile::tempdir().unwrap();
    let journal = filled(dir.path(), 1);
    let other = Journal::open(dir.path(), "other-1").unwrap().with_segment_limit(300);
    for n in 0..4 {
        other.append(&entry(&format!("other {n}")), Durability::Buffered).unwrap();
    }
    fs::write(dir.path().join("notes.jsonl"), "not ours\n").unwrap();
    journal.seal().unwrap();
    let expected =
        ["h-00000001.jsonl", "notes.jsonl", "other-1-00000001.jsonl.zst", "other-1-00000002.jsonl"];
    assert_eq!(segments(&journal), expected);
}

#[test]
fn zstdcat_prints_the_lines() {
    let dir = tempfile::tempdir().unwrap();
    let journal = filled(dir.path(), 4);
    let first = fs::read(dir.path().join("h-00000001.jsonl")).unwrap();
    journal.seal().unwrap();
    let printed =
        Command::new("zstd").arg("-dc").arg(dir.path().join("h-00000001.jsonl.zst")).output();
    match printed {
        Ok(printed) => assert_eq!(printed.stdout, first),
        Err(error) => eprintln!("skipped: there is no zstd here ({error})"),
    }
}

/// An event in the life of a journal.
#[derive(Clone, Copy, Debug)]
enum Event {
    Append,
    AppendAnew,
    Seal,
    Read(usize),
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        4 => Just(Event::Append),
        2 => Just(Event::AppendAnew),
        1 => Just(Event::Seal),
        2 => (0..4_usize).prop_map(Event::Read),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_reader_meets_each_record_once_whenever_segments_are_sealed(
        events in prop::collection::vec(event(), 0..60),
    ) {
        let dir = tempfile::tempdir().unwrap();
        let journal = open(dir.path());
        let (mut appended, mut read, mut cursor) = (Vec::new(), Vec::new(), Cursor::default());
        let go_on = |cursor: &mut Cursor, read: &mut Vec<String>, most: usize| {
            let saved = serde_json::to_string(&*cursor).unwrap();
            let mut stream = journal.stream(serde_json::from_str(&saved).unwrap()).unwrap();
            for item in stream.by_ref().take(most) {
                match item.unwrap() {
                    Item::Entry(entry) => read.push(entry.key),
                    Item::Problem(problem) => panic!("{problem}"),
                }
            }
            *cursor = stream.cursor().clone();
        };
        for event in events {
            let key = format!("key-{}", appended.len());
            match event {
                Event::Append => journal.append(&entry(&key), Durability::Buffered).unwrap(),
                Event::AppendAnew => {
                    open(dir.path()).append(&entry(&key), Durability::Buffered).unwrap();
                }
                Event::Seal => _ = journal.seal().unwrap(),
                Event::Read(most) => go_on(&mut cursor, &mut read, most),
            }
            if matches!(event, Event::Append | Event::AppendAnew) {
                appended.push(key);
            }
        }
        go_on(&mut cursor, &mut read, usize::MAX);
        prop_assert_eq!(read, appended);
    }
}
