//! The state of the screen and the events that change it: a pure function of both, which returns the effects to carry out.

mod keys;

use crossterm::event::KeyEvent;
use thru_app::ask::ProjectScope;

use crate::input::Input;
use crate::text::rows;
use crate::tone::Tone;

use keys::KEYS;

/// Columns of a key in the help.
pub(crate) const KEY: usize = 11;
/// Columns below which only one pane is shown.
const TWO_PANES: u16 = 60;

/// The state of the screen.
#[derive(Clone, Debug)]
pub(crate) struct State {
    /// The query as it is typed.
    pub(crate) query: Input,
    /// What the list showed before that of a session took its place.
    pub(super) before: Option<(Place, Shown, Input)>,
    /// The place that is searched.
    pub(crate) place: Place,
    /// The entries that are listed.
    pub(crate) shown: Shown,
    /// The project that the program was started for.
    pub(crate) start: ProjectScope,
    /// The list.
    pub(crate) list: List,
    /// Index of the selected row.
    pub(crate) selected: usize,
    /// The entry that is being read. It stays when the list changes: keys never act on a neighbour unawares.
    open: Option<Row>,
    /// The question that the list answers.
    answered: Option<Question>,
    /// True while something is looked up for a change, or changed: what is typed ahead would meet another state.
    is_busy: bool,
    /// The entry that was read last.
    pub(crate) detail: Option<Detail>,
    /// Rows of the detail above the pane.
    pub(crate) scroll: usize,
    /// The pane that keys go to.
    pub(crate) focus: Focus,
    /// A window above the panes.
    pub(crate) dialog: Option<Dialog>,
    /// The latest news, in the last line.
    pub(crate) message: Option<Line>,
    /// Columns and lines of the terminal.
    pub(crate) size: (u16, u16),
}

/// A place to search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// The project that the program was started for.
    Project,
    /// Every project.
    Everywhere,
    /// One session, by its id.
    Session(String),
}

/// The entries that a list shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shown {
    /// Memories, passages and sessions.
    All,
    /// Memories.
    Memories,
    /// Sessions.
    Sessions,
}

/// A question for a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Question {
    pub(crate) query: String,
    pub(crate) place: Place,
    pub(crate) shown: Shown,
    pub(crate) start: ProjectScope,
}

/// The list.
#[derive(Clone, Debug, Default)]
pub(crate) struct List {
    pub(crate) rows: Vec<Row>,
    /// The name of the project that was asked about.
    pub(crate) project: Option<String>,
    /// A remark above the rows.
    pub(crate) note: Option<Line>,
    /// True until the question on the screen is answered.
    pub(crate) is_waiting: bool,
}

/// A row of the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) target: Target,
    /// Its kind or its speaker, in a word.
    pub(crate) label: String,
    pub(crate) title: String,
    pub(crate) age: String,
    /// The id of its session.
    pub(crate) session: Option<String>,
}

/// An entry, by its id.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Target {
    Memory(String),
    Passage(String),
    Session(String),
}

impl Target {
    pub(crate) fn id(&self) -> &str {
        match self {
            Self::Memory(id) | Self::Passage(id) | Self::Session(id) => id,
        }
    }
}

/// An entry whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Detail {
    pub(crate) target: Target,
    pub(crate) lines: Vec<Line>,
}

/// A line of text in one tone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) tone: Tone,
    pub(crate) text: String,
}

impl Line {
    pub(crate) fn new(tone: Tone, text: impl Into<String>) -> Self {
        Self { tone, text: text.into() }
    }
}

/// The pane that keys go to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Focus {
    /// The query and the list.
    List,
    /// The entry.
    Detail,
}

/// A window above the panes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Dialog {
    /// The keys, from this row on.
    Keys(usize),
    /// A question before something is forgotten.
    Forget { target: Target, question: String },
}

/// A memory to be edited.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Draft {
    pub(crate) id: String,
    /// The version that was read.
    pub(crate) base: String,
    pub(crate) title: String,
    pub(crate) text: String,
}

/// Something that happened.
#[derive(Clone, Debug)]
pub(crate) enum Event {
    /// A key was pressed.
    Key(KeyEvent),
    /// Text was pasted.
    Paste(String),
    /// The terminal has this size.
    Resized(u16, u16),
    /// A request was answered.
    Answer(Answer),
    /// A memory was edited.
    Edited(Draft),
    /// Something outside the application did not work, or did.
    Said(Line),
}

/// Something to be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// Ask the application.
    Ask(Request),
    /// Hand text to the terminal's clipboard.
    Copy(String),
    /// Open the user's editor.
    Edit(Draft),
    /// Stop until the shell continues the program.
    Suspend,
    /// End.
    Leave(Leave),
}

/// The way in which a user left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Leave {
    /// To do something else.
    Quit,
    /// To go on with the session that has this id.
    Resume(String),
}

/// A request to the application.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Request {
    List(Question),
    Read(Target),
    Preview(Target),
    Forget(Target),
    Undo,
    /// The command line that resumes a session.
    ResumeLine(String),
    /// A memory, to be edited.
    Draft(String),
    Correct(Draft),
}

/// An answer of the application; errors are in words.
#[derive(Clone, Debug)]
pub(crate) enum Answer {
    Listed(Question, Result<List, String>),
    Read(Target, Result<Vec<Line>, String>),
    Previewed(Target, Result<String, String>),
    ResumeLine(Result<String, String>),
    Drafted(Result<Draft, String>),
    /// Something was changed, or could not be.
    Changed(Result<Change, String>),
}

/// A change in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Change {
    pub(crate) said: String,
    pub(crate) then: Then,
}

/// The state of an entry after a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Then {
    /// The list tells it.
    Listed,
    /// The entry is gone.
    Gone(Target),
    /// The memory is back, or is as it was.
    Restored(Row),
}

impl State {
    /// The state at the start, with what is to be done first.
    pub(crate) fn new(query: &str, start: ProjectScope, size: (u16, u16)) -> (Self, Vec<Effect>) {
        let place = match start {
            ProjectScope::Everywhere => Place::Everywhere,
            ProjectScope::Here | ProjectScope::Named(_) => Place::Project,
        };
        let mut state = Self {
            query: Input::new(query),
            before: None,
            place,
            shown: Shown::All,
            start,
            list: List::default(),
            selected: 0,
            open: None,
            answered: None,
            is_busy: false,
            detail: None,
            scroll: 0,
            focus: Focus::List,
            dialog: None,
            message: None,
            size,
        };
        let effects = state.ask();
        (state, effects)
    }

    /// Takes an event in, and returns what is to be done.
    pub(crate) fn update(&mut self, event: Event) -> Vec<Effect> {
        match event {
            Event::Key(key) => self.press(key),
            Event::Paste(text) => match self.focus {
                Focus::List if self.dialog.is_none() => {
                    self.query.insert(&text);
                    self.ask()
                }
                Focus::List | Focus::Detail => Vec::new(),
            },
            Event::Resized(columns, lines) => {
                self.size = (columns, lines);
                self.scroll = self.scroll.min(self.last_scroll());
                self.scroll_help(0);
                Vec::new()
            }
            Event::Answer(answer) => self.take(answer),
            Event::Edited(draft) => self.ask_alone(Request::Correct(draft)),
            Event::Said(line) => {
                self.message = Some(line);
                Vec::new()
            }
        }
    }

    fn take(&mut self, answer: Answer) -> Vec<Effect> {
        if !matches!(answer, Answer::Listed(..) | Answer::Read(..) | Answer::ResumeLine(_)) {
            self.is_busy = false;
        }
        match answer {
            Answer::Listed(question, listed) if question == self.question() => self.list(listed),
            Answer::Read(target, lines) if self.target() == Some(&target) => {
                let lines = lines.unwrap_or_else(|error| vec![Line::new(Tone::Bad, error)]);
                self.detail = Some(Detail { target, lines });
                self.scroll = self.scroll.min(self.last_scroll());
                Vec::new()
            }
            // The user went on meanwhile.
            Answer::Listed(..) | Answer::Read(..) => Vec::new(),
            Answer::Previewed(target, Ok(question)) if self.is_open(&target) => {
                self.dialog = Some(Dialog::Forget { target, question });
                Vec::new()
            }
            Answer::Drafted(Ok(draft)) if self.is_open(&Target::Memory(draft.id.clone())) => {
                vec![Effect::Edit(draft)]
            }
            Answer::Previewed(_, Ok(_)) | Answer::Drafted(Ok(_)) => Vec::new(),
            Answer::ResumeLine(Ok(line)) => self.copy(line),
            Answer::Changed(Ok(change)) => {
                let said = Line::new(Tone::Good, change.said);
                self.message = Some(said.clone());
                let mut effects = self.ask();
                match (change.then, &self.open) {
                    (Then::Gone(target), Some(open)) if open.target == target => {
                        let title = Line::new(Tone::Quiet, &open.title);
                        self.detail = Some(Detail { target, lines: vec![title, said] });
                        self.scroll = 0;
                        return effects;
                    }
                    (Then::Restored(row), Some(_)) => {
                        self.open = Some(row);
                        self.select_open();
                    }
                    _ => {}
                }
                effects.extend(self.read());
                effects
            }
            Answer::Previewed(_, Err(error))
            | Answer::ResumeLine(Err(error))
            | Answer::Drafted(Err(error))
            | Answer::Changed(Err(error)) => {
                self.message = Some(Line::new(Tone::Bad, error));
                Vec::new()
            }
        }
    }

    /// True for the entry that keys act on.
    fn is_open(&self, target: &Target) -> bool {
        self.focus == Focus::Detail && self.target() == Some(target)
    }

    /// Shows a list. The entry that is being read stays; a new query begins at its first row; otherwise the row that was
    /// selected still is.
    fn list(&mut self, listed: Result<List, String>) -> Vec<Effect> {
        let before = self.target().cloned();
        let selected = self.list.rows.get(self.selected).map(|row| row.target.clone());
        let query = self.question().query;
        let is_another = self.answered.as_ref().is_none_or(|one| one.query != query);
        // Outside projects, both places are the same.
        if self.place == Place::Project && listed.as_ref().is_ok_and(|list| list.project.is_none())
        {
            (self.place, self.start) = (Place::Everywhere, ProjectScope::Everywhere);
        }
        self.answered = Some(self.question());
        self.list = listed.unwrap_or_else(|error| List {
            note: Some(Line::new(Tone::Bad, error)),
            ..List::default()
        });
        let is_reading = self.open.is_some();
        let sought = before.clone().or(selected).filter(|_| is_reading || !is_another);
        let again = self.list.rows.iter().position(|row| Some(&row.target) == sought.as_ref());
        let otherwise = match is_reading {
            true => self.selected.min(self.list.rows.len().saturating_sub(1)),
            false => 0,
        };
        self.selected = again.unwrap_or(otherwise);
        if self.focus == Focus::Detail && (again.is_some() || !is_reading) {
            self.open = self.list.rows.get(self.selected).cloned();
        }
        if self.focus == Focus::Detail && self.open.is_none() {
            self.focus = Focus::List;
        }
        if is_another {
            self.scroll = 0;
        }
        match self.target() == before.as_ref() {
            true => Vec::new(),
            false => self.read(),
        }
    }

    /// True while the rows answer another question than the one on the screen.
    fn is_behind(&self) -> bool {
        self.answered.as_ref() != Some(&self.question())
    }

    /// Selects the row of the entry that is being read, where the list has it.
    fn select_open(&mut self) {
        let open = self.open.as_ref().map(|row| &row.target);
        let mut rows = self.list.rows.iter();
        self.selected = rows.position(|row| Some(&row.target) == open).unwrap_or(self.selected);
    }

    /// The question on the screen.
    pub(crate) fn question(&self) -> Question {
        Question {
            query: self.query.text().trim().to_owned(),
            place: self.place.clone(),
            shown: self.shown,
            start: self.start.clone(),
        }
    }

    fn ask(&mut self) -> Vec<Effect> {
        self.list.is_waiting = true;
        vec![Effect::Ask(Request::List(self.question()))]
    }

    /// Asks for what must be answered before the next key that acts.
    fn ask_alone(&mut self, request: Request) -> Vec<Effect> {
        self.is_busy = true;
        vec![Effect::Ask(request)]
    }

    /// Reads the selected entry.
    fn read(&mut self) -> Vec<Effect> {
        self.scroll = 0;
        self.target()
            .cloned()
            .map(|target| Effect::Ask(Request::Read(target)))
            .into_iter()
            .collect()
    }

    fn copy(&mut self, text: String) -> Vec<Effect> {
        self.message = Some(Line::new(Tone::Good, format!("Copied: {text}")));
        vec![Effect::Copy(text)]
    }

    /// The entry that is being read, else the selected row.
    pub(crate) fn row(&self) -> Option<&Row> {
        match self.focus {
            Focus::List => self.list.rows.get(self.selected),
            Focus::Detail => self.open.as_ref(),
        }
    }

    /// The selected entry.
    pub(crate) fn target(&self) -> Option<&Target> {
        self.row().map(|row| &row.target)
    }

    /// The lines of the selected entry, once they are there.
    pub(crate) fn lines(&self) -> Option<&[Line]> {
        let detail = self.detail.as_ref()?;
        (Some(&detail.target) == self.target()).then_some(&detail.lines)
    }

    /// Columns of the list and of the detail; a pane that is not shown has none.
    pub(crate) fn panes(&self) -> (u16, u16) {
        let (columns, _) = self.size;
        match (columns < TWO_PANES, self.focus) {
            (true, Focus::List) => (columns, 0),
            (true, Focus::Detail) => (0, columns),
            (false, _) => {
                let list = columns * 9 / 20;
                // One column is the line between them, one a margin.
                (list, columns.saturating_sub(list + 2))
            }
        }
    }

    /// Lines of a pane: all but the query and the last line.
    pub(crate) fn height(&self) -> usize {
        usize::from(self.size.1.saturating_sub(2))
    }

    /// The detail in rows of the pane, each with its tone.
    pub(crate) fn detail_rows(&self) -> Vec<(Tone, String)> {
        let columns = usize::from(self.panes().1.max(self.size.0.min(2)));
        let lines = self.lines().unwrap_or_default().iter();
        lines
            .flat_map(|line| {
                let rows = rows(&line.text, columns);
                let rows = if rows.is_empty() { vec![String::new()] } else { rows };
                rows.into_iter().map(|row| (line.tone, row))
            })
            .collect()
    }

    /// The help in rows of its window: each a key and what it does, or the rest of that.
    pub(crate) fn help_rows(&self) -> Vec<(&'static str, String)> {
        let (frame, _) = self.window();
        let columns = usize::from(self.size.0).saturating_sub(frame + KEY);
        let mut help = Vec::new();
        for (key, does) in KEYS {
            match *does {
                "" => help.push((*key, String::new())),
                does => help.extend(
                    rows(does, columns)
                        .into_iter()
                        .enumerate()
                        .map(|(at, row)| (if at == 0 { *key } else { "" }, row)),
                ),
            }
        }
        help
    }

    /// Columns of a window's frame, and the lines within it; a low screen has no room for a frame.
    pub(crate) fn window(&self) -> (usize, usize) {
        match self.height() {
            height @ ..=4 => (0, height),
            height => (4, height - 2),
        }
    }

    /// Moves the help, by as much as there is more of it; says whether there is.
    fn scroll_help(&mut self, by: isize) -> bool {
        let last = self.help_rows().len().saturating_sub(self.window().1);
        if let Some(Dialog::Keys(first)) = &mut self.dialog {
            *first = first.saturating_add_signed(by).min(last);
        }
        last > 0
    }

    /// Rows above the pane when its end is shown.
    fn last_scroll(&self) -> usize {
        self.detail_rows().len().saturating_sub(self.height())
    }
}
