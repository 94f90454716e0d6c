//! Commits that were made outside sessions, as the repositories of their directories tell them.

use std::fs;
use std::path::Path;

use serde_json::json;
use thru_store::{MemoryFilter, Store};

use crate::machine::{Machine, assert_same, key};
use crate::records::{Author, ONE, file};

/// The day of the sessions that are written here.
const DAY: &str = "2026-03-01";

/// Writes a line of the log of a repository's HEAD, at a time of the session's day.
fn log(repository: &Path, lines: &[(&str, &str)]) {
    let log: String = lines
        .iter()
        .enumerate()
        .map(|(number, (time, act))| {
            let seconds = format!("{DAY}T{time}Z").parse::<thru_core::Timestamp>().unwrap();
            let (old, new) = (number + 1, number + 2);
            format!(
                "{old:040x} {new:040x} Ada <ada@home.example> {} +0000\t{act}\n",
                seconds.as_second()
            )
        })
        .collect();
    fs::create_dir_all(repository.join(".git/logs")).unwrap();
    fs::write(repository.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
    fs::write(repository.join(".git/logs/HEAD"), log).unwrap();
}

fn edits(machine: &Machine, repository: &Path) {
    let mut author = Author::of(ONE).in_directory(repository.to_str().unwrap());
    author.asks("make the lock better");
    let path = repository.join("lock.rs");
    author.calls(
        "toolu_1",
        "Edit",
        json!({ "file_path": path, "old_string": "a", "new_string": "b" }),
    );
    author.gets("toolu_1", "done").says("It waits now.");
    machine.write(&file(ONE), author.text());
}

fn told(machine: &Machine) -> (String, Vec<String>) {
    let store = Store::open_to_read(&machine.layout()).unwrap();
    let row = store.session_by_key(&key(ONE)).unwrap().unwrap();
    let subjects = store.seen_commits(row).unwrap().into_iter().map(|one| one.subject).collect();
    let memories = store.memories(&MemoryFilter::default()).unwrap();
    (memories.into_iter().find(|one| one.session == Some(row)).unwrap().title, subjects)
}

#[test]
fn commits_made_after_a_session_are_told_with_its_work_and_outlive_the_log() {
    let machine = Machine::new();
    let repository = machine.folder().join("rocket");
    log(&repository, &[("08:00:00", "commit: Before"), ("10:00:00", "commit: Let readers wait")]);
    edits(&machine, &repository);
    machine.import();
    let expected = ("Let readers wait (lock.rs)".to_owned(), vec!["Let readers wait".to_owned()]);
    assert_eq!(told(&machine), expected);
    let before = machine.dump();
    fs::remove_dir_all(&repository).unwrap();
    machine.rebuild();
    assert_same(&machine.dump(), &before);
    assert_eq!(told(&machine), expected);
    machine.forget(ONE);
    let journal = thru_testkit::dump::store(&machine.layout()).concat();
    assert!(!journal.contains("Let readers wait"));
}

#[cfg(unix)]
#[test]
fn a_log_elsewhere_is_not_read() {
    let machine = Machine::new();
    let (repository, other) = (machine.folder().join("rocket"), machine.folder().join("other"));
    for folder in [&repository, &other] {
        log(folder, &[("10:00:00", "commit: Let readers wait")]);
    }
    fs::remove_file(repository.join(".git/logs/HEAD")).unwrap();
    let linked = repository.join(".git/logs/HEAD");
    std::os::unix::fs::symlink(other.join(".git/logs/HEAD"), linked).unwrap();
    edits(&machine, &repository);
    machine.import();
    assert_eq!(told(&machine).1, Vec::<String>::new());
    // A folder that points to a repository which does not know it.
    fs::remove_dir_all(repository.join(".git")).unwrap();
    fs::write(repository.join(".git"), format!("gitdir: {}/.git\n", other.display())).unwrap();
    edits(&machine, &repository);
    machine.import();
    assert_eq!(told(&machine).1, Vec::<String>::new());
}
