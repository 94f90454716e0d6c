//! Records go in and come out, once each.

use std::fs;

use serde_json::json;
use thru_journal::Error;
use thru_journal::journal::{Cursor, Durability, Item, Journal, ProblemKind};

use super::{clean, entry, keys, segments};

#[test]
fn what_is_appended_is_replayed() {
    let dir = tempfile::tempdir().unwrap();
    let journal = Journal::open(dir.path().join("journal"), "laptop").unwrap();
    assert_eq!(journal.replay().unwrap().entries, []);
    journal.append(&entry("a"), Durability::Synced).unwrap();
    journal.append(&entry("b"), Durability::Buffered).unwrap();
    journal.sync(&Cursor::default()).unwrap();

    let replay = journal.replay().unwrap();
    assert_eq!(replay.problems, []);
    assert_eq!(keys(&replay.entries), ["a", "b"]);
    let (stored, given) = (&replay.entries[0], entry("a"));
    assert_eq!((stored.at, &stored.kind), (given.at, &given.kind));
    assert_eq!(&stored.body, given.body.get());
    assert_eq!(stored.host, "laptop");
    assert_eq!(stored.position.to_string(), "laptop-00000001.jsonl:1");

    let text = fs::read_to_string(dir.path().join("journal/laptop-00000001.jsonl")).unwrap();
    let (sum, json) = text.lines().next().unwrap().split_once(' ').unwrap();
    assert_eq!(sum.len(), 16);
    assert!(json.starts_with(r#"{"v":1,"key":"a","host":"laptop","at":"2023-11-14T22:13:20Z""#));
}

#[test]
fn an_entry_is_delivered_once_and_the_first_counts() {
    let dir = tempfile::tempdir().unwrap();
    let journal = Journal::open(dir.path(), "h").unwrap();
    for body in ["first", "second"] {
        let again = thru_journal::journal::Entry { body: clean(&json!(body)), ..entry("same") };
        journal.append(&again, Durability::Buffered).unwrap();
    }
    let replay = journal.replay().unwrap();
    assert_eq!(replay.entries.len(), 1);
    assert_eq!(replay.entries[0].body, json!("first"));
    let found = journal.verify().unwrap();
    assert_eq!((found.segments, found.entries, found.duplicates), (1, 1, 1));
    assert_eq!(found.problems, []);
}

#[test]
fn full_segments_are_followed_by_new_ones() {
    let dir = tempfile::tempdir().unwrap();
    let names: Vec<String> = (0..12).map(|n| format!("key-{n}")).collect();
    for name in &names {
        // Opened anew each time, as hooks do.
        let journal = Journal::open(dir.path(), "h").unwrap().with_segment_limit(300);
        journal.append(&entry(name), Durability::Buffered).unwrap();
    }
    let journal = Journal::open(dir.path(), "h").unwrap();
    assert_eq!(segments(&journal).len(), 4);
    assert_eq!(keys(&journal.replay().unwrap().entries), names);
}

#[test]
fn a_reader_goes_on_where_it_stopped() {
    let dir = tempfile::tempdir().unwrap();
    let journal = Journal::open(dir.path(), "m").unwrap();
    let append =
        |journal: &Journal, key: &str| journal.append(&entry(key), Durability::Buffered).unwrap();
    append(&journal, "1");
    append(&journal, "2");
    let mut stream = journal.stream(Cursor::default()).unwrap();
    assert!(matches!(stream.next(), Some(Ok(Item::Entry(entry))) if entry.key == "1"));
    let saved = serde_json::to_string(stream.cursor()).unwrap();
    drop(stream);

    // After the cursor, before it by name, and after it by name.
    append(&journal, "3");
    append(&Journal::open(dir.path(), "a").unwrap(), "a");
    append(&Journal::open(dir.path(), "z").unwrap(), "z");
    let mut stream = journal.stream(serde_json::from_str(&saved).unwrap()).unwrap();
    let mut read = Vec::new();
    for item in &mut stream {
        if let Item::Entry(entry) = item.unwrap() {
            read.push((entry.key, entry.position.line));
        }
    }
    let expected =
        [("a", 1), ("2", 2), ("3", 3), ("z", 1)].map(|(key, line)| (key.to_owned(), line));
    assert_eq!(read, expected);
    let end = stream.cursor().clone();
    assert_eq!(journal.stream(end.clone()).unwrap().count(), 0);
    assert_eq!(end, journal.replay().unwrap().cursor);
}

#[test]
fn a_segment_that_is_not_the_one_we_read_is_read_again() {
    let dir = tempfile::tempdir().unwrap();
    let journal = Journal::open(dir.path(), "h").unwrap();
    journal.append(&entry("a"), Durability::Buffered).unwrap();
    journal.append(&entry("b"), Durability::Buffered).unwrap();
    let cursor = journal.replay().unwrap().cursor;
    // An older copy of the segment is put back.
    let path = dir.path().join("h-00000001.jsonl");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.split_inclusive('\n').next().unwrap()).unwrap();
    let items: Vec<Item> = journal.stream(cursor).unwrap().map(Result::unwrap).collect();
    assert!(matches!(&items[0], Item::Problem(problem) if problem.kind == ProblemKind::Changed));
    assert!(matches!(&items[1], Item::Entry(entry) if entry.key == "a"));
    assert_eq!(items.len(), 2);
}

#[test]
fn what_a_newer_version_wrote_is_kept_and_said() {
    let dir = tempfile::tempdir().unwrap();
    let journal = Journal::open(dir.path(), "h").unwrap();
    journal.append(&entry("a"), Durability::Buffered).unwrap();
    let path = dir.path().join("h-00000001.jsonl");
    let mut text = fs::read_to_string(&path).unwrap();
    let old = text.split_once(' ').unwrap().1.trim_end().to_owned();
    for json in [old.replace("\"v\":1", "\"v\":2"), r#"{"v":3,"shape":"new"}"#.to_owned()] {
        text += &format!("{} {json}\n", &blake3::hash(json.as_bytes()).to_hex()[..16]);
    }
    fs::write(&path, text).unwrap();
    journal.append(&entry("b"), Durability::Buffered).unwrap();

    let replay = journal.replay().unwrap();
    assert_eq!(keys(&replay.entries), ["a", "b"]);
    let kinds: Vec<ProblemKind> = replay.problems.iter().map(|problem| problem.kind).collect();
    assert_eq!(kinds, [ProblemKind::Newer(Some(2)), ProblemKind::Newer(Some(3))]);
    let said = replay.problems[0].to_string();
    assert!(said.starts_with("h-00000001.jsonl:2: ") && said.contains("newer version"), "{said}");
}

#[test]
fn what_could_not_be_read_again_is_not_recorded() {
    let dir = tempfile::tempdir().unwrap();
    let journal = Journal::open(dir.path(), "h").unwrap();
    let nested = |levels: usize| {
        let text = "[".repeat(levels) + &"]".repeat(levels);
        let body = clean(&json!(null)).map(|_| serde_json::from_str(&text).unwrap());
        thru_journal::journal::Entry { body, ..entry("deep") }
    };
    let refused = |entry| journal.append(&entry, Durability::Buffered).unwrap_err();
    assert!(matches!(refused(nested(101)), Error::Unrecordable(_)));
    assert!(matches!(refused(entry("")), Error::Unrecordable(_)));
    journal.append(&nested(100), Durability::Buffered).unwrap();
    assert_eq!(journal.replay().unwrap().entries.len(), 1);

    for host in ["", "Upper", "a/b", "..", "a b", &"x".repeat(41)] {
        assert!(Journal::open(dir.path(), host).is_err(), "{host}");
    }
}

#[cfg(unix)]
#[test]
fn everything_is_for_the_user_alone() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    let journal = Journal::open(dir.path().join("deep/journal"), "h").unwrap();
    journal.append(&entry("a"), Durability::Synced).unwrap();
    let mode =
        |path: &str| fs::metadata(dir.path().join(path)).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode("deep"), 0o700);
    assert_eq!(mode("deep/journal"), 0o700);
    assert_eq!(mode("deep/journal/h-00000001.jsonl"), 0o600);
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_said_to_be_full() {
    let dir = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink("/dev/full", dir.path().join("h-00000001.jsonl")).unwrap();
    let journal = Journal::open(dir.path(), "h").unwrap();
    let error = journal.append(&entry("a"), Durability::Synced).unwrap_err();
    assert!(matches!(error, Error::DiskFull { .. }), "{error:?}");
}
