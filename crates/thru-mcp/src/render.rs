//! Answers as agents read them: compact tables and plain prose, with every recorded text defused as it
//! is inserted. An answer never grows beyond the limits of clients.

mod outline;
mod table;
mod whole;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use thru_core::{plain_line, plain_lines};
use thru_recall::recorded;
use thru_redact::Clean;

use crate::asked::Search;
use crate::told::{Around, Forgotten, Found, Outline, Piece, Remembered, SessionName};

/// Longest answer, in bytes. Clients warn at about 10,000 tokens and cut after 25,000.
const LONGEST_ANSWER: usize = 36_000;

/// Renders the results of a search.
pub(crate) fn found(found: &Found, asked: &Search, now: Timestamp) -> String {
    let mut text = String::new();
    let place = place(found.project.as_ref());
    if found.rows.is_empty() {
        text.push_str(&format!("Nothing found {place}."));
        if found.project.is_some() {
            text.push_str(" project=\"*\" looks in every project.");
        }
        if !asked.nearest {
            text.push_str(" nearest=true shows the nearest results.");
        }
        text.push('\n');
        notes(&mut text, &found.notes);
        return text;
    }
    if found.are_nearest {
        text.push_str("Nothing answers this; the nearest results:\n");
    }
    let rows = found.rows.len();
    text.push_str(&format!(
        "{rows} {} {place}; id | age | type | title | tokens\n",
        noun(rows, "hit")
    ));
    for row in &found.rows {
        text.push_str(&table::row(row, now, None));
    }
    text.push('\n');
    text.push_str("Next: timeline(anchor=ID) for what happened around one, get_observations(ids=[…]) to read.");
    if found.has_more {
        text.push_str(&format!(" limit={} shows more.", (asked.limit * 2).min(100)));
    }
    text.push('\n');
    notes(&mut text, &found.notes);
    text
}

/// Renders a timeline.
pub(crate) fn around(around: Option<&Around>, zone: &TimeZone) -> String {
    let mut text = String::new();
    let Some(around) = around else {
        return "Nothing found to look around. search(query=…, project=\"*\") looks further.\n"
            .to_owned();
    };
    if around.rows.is_empty() {
        text.push_str("Nothing was remembered around it.\n");
    } else {
        text.push_str(&table::timeline(around, zone));
        text.push_str("\nget_observations(ids=[…]) returns them in full.\n");
    }
    notes(&mut text, &around.notes);
    text
}

/// Renders memories and passages in full. Those that do not fit are named.
pub(crate) fn pieces(pieces: &[Piece], with_source: bool, zone: &TimeZone) -> String {
    let mut text = String::new();
    let mut left_out = Vec::new();
    for piece in pieces {
        let (id, told) = match piece {
            Piece::Memory(memory) => (memory.id.as_str(), whole::memory(memory, zone)),
            Piece::Passage(passage) => {
                (passage.id.as_str(), whole::passage(passage, with_source, zone))
            }
            Piece::Unknown { asked, why } => {
                text.push_str(&format!(
                    "`{}`: {}\n\n",
                    plain_line(asked, 60),
                    plain_line(why, 400)
                ));
                continue;
            }
        };
        if !text.is_empty() && text.len() + told.len() > LONGEST_ANSWER {
            left_out.push(id);
            continue;
        }
        text.push_str(&told);
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
pub(crate) fn outline(told: &Outline, zone: &TimeZone) -> String {
    outline::outline(told, zone)
}

/// Renders a stored memory.
pub(crate) fn remembered(told: &Remembered) -> String {
    let place = match &told.project {
        Some(name) => format!("project {}", plain_line(name.get(), 60)),
        None => "every project".to_owned(),
    };
    let mut text = format!("Remembered as {} for {place}. `thru undo` takes it back.", told.id);
    if told.is_redacted {
        text.push_str(" Something in it was private, or looked like a secret, and was left out.");
    }
    text
}

/// Renders the result or the preview of forgetting.
pub(crate) fn forgotten(told: &Forgotten, now: Timestamp) -> String {
    let mut text = String::new();
    let rows = told.rows.len();
    let number = match rows {
        1 => "1 memory".to_owned(),
        rows => format!("{rows} memories"),
    };
    match (told.is_done, rows) {
        (_, 0) => text.push_str("Nothing was forgotten.\n"),
        (true, _) => {
            text.push_str(&format!("Forgot {number}. `thru undo` brings one back.\n"));
        }
        (false, _) => text.push_str(&format!(
            "This would forget {number}. Nothing was changed; confirm=true does it.\n"
        )),
    }
    for row in &told.rows {
        text.push_str(&table::row(row, now, None));
    }
    for (id, why) in &told.unknown {
        text.push_str(&format!("`{}`: {}\n", plain_line(id, 60), plain_line(why, 400)));
    }
    text
}

fn place(project: Option<&Clean<String>>) -> String {
    match project {
        Some(name) => format!("in project {}", plain_line(name.get(), 60)),
        None => "in all projects".to_owned(),
    }
}

fn notes(text: &mut String, notes: &[Clean<String>]) {
    for note in notes {
        text.push_str(&plain_line(note.get(), 400));
        text.push('\n');
    }
}

fn noun(number: usize, noun: &str) -> String {
    if number == 1 { noun.to_owned() } else { format!("{noun}s") }
}

/// `session 11111111 "Title" in rocket`
fn session(name: &SessionName) -> String {
    let mut text = format!("session {}", plain_line(&name.id, 60));
    if let Some(title) = &name.title {
        text.push_str(&format!(" \"{}\"", recorded(title.get(), 80)));
    }
    if let Some(project) = &name.project {
        text.push_str(&format!(" in {}", plain_line(project.get(), 60)));
    }
    text
}

/// `2026-03-01 14:05`
fn day_and_time(at: Option<Timestamp>, zone: &TimeZone) -> String {
    at.map_or_else(
        || "undated".to_owned(),
        |at| at.to_zoned(zone.clone()).strftime("%Y-%m-%d %H:%M").to_string(),
    )
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
