//! Snapshots: the content of a session before a moment.

use serde_json::json;
use thru_core::{SnapshotContent, Timestamp};
use thru_intake::SnapshotEnd;
use thru_store::{PassageFilter, Store};

use crate::machine::{Machine, key};
use crate::records::{Author, ONE, file};

fn machine() -> Machine {
    let mut author = Author::of(ONE).in_directory("/home/ada/rocket");
    let edit = |path: &str| json!({ "file_path": path, "old_string": "a", "new_string": "b" });
    author
        .asks("Bound the retry loop. Never use a global lock.")
        .calls("toolu_1", "Edit", edit("/home/ada/rocket/src/retry.rs"))
        .gets("toolu_1", "The file has been updated.")
        .says("The root cause is that `take_lock` waits because nothing bounds it.")
        .asks("Now write the load test, with the token hunter2-zebra")
        .calls("toolu_2", "Edit", edit("/home/ada/rocket/src/load.rs"))
        .gets("toolu_2", "The file has been updated.")
        .says("It calls `spawn_clients`.");
    let machine = Machine::with([(&file(ONE), &author.text())]);
    machine.import();
    machine
}

fn held(machine: &Machine, end: impl FnOnce(&Store, i64) -> SnapshotEnd) -> SnapshotContent {
    let store = Store::open_to_read(&machine.layout()).unwrap();
    let row = store.session_by_key(&key(ONE)).unwrap().unwrap();
    let end = end(&store, row);
    machine.intake().snapshot_content(&store, row, end).unwrap().into_inner()
}

fn files(content: &SnapshotContent) -> Vec<&str> {
    content.files.iter().map(|file| file.path.as_str()).collect()
}

#[test]
fn what_comes_behind_a_boundary_is_not_held_before_it() {
    let machine = machine();
    let place = |store: &Store, row: i64| {
        let passages = store.passages(PassageFilter::Session(row)).unwrap();
        SnapshotEnd::Position { source: passages[0].source, ordinal: 3 }
    };
    let content = held(&machine, place);
    assert_eq!(files(&content), ["/home/ada/rocket/src/retry.rs"]);
    assert_eq!(content.names, ["take_lock"]);
    assert!(content.decisions[0].text.contains("nothing bounds it"));
    assert_eq!(content.rulings[0].text, "Never use a global lock");
    let content = held(&machine, |_, _| SnapshotEnd::Time(Timestamp::MAX));
    assert_eq!(files(&content).len(), 2);
    assert_eq!(content.names, ["spawn_clients", "take_lock"]);
    assert_eq!(
        held(&machine, |_, _| SnapshotEnd::Time(Timestamp::MIN)),
        SnapshotContent::default()
    );
}

#[test]
fn an_unknown_session_has_no_snapshot() {
    let machine = machine();
    let store = Store::open_to_read(&machine.layout()).unwrap();
    let end = SnapshotEnd::Time(Timestamp::MAX);
    let content = machine.intake().snapshot_content(&store, 4711, end).unwrap();
    assert_eq!(content.into_inner(), SnapshotContent::default());
}
