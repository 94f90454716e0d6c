//! Memories in the store: unchanged ones keep their rows, changed ones are seen as new.

use rusqlite::Connection;
use thru_core::{Agent, Id, MemoryKind, Observation, ObservationType, SessionId, SessionKey};
use thru_redact::{Redactor, Report};
use thru_store::index::Collection;
use thru_store::{MemoryFilter, NewMemory, Store};

use crate::support::Home;

fn observation(title: &str) -> Observation {
    let id = Id::derive(&[b"memory", &title.as_bytes()[..1]]);
    Observation {
        files_modified: vec!["/p/a.rs".to_owned()],
        raw_tokens: 10,
        ..Observation::new(id, 1, ObservationType::Change, title.to_owned())
    }
}

fn put(store: &mut Store, titles: &[&str]) -> Vec<(i64, String)> {
    let mut batch = store.begin().unwrap();
    let key = SessionKey { agent: Agent::ClaudeCode, id: SessionId::new("one") };
    let session = batch.session(&key).unwrap();
    let memories = Redactor::builtin().clean_text("", &mut Report::default()).map(|_| {
        titles
            .iter()
            .map(|title| NewMemory::observation(&observation(title), false, Vec::new()))
            .collect()
    });
    batch.put_memories(session, None, &memories).unwrap();
    batch.commit().unwrap();
    let mut rows: Vec<(i64, String)> = store
        .memories(&MemoryFilter::default())
        .unwrap()
        .into_iter()
        .map(|memory| (memory.row, memory.title))
        .collect();
    rows.sort();
    rows
}

#[test]
fn an_unchanged_memory_keeps_its_row() {
    let home = Home::new();
    let mut store = home.store();
    let first = put(&mut store, &["a first", "b second"]);
    assert_eq!(put(&mut store, &["a first", "b second"]), first);
    assert_eq!(store.retired_rows(Collection::Memories).unwrap(), Vec::<i64>::new());
    let changed = put(&mut store, &["a first", "b other"]);
    assert_eq!(changed, [first[0].clone(), (first[1].0 + 1, "b other".to_owned())]);
    assert_eq!(store.retired_rows(Collection::Memories).unwrap(), [first[1].0]);
    assert_eq!(put(&mut store, &["a first"]), [first[0].clone()]);
    assert!(store.stale_sessions().unwrap().is_empty());
}

#[test]
fn decisions_have_an_index_of_their_own() {
    let home = Home::new();
    drop(home.store());
    let database = Connection::open(home.layout().database()).unwrap();
    let code = MemoryKind::Observation(ObservationType::Decision).code();
    let latest =
        format!("SELECT row FROM memories WHERE project = 1 AND kind = {code} ORDER BY at DESC");
    let plan: String = database
        .query_row(&format!("EXPLAIN QUERY PLAN {latest}"), [], |row| row.get("detail"))
        .unwrap();
    assert!(plan.contains("memories_that_decide (project=?)"), "{plan}");
}
