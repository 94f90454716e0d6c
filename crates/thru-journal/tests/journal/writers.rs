//! Many writers at once.

use std::collections::HashSet;
use std::fs::File;
use std::path::Path;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use serde_json::json;
use thru_journal::journal::{Change, Cursor, Durability, Item, Journal, ProblemKind, Stored};

use super::{clean, entry, keys, segments};

const THREADS: usize = 3;
const EACH: usize = 100;

/// The variable that tells a child process of this test where to write.
const CHILD_DIR: &str = "THRU_JOURNAL_TEST_DIR";
const CHILD_NAME: &str = "THRU_JOURNAL_TEST_NAME";

fn write_many(dir: &Path, who: &str) {
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            scope.spawn(move || {
                let journal = Journal::open(dir, "h").unwrap().with_segment_limit(20_000);
                for n in 0..EACH {
                    let entry = entry(&format!("{who}/{thread}/{n:03}"));
                    journal.append(&entry, Durability::Buffered).unwrap();
                }
            });
        }
    });
}

/// Not a test of its own: the other process of the test below.
#[test]
fn child_process() {
    if let Some(dir) = std::env::var_os(CHILD_DIR) {
        write_many(Path::new(&dir), &std::env::var(CHILD_NAME).unwrap());
    }
}

fn start_child(dir: &Path, name: &str) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "writers::child_process", "--quiet"])
        .env(CHILD_DIR, dir)
        .env(CHILD_NAME, name)
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap()
}

#[test]
fn processes_and_threads_lose_and_duplicate_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let mut children = ["p", "q"].map(|name| start_child(dir.path(), name));
    write_many(dir.path(), "self");
    for child in &mut children {
        assert!(child.wait().unwrap().success());
    }
    let journal = Journal::open(dir.path(), "h").unwrap();
    let found = journal.verify().unwrap();
    assert_eq!((found.problems.as_slice(), found.duplicates), ([].as_slice(), 0));
    let replay = journal.replay().unwrap();
    let mut expected: Vec<String> = Vec::new();
    for who in ["p", "q", "self"] {
        for thread in 0..THREADS {
            let of_thread: Vec<String> =
                (0..EACH).map(|n| format!("{who}/{thread}/{n:03}")).collect();
            // Spills aside, each writer's records are in the order in which it wrote them.
            if segments(&journal).iter().all(|name| !name.contains("spill")) {
                let prefix = format!("{who}/{thread}/");
                let read: Vec<&str> = keys(&replay.entries)
                    .into_iter()
                    .filter(|key| key.starts_with(&prefix))
                    .collect();
                assert_eq!(read, of_thread);
            }
            expected.extend(of_thread);
        }
    }
    let mut read = keys(&replay.entries);
    read.sort_unstable();
    assert_eq!(read, expected);
    assert!(found.segments > 1, "segments were changed while all were writing");
}

#[test]
fn sealing_and_rewriting_while_all_append_lose_and_duplicate_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let journal = Journal::open(dir.path(), "h").unwrap();
    let mut children = ["p", "q"].map(|name| start_child(dir.path(), name));
    // A reader follows all the while, as intake does.
    let (mut read, mut cursor) = (HashSet::new(), Cursor::default());
    let mut go_on = |cursor: &mut Cursor| {
        let mut stream = journal.stream(cursor.clone()).unwrap();
        for item in &mut stream {
            match item.unwrap() {
                Item::Entry(entry) => _ = read.insert(entry.key),
                // It is read again, or was being written meanwhile.
                Item::Problem(problem) => assert!(
                    matches!(problem.kind, ProblemKind::Changed | ProblemKind::Unfinished),
                    "{problem}"
                ),
            }
        }
        *cursor = stream.cursor().clone();
    };
    let (mut rounds, mut sealed, mut rewritten) = (0, 0, 0);
    let mut running = true;
    while running {
        running = children.iter_mut().any(|child| child.try_wait().unwrap().is_none());
        sealed += journal.seal().unwrap().segments;
        rounds += 1;
        let mut turn = |stored: &Stored| match stored.body["round"].as_u64() {
            Some(round) if round + 4 > rounds => Change::Keep,
            _ if stored.key.ends_with('7') => {
                let body = json!({ "of": stored.key, "round": rounds });
                Change::Replace(clean(&body))
            }
            _ => Change::Keep,
        };
        rewritten += journal.rewrite(&mut turn).unwrap().segments;
        go_on(&mut cursor);
    }
    for child in &mut children {
        assert!(child.wait().unwrap().success());
    }
    go_on(&mut cursor);
    let found = journal.verify().unwrap();
    assert_eq!((found.problems.as_slice(), found.duplicates), ([].as_slice(), 0));
    assert_eq!(found.entries, 2 * (THREADS * EACH) as u64);
    assert_eq!(read.len(), 2 * THREADS * EACH);
    assert!(sealed > 0 && rewritten > 0, "{sealed} {rewritten}");
}

#[test]
fn who_cannot_get_the_lock_writes_a_segment_of_its_own() {
    let dir = tempfile::tempdir().unwrap();
    let journal = Journal::open(dir.path(), "h").unwrap().with_segment_limit(400);
    journal.append(&entry("shared"), Durability::Buffered).unwrap();
    let held = File::open(dir.path().join("h-00000001.jsonl")).unwrap();
    held.lock().unwrap();

    let start = Instant::now();
    journal.append(&entry("own 1"), Durability::Synced).unwrap();
    let waited = start.elapsed();
    assert!(waited >= Duration::from_millis(50), "{waited:?}");
    assert!(waited < Duration::from_secs(2), "{waited:?}");

    let impatient = || Journal::open(dir.path(), "h").unwrap().with_lock_patience(Duration::ZERO);
    impatient().append(&entry("own 2"), Durability::Buffered).unwrap();
    let journal = journal.with_lock_patience(Duration::ZERO);
    for n in 3..7 {
        journal.append(&entry(&format!("own {n}")), Durability::Buffered).unwrap();
    }
    drop(held);
    journal.append(&entry("shared again"), Durability::Buffered).unwrap();

    let spill = |n: u32| format!("h-00000001.spill-{}-{n}.jsonl", std::process::id());
    let expected = ["h-00000001.jsonl".to_owned(), spill(0), spill(1), spill(2)];
    assert_eq!(segments(&journal), expected, "one for each journal, and a second for what is full");
    let replay = journal.replay().unwrap();
    assert_eq!(replay.problems, []);
    assert_eq!(
        keys(&replay.entries),
        ["shared", "shared again", "own 1", "own 3", "own 4", "own 2", "own 5", "own 6"]
    );
}
