//! Memories: what distilling writes, what people decide about it, and what a rebuild makes of both.

use thru_core::{Id, MemoryEdit, MemoryKind, ObservationType, ProjectKey};
use thru_intake::{Operation, RecordedMemory};
use thru_store::index::tokenizer::Terms;
use thru_store::index::{Collection, IndexFilter, QueryTerms, TextIndex};
use thru_store::{MemoryFilter, MemoryRow, Store};

use crate::machine::{Machine, assert_same, key};
use crate::records::{ONE, TWO, conversation, file};

fn memories(machine: &Machine) -> Vec<MemoryRow> {
    let store = Store::open_to_read(&machine.layout()).unwrap();
    store.memories(&MemoryFilter::default()).unwrap()
}

fn observation(machine: &Machine) -> MemoryRow {
    let mut found = memories(machine);
    found.retain(|memory| memory.kind != MemoryKind::Summary && memory.session.is_some());
    found.swap_remove(0)
}

fn decide(machine: &Machine, operation: Operation) -> String {
    let intake = machine.intake();
    let lock = intake.lock(&mut |_| false).unwrap();
    intake.record_and_apply(&lock, &[operation]).unwrap().swap_remove(0)
}

fn undo(machine: &Machine, operation: &str) -> String {
    decide(machine, Operation::OperationUndone { operation: operation.to_owned() })
}

fn recorded(title: &str, project: Option<ProjectKey>) -> RecordedMemory {
    RecordedMemory {
        title: title.to_owned(),
        text: None,
        kind: ObservationType::Decision,
        is_rule: true,
        files: vec!["/home/ada/rocket/build.sh".to_owned()],
        project,
        by_agent: false,
        states: None,
        written_in: None,
    }
}

/// The memories that the index finds for some words, by id.
fn found(machine: &Machine, words: &str) -> Vec<Id> {
    let store = Store::open_to_read(&machine.layout()).unwrap();
    let index =
        TextIndex::open_collection(&machine.layout(), &store, Collection::Memories).unwrap();
    let mut query = QueryTerms::default();
    Terms::default().tokenize(words, |term, _| query.terms.push(term.to_owned()));
    let rows = index.candidates(&query, &IndexFilter::default(), 100).unwrap().found;
    let rows: Vec<i64> = rows.iter().map(|candidate| candidate.row).collect();
    let filter = MemoryFilter { rows: Some(rows), ..MemoryFilter::default() };
    let mut ids: Vec<Id> =
        store.memories(&filter).unwrap().into_iter().map(|memory| memory.id).collect();
    ids.sort();
    ids
}

/// Fails unless a rebuild and another import leave everything as it is.
#[track_caller]
fn assert_lasting(machine: &Machine) {
    let before = machine.dump();
    machine.import();
    assert_same(&machine.dump(), &before);
    machine.rebuild();
    assert_same(&machine.dump(), &before);
    machine.assert_sound();
}

fn one_session() -> Machine {
    let machine = Machine::with([(&file(ONE), &conversation(ONE).text())]);
    machine.import();
    machine
}

#[test]
fn a_session_is_distilled_and_found() {
    let machine = one_session();
    let observation = observation(&machine);
    assert!(found(&machine, &observation.title).contains(&observation.id));
    assert!(memories(&machine).iter().any(|memory| memory.kind == MemoryKind::Summary));
    assert_lasting(&machine);
}

#[test]
fn a_forgotten_memory_stays_away_until_it_is_taken_back() {
    let machine = one_session();
    let before = machine.dump();
    let observation = observation(&machine);
    let forgotten = decide(
        &machine,
        Operation::MemoryForgotten { memory: observation.id, session: Some(key(ONE)) },
    );
    assert!(memories(&machine).iter().all(|memory| memory.id != observation.id));
    assert!(!found(&machine, &observation.title).contains(&observation.id));
    assert_lasting(&machine);
    let undone = undo(&machine, &forgotten);
    assert_same(&machine.dump(), &before);
    assert_lasting(&machine);
    // An undo that is taken back does it again.
    undo(&machine, &undone);
    assert!(memories(&machine).iter().all(|memory| memory.id != observation.id));
    assert_lasting(&machine);
}

#[test]
fn an_edit_stands_over_what_was_distilled() {
    let machine = one_session();
    let memory = observation(&machine).id;
    let edit = |edit| Operation::MemoryEdited { memory, session: Some(key(ONE)), edit };
    decide(&machine, edit(MemoryEdit { title: Some("Zebrafish".into()), ..MemoryEdit::default() }));
    let second = decide(
        &machine,
        edit(MemoryEdit {
            title: Some("Axolotl".into()),
            is_rule: Some(true),
            ..MemoryEdit::default()
        }),
    );
    let current = || memories(&machine).into_iter().find(|one| one.id == memory).unwrap();
    assert_eq!((current().title.as_str(), current().flags.is_rule), ("Axolotl", true));
    assert!(current().flags.is_edited);
    assert_eq!(found(&machine, "axolotl"), [memory]);
    assert_lasting(&machine);
    undo(&machine, &second);
    assert_eq!((current().title.as_str(), current().flags.is_rule), ("Zebrafish", false));
    assert_eq!(found(&machine, "axolotl"), []);
    assert_lasting(&machine);
}

#[test]
fn what_people_tell_is_remembered_before_and_after_any_import() {
    let machine = Machine::with([(&file(ONE), &conversation(ONE).text())]);
    let intake = machine.intake();
    let lock = intake.lock(&mut |_| false).unwrap();
    let global = intake.record_memory(&lock, recorded("Platypus everywhere", None)).unwrap();
    let project = ProjectKey::directory("/home/ada/rocket");
    let local = intake.record_memory(&lock, recorded("Platypus here", Some(project))).unwrap();
    drop((lock, intake));
    machine.import();
    let ids = found(&machine, "platypus");
    let mut expected = vec![RecordedMemory::id(&global), RecordedMemory::id(&local)];
    expected.sort();
    assert_eq!(ids, expected);
    let all = memories(&machine);
    let recorded: Vec<&MemoryRow> = all.iter().filter(|memory| memory.flags.is_note).collect();
    assert_eq!(recorded.iter().filter(|memory| memory.is_global()).count(), 1);
    assert!(recorded.iter().all(|memory| memory.flags.is_rule && memory.flags.is_from_person));
    assert_lasting(&machine);
    decide(
        &machine,
        Operation::MemoryForgotten { memory: RecordedMemory::id(&global), session: None },
    );
    undo(&machine, &local);
    assert_eq!(found(&machine, "platypus"), []);
    assert_lasting(&machine);
}

#[test]
fn memories_go_with_their_session() {
    let machine = Machine::with([
        (&file(ONE), &conversation(ONE).text()),
        (&file(TWO), &conversation(TWO).text()),
    ]);
    machine.import();
    let title = observation(&machine).title;
    machine.forget(ONE);
    machine.forget(TWO);
    assert_eq!(memories(&machine), []);
    assert_eq!(found(&machine, &title), []);
    assert_lasting(&machine);
}

#[test]
fn names_and_merges_of_projects_can_be_taken_back() {
    let machine = one_session();
    let before = machine.dump();
    let project = ProjectKey::directory("/home/ada/rocket");
    let other = ProjectKey::directory("/home/ada/boat");
    let name =
        |name: &str| Operation::ProjectRenamed { project: project.clone(), name: name.into() };
    let first = decide(&machine, name("first"));
    let second = decide(&machine, name("second"));
    let merged =
        decide(&machine, Operation::ProjectMerged { from: project.clone(), into: other.clone() });
    let named = |wanted: &str| {
        let store = Store::open_to_read(&machine.layout()).unwrap();
        store.projects().unwrap().iter().any(|project| project.name == wanted)
    };
    assert!(named("boat") && !named("second"));
    undo(&machine, &merged);
    assert!(named("second"));
    undo(&machine, &second);
    assert!(named("first"));
    undo(&machine, &first);
    let store = Store::open_to_read(&machine.layout()).unwrap();
    assert!(store.projects().unwrap().iter().any(|one| one.key == project && one.name == "rocket"));
    drop(store);
    // The project that was named by the merge is known from then on.
    let after = machine.dump();
    assert!(before.iter().all(|line| after.contains(line)));
    assert_lasting(&machine);
}
