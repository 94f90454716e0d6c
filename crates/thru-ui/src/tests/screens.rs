//! Pictures of the screens.

use crossterm::event::KeyCode;
use insta::assert_snapshot;
use ratatui::style::Color;

use super::{answer, control, key, letter, picture, screen, started};
use crate::state::{Answer, Event, Line, List};
use crate::tone::Tone;

#[test]
fn a_list_beside_an_entry() {
    assert_snapshot!(picture(&started(80, 24)), @r#"
    ">                                                           all · project rocket"
    "> session   Fix the lock of the … 5m│ rocket · Fix the lock of the importer     "
    "  decision  One lock per file, n… 9h│ 4f1c9a52-0000-4000-8000-000000000001      "
    "  ✗ Bash    error: database is l… 9h│                                           "
    "  discovery 数据库连接在导入期间… 2d│ 1. You · 2026-03-01 14:05                 "
    "                                    │   Why does the importer lock the database "
    "                                    │   for so long that others give up?        "
    "                                    │   ✗ $ cargo test importer                 "
    "                                    │   Agent                                   "
    "                                    │   It holds one lock per process.          "
    "                                    │                                           "
    "                                    │                                           "
    "                                    │                                           "
    "                                    │                                           "
    "                                    │                                           "
    "                                    │                                           "
    "                                    │                                           "
    "                                    │                                           "
    "                                    │                                           "
    "                                    │                                           "
    "                                    │                                           "
    "                                    │                                           "
    "                                    │                                           "
    "4 rows · Enter read · F1 keys · Esc leave · Tab kinds · ^R place                "
    "#);
}

#[test]
fn one_pane_where_there_is_no_room_for_two() {
    let mut state = started(40, 10);
    assert_snapshot!(picture(&state), @r#"
    ">                   all · project rocket"
    "> session   Fix the lock of the impo… 5m"
    "  decision  One lock per file, not o… 9h"
    "  ✗ Bash    error: database is locked 9h"
    "  discovery 数据库连接在导入期间被锁… 2d"
    "                                        "
    "                                        "
    "                                        "
    "                                        "
    "4 rows · Enter read · F1 keys           "
    "#);
    state.update(key(KeyCode::Enter));
    state.update(letter('j'));
    assert_snapshot!(picture(&state), @r#"
    ">                   all · project rocket"
    "4f1c9a52-0000-4000-8000-000000000001    "
    "                                        "
    "1. You · 2026-03-01 14:05               "
    "  Why does the importer lock the        "
    "  database for so long that others give "
    "  up?                                   "
    "  ✗ $ cargo test importer               "
    "  Agent                                 "
    "4 rows · Esc back · F1 keys · y copy    "
    "#);
}

#[test]
fn the_smallest_screen() {
    let mut state = started(20, 5);
    state.update(key(KeyCode::Down));
    assert_snapshot!(picture(&state), @r#"
    ">                   "
    "  Fix the lock of t…"
    "> One lock per file…"
    "  error: database i…"
    "4 rows · Enter read "
    "#);
    state.update(key(KeyCode::F(1)));
    state.update(key(KeyCode::Down));
    assert_snapshot!(picture(&state), @r#"
    ">                   "
    "  letters  search as"
    "           you type "
    "  Up Down  select   "
    "Down more · Esc back"
    "#);
}

#[test]
fn the_end_of_a_long_query_stays_in_sight() {
    let mut state = started(40, 6);
    for character in "why does the importer 数据库 lock the database".chars() {
        state.update(letter(character));
    }
    assert_snapshot!(picture(&state), @r#"
    "> the importer 数据库 lock the database "
    "> session   Fix the lock of the impo… 5m"
    "  decision  One lock per file, not o… 9h"
    "  ✗ Bash    error: database is locked 9h"
    "  discovery 数据库连接在导入期间被锁… 2d"
    "… · Enter read · F1 keys · Esc leave    "
    "#);
}

#[test]
fn the_keys() {
    let mut state = started(80, 24);
    state.update(key(KeyCode::F(1)));
    assert_snapshot!(picture(&state), @r#"
    ">                                                           all · project rocket"
    "> session   Fix the lock of the … 5m│ rocket · Fix the lock of the importer     "
    "  decision  ┌Keys──────────────────────────────────────────────────┐000001      "
    "  ✗ Bash    │ In the list                                          │            "
    "  discovery │   letters  search as you type                        │            "
    "            │   Up Down  select (also ^P ^N, PgUp PgDn)            │he database "
    "            │   Enter    read the entry                            │ up?        "
    "            │   Tab      all, memories, sessions                   │            "
    "            │   ^R       this project, everywhere, this session    │            "
    "            │   Esc      clear, go back, leave                     │s.          "
    "            │   F1 ^Z ^C this help, suspend, leave                 │            "
    "            │ In an entry                                          │            "
    "            │   Up Down  scroll (also j k, space, g G)             │            "
    "            │   n p      next, previous entry                      │            "
    "            │   y        copy the id                               │            "
    "            │   c        copy the command that resumes the session │            "
    "            │   r        resume the session                        │            "
    "            │   s        search its session                        │            "
    "            │   e        edit the memory in $EDITOR                │            "
    "            │   f        forget, after a question                  │            "
    "            │   u        undo the last decision                    │            "
    "            │   Esc q    back to the list                          │            "
    "            └──────────────────────────────────────────────────────┘            "
    "any key: back                                                                   "
    "#);
}

#[test]
fn the_keys_on_a_narrow_screen() {
    let mut state = started(50, 20);
    state.update(key(KeyCode::F(1)));
    state.update(key(KeyCode::PageDown));
    assert_snapshot!(picture(&state), @r#"
    ">                             all · project rocket"
    ">┌Keys──────────────────────────────────────────┐m"
    " │   ^R       this project, everywhere, this    │h"
    " │            session                           │h"
    " │   Esc      clear, go back, leave             │d"
    " │   F1 ^Z ^C this help, suspend, leave         │ "
    " │ In an entry                                  │ "
    " │   Up Down  scroll (also j k, space, g G)     │ "
    " │   n p      next, previous entry              │ "
    " │   y        copy the id                       │ "
    " │   c        copy the command that resumes the │ "
    " │            session                           │ "
    " │   r        resume the session                │ "
    " │   s        search its session                │ "
    " │   e        edit the memory in $EDITOR        │ "
    " │   f        forget, after a question          │ "
    " │   u        undo the last decision            │ "
    " │   Esc q    back to the list                  │ "
    " └──────────────────────────────────────────────┘ "
    "Down more · Esc back                              "
    "#);
}

#[test]
fn the_question_before_something_is_forgotten() {
    let mut state = started(80, 14);
    state.update(key(KeyCode::Enter));
    let target = state.target().unwrap().clone();
    let question = "Fix the lock of the importer\n\nForget this session with 12 passages? This cannot be undone.";
    state.update(Event::Answer(Answer::Previewed(target, Ok(question.to_owned()))));
    assert_snapshot!(picture(&state), @r#"
    ">                                                           all · project rocket"
    "> session   Fix the lock of the … 5m│ rocket · Fix the lock of the importer     "
    "  decision  One lock per file, n… 9h│ 4f1c9a52-0000-4000-8000-000000000001      "
    "  ✗ Bash    error: database is l… 9h│                                           "
    "  discovery ┌Forget────────────────────────────────────────────────┐            "
    "            │ Fix the lock of the importer                         │he database "
    "            │                                                      │ up?        "
    "            │ Forget this session with 12 passages? This cannot be │            "
    "            │ undone.                                              │            "
    "            │ y forget · any other key: no                         │s.          "
    "            └──────────────────────────────────────────────────────┘            "
    "                                    │                                           "
    "                                    │                                           "
    "4 rows · Esc back · F1 keys · y copy · r resume · s session · f forget          "
    "#);
}

#[test]
fn nothing_found_and_an_error() {
    let mut state = started(60, 6);
    state.update(control('r'));
    let note = Some(Line::new(Tone::Quiet, "Nothing found."));
    answer(&mut state, List { note, ..List::default() });
    state.update(Event::Said(Line::new(Tone::Bad, "vi cannot be started: not found")));
    assert_snapshot!(picture(&state), @r#"
    ">                                        all · every project"
    "Nothing found.             │                                "
    "                           │                                "
    "                           │                                "
    "                           │                                "
    "vi cannot be started: not found                             "
    "#);
}

#[test]
fn without_colour_nothing_is_coloured() {
    let state = started(80, 24);
    let colours = |color| {
        let terminal = screen(&state, color);
        let cells = terminal.backend().buffer().content.iter();
        cells.filter(|cell| cell.fg != Color::Reset || cell.bg != Color::Reset).count()
    };
    assert_eq!(colours(false), 0);
    assert!(colours(true) > 0);
}
