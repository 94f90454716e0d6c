//! Memories of other programs.

use thru_core::{ForeignName, ForeignSource, Id, MemoryEdit, ObservationType, ProjectKey};
use thru_intake::{ImportedMemory, Operation};
use thru_store::{MemoryBody, MemoryFilter, Store};

use crate::machine::{Machine, assert_same};
use crate::records::{ONE, conversation, file};

fn imported(name: &str, title: &str) -> ImportedMemory {
    ImportedMemory {
        memory: Id::derive(&[name.as_bytes()]),
        named: ForeignName { source: ForeignSource::ClaudeMem, name: name.to_owned() },
        content: Id::derive(&[title.as_bytes()]),
        at: "2026-01-02T03:04:05Z".parse().ok(),
        title: title.to_owned(),
        text: Some("The token was ghp_abcdefghijklmnopqrstuvwxyz0123456789.".to_owned()),
        kind: ObservationType::Feature,
        facts: vec!["A fact".to_owned()],
        concepts: Default::default(),
        files_read: Vec::new(),
        files_modified: vec!["src/retry.rs".to_owned()],
        project: Some(ProjectKey::foreign(ForeignSource::ClaudeMem, "rocket")),
    }
}

fn import(machine: &Machine, memories: &[ImportedMemory]) {
    let intake = machine.intake();
    let lock = intake.lock(&mut |_| false).unwrap();
    intake.import_memories(&lock, memories.to_vec()).unwrap();
}

fn decide(machine: &Machine, operation: Operation) -> String {
    let intake = machine.intake();
    let lock = intake.lock(&mut |_| false).unwrap();
    intake.record_and_apply(&lock, &[operation]).unwrap().swap_remove(0)
}

/// The imported memories, as `name title`.
fn listed(machine: &Machine) -> Vec<String> {
    let store = Store::open_to_read(&machine.layout()).unwrap();
    let rows = store.memories(&MemoryFilter::default()).unwrap();
    let mut listed: Vec<String> = rows
        .iter()
        .filter_map(|row| Some(format!("{} {}", store.foreign_name(row).unwrap()?, row.title)))
        .collect();
    listed.sort();
    listed
}

#[track_caller]
fn assert_lasting(machine: &Machine) {
    let before = machine.dump();
    machine.import();
    assert_same(&machine.dump(), &before);
    machine.rebuild();
    assert_same(&machine.dump(), &before);
    machine.assert_sound();
}

#[test]
fn imported_memories_are_kept_clean_and_made_again() {
    let machine = Machine::with([(&file(ONE), &conversation(ONE).text())]);
    machine.import();
    import(&machine, &[imported("1", "Retries are capped"), imported("2", "Search is fast")]);
    assert_eq!(
        listed(&machine),
        ["claude-mem:1 Retries are capped", "claude-mem:2 Search is fast"]
    );
    let store = Store::open_to_read(&machine.layout()).unwrap();
    let name = ForeignName { source: ForeignSource::ClaudeMem, name: "1".to_owned() };
    let rows = store.memories_imported_as(&name).unwrap();
    let MemoryBody::Observation(body) = store.body_of(&rows[0]).unwrap() else { panic!() };
    assert!(!body.search_text().contains("ghp_"), "{body:?}");
    assert_eq!(body.at, imported("1", "").at);
    assert!(rows[0].flags.is_note && !rows[0].flags.is_from_person);
    drop(store);
    assert_lasting(&machine);
}

#[test]
fn a_memory_that_changed_there_takes_the_place_of_what_it_was() {
    let machine = Machine::new();
    import(&machine, &[imported("1", "Retries are capped at 3")]);
    import(&machine, &[imported("1", "Retries are capped at 5")]);
    assert_eq!(listed(&machine), ["claude-mem:1 Retries are capped at 5"]);
    // And back again.
    import(&machine, &[imported("1", "Retries are capped at 3")]);
    assert_eq!(listed(&machine), ["claude-mem:1 Retries are capped at 3"]);
    assert_lasting(&machine);
}

#[test]
fn what_people_decide_about_an_imported_memory_holds() {
    let machine = Machine::new();
    import(&machine, &[imported("1", "Retries are capped"), imported("2", "Search is fast")]);
    let (one, two) = (imported("1", "").memory, imported("2", "").memory);
    let edit = MemoryEdit { title: Some("Retries end at 5".to_owned()), ..MemoryEdit::default() };
    let edited = decide(&machine, Operation::MemoryEdited { memory: one, session: None, edit });
    let forgot = decide(&machine, Operation::MemoryForgotten { memory: two, session: None });
    assert_eq!(listed(&machine), ["claude-mem:1 Retries end at 5"]);
    // Importing them again changes nothing of that, …
    import(&machine, &[imported("1", "Retries are limited"), imported("2", "Search is faster")]);
    assert_eq!(listed(&machine), ["claude-mem:1 Retries end at 5"]);
    assert_lasting(&machine);
    // … and taking it back shows what came last.
    for operation in [edited, forgot] {
        decide(&machine, Operation::OperationUndone { operation });
    }
    assert_eq!(
        listed(&machine),
        ["claude-mem:1 Retries are limited", "claude-mem:2 Search is faster"]
    );
    assert_lasting(&machine);
}

#[test]
fn a_rebuild_that_would_lose_imported_memories_is_refused() {
    let machine = Machine::new();
    import(&machine, &[imported("1", "Retries are capped")]);
    std::fs::remove_dir_all(machine.layout().journal()).unwrap();
    let refused = machine.try_rebuild(thru_intake::OnLoss::Refuse).unwrap_err();
    assert!(refused.to_string().contains("1 imported memory"), "{refused}");
}
