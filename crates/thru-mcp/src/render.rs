//! Answers as agents read them: compact tables and plain prose, with every recorded text defused as it
//! is inserted. An answer never grows beyond the limits of clients.

mod facts;
mod outline;
mod table;
mod whole;

use std::borrow::Cow;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use thru_app::App;
use thru_app::ask::get::{Piece, Pieces};
use thru_app::ask::search::{AnswerSize, Found, Search, Verdict, WorkDone};
use thru_app::ask::session::{SessionEntry, SessionOutline};
use thru_app::ask::timeline::MemoriesAround;
use thru_app::fresh::Prepared;
use thru_app::keep::forget::ForgetTargets;
use thru_app::keep::remember::Remembered;
use thru_app::wording;
use thru_app::words::printable;
use thru_core::{plain_line, plain_lines};
use thru_recall::recorded;
use thru_redact::{Clean, Redactor, Report};

use table::Row;

/// Longest answer, in bytes. Clients warn at about 10,000 tokens and cut after 25,000.
const LONGEST_ANSWER: usize = 36_000;

/// Longest remark on a question, in characters.
const LONGEST_REMARK: usize = 300;

/// Rows that are named where nothing is sure.
const NEAREST: usize = 3;

/// Renders answers, by the rules of redaction of the call that made them.
pub(crate) struct Renderer {
    redactor: Redactor,
    zone: TimeZone,
    now: Timestamp,
}

impl Renderer {
    pub(crate) fn new(app: &App) -> Self {
        Self { redactor: app.redactor(), zone: app.zone().clone(), now: app.clock.now() }
    }

    /// Text without invisible characters. They may keep the parts of a secret apart, so that it is cleaned again
    /// without them.
    fn visible<'t>(&self, text: &'t Clean<String>) -> Cow<'t, str> {
        let visible = printable(text.get());
        match visible == *text.get() {
            true => Cow::Borrowed(text.get()),
            false => Cow::Owned(self.cleaned(&visible)),
        }
    }

    fn cleaned(&self, text: &str) -> String {
        self.redactor.clean_text(&printable(text), &mut Report::default()).into_inner()
    }

    /// Renders the results of a search.
    pub(crate) fn found(&self, found: &Found, asked: &Search) -> String {
        let mut text = String::new();
        let place = match &found.project {
            Some(name) => format!("in project {}", plain_line(&self.visible(name), 60)),
            None => "in all projects".to_owned(),
        };
        for remark in found.remarks() {
            text.push_str(&plain_line(&remark, LONGEST_REMARK));
            text.push('\n');
        }
        let rows: Vec<Row> = found.rows().map(|row| Row::found(self, row)).collect();
        if let Some(work) = &found.work {
            self.work(&mut text, work, &place);
        } else if rows.is_empty() {
            let nearest: Vec<String> = match asked.nearest {
                true => Vec::new(),
                false => found
                    .nearest(NEAREST)
                    .into_iter()
                    .map(|row| Row::found(self, row).brief())
                    .collect(),
            };
            match nearest.is_empty() {
                true => text.push_str(&format!("Nothing found {place}.")),
                false => {
                    let nearest = nearest.join("; ");
                    let nearest = nearest.trim_end_matches('.');
                    let end = if nearest.ends_with('…') { "" } else { "." };
                    text.push_str(&format!("No sure match {place}; nearest: {nearest}{end}"));
                }
            }
            if found.project.is_some() {
                text.push_str(" Add project=\"*\" to look in every project.");
            }
            if !nearest.is_empty() {
                text.push_str(" Add nearest=true to see the nearest results.");
            }
            text.push('\n');
        } else {
            if found.verdict == Verdict::Nearest {
                text.push_str("Nothing answers this; the nearest results:\n");
            }
            let number = rows.len();
            let hits = if number == 1 { "hit" } else { "hits" };
            text.push_str(&format!(
                "{number} {hits} {place}, by day and file; rank | id | type | title | tokens\n"
            ));
            text.push_str(&table::by_rank(&rows, &self.zone));
            text.push('\n');
            text.push_str("Next: timeline(anchor=ID) for what happened around one, get_observations(ids=[…]) to read.");
            if let (true, AnswerSize::Rows(limit)) = (found.has_more, asked.size) {
                text.push_str(&format!(" limit={} shows more.", (limit * 2).min(100)));
            }
            text.push('\n');
        }
        self.notes(&mut text, &found.preparation);
        if found.left_out > 0 {
            text.push_str(&format!(
                "{} new passages or memories are not in the index yet and were not searched.\n",
                found.left_out
            ));
        }
        text
    }

    /// Renders the sessions that answer a question about time or work.
    fn work(&self, text: &mut String, work: &WorkDone, place: &str) {
        if work.sessions.is_empty() && work.before.is_none() {
            return text.push_str("No session is known to have left anything open.\n");
        }
        let sessions = if work.sessions.len() == 1 { "session" } else { "sessions" };
        text.push_str(&format!(
            "{} {sessions} {place}, latest first; id | day | project | title\n",
            work.sessions.len()
        ));
        if work.before.is_some() {
            text.push_str("None in that time; the last one before it:\n");
        }
        for session in work.sessions.iter().chain(&work.before) {
            let entry = &session.entry;
            let named = |name: &Option<Clean<String>>, room| {
                name.as_ref()
                    .map_or_else(|| "-".to_owned(), |name| plain_line(&self.visible(name), room))
            };
            let at = session.at.map(|at| at.to_zoned(self.zone.clone()).date().to_string());
            text.push_str(&format!(
                "{} | {} | {} | {}\n",
                entry.id.short(),
                at.as_deref().unwrap_or("-"),
                named(&entry.project, 60),
                named(&entry.title, 120)
            ));
            for step in &session.steps {
                text.push_str(&format!("  open: {}\n", plain_line(&self.visible(step), 160)));
            }
        }
        text.push_str("Next: get_session(id=ID) for what one did.\n");
    }

    /// Renders a timeline.
    pub(crate) fn around(&self, around: &MemoriesAround) -> String {
        if !around.is_found {
            return "Nothing found to look around. search(query=…, project=\"*\") looks further.\n"
                .to_owned();
        }
        let mut text = String::new();
        let row = |(row, is_anchor): (&thru_app::ask::timeline::TimelineRow, bool)| {
            (Row::memory(self, &row.entry, &row.files), is_anchor)
        };
        let mut rows: Vec<(Row, bool)> = around.memories().map(row).collect();
        if let Some(passage) = &around.passage {
            rows.insert(around.before.len(), (Row::passage(self, passage), true));
        }
        if rows.is_empty() {
            text.push_str("Nothing was remembered around it.\n");
        } else {
            text.push_str(&table::by_time(&rows, &self.zone));
            text.push_str("\nget_observations(ids=[…]) returns them in full.\n");
        }
        self.notes(&mut text, &around.preparation);
        text
    }

    /// Renders memories and passages in full. Those that do not fit are named.
    pub(crate) fn pieces(&self, pieces: &Pieces, with_source: bool) -> String {
        let mut text = String::new();
        let mut left_out = Vec::new();
        for piece in &pieces.pieces {
            let (id, whole) = match piece {
                Piece::Memory(piece) => {
                    (piece.memory.entry.id.as_str(), whole::memory(self, piece))
                }
                Piece::Passage(piece) => {
                    (piece.entry.id.as_str(), whole::passage(self, piece, with_source))
                }
                Piece::Unknown { id, trouble } => {
                    text.push_str(&unknown(id, trouble));
                    text.push('\n');
                    continue;
                }
            };
            if !text.is_empty() && text.len() + whole.len() > LONGEST_ANSWER {
                left_out.push(id);
                continue;
            }
            text.push_str(&whole);
            text.push('\n');
        }
        if !left_out.is_empty() {
            text.push_str(&format!(
                "Left out, because the answer would be too long; request them separately: {}\n",
                left_out.join(", ")
            ));
        }
        text
    }

    /// Renders the outline of a session.
    pub(crate) fn outline(&self, outline: &SessionOutline) -> String {
        outline::outline(self, outline)
    }

    /// Renders the result or the preview of forgetting.
    pub(crate) fn forgotten(&self, targets: &ForgetTargets, is_done: bool) -> String {
        let mut text = String::new();
        let rows = targets.memories.len();
        let number = match rows {
            1 => "1 memory".to_owned(),
            rows => format!("{rows} memories"),
        };
        match (is_done, rows) {
            (_, 0) => text.push_str("Nothing was forgotten.\n"),
            (true, _) => {
                text.push_str(&format!(
                    "Forgot {number}. The user can bring one back with `thru undo`.\n"
                ));
            }
            (false, _) => text.push_str(&format!(
                "This would forget {number}. Nothing was changed; confirm=true does it.\n"
            )),
        }
        for target in &targets.memories {
            text.push_str(&Row::memory(self, &target.entry, &target.files).by_age(self.now));
        }
        for (id, trouble) in &targets.unknown {
            text.push_str(&unknown(id, trouble));
        }
        text
    }

    fn notes(&self, text: &mut String, preparation: &Prepared) {
        for note in preparation.sentences() {
            text.push_str(&plain_line(&self.cleaned(&note), 400));
            text.push('\n');
        }
    }

    /// `session 11111111 "Title" in rocket`
    fn session(&self, session: &SessionEntry) -> String {
        let mut text = format!("session {}", plain_line(session.id.as_str(), 60));
        if let Some(title) = &session.title {
            text.push_str(&format!(" \"{}\"", recorded(&self.visible(title), 80)));
        }
        if let Some(project) = &session.project {
            text.push_str(&format!(" in {}", plain_line(&self.visible(project), 60)));
        }
        text
    }
}

fn unknown(id: &str, trouble: &thru_app::Trouble) -> String {
    let why = wording::sentences(trouble);
    format!("`{}`: {}\n", plain_line(id, 60), plain_line(&why, 400))
}

/// Renders a stored memory.
pub(crate) fn remembered(told: &Remembered) -> String {
    let place = match &told.project {
        Some(name) => format!("project {}", plain_line(name.get(), 60)),
        None => "every project".to_owned(),
    };
    let mut text = format!(
        "Remembered as {} for {place}. The user can take it back with `thru undo`.",
        told.short_id
    );
    if told.is_redacted {
        text.push_str(" Something in it was private, or looked like a secret, and was left out.");
    }
    text
}

/// Returns a text with its lines, cut after `longest` characters, with its full length if it was cut.
fn lines(text: &str, indent: &str, longest: usize) -> String {
    let length = text.chars().count();
    if length <= longest {
        return plain_lines(text, indent);
    }
    let head: String = text.chars().take(longest).collect();
    format!("{}{indent}… ({longest} of {length} characters)\n", plain_lines(&head, indent))
}
