//! The effect of each key.

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use thru_app::ask::ProjectScope;

use super::{Dialog, Effect, Focus, Leave, Line, Place, Request, Shown, State, Target};
use crate::tone::Tone;

/// The keys, as the help shows them.
pub(crate) const KEYS: &[(&str, &str)] = &[
    ("In the list", ""),
    ("letters", "search as you type"),
    ("Up Down", "select (also ^P ^N, PgUp PgDn)"),
    ("Enter", "read the entry"),
    ("Tab", "all, memories, sessions"),
    ("^R", "this project, everywhere, this session"),
    ("Esc", "clear, go back, leave"),
    ("F1 ^Z ^C", "this help, suspend, leave"),
    ("In an entry", ""),
    ("Up Down", "scroll (also j k, space, g G)"),
    ("n p", "next, previous entry"),
    ("y", "copy the id"),
    ("c", "copy the command that resumes the session"),
    ("r", "resume the session"),
    ("s", "search its session"),
    ("e", "edit the memory in $EDITOR"),
    ("f", "forget, after a question"),
    ("u", "undo the last decision"),
    ("Esc q", "back to the list"),
];

/// Rows by which a page moves a list.
const PAGE: usize = 10;

impl State {
    pub(super) fn press(&mut self, key: KeyEvent) -> Vec<Effect> {
        // Some terminals tell of keys that are let go.
        if key.kind == KeyEventKind::Release {
            return Vec::new();
        }
        if key.modifiers.contains(KeyModifiers::CONTROL) {
            match key.code {
                KeyCode::Char('c') => return vec![Effect::Leave(Leave::Quit)],
                KeyCode::Char('z') => return vec![Effect::Suspend],
                _ => {}
            }
        }
        if let Some(dialog) = self.dialog.take() {
            return self.press_in_dialog(dialog, key);
        }
        self.message = None;
        if key.code == KeyCode::F(1) {
            self.dialog = Some(Dialog::Keys(0));
            return Vec::new();
        }
        match self.focus {
            Focus::List => self.press_in_list(key),
            Focus::Detail => self.press_in_detail(key),
        }
    }

    /// Any key but a yes, and those that scroll a long help, closes a dialog.
    fn press_in_dialog(&mut self, dialog: Dialog, key: KeyEvent) -> Vec<Effect> {
        match dialog {
            Dialog::Forget { target, .. } if matches!(key.code, KeyCode::Char('y' | 'Y')) => {
                self.ask_alone(Request::Forget(target))
            }
            Dialog::Forget { .. } => {
                self.message = Some(Line::new(Tone::Quiet, "Nothing was changed."));
                Vec::new()
            }
            Dialog::Keys(first) => {
                let page = self.window().1.saturating_sub(1).max(1) as isize;
                let by = match key.code {
                    KeyCode::Up | KeyCode::Char('k') => -1,
                    KeyCode::Down | KeyCode::Char('j') => 1,
                    KeyCode::PageUp | KeyCode::Char('b') => -page,
                    KeyCode::PageDown | KeyCode::Char(' ') => page,
                    _ => return Vec::new(),
                };
                self.dialog = Some(Dialog::Keys(first));
                if !self.scroll_help(by) {
                    self.dialog = None;
                }
                Vec::new()
            }
        }
    }

    fn press_in_list(&mut self, key: KeyEvent) -> Vec<Effect> {
        let before = self.query.text().to_owned();
        if key.modifiers.contains(KeyModifiers::CONTROL) {
            match key.code {
                KeyCode::Char('r') => {
                    self.before = None;
                    return self.next_place();
                }
                KeyCode::Char('p') => return self.select_up(1),
                KeyCode::Char('n') => return self.select_down(1),
                KeyCode::Char('a') => self.query.home(),
                KeyCode::Char('e') => self.query.end(),
                KeyCode::Char('w') => self.query.delete_word(),
                KeyCode::Char('u') => self.query.delete_line(),
                KeyCode::Char('h') => self.query.backspace(),
                _ => {}
            }
        } else {
            match key.code {
                KeyCode::Up => return self.select_up(1),
                KeyCode::Down => return self.select_down(1),
                KeyCode::PageUp => return self.select_up(PAGE),
                KeyCode::PageDown => return self.select_down(PAGE),
                KeyCode::Tab => return self.show(self.shown.next()),
                KeyCode::BackTab => return self.show(self.shown.next().next()),
                KeyCode::Enter if self.is_behind() || self.target().is_some() => {
                    // What is typed ahead is about the answer that comes.
                    self.open = self.row().filter(|_| !self.is_behind()).cloned();
                    self.focus = Focus::Detail;
                }
                KeyCode::Esc if self.query.is_empty() => {
                    let Some(before) = self.before.take() else {
                        return vec![Effect::Leave(Leave::Quit)];
                    };
                    (self.place, self.shown, self.query) = before;
                    return self.ask();
                }
                KeyCode::Esc => self.query = crate::input::Input::default(),
                KeyCode::Left => self.query.left(),
                KeyCode::Right => self.query.right(),
                KeyCode::Home => self.query.home(),
                KeyCode::End => self.query.end(),
                KeyCode::Backspace => self.query.backspace(),
                KeyCode::Delete => self.query.delete(),
                KeyCode::Char(character) => self.query.insert(character.encode_utf8(&mut [0; 4])),
                _ => {}
            }
        }
        if self.query.text() == before { Vec::new() } else { self.ask() }
    }

    fn press_in_detail(&mut self, key: KeyEvent) -> Vec<Effect> {
        let page = self.height().saturating_sub(1).max(1);
        match key.code {
            KeyCode::Up | KeyCode::Char('k') => self.scroll = self.scroll.saturating_sub(1),
            KeyCode::Down | KeyCode::Char('j') => self.scroll_down(1),
            KeyCode::PageUp | KeyCode::Char('b') => self.scroll = self.scroll.saturating_sub(page),
            KeyCode::PageDown | KeyCode::Char(' ') => self.scroll_down(page),
            KeyCode::Home | KeyCode::Char('g') => self.scroll = 0,
            KeyCode::End | KeyCode::Char('G') => self.scroll_down(usize::MAX / 2),
            KeyCode::Esc
            | KeyCode::Left
            | KeyCode::Enter
            | KeyCode::Backspace
            | KeyCode::Char('q' | 'h' | '/') => return self.close(),
            KeyCode::Char('?') => self.dialog = Some(Dialog::Keys(0)),
            KeyCode::Char('n') => return self.select_down(1),
            KeyCode::Char('p') => return self.select_up(1),
            KeyCode::Char(_) if self.is_busy => {
                return self.refuse("Still at work on the last key: press this one again.");
            }
            KeyCode::Char('u') => return self.ask_alone(Request::Undo),
            KeyCode::Char(letter) => return self.act(letter),
            _ => {}
        }
        Vec::new()
    }

    /// Goes back to the list, where another row may be selected by now.
    fn close(&mut self) -> Vec<Effect> {
        let before = self.target().cloned();
        self.focus = Focus::List;
        self.open = None;
        if self.target() == before.as_ref() { Vec::new() } else { self.read() }
    }

    /// Does something with the entry that is being read.
    fn act(&mut self, letter: char) -> Vec<Effect> {
        let Some(row) = self.row().cloned() else { return Vec::new() };
        let id = row.target.id().to_owned();
        match (letter, row.session, row.target) {
            ('y', _, _) => self.copy(id),
            ('f', _, target) => self.ask_alone(Request::Preview(target)),
            ('e', _, Target::Memory(_)) => self.ask_alone(Request::Draft(id)),
            ('e', ..) => self.refuse("Only memories can be edited."),
            ('c', Some(session), _) => vec![Effect::Ask(Request::ResumeLine(session))],
            ('r', Some(session), _) => vec![Effect::Leave(Leave::Resume(session))],
            ('s', Some(session), _) => {
                let place = std::mem::replace(&mut self.place, Place::Session(session));
                let shown = std::mem::replace(&mut self.shown, Shown::All);
                let query = std::mem::take(&mut self.query);
                if !matches!(place, Place::Session(_)) {
                    self.before = Some((place, shown, query));
                }
                self.focus = Focus::List;
                self.open = None;
                self.ask()
            }
            ('c' | 'r' | 's', None, _) => self.refuse("It comes from no session."),
            _ => Vec::new(),
        }
    }

    fn refuse(&mut self, why: &str) -> Vec<Effect> {
        self.message = Some(Line::new(Tone::Bad, why));
        Vec::new()
    }

    fn show(&mut self, shown: Shown) -> Vec<Effect> {
        self.shown = shown;
        // A session holds no sessions.
        if shown == Shown::Sessions && matches!(self.place, Place::Session(_)) {
            self.place = Place::Project;
        }
        self.ask()
    }

    fn next_place(&mut self) -> Vec<Effect> {
        let session = self.row().and_then(|row| row.session.clone());
        let next = match (&self.place, session) {
            (Place::Project, _) => Place::Everywhere,
            (Place::Everywhere, Some(session)) if self.shown != Shown::Sessions => {
                Place::Session(session)
            }
            _ if self.start == ProjectScope::Everywhere => Place::Everywhere,
            _ => Place::Project,
        };
        if next == self.place {
            return self.refuse("There is no project here: every project is shown already.");
        }
        self.place = next;
        self.ask()
    }

    fn select_up(&mut self, rows: usize) -> Vec<Effect> {
        self.select(self.selected.saturating_sub(rows))
    }

    fn select_down(&mut self, rows: usize) -> Vec<Effect> {
        self.select(self.selected.saturating_add(rows))
    }

    fn select(&mut self, row: usize) -> Vec<Effect> {
        let before = self.target().cloned();
        self.selected = row.min(self.list.rows.len().saturating_sub(1));
        if self.focus == Focus::Detail
            && let Some(row) = self.list.rows.get(self.selected)
        {
            self.open = Some(row.clone());
        }
        if self.target() == before.as_ref() { Vec::new() } else { self.read() }
    }

    fn scroll_down(&mut self, rows: usize) {
        self.scroll = self.scroll.saturating_add(rows).min(self.last_scroll());
    }
}

impl Shown {
    /// The next of the cycle.
    const fn next(self) -> Self {
        match self {
            Self::All => Self::Memories,
            Self::Memories => Self::Sessions,
            Self::Sessions => Self::All,
        }
    }
}
