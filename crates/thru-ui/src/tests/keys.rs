//! The effects of keys; no sequence of them does harm.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use proptest::prelude::*;
use thru_app::ask::ProjectScope;

use super::{answer, control, key, letter, listed, picture, rows, started, tell};
use crate::state::{
    Answer, Change, Dialog, Draft, Effect, Event, Focus, Leave, List, Place, Request, Shown, State,
    Target, Then,
};
use crate::tone::Tone;

#[test]
fn typing_asks_and_only_the_last_question_is_answered() {
    let (mut state, effects) = State::new("lo", ProjectScope::Here, (80, 24));
    let early = state.question();
    assert_eq!(effects, [Effect::Ask(Request::List(early.clone()))]);
    let effects = state.update(letter('c'));
    assert_eq!(effects, [Effect::Ask(Request::List(state.question()))]);
    assert_eq!(state.question().query, "loc");
    assert!(state.update(Event::Answer(Answer::Listed(early, Ok(listed(rows()))))).is_empty());
    assert!(state.list.rows.is_empty() && state.list.is_waiting);
    let read = answer(&mut state, listed(rows()));
    assert_eq!(read, [Effect::Ask(Request::Read(rows()[0].target.clone()))]);
    assert!(!state.list.is_waiting);
}

#[test]
fn an_entry_that_was_left_is_not_shown() {
    let mut state = started(80, 24);
    let before = state.target().unwrap().clone();
    state.update(key(KeyCode::Down));
    assert!(state.lines().is_none());
    state.update(Event::Answer(Answer::Read(before, Ok(Vec::new()))));
    assert!(state.lines().is_none());
    tell(&mut state, &[(Tone::Plain, "One lock per file.")]);
    assert_eq!(state.lines().map(<[_]>::len), Some(1));
}

#[test]
fn one_key_cycles_places_and_one_what_is_shown() {
    let mut state = started(80, 24);
    let mut places = Vec::new();
    for _ in 0..3 {
        state.update(control('r'));
        places.push(state.place.clone());
        answer(&mut state, listed(rows()));
    }
    let session = rows()[0].session.clone().unwrap();
    assert_eq!(places, [Place::Everywhere, Place::Session(session.clone()), Place::Project]);
    state.update(key(KeyCode::Tab));
    assert_eq!(state.shown, Shown::Memories);
    state.place = Place::Session(session);
    state.update(key(KeyCode::Tab));
    assert_eq!((state.shown, &state.place), (Shown::Sessions, &Place::Project));
    state.update(key(KeyCode::BackTab));
    assert_eq!(state.shown, Shown::Memories);
}

#[test]
fn escape_goes_back_step_by_step() {
    let mut state = started(80, 24);
    state.update(letter('x'));
    answer(&mut state, listed(rows()));
    state.update(key(KeyCode::Enter));
    assert_eq!(state.focus, Focus::Detail);
    state.update(key(KeyCode::Esc));
    assert_eq!((state.focus, state.query.text()), (Focus::List, "x"));
    assert!(matches!(state.update(key(KeyCode::Esc))[..], [Effect::Ask(_)]));
    assert_eq!(state.update(key(KeyCode::Esc)), [Effect::Leave(Leave::Quit)]);
    assert_eq!(state.update(control('c')), [Effect::Leave(Leave::Quit)]);
    assert_eq!(state.update(control('z')), [Effect::Suspend]);
}

#[test]
fn letters_act_on_an_entry() {
    let mut state = started(80, 24);
    state.update(key(KeyCode::Enter));
    let session = rows()[0].session.clone().unwrap();
    assert_eq!(state.update(letter('y')), [Effect::Copy(session.clone())]);
    assert_eq!(state.update(letter('r')), [Effect::Leave(Leave::Resume(session.clone()))]);
    let asked = state.update(letter('c'));
    assert_eq!(asked, [Effect::Ask(Request::ResumeLine(session.clone()))]);
    let line = "cd '/work' && claude --resume 4f1c".to_owned();
    let copied = state.update(Event::Answer(Answer::ResumeLine(Ok(line.clone()))));
    assert_eq!(copied, [Effect::Copy(line)]);
    assert!(state.update(letter('e')).is_empty(), "a session cannot be edited");
    assert_eq!(state.message.as_ref().map(|line| line.tone), Some(Tone::Bad));
    state.update(letter('n'));
    let id = "k3f9a".to_owned();
    assert_eq!(state.update(letter('e')), [Effect::Ask(Request::Draft(id.clone()))]);
    let draft = Draft { id, base: String::new(), title: "T".to_owned(), text: String::new() };
    let edit = state.update(Event::Answer(Answer::Drafted(Ok(draft.clone()))));
    assert_eq!(edit, [Effect::Edit(draft.clone())]);
    let edited = state.update(Event::Edited(draft.clone()));
    assert_eq!(edited, [Effect::Ask(Request::Correct(draft))]);
    let change = Change { said: "Changed.".to_owned(), then: Then::Listed };
    state.update(Event::Answer(Answer::Changed(Ok(change))));
    assert_eq!(state.update(letter('u')), [Effect::Ask(Request::Undo)]);
    state.update(Event::Answer(Answer::Changed(Err("There is nothing to undo.".to_owned()))));
    state.update(letter('s'));
    assert_eq!((&state.place, state.focus), (&Place::Session(session), Focus::List));
}

#[test]
fn only_a_yes_forgets() {
    let mut state = started(80, 24);
    state.update(key(KeyCode::Down));
    state.update(key(KeyCode::Enter));
    let target = Target::Memory("k3f9a".to_owned());
    for (pressed, expected) in [
        (key(KeyCode::Enter), Vec::new()),
        (letter('n'), Vec::new()),
        (letter('y'), vec![Effect::Ask(Request::Forget(target.clone()))]),
    ] {
        assert_eq!(state.update(letter('f')), [Effect::Ask(Request::Preview(target.clone()))]);
        let preview = Answer::Previewed(target.clone(), Ok("Forget?".to_owned()));
        state.update(Event::Answer(preview));
        assert!(matches!(state.dialog, Some(Dialog::Forget { .. })));
        assert_eq!(state.update(pressed), expected);
        assert_eq!(state.dialog, None);
    }
    // The list is asked for again; the entry stays, so that no key meets its neighbour.
    let change = Change { said: "Forgotten.".to_owned(), then: Then::Gone(target.clone()) };
    state.update(Event::Answer(Answer::Changed(Ok(change))));
    let mut left = rows();
    left.remove(1);
    for list in [listed(left.clone()), List::default(), listed(left.clone())] {
        answer(&mut state, list);
        assert_eq!((state.target(), state.focus), (Some(&target), Focus::Detail));
        assert_eq!(state.lines().unwrap().last().unwrap().text, "Forgotten.");
    }
    // What comes back is what is read, wherever the user is.
    state.update(letter('n'));
    let restored = rows().remove(1);
    let change = Change { said: "Undid.".to_owned(), then: Then::Restored(restored) };
    state.update(Event::Answer(Answer::Changed(Ok(change))));
    answer(&mut state, listed(rows()));
    assert_eq!((state.target(), state.selected), (Some(&target), 1));
    // Without it, the list goes on at the row where it was.
    answer(&mut state, listed(left.clone()));
    state.update(key(KeyCode::Esc));
    assert_eq!((state.target(), state.focus), (Some(&left[1].target), Focus::List));
}

#[test]
fn keys_typed_ahead_of_an_answer_change_nothing() {
    let mut state = started(80, 24);
    state.update(key(KeyCode::Down));
    state.update(key(KeyCode::Enter));
    let target = Target::Memory("k3f9a".to_owned());
    assert_eq!(state.update(letter('f')), [Effect::Ask(Request::Preview(target.clone()))]);
    for early in ['u', 'e', 'f', 'r', 'c', 's'] {
        assert!(state.update(letter(early)).is_empty(), "{early}");
    }
    // Nor does an answer about an entry that was left.
    state.update(letter('n'));
    let preview = || Event::Answer(Answer::Previewed(target.clone(), Ok("Forget?".to_owned())));
    state.update(preview());
    assert_eq!(state.dialog, None);
    assert_eq!(state.update(letter('u')), [Effect::Ask(Request::Undo)]);
    assert!(state.update(letter('u')).is_empty());
}

#[test]
fn another_query_begins_at_its_first_row() {
    let mut state = started(80, 24);
    state.update(letter('x'));
    answer(&mut state, listed(rows()));
    state.update(key(KeyCode::End));
    state.update(key(KeyCode::PageDown));
    assert_eq!(state.selected, 3);
    state.update(control('r'));
    answer(&mut state, listed(rows()));
    assert_eq!(state.selected, 3, "the same query");
    state.update(key(KeyCode::Esc));
    answer(&mut state, listed(rows()));
    assert_eq!((state.selected, state.scroll), (0, 0));
}

#[test]
fn enter_reads_the_answer_that_comes_not_the_one_before() {
    let mut state = started(80, 24);
    state.update(letter('x'));
    state.update(key(KeyCode::Enter));
    assert_eq!((state.focus, state.target()), (Focus::Detail, None));
    assert!(state.update(letter('f')).is_empty());
    let mut found = rows();
    found.reverse();
    answer(&mut state, listed(found.clone()));
    assert_eq!((state.focus, state.target()), (Focus::Detail, Some(&found[0].target)));
    state.update(key(KeyCode::Esc));
    state.update(letter('y'));
    state.update(key(KeyCode::Enter));
    answer(&mut state, listed(Vec::new()));
    assert_eq!(state.focus, Focus::List);
}

#[test]
fn outside_projects_there_is_one_place_and_the_screen_says_so() {
    let mut state = started(80, 24);
    let everything = || List { project: None, ..listed(Vec::new()) };
    answer(&mut state, everything());
    assert_eq!(state.place, Place::Everywhere);
    assert!(state.update(control('r')).is_empty());
    assert!(state.message.take().unwrap().text.contains("every project"));
    answer(&mut state, List { project: None, ..listed(rows()) });
    assert!(!state.update(control('r')).is_empty());
    assert!(matches!(state.place, Place::Session(_)));
}

#[test]
fn a_long_help_is_scrolled() {
    let mut state = started(20, 5);
    state.update(key(KeyCode::F(1)));
    assert!(!picture(&state).contains("back to"));
    for _ in 0..80 {
        state.update(key(KeyCode::Down));
    }
    assert!(picture(&state).contains("back to"), "{}", picture(&state));
    state.update(key(KeyCode::Esc));
    assert_eq!(state.dialog, None);
}

/// Any event: keys with and without modifiers, pastes, sizes, answers.
fn any_event() -> impl Strategy<Value = Event> {
    let code = prop_oneof![
        any::<char>().prop_map(KeyCode::Char),
        "[a-zG?/ ]".prop_map(|letter| KeyCode::Char(letter.chars().next().unwrap_or(' '))),
        prop::sample::select(vec![
            KeyCode::Enter,
            KeyCode::Esc,
            KeyCode::Tab,
            KeyCode::BackTab,
            KeyCode::Up,
            KeyCode::Down,
            KeyCode::Left,
            KeyCode::Right,
            KeyCode::PageUp,
            KeyCode::PageDown,
            KeyCode::Home,
            KeyCode::End,
            KeyCode::Backspace,
            KeyCode::Delete,
            KeyCode::F(1),
        ]),
    ];
    let modifiers = prop::sample::select(vec![KeyModifiers::NONE, KeyModifiers::CONTROL]);
    let pressed = (code, modifiers).prop_map(|(code, how)| Event::Key(KeyEvent::new(code, how)));
    let line = || any::<String>();
    let target = || rows()[1].target.clone();
    prop_oneof![
        8 => pressed,
        1 => line().prop_map(Event::Paste),
        1 => (1u16..100, 1u16..30).prop_map(|(columns, lines)| Event::Resized(columns, lines)),
        1 => line().prop_map(move |text| Event::Answer(Answer::Previewed(target(), Ok(text)))),
        1 => line().prop_map(|said| Event::Answer(Answer::Changed(Ok(Change { said, then: Then::Listed })))),
        1 => line().prop_map(|text| Event::Answer(Answer::ResumeLine(Err(text)))),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn no_events_do_harm_and_every_state_is_drawn(
        events in prop::collection::vec(any_event(), 0..40),
        texts in prop::collection::vec(any::<String>(), 1..6),
        answers in prop::collection::vec(any::<bool>(), 40),
    ) {
        let mut state = started(20, 5);
        for (event, is_answered) in events.into_iter().zip(answers) {
            state.update(event);
            if is_answered {
                let mut found = rows();
                for (row, text) in found.iter_mut().zip(&texts) {
                    row.title.clone_from(text);
                }
                answer(&mut state, listed(found));
                let lines: Vec<_> = texts.iter().map(|text| (Tone::Plain, text.as_str())).collect();
                tell(&mut state, &lines);
            }
            // As large as the terminal said last, and smaller than that: it was made smaller since.
            picture(&state);
            let size = std::mem::replace(&mut state.size, (20, 5));
            picture(&state);
            state.size = size;
        }
    }
}
