//! A journal segment with arbitrary content: every record is read once wherever a reader stops and
//! resumes, and another record can be appended and read. Sealing changes nothing, and rewriting changes
//! only the selected records.
//!
//! An input that starts with `S` holds lines of JSON, to which checksums are added. One that starts with
//! `Z` is a sealed segment, any other a plain one.
#![no_main]

use std::collections::HashSet;
use std::fs;
use std::path::PathBuf;
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use serde_json::Value;
use thru_core::Timestamp;
use thru_fuzz::{empty_directory, seal};
use thru_journal::journal::{
    Change, Cursor, Durability, Entry, Item, Journal, Position, ProblemKind, Stored,
};
use thru_redact::{Clean, Redactor, Report};

static DIRECTORY: LazyLock<PathBuf> = LazyLock::new(|| empty_directory("journal"));

const NEW_KEY: &str = "appended by the fuzzer";

fuzz_target!(|data: &[u8]| {
    for file in fs::read_dir(DIRECTORY.as_path()).unwrap() {
        fs::remove_file(file.unwrap().path()).unwrap();
    }
    let stops = 1 + data.len() % 4;
    match data.split_first() {
        Some((b'S', lines)) => {
            let mut sealed: Vec<u8> = lines.split(|&byte| byte == b'\n').flat_map(seal).collect();
            // Some have their last record cut short.
            sealed.truncate(sealed.len() - data.len() % 3);
            check_plain(&sealed, stops);
        }
        Some((b'Z', file)) => check_sealed(file, stops),
        _ => check_plain(data, stops),
    }
});

fn check_plain(segment: &[u8], stops: usize) {
    let path = DIRECTORY.join("h-00000001.jsonl");
    fs::write(&path, segment).unwrap();
    let journal = Journal::open(DIRECTORY.as_path(), "h").unwrap();
    let whole = check_reading(&journal, stops);
    for position in &whole {
        assert!(position.offset < segment.len() as u64, "{position}");
    }
    assert_eq!(fs::read(&path).unwrap(), segment, "reading changed the segment");
    // A cursor of another segment with the same name.
    let foreign = format!(r#"{{"h-00000001.jsonl":{{"bytes":{},"lines":1}}}}"#, segment.len() / 2);
    for item in journal.stream(serde_json::from_str(&foreign).unwrap()).unwrap() {
        item.unwrap();
    }
    append(&journal, 0);

    let before = journal.replay().unwrap();
    let mut stream = journal.stream(Cursor::default()).unwrap();
    let first = stream.by_ref().take(stops).count();
    let half_way = stream.cursor().clone();
    let rest: Vec<Item> = stream.map(Result::unwrap).collect();
    // Every segment is full now, so the next record starts a new one.
    let full = Journal::open(DIRECTORY.as_path(), "h").unwrap().with_segment_limit(1);
    append(&full, 1);
    assert_eq!(full.seal().unwrap().segments, 1);
    assert!(!path.exists());
    let after = journal.replay().unwrap();
    assert_eq!(after.entries[..before.entries.len()], before.entries[..]);
    assert_eq!(after.problems, before.problems);
    let mut read_on = journal.stream(half_way).unwrap().map(Result::unwrap);
    // Repetitions of a key that was read before the stop are skipped by one reader and not by the other.
    if first + rest.len() == before.entries.len() && !has_repetitions(&journal) {
        assert!(rest.iter().all(|item| read_on.next().as_ref() == Some(item)));
    }
    check_rewriting(&journal, stops);
}

fn check_sealed(file: &[u8], stops: usize) {
    fs::write(DIRECTORY.join("h-00000001.jsonl.zst"), file).unwrap();
    let journal = Journal::open(DIRECTORY.as_path(), "h").unwrap();
    check_reading(&journal, stops);
    append(&journal, 0);
    assert!(DIRECTORY.join("h-00000002.jsonl").exists());
    journal.seal().unwrap();
    // A segment that cannot be unpacked is refused, not shortened.
    let _ = journal.rewrite(&mut |_| Change::Keep);
    assert_eq!(fs::read(DIRECTORY.join("h-00000001.jsonl.zst")).unwrap(), file);
}

/// Checks that all ways of reading agree, and returns the positions of the entries.
fn check_reading(journal: &Journal, stops: usize) -> Vec<Position> {
    let whole = journal.replay().unwrap();
    let found = journal.verify().unwrap();
    assert_eq!(found.entries, whole.entries.len() as u64);
    assert_eq!(found.problems, whole.problems);
    let expected: Vec<Position> = whole.entries.into_iter().map(|entry| entry.position).collect();
    assert_eq!(read_in_steps(journal, stops), expected);
    expected
}

/// Removes a record at regular intervals, and replaces the one after each.
fn check_rewriting(journal: &Journal, stops: usize) {
    let before = journal.replay().unwrap();
    let (mut number, mut removed, mut replaced) = (0, HashSet::new(), HashSet::new());
    let done = journal.rewrite(&mut |stored| {
        number += 1;
        if removed.contains(&stored.key) || number % (stops + 1) == 0 {
            removed.insert(stored.key.clone());
            return Change::Remove;
        }
        if replaced.contains(&stored.key) || number % (stops + 1) == 1 {
            replaced.insert(stored.key.clone());
            return Change::Replace(clean(serde_json::json!("replaced")));
        }
        Change::Keep
    });
    // A repeated key may have been kept before it was removed.
    done.unwrap();
    let after = journal.replay().unwrap();
    let facts = |stored: &Stored| (stored.key.clone(), stored.at, stored.kind.clone());
    let kept = |stored: &&Stored| !removed.contains(&stored.key);
    assert!(
        before.entries.iter().filter(kept).map(facts).eq(after
            .entries
            .iter()
            .filter(kept)
            .map(facts)),
        "rewriting lost or invented a record"
    );
    let newer = |problem: ProblemKind| matches!(problem, ProblemKind::Newer(_));
    let count = |problems: &[thru_journal::journal::JournalProblem]| {
        problems.iter().filter(|problem| newer(problem.kind)).count()
    };
    assert_eq!(count(&before.problems), count(&after.problems));
    assert_eq!(journal.rewrite(&mut |_| Change::Keep).unwrap().segments, 0);
}

fn has_repetitions(journal: &Journal) -> bool {
    journal.verify().unwrap().duplicates > 0
}

fn append(journal: &Journal, number: usize) {
    let at = Timestamp::from_second(1_700_000_000).unwrap();
    let key = format!("{NEW_KEY} {number}");
    let body = clean(serde_json::json!({ "n": number }));
    let entry = Entry { key: key.clone(), at, kind: "noted".to_owned(), body };
    let before = journal.replay().unwrap().entries;
    journal.append(&entry, Durability::Buffered).unwrap();
    let grown = journal.replay().unwrap();
    assert_eq!(grown.entries[..before.len()], before[..]);
    assert!(grown.entries.iter().any(|entry| entry.key == key), "what was appended is lost");
}

fn clean(body: Value) -> Clean<Value> {
    Redactor::builtin().clean_value(body, &mut Report::default())
}

/// Reads with a new stream after every few items, as successive runs of intake do.
fn read_in_steps(journal: &Journal, stops: usize) -> Vec<Position> {
    let (mut keys, mut positions, mut cursor) = (HashSet::new(), Vec::new(), Cursor::default());
    loop {
        let mut stream = journal.stream(cursor.clone()).unwrap();
        for item in stream.by_ref().take(stops) {
            if let Item::Entry(entry) = item.unwrap()
                && keys.insert(entry.key)
            {
                positions.push(entry.position);
            }
        }
        let saved = serde_json::to_string(stream.cursor()).unwrap();
        let reached: Cursor = serde_json::from_str(&saved).unwrap();
        if reached == cursor {
            return positions;
        }
        cursor = reached;
    }
}
