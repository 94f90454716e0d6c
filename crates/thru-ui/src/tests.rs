//! The screen as a whole: its pictures, its keys, and the real application behind it.

mod home;
mod keys;
mod screens;
mod working;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use thru_app::ask::ProjectScope;

use crate::draw::draw;
use crate::state::{Answer, Effect, Event, Line, List, Row, State, Target};
use crate::tone::{Theme, Tone};

/// A key that is pressed.
fn key(code: KeyCode) -> Event {
    Event::Key(KeyEvent::new(code, KeyModifiers::NONE))
}

fn letter(letter: char) -> Event {
    key(KeyCode::Char(letter))
}

fn control(letter: char) -> Event {
    Event::Key(KeyEvent::new(KeyCode::Char(letter), KeyModifiers::CONTROL))
}

fn row(target: Target, label: &str, title: &str, age: &str) -> Row {
    let session = Some("4f1c9a52-0000-4000-8000-000000000001".to_owned());
    Row { target, label: label.to_owned(), title: title.to_owned(), age: age.to_owned(), session }
}

fn rows() -> Vec<Row> {
    let session = "4f1c9a52-0000-4000-8000-000000000001".to_owned();
    vec![
        row(Target::Session(session), "session", "Fix the lock of the importer", "5m"),
        row(
            Target::Memory("k3f9a".to_owned()),
            "decision",
            "One lock per file, not one per process",
            "9h",
        ),
        row(Target::Passage("m2x7p".to_owned()), "✗ Bash", "error: database is locked", "9h"),
        row(
            Target::Memory("q8d2t".to_owned()),
            "discovery",
            "数据库连接在导入期间被锁定，超时后才释放",
            "2d",
        ),
    ]
}

fn listed(rows: Vec<Row>) -> List {
    List { rows, project: Some("rocket".to_owned()), note: None, is_waiting: false }
}

/// Answers the question on the screen.
fn answer(state: &mut State, list: List) -> Vec<Effect> {
    let question = state.question();
    state.update(Event::Answer(Answer::Listed(question, Ok(list))))
}

/// Answers the selected entry.
fn tell(state: &mut State, lines: &[(Tone, &str)]) {
    let target = state.target().unwrap().clone();
    let lines = lines.iter().map(|(tone, text)| Line::new(*tone, *text)).collect();
    state.update(Event::Answer(Answer::Read(target, Ok(lines))));
}

/// A state with rows and an entry.
fn started(columns: u16, lines: u16) -> State {
    let (mut state, _) = State::new("", ProjectScope::Here, (columns, lines));
    answer(&mut state, listed(rows()));
    tell(
        &mut state,
        &[
            (Tone::Heading, "rocket · Fix the lock of the importer"),
            (Tone::Id, "4f1c9a52-0000-4000-8000-000000000001"),
            (Tone::Plain, ""),
            (Tone::Heading, "1. You · 2026-03-01 14:05"),
            (
                Tone::Plain,
                "  Why does the importer lock the database for so long that others give up?",
            ),
            (Tone::Bad, "  ✗ $ cargo test importer"),
            (Tone::Quiet, "  Agent"),
            (Tone::Plain, "  It holds one lock per process."),
        ],
    );
    state
}

/// A state as its terminal shows it.
fn screen(state: &State, color: bool) -> Terminal<TestBackend> {
    let mut terminal = Terminal::new(TestBackend::new(state.size.0, state.size.1)).unwrap();
    terminal.draw(|frame| draw(state, Theme { color }, frame)).unwrap();
    terminal
}

/// The same as text, without the cells that wide characters cover.
fn picture(state: &State) -> String {
    let text = screen(state, true).backend().to_string();
    let lines = text.lines().map(|line| line.split(" Hidden by").next().unwrap_or(line));
    lines.map(|line| format!("{line}\n")).collect()
}
