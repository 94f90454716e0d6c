//! Decisions of people about memories, against answers of models about the same: a forgotten
//! or overwritten text does not come back in other words.

use thru_core::{
    Digest, Id, Made, MemoryEdit, MemoryKind, Observation, RefinedSession, RefinedTurn, Relation,
    SnapshotContent, Speaker, Spent, Statement, Timestamp,
};
use thru_intake::{Operation, Refined, SnapshotEnd};
use thru_lifecycle::content::ContentHash;
use thru_store::{
    FactFilter, MemoryBody, MemoryFilter, MemoryRow, PassageFilter, Store, TurnFilter,
};

use crate::machine::{Machine, assert_same, key};
use crate::records::{Author, ONE, file};

const PERSON: &str = "Use a mutex for the writer from now on, never a channel.";
const AGENT: &str =
    "I decided to use a mutex for the writer because a channel would lose the order.";
/// The title of the model's observation.
const MADE: &str = "Decided to guard the writer with a mutex";

fn author() -> Author {
    let mut author = Author::of(ONE).in_directory("/home/ada/rocket");
    author.asks(PERSON).says(AGENT);
    author
        .asks("Find out why the tests are slow.")
        .says("I decided to fake the clock in the tests because a real clock takes seconds.");
    author
}

fn machine() -> Machine {
    let machine = Machine::with([(&file(ONE), &author().text())]);
    machine.import();
    machine
}

fn store(machine: &Machine) -> (Store, i64) {
    let store = Store::open_to_read(&machine.layout()).unwrap();
    let row = store.session_by_key(&key(ONE)).unwrap().unwrap();
    (store, row)
}

fn all(machine: &Machine) -> Vec<MemoryRow> {
    let filter = MemoryFilter { superseded: true, ..MemoryFilter::default() };
    store(machine).0.memories(&filter).unwrap()
}

fn told(machine: &Machine) -> Vec<MemoryRow> {
    all(machine).into_iter().filter(|memory| !memory.flags.is_superseded).collect()
}

/// All that the memories that are told say, each with its sections.
fn said(machine: &Machine) -> String {
    let store = store(machine).0;
    let bodies = told(machine).into_iter().map(|memory| match store.body_of(&memory).unwrap() {
        MemoryBody::Observation(observation) => serde_json::to_string(&observation).unwrap(),
        MemoryBody::Summary(summary) => serde_json::to_string(&summary).unwrap(),
    });
    bodies.collect::<Vec<_>>().join("\n")
}

fn held(machine: &Machine) -> SnapshotContent {
    let (store, row) = store(machine);
    let end = SnapshotEnd::Time(Timestamp::MAX);
    machine.intake().snapshot_content(&store, row, end).unwrap().into_inner()
}

/// The text of a snapshot without the person's own requests.
fn held_of_agent(machine: &Machine) -> String {
    let content = held(machine);
    serde_json::to_string(&(content.decisions, content.done, content.learned, content.failed))
        .unwrap()
}

/// The memory that is told of a turn and says that.
fn memory(machine: &Machine, turn: u32, words: &str) -> Id {
    let found = told(machine).into_iter().find(|memory| {
        memory.kind != MemoryKind::Summary && memory.turn == turn && memory.title.contains(words)
    });
    found.unwrap_or_else(|| panic!("no {words:?} of turn {turn}: {:#?}", told(machine))).id
}

fn is_told(machine: &Machine, words: &str) -> bool {
    told(machine).iter().any(|memory| memory.title.contains(words))
}

fn decide(machine: &Machine, operation: Operation) -> String {
    let intake = machine.intake();
    let lock = intake.lock(&mut |_| false).unwrap();
    intake.record_and_apply(&lock, &[operation]).unwrap().swap_remove(0)
}

fn forget(machine: &Machine, memory: Id) -> String {
    decide(machine, Operation::MemoryForgotten { memory, session: Some(key(ONE)) })
}

fn edit(machine: &Machine, memory: Id, title: &str) -> String {
    let edit = MemoryEdit { title: Some(title.to_owned()), ..MemoryEdit::default() };
    decide(machine, Operation::MemoryEdited { memory, session: Some(key(ONE)), edit })
}

/// The passages of a turn.
fn passages(machine: &Machine, turn: u32) -> Vec<Id> {
    let (store, row) = store(machine);
    let passages = store.passages(PassageFilter::Session(row)).unwrap();
    passages.into_iter().filter(|one| one.turn == turn).map(|one| one.id).collect()
}

fn contents(machine: &Machine, turn: u32) -> ContentHash {
    let (store, row) = store(machine);
    let turns = store.turns(&TurnFilter { session: Some(row), ..TurnFilter::default() }).unwrap();
    turns.into_iter().find(|one| one.turn == turn).unwrap().content
}

fn made() -> Made {
    Made {
        provider: "ollama".to_owned(),
        model: "small".to_owned(),
        prompt: "turn/1".to_owned(),
        spent: Spent::default(),
        latency_ms: 1,
        dropped: 0,
    }
}

fn observation(title: &str, sources: &[Id]) -> Observation {
    let statement = Statement { text: format!("{title}."), sources: sources.to_vec() };
    serde_json::from_value(serde_json::json!({
        "id": sources[0], "turn": 0, "type": "decision", "title": title,
        "narrative": statement, "sources": sources, "speaker": Speaker::Agent,
    }))
    .unwrap()
}

fn import(machine: &Machine, operation: Operation) {
    let intake = machine.intake();
    let lock = intake.lock(&mut |_| false).unwrap();
    intake.record(&[operation]).unwrap();
    intake.apply_answers(&lock, &[key(ONE)]).unwrap();
}

/// A model answers about a turn, with these observations, which name these passages.
fn answers(machine: &Machine, turn: u32, titles: &[&str], sources: &[Id]) {
    let learned = Statement { text: format!("Learned: {}", titles[0]), sources: sources.to_vec() };
    let refined = RefinedTurn {
        observations: titles.iter().map(|title| observation(title, sources)).collect(),
        digest: Digest { learned: vec![learned], ..Digest::default() },
    };
    let title: Vec<u8> = titles.concat().into_bytes();
    let refined = Refined {
        question: format!("question-{turn}-{}", titles.concat()),
        session: key(ONE),
        content: contents(machine, turn),
        input: Id::derive(&[b"input", &title]),
        made: made(),
        refined,
    };
    import(machine, Operation::TurnRefined(Box::new(refined)));
}

fn answers_about_all(machine: &Machine) {
    let (store, row) = store(machine);
    let content = store.session_state(row).unwrap().unwrap().content.unwrap().hash;
    let refined = RefinedSession {
        title: "A mutex for the writer".to_owned(),
        digest: Digest::default(),
        sections: serde_json::from_value(serde_json::json!({ "tags": ["mutex-tag"] })).unwrap(),
    };
    let refined = Refined {
        question: "question-whole".to_owned(),
        session: key(ONE),
        content,
        input: Id::derive(&[b"input-whole"]),
        made: made(),
        refined,
    };
    import(machine, Operation::SessionRefined(Box::new(refined)));
}

/// The agent's passage of a turn.
fn of_agent(machine: &Machine, turn: u32) -> [Id; 1] {
    [*passages(machine, turn).last().unwrap()]
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

#[test]
fn a_model_takes_the_place_of_what_the_agent_said() {
    let machine = machine();
    assert!(is_told(&machine, "because a channel") && is_told(&machine, "fake the clock"));
    answers(&machine, 1, &[MADE], &of_agent(&machine, 1));
    answers_about_all(&machine);
    assert!(
        is_told(&machine, MADE) && !is_told(&machine, "because a channel"),
        "{}",
        said(&machine)
    );
    assert!(said(&machine).contains("mutex-tag") && said(&machine).contains("Learned: "));
    assert_lasting(&machine);
}

#[test]
fn a_decision_that_only_a_model_found_is_a_fact_of_a_model() {
    let machine = machine();
    let decided = |machine: &Machine| -> Vec<(String, String, bool)> {
        let filter =
            FactFilter { relations: Some(vec![Relation::Decided]), ..FactFilter::default() };
        let facts = store(machine).0.facts(&filter).unwrap().into_iter();
        facts.map(|one| (one.object_shown().to_owned(), one.note, one.end.is_none())).collect()
    };
    assert_eq!(decided(&machine), []);
    answers(&machine, 1, &[MADE], &of_agent(&machine, 1));
    assert_eq!(decided(&machine), [(MADE.to_owned(), "as a model says".to_owned(), true)]);
    assert_lasting(&machine);
    let undo = forget(&machine, memory(&machine, 1, MADE));
    assert_eq!(decided(&machine), []);
    decide(&machine, Operation::OperationUndone { operation: undo });
    assert_eq!(decided(&machine).len(), 1);
}

#[test]
fn what_was_forgotten_does_not_come_back_through_a_model() {
    let machine = machine();
    let of_turn: Vec<Id> = told(&machine)
        .into_iter()
        .filter(|memory| memory.turn == 1 && memory.kind != MemoryKind::Summary)
        .map(|memory| memory.id)
        .collect();
    assert_eq!(of_turn.len(), 2, "{}", said(&machine));
    let undo: Vec<String> = of_turn.iter().map(|id| forget(&machine, *id)).collect();
    answers(&machine, 1, &[MADE], &of_agent(&machine, 1));
    answers(&machine, 2, &["The tests wait for the clock"], &of_agent(&machine, 2));
    answers_about_all(&machine);
    assert!(!said(&machine).contains("mutex"), "{}", said(&machine));
    assert!(is_told(&machine, "The tests wait for the clock"), "other turns are laid over");
    assert!(!held_of_agent(&machine).contains("mutex"), "{:#?}", held(&machine));
    assert_lasting(&machine);
    for operation in undo {
        decide(&machine, Operation::OperationUndone { operation });
    }
    assert!(is_told(&machine, MADE) && said(&machine).contains("mutex-tag"));
}

#[test]
fn nothing_says_otherwise_beside_what_a_person_wrote_over() {
    let machine = machine();
    edit(&machine, memory(&machine, 1, "mutex for the writer because"), "A channel after all");
    answers(&machine, 1, &[MADE], &of_agent(&machine, 1));
    answers_about_all(&machine);
    assert!(is_told(&machine, "A channel after all") && !is_told(&machine, MADE));
    assert!(!said(&machine).contains("mutex-tag"));
    assert!(held_of_agent(&machine).contains("A channel after all"), "{:#?}", held(&machine));
    assert!(!held_of_agent(&machine).contains("mutex"), "{:#?}", held(&machine));
    assert_lasting(&machine);
}

#[test]
fn what_a_forgotten_memory_took_the_place_of_is_forgotten_too() {
    // Of the same passage, and of another of the turn.
    for place in [0, 1] {
        let machine = machine();
        answers(&machine, 1, &[MADE, "Another"], &passages(&machine, 1)[place..=place]);
        answers_about_all(&machine);
        let before = machine.dump();
        assert!(held_of_agent(&machine).contains("mutex"));
        let forgotten = forget(&machine, memory(&machine, 1, MADE));
        assert!(is_told(&machine, "Another"), "the rest of the answer stays");
        assert!(all(&machine).iter().all(|one| !one.title.contains("because a channel")));
        assert!(!said(&machine).contains("because a channel"), "{}", said(&machine));
        assert!(!said(&machine).contains("Learned: "), "{}", said(&machine));
        assert!(!held_of_agent(&machine).contains("mutex"), "{:#?}", held(&machine));
        assert_lasting(&machine);
        decide(&machine, Operation::OperationUndone { operation: forgotten });
        assert_same(&machine.dump(), &before);
    }
}

#[test]
fn what_a_person_wrote_over_stays_when_the_turn_goes_on_or_others_answer() {
    let machine = machine();
    answers(&machine, 2, &["The tests wait for the clock"], &of_agent(&machine, 2));
    edit(&machine, memory(&machine, 2, "The tests wait"), "The tests wait for a lock");
    assert!(held_of_agent(&machine).contains("a lock"), "{:#?}", held(&machine));
    assert!(!held_of_agent(&machine).contains("the clock"), "{:#?}", held(&machine));
    answers(&machine, 2, &["The clock keeps the tests waiting"], &of_agent(&machine, 2));
    assert!(is_told(&machine, "a lock") && !said(&machine).contains("clock keeps"));
    assert_lasting(&machine);
    machine.write(&file(ONE), author().says("I also updated the readme of the tests.").text());
    machine.import();
    assert!(is_told(&machine, "The tests wait for a lock"));
    assert!(!said(&machine).contains("fake the clock"), "{}", said(&machine));
    answers(&machine, 2, &["The clock keeps the tests waiting"], &of_agent(&machine, 2));
    let said = said(&machine);
    assert!(!said.contains("fake the clock") && !said.contains("clock keeps"), "{said}");
    assert_lasting(&machine);
}

#[test]
fn a_decision_is_about_a_statement_and_not_about_its_place() {
    let machine = machine();
    let sources = of_agent(&machine, 1);
    answers(&machine, 1, &["First", "Twice", "Twice"], &sources);
    let titles = told(&machine).into_iter().filter(|memory| memory.flags.is_refined);
    assert_eq!(titles.map(|memory| memory.id).collect::<std::collections::HashSet<_>>().len(), 3);
    let first = memory(&machine, 1, "First");
    answers(&machine, 1, &["Something else", "First"], &sources);
    assert_eq!(memory(&machine, 1, "First"), first);
    forget(&machine, first);
    assert!(is_told(&machine, "Something else") && !is_told(&machine, "First"));
    assert_lasting(&machine);
}

#[test]
fn an_answer_is_about_the_turn_that_its_sources_are_in() {
    let mut author = Author::of(ONE).in_directory("/home/ada/rocket");
    for _ in 0..2 {
        author.asks("Guard the writer.").says("I decided to use a mutex because it is simple.");
    }
    let machine = Machine::with([(&file(ONE), &author.text())]);
    machine.import();
    assert_eq!(contents(&machine, 1), contents(&machine, 2));
    let refined = || -> Vec<u32> {
        let told = told(&machine).into_iter();
        told.filter(|memory| memory.flags.is_refined).map(|memory| memory.turn).collect()
    };
    answers(&machine, 2, &[MADE], &of_agent(&machine, 2));
    assert_eq!(refined(), [2]);
    answers(&machine, 1, &["Of no passage"], &[Id::derive(&[b"nowhere"])]);
    assert_eq!(refined(), [2]);
    assert_lasting(&machine);
}
