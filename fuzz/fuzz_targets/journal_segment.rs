//! A segment of the journal, whatever is in it: records come out once each, wherever a reader stops
//! and goes on, and the next record is appended and read.
//!
//! An input that starts with `S` has lines of JSON, to which checksums are added; any other is the
//! segment as it is.
#![no_main]

use std::collections::HashSet;
use std::fs;
use std::path::PathBuf;
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use thru_core::Timestamp;
use thru_fuzz::{empty_directory, seal};
use thru_journal::journal::{Cursor, Durability, Entry, Item, Journal, Position};
use thru_redact::{Redactor, Report};

static DIRECTORY: LazyLock<PathBuf> = LazyLock::new(|| empty_directory("journal"));

const NEW_KEY: &str = "appended by the fuzzer";

fuzz_target!(|data: &[u8]| {
    let segment = match data.split_first() {
        Some((b'S', lines)) => {
            let mut sealed: Vec<u8> = lines.split(|&byte| byte == b'\n').flat_map(seal).collect();
            // Sometimes the last is cut short.
            sealed.truncate(sealed.len() - data.len() % 3);
            sealed
        }
        _ => data.to_vec(),
    };
    let path = DIRECTORY.join("h-00000001.jsonl");
    fs::write(&path, &segment).unwrap();
    let journal = Journal::open(DIRECTORY.as_path(), "h").unwrap();

    let whole = journal.replay().unwrap();
    let found = journal.verify().unwrap();
    assert_eq!(found.entries, whole.entries.len() as u64);
    assert_eq!(found.problems, whole.problems);
    for problem in &whole.problems {
        assert!(problem.position.offset < segment.len() as u64, "{problem}");
    }
    assert_eq!(fs::read(&path).unwrap(), segment, "reading changed the segment");

    let stops = 1 + data.len() % 4;
    let expected: Vec<&Position> = whole.entries.iter().map(|entry| &entry.position).collect();
    assert_eq!(in_goes(&journal, stops).iter().collect::<Vec<_>>(), expected);
    // A cursor of another segment that had this name.
    let foreign = format!(r#"{{"h-00000001.jsonl":{{"bytes":{},"lines":1}}}}"#, data.len() / 2);
    for item in journal.stream(serde_json::from_str(&foreign).unwrap()).unwrap() {
        item.unwrap();
    }

    let body =
        Redactor::builtin().clean_value(serde_json::json!({ "n": 1 }), &mut Report::default());
    let at = Timestamp::from_second(1_700_000_000).unwrap();
    let entry = Entry { key: NEW_KEY.to_owned(), at, kind: "noted".to_owned(), body };
    journal.append(&entry, Durability::Buffered).unwrap();
    let grown = journal.replay().unwrap();
    assert_eq!(grown.entries[..whole.entries.len()], whole.entries[..]);
    assert!(grown.entries.iter().any(|entry| entry.key == NEW_KEY), "what was appended is lost");
});

/// Reads with a new stream after every few items, as one run of intake after the other does.
fn in_goes(journal: &Journal, stops: usize) -> Vec<Position> {
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
