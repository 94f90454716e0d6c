//! What sessions show: folded again where it changed, and only there.

use thru_core::{Agent, Id, ProjectKey, SessionId, SessionKey};
use thru_redact::{Redactor, Report};
use thru_store::{Batch, NewOpening, UnfoldedKey};

use crate::support::Home;

const KEY: &[u8] = b"cargo test";

/// Writes a session in this directory that shows one thing, and returns its row.
fn show(batch: &Batch<'_>, session: &str, directory: &str) -> i64 {
    let key = SessionKey { agent: Agent::ClaudeCode, id: SessionId::new(session) };
    let row = batch.session(&key).unwrap();
    move_to(batch, row, directory);
    let openings = Redactor::builtin().clean_text("", &mut Report::default());
    let openings = openings
        .map(|_| vec![NewOpening { fold: Id::derive(&[KEY]), body: format!("\"{session}\"") }]);
    batch.put_openings(row, &openings).unwrap();
    row
}

fn move_to(batch: &Batch<'_>, session: i64, directory: &str) {
    batch.directory(directory, &ProjectKey::directory(directory)).unwrap();
    batch.place_session(session, directory).unwrap();
}

/// The keys to be folded, by the directories of their projects, with the sessions that are read for it.
fn unfolded(batch: &Batch<'_>) -> Vec<(String, Vec<String>)> {
    let read = |key: &UnfoldedKey| {
        let openings = batch.openings_of(key).unwrap();
        openings.iter().map(|opening| opening.session.id.to_string()).collect()
    };
    let keys = batch.clear_unfolded().unwrap();
    let directory = |key: &UnfoldedKey| {
        let project = key.project.as_ref().map(|(_, project)| project.outside_git().unwrap());
        project.unwrap_or_default().to_owned()
    };
    let mut keys: Vec<_> = keys.iter().map(|key| (directory(key), read(key))).collect();
    batch.all_folded().unwrap();
    keys.sort();
    keys
}

#[test]
fn a_new_session_reads_only_its_project() {
    let home = Home::new();
    let mut store = home.store();
    let batch = store.begin().unwrap();
    show(&batch, "one", "/a");
    show(&batch, "two", "/b");
    let own = |directory: &str, session: &str| (directory.to_owned(), vec![session.to_owned()]);
    assert_eq!(unfolded(&batch), [own("/a", "one"), own("/b", "two")]);
    show(&batch, "three", "/b");
    let both = vec!["two".to_owned(), "three".to_owned()];
    assert_eq!(unfolded(&batch), [("/b".to_owned(), both)]);
}

#[test]
fn a_session_that_moves_is_folded_in_both_projects() {
    let home = Home::new();
    let mut store = home.store();
    let batch = store.begin().unwrap();
    let session = show(&batch, "one", "/a");
    unfolded(&batch);
    move_to(&batch, session, "/b");
    let expected = [("/a".to_owned(), Vec::new()), ("/b".to_owned(), vec!["one".to_owned()])];
    assert_eq!(unfolded(&batch), expected);
    move_to(&batch, session, "/b");
    assert!(unfolded(&batch).is_empty());
}
