//! The screen with the real application behind it, worked by hand or by its thread.

use std::time::{Duration, Instant};

use crossterm::event::KeyCode;
use thru_app::ask::ProjectScope;
use thru_app::keep::remember::{Remember, remember};
use thru_app::{App, Trouble, wording};
use thru_core::ObservationType;

use super::home::{Home, SESSION, call};
use super::{control, key, letter, picture};
use crate::ask::answer;
use crate::state::{Answer, Effect, Event, Request, Row, Shown, State, Target};
use crate::tone::Tone;
use crate::worker::Worker;

/// Carries out what is to be done, and what follows from that; returns what is not for the application.
fn carry_out(app: &App, state: &mut State, mut effects: Vec<Effect>) -> Vec<Effect> {
    let mut others = Vec::new();
    while !effects.is_empty() {
        let effect = effects.remove(0);
        match effect {
            Effect::Ask(request) => {
                let answer = answer(app, request, wording::sentences, call());
                effects.extend(state.update(Event::Answer(answer)));
            }
            other => others.push(other),
        }
    }
    others
}

fn press(app: &App, state: &mut State, event: Event) -> Vec<Effect> {
    let effects = state.update(event);
    carry_out(app, state, effects)
}

fn start(app: &App, query: &str) -> State {
    let (mut state, effects) = State::new(query, ProjectScope::Everywhere, (100, 30));
    carry_out(app, &mut state, effects);
    state
}

fn lines(state: &State) -> String {
    let lines = state.lines().unwrap().iter();
    lines.map(|line| format!("{}\n", line.text)).collect()
}

fn tell(app: &App, text: &str) -> String {
    let request = Remember {
        text: text.to_owned(),
        title: None,
        kind: ObservationType::Decision,
        is_rule: false,
        files: Vec::new(),
        scope: ProjectScope::Here,
        by_agent: false,
    };
    remember(app, &request, call()).unwrap();
    text.to_owned()
}

#[test]
fn history_is_listed_searched_and_read() {
    let home = Home::new();
    let app = home.app();
    let mut state = start(&app, "");
    let is_session = |state: &State| state.target() == Some(&Target::Session(SESSION.to_owned()));
    assert!(is_session(&state), "{:?}", state.list);
    let turns = lines(&state);
    assert!(turns.contains("1. You") && turns.contains("$ cargo test importer"), "{turns}");
    press(&app, &mut state, Event::Paste("importer lock database".to_owned()));
    let found = state.list.rows.iter().position(|row| matches!(row.target, Target::Passage(_)));
    state.selected = found.expect("a passage");
    let target = state.target().unwrap().clone();
    carry_out(&app, &mut state, vec![Effect::Ask(Request::Read(target))]);
    assert!(lines(&state).contains("lock"), "{}", lines(&state));
    assert_eq!(state.row().unwrap().session.as_deref(), Some(SESSION));
    state.shown = Shown::Sessions;
    let question = state.question();
    carry_out(&app, &mut state, vec![Effect::Ask(Request::List(question))]);
    assert!(is_session(&state));
    press(&app, &mut state, control('u'));
    press(&app, &mut state, Event::Paste("zebrafish quasar".to_owned()));
    let note = state.list.note.as_ref().expect("a remark");
    assert!(note.text.starts_with("Nothing"), "{}", note.text);
}

#[test]
fn recorded_text_cannot_steer_the_terminal() {
    let home = Home::new();
    let app = home.app();
    let mut state = start(&app, "");
    for query in ["", "database locked"] {
        press(&app, &mut state, Event::Paste(query.to_owned()));
        for _ in 0..=state.list.rows.len() {
            let shown = picture(&state);
            let bad = |c: char| c != '\n' && c.is_control() || c == '\u{202e}';
            assert!(!shown.contains(bad), "{shown:?}");
            press(&app, &mut state, key(KeyCode::Down));
        }
    }
}

#[test]
fn a_memory_is_edited_forgotten_and_brought_back() {
    let home = Home::new();
    let app = home.app();
    tell(&app, "Use one lock per file, never one per process.");
    let mut state = start(&app, "");
    let told = |row: &Row| row.title.starts_with("Use one lock per file");
    state.selected = state.list.rows.iter().position(told).expect("the memory");
    press(&app, &mut state, key(KeyCode::Enter));
    let others = press(&app, &mut state, letter('e'));
    let [Effect::Edit(draft)] = &others[..] else { panic!("{others:?} {:?}", state.message) };
    let mut draft = draft.clone();
    draft.title = "One lock per file".to_owned();
    press(&app, &mut state, Event::Edited(draft.clone()));
    assert_eq!(state.row().unwrap().title, "One lock per file", "{:?}", state.message);
    let edited = state.target().cloned();
    // It changed since that draft was read.
    draft.title = "Two locks per file".to_owned();
    press(&app, &mut state, Event::Edited(draft));
    assert_eq!(state.message.as_ref().map(|line| line.tone), Some(Tone::Bad));
    let is_listed =
        |state: &State| state.list.rows.iter().any(|row| row.title == "One lock per file");
    press(&app, &mut state, letter('f'));
    press(&app, &mut state, letter('y'));
    assert!(!is_listed(&state), "{:?}", state.message);
    assert_eq!(state.target(), edited.as_ref(), "not its neighbour");
    // It is brought back from another entry, too, and read again.
    press(&app, &mut state, letter('n'));
    press(&app, &mut state, letter('u'));
    assert!(is_listed(&state), "{:?}", state.message);
    assert_eq!(state.target(), edited.as_ref());
}

#[test]
fn a_session_is_forgotten_and_a_passage_is_not() {
    let home = Home::new();
    let app = home.app();
    let mut state = start(&app, "importer lock database");
    let is_passage = |row: &Row| matches!(row.target, Target::Passage(_));
    state.selected = state.list.rows.iter().position(is_passage).expect("a passage");
    press(&app, &mut state, key(KeyCode::Enter));
    press(&app, &mut state, letter('f'));
    assert_eq!(state.dialog, None);
    assert!(state.message.as_ref().expect("a refusal").text.contains("passage"));
    let mut state = start(&app, "");
    press(&app, &mut state, key(KeyCode::Enter));
    press(&app, &mut state, letter('f'));
    press(&app, &mut state, letter('y'));
    assert!(state.list.rows.is_empty(), "{:?}", state.list);
    assert!(state.message.expect("a word").text.ends_with("are gone."));
}

#[test]
fn a_home_without_history_says_what_to_do() {
    let home = Home::empty();
    let state = start(&home.app(), "");
    let note = state.list.note.expect("a remark");
    assert!(note.text.contains("thru import"), "{}", note.text);
}

#[test]
fn the_thread_answers_the_last_of_what_is_typed() {
    let home = Home::new();
    let worker =
        Worker::start(home.app(), |trouble: &Trouble| wording::sentences(trouble)).unwrap();
    let (mut state, _) = State::new("", ProjectScope::Everywhere, (80, 24));
    for character in "importer".chars() {
        for effect in state.update(letter(character)) {
            if let Effect::Ask(request) = effect {
                worker.ask(request);
            }
        }
    }
    let begun = Instant::now();
    let answered = loop {
        if let Some(answer) = worker.answer().unwrap() {
            break answer;
        }
        assert!(begun.elapsed() < Duration::from_secs(30), "no answer");
        std::thread::sleep(Duration::from_millis(5));
    };
    let Answer::Listed(question, Ok(list)) = answered else { panic!("{answered:?}") };
    assert_eq!((question.query.as_str(), list.rows.is_empty()), ("importer", false));
}
