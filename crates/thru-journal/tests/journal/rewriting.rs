//! Removed records are gone from the journal, and the rest is unchanged.

use std::fs::{self, File};
use std::path::Path;
use std::time::Duration;

use proptest::prelude::*;
use serde_json::json;
use thru_journal::Error;
use thru_journal::journal::{
    Change, Cursor, Damaged, Durability, Item, Journal, ProblemKind, Rewritten, Stored,
};

use super::{clean, entry, keys, segments};

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

fn remove<'a>(removed: &'a [&str]) -> impl FnMut(&Stored) -> Change + 'a {
    |stored| match removed.contains(&stored.key.as_str()) {
        true => Change::Remove,
        false => Change::Keep,
    }
}

/// True if any file of the journal contains this text, compressed or not.
fn holds(journal: &Journal, text: &str) -> bool {
    segments(journal).iter().any(|name| {
        let bytes = fs::read(journal.dir().join(name)).unwrap();
        let bytes =
            if name.ends_with(".zst") { zstd::decode_all(&bytes[..]).unwrap() } else { bytes };
        String::from_utf8_lossy(&bytes).contains(text)
    })
}

#[test]
fn records_are_replaced_and_removed_and_the_rest_stays() {
    let dir = tempfile::tempdir().unwrap();
    let journal = filled(dir.path(), 8);
    journal.seal().unwrap();
    let before = journal.replay().unwrap().entries;
    let done = journal
        .rewrite(&mut |stored| match stored.key.as_str() {
            "key-1" => Change::Remove,
            "key-7" => Change::Replace(clean(&json!({ "of": "nothing" }))),
            "key-4" => Change::Replace(clean(&stored.body)),
            _ => Change::Keep,
        })
        .unwrap();
    let one = || std::iter::once(("noted".to_owned(), 1)).collect();
    let expected = Rewritten { segments: 2, replaced: one(), removed: one(), problems: Vec::new() };
    assert_eq!(done, expected);
    assert!(!holds(&journal, "\"key-1\"") && !holds(&journal, "\"of\":\"key-7\""));

    let after = journal.replay().unwrap();
    assert_eq!(after.problems, []);
    let mut expected = before.clone();
    expected.remove(1);
    expected[6].body = json!({ "of": "nothing" });
    let facts = |stored: &Stored| {
        let Stored { host, key, at, kind, body, .. } = stored.clone();
        (host, key, at, kind, body)
    };
    assert!(after.entries.iter().map(facts).eq(expected.iter().map(facts)));
    let names = ["h-00000001.jsonl.zst", "h-00000002.jsonl.zst", "h-00000003.jsonl"];
    assert_eq!(segments(&journal)[..3], names);
    // A rewritten segment gets no more records.
    for journal in [journal, open(dir.path())] {
        journal.append(&entry("more"), Durability::Buffered).unwrap();
        assert!(!fs::read(dir.path().join("h-00000004.jsonl")).unwrap().is_empty());
    }
}

#[test]
fn segments_without_changes_are_not_touched() {
    let dir = tempfile::tempdir().unwrap();
    let journal = filled(dir.path(), 2);
    let cursor = journal.replay().unwrap().cursor;
    assert_eq!(journal.rewrite(&mut remove(&["key-9"])).unwrap(), Rewritten::default());
    assert_eq!(segments(&journal), ["h-00000001.jsonl"]);
    assert_eq!(journal.stream(cursor).unwrap().count(), 0);
}

#[test]
fn repeated_keys_are_rewritten_as_well() {
    let dir = tempfile::tempdir().unwrap();
    let journal = filled(dir.path(), 1);
    journal.append(&entry("key-0"), Durability::Buffered).unwrap();
    let done = journal.rewrite(&mut remove(&["key-0"])).unwrap();
    assert_eq!(done.removed["noted"], 2);
    assert!(!holds(&journal, "key-0"));
}

#[test]
fn a_cursor_notices_even_where_the_length_stayed() {
    let dir = tempfile::tempdir().unwrap();
    let journal = filled(dir.path(), 8);
    for _ in 0..3 {
        let cursor = journal.replay().unwrap().cursor;
        let mut swap = |stored: &Stored| match stored.key.as_str() {
            // As long as before.
            "key-1" => Change::Replace(clean(&json!({
                "of": stored.body["of"], "text": stored.body["text"].as_str().unwrap().chars().rev().collect::<String>(),
            }))),
            _ => Change::Keep,
        };
        assert_eq!(journal.rewrite(&mut swap).unwrap().segments, 1);
        let items: Vec<Item> = journal.stream(cursor).unwrap().map(Result::unwrap).collect();
        assert!(matches!(&items[0], Item::Problem(p) if p.kind == ProblemKind::Changed));
        assert_eq!(items.len(), 1 + 3, "one segment is read again");
    }
}

#[test]
fn a_cursor_from_before_there_were_marks_is_still_good() {
    let dir = tempfile::tempdir().unwrap();
    let journal = filled(dir.path(), 3);
    let bytes = fs::metadata(dir.path().join("h-00000001.jsonl")).unwrap().len() / 3;
    let old = format!(r#"{{"h-00000001.jsonl":{{"bytes":{bytes},"lines":1}}}}"#);
    for _ in 0..2 {
        let cursor: Cursor = serde_json::from_str(&old).unwrap();
        let mut stream = journal.stream(cursor).unwrap();
        let Some(Ok(Item::Entry(read))) = stream.next() else { panic!() };
        assert_eq!((read.key.as_str(), read.position.line), ("key-1", 2));
        filled(dir.path(), 1).seal().unwrap();
    }
    assert!(segments(&journal)[0].ends_with(".zst"));
}

#[test]
fn lines_that_cannot_be_read_stay_unless_they_are_to_go() {
    let dir = tempfile::tempdir().unwrap();
    let journal = filled(dir.path(), 3);
    let path = dir.path().join("h-00000001.jsonl");
    let mut bytes = fs::read(&path).unwrap();
    bytes[5] ^= 1;
    let damaged = bytes.split(|&b| b == b'\n').next().unwrap().to_vec();
    bytes.extend_from_slice(b"torn");
    fs::write(&path, bytes).unwrap();
    let done = journal.rewrite(&mut remove(&["key-1"])).unwrap();
    assert_eq!(done.problems.len(), 2);
    assert!(holds(&journal, std::str::from_utf8(&damaged).unwrap()) && holds(&journal, "torn"));
    assert_eq!(journal.verify().unwrap().problems.len(), 2);

    let done = journal.rewrite_with(Damaged::Remove, &mut remove(&[])).unwrap();
    assert_eq!((done.segments, done.problems.len()), (1, 2));
    assert!(!holds(&journal, "torn") && !holds(&journal, "key-0"));
    assert_eq!(journal.verify().unwrap().problems, []);
    assert_eq!(keys(&journal.replay().unwrap().entries), ["key-2"]);
}

#[test]
fn a_sealed_segment_that_cannot_be_unpacked_is_not_shortened() {
    let dir = tempfile::tempdir().unwrap();
    let journal = filled(dir.path(), 4);
    journal.seal().unwrap();
    let path = dir.path().join("h-00000001.jsonl.zst");
    let packed = fs::read(&path).unwrap();
    fs::write(&path, [packed.as_slice(), b"more"].concat()).unwrap();
    let error = journal.rewrite(&mut remove(&["key-0"])).unwrap_err();
    assert!(matches!(error, Error::Corrupt { .. }), "{error}");
    let done = journal.rewrite_with(Damaged::Remove, &mut remove(&["key-0"])).unwrap();
    assert_eq!(done.removed["noted"], 1);
    assert_eq!(journal.verify().unwrap().problems, []);
    assert_eq!(keys(&journal.replay().unwrap().entries), ["key-1", "key-2", "key-3"]);
}

#[test]
fn what_a_newer_version_wrote_stays() {
    let dir = tempfile::tempdir().unwrap();
    let journal = filled(dir.path(), 2);
    let path = dir.path().join("h-00000001.jsonl");
    let json = r#"{"v":3,"rewritten":1,"shape":"new"}"#;
    let line = format!("{} {json}\n", &blake3::hash(json.as_bytes()).to_hex()[..16]);
    fs::write(&path, fs::read_to_string(&path).unwrap() + &line).unwrap();
    let done = journal.rewrite_with(Damaged::Remove, &mut remove(&["key-0"])).unwrap();
    assert_eq!(done.problems[0].kind, ProblemKind::Newer(Some(3)));
    assert!(holds(&journal, &line));
}

#[test]
fn a_writer_that_does_not_stop_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let journal = filled(dir.path(), 1);
    let held = File::open(dir.path().join("h-00000001.jsonl")).unwrap();
    held.lock().unwrap();
    let journal = journal.with_lock_patience(Duration::ZERO);
    let error = journal.rewrite(&mut remove(&["key-0"])).unwrap_err();
    assert!(matches!(error, Error::Locked { .. }), "{error}");
}

#[test]
fn nothing_is_left_of_an_interrupted_rewriting() {
    let dir = tempfile::tempdir().unwrap();
    let journal = filled(dir.path(), 1);
    fs::write(dir.path().join("h-00000001.jsonl.tmp-7"), "key-0").unwrap();
    journal.rewrite(&mut remove(&["key-0"])).unwrap();
    assert!(!holds(&journal, "key-0"), "{:?}", segments(&journal));
}

#[test]
fn stats_count_what_there_is() {
    let dir = tempfile::tempdir().unwrap();
    let journal = filled(dir.path(), 8);
    let size: u64 = segments(&journal)
        .iter()
        .map(|name| fs::metadata(dir.path().join(name)).unwrap().len())
        .sum();
    assert_eq!(journal.size().unwrap(), size);
    journal.seal().unwrap();
    let stats = journal.stats().unwrap();
    assert_eq!((stats.plain, stats.sealed, stats.spills), (1, 2, 0));
    assert_eq!((stats.bytes, stats.bytes_on_disk), (size, journal.size().unwrap()));
    assert_eq!((stats.records.records, stats.kinds["noted"]), (8, 8));
    assert_eq!(stats.records.first, Some(entry("x").at));
    assert_eq!(stats.hosts["h"], stats.records);
    assert_eq!(open(&dir.path().join("none")).stats().unwrap().records.records, 0);
    assert_eq!(open(&dir.path().join("none")).size().unwrap(), 0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn whatever_is_taken_out_the_rest_is_read_as_before(
        rounds in prop::collection::vec(
            (0..6_usize, prop::collection::vec(any::<prop::sample::Index>(), 0..4), any::<bool>()),
            0..6,
        ),
    ) {
        let dir = tempfile::tempdir().unwrap();
        let journal = open(dir.path());
        let mut model: Vec<(String, serde_json::Value)> = Vec::new();
        let mut next = 0;
        for (appended, changed, remove) in rounds {
            for _ in 0..appended {
                let entry = entry(&format!("key-{next}"));
                next += 1;
                journal.append(&entry, Durability::Buffered).unwrap();
                model.push((entry.key, entry.body.into_inner()));
            }
            let keys: Vec<String> = changed
                .iter()
                .filter_map(|at| model.get(at.index(model.len().max(1))).map(|(key, _)| key.clone()))
                .collect();
            let cursor = journal.replay().unwrap().cursor;
            let done = journal.rewrite(&mut |stored| match keys.contains(&stored.key) {
                true if remove => Change::Remove,
                true => Change::Replace(clean(&json!(next))),
                false => Change::Keep,
            }).unwrap();
            if remove {
                model.retain(|(key, _)| !keys.contains(key));
            }
            for (_, body) in model.iter_mut().filter(|(key, _)| keys.contains(key)) {
                *body = json!(next);
            }
            let replay = journal.replay().unwrap();
            prop_assert_eq!(&replay.problems, &[]);
            let read: Vec<_> =
                replay.entries.into_iter().map(|stored| (stored.key, stored.body)).collect();
            prop_assert_eq!(&read, &model);
            let noticed = journal.stream(cursor).unwrap().map(Result::unwrap).filter(|item| {
                matches!(item, Item::Problem(problem) if problem.kind == ProblemKind::Changed)
            });
            prop_assert_eq!(noticed.count() as u64, done.segments);
        }
    }
}
