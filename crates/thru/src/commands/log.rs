//! `thru log`: what people decided, and what was merged by itself.

use serde_json::{Value, json};
use thru_app::Result;
use thru_app::ask::memory;
use thru_intake::Operation;
use thru_redact::Report;
use thru_store::Store;

use super::{Outcome, memories, shared};
use crate::environment::Environment;
use crate::ui::{Page, Tone, day_and_time, one_line};

/// The latest first. An id can be given to `thru undo`, but for sessions that were forgotten.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// How many to show
    #[arg(long, short = 'n', default_value_t = 20, value_parser = clap::value_parser!(u16).range(1..))]
    limit: u16,
    /// Show near-duplicates that were merged by themselves instead
    #[arg(long)]
    merges: bool,
    /// Answer as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(
    arguments: &Arguments,
    environment: &Environment,
    plain: bool,
) -> Result<Outcome> {
    let store = shared::open_store(environment)?;
    let limit = usize::from(arguments.limit);
    let mut rows = match arguments.merges {
        true => merges(&store, limit)?,
        false => decisions(&store, limit)?,
    };
    // What was told was cleaned when it was recorded; the rules may be newer.
    let intake = environment.intake()?;
    for row in &mut rows {
        row.said = intake.redactor().clean_text(&row.said, &mut Report::default()).into_inner();
    }
    let mut page = Page::new(environment, plain);
    if arguments.json {
        let rows: Vec<Value> = rows.iter().map(LogRow::as_json).collect();
        page.json(&json!({ "version": 1, "kind": "log", "entries": rows }))?;
    } else if rows.is_empty() {
        page.line(match arguments.merges {
            true => "Nothing was merged.",
            false => "Nothing was decided yet.",
        });
    } else {
        for row in &rows {
            let id = page.paint(Tone::Id, &row.id);
            let when = page.paint(Tone::Quiet, &day_and_time(row.at, environment.zone()));
            let undone = if row.undone.is_some() { "taken back: " } else { "" };
            let room = page.columns().saturating_sub(row.id.len() + 20);
            let said = one_line(&format!("{undone}{}", row.said), room);
            page.line(format!("{id}  {when}  {said}"));
        }
        page.gap();
        page.line(page.paint(Tone::Quiet, "`thru undo ID` takes one back."));
    }
    page.print()?;
    Ok(if rows.is_empty() { Outcome::Nothing } else { Outcome::Done })
}

struct LogRow {
    id: String,
    full_id: String,
    at: Option<thru_core::Timestamp>,
    kind: String,
    said: String,
    undone: Option<String>,
}

impl LogRow {
    fn as_json(&self) -> Value {
        json!({
            "id": self.id,
            "full_id": self.full_id,
            "at": self.at,
            "kind": self.kind,
            "text": self.said,
            "undone_by": self.undone,
        })
    }
}

fn decisions(store: &Store, limit: usize) -> Result<Vec<LogRow>> {
    let operations = store.operations()?;
    // Few enough for six characters to tell them apart; `undo` says so where they do not.
    let rows = operations.iter().rev().take(limit).map(|row| LogRow {
        id: row.key.chars().take(6).collect(),
        full_id: row.key.clone(),
        at: row.at,
        kind: row.kind.clone(),
        said: sentence(Operation::read(&row.kind, &row.body).as_ref()),
        undone: row.undone.clone(),
    });
    Ok(rows.collect())
}

fn merges(store: &Store, limit: usize) -> Result<Vec<LogRow>> {
    let mut rows = Vec::new();
    for merge in memories::merges(store)?.take(limit) {
        let memories::Merge { merged, into } = merge?;
        let session = memory::session_of(store, &into)?;
        let session = session.map_or_else(String::new, |session| session.key.id.short());
        rows.push(LogRow {
            id: merged.id.to_string().chars().take(8).collect(),
            full_id: merged.id.to_string(),
            at: into.at,
            kind: "merged".to_owned(),
            said: format!("\"{}\" into \"{}\" (session {session})", merged.title, into.title),
            undone: None,
        });
    }
    Ok(rows)
}

/// An operation in words.
pub(super) fn sentence(operation: Option<&Operation>) -> String {
    let start = |id: &thru_core::Id| id.to_string().chars().take(8).collect::<String>();
    match operation {
        None => "something that this version does not know".to_owned(),
        Some(Operation::DirectoryPlaced { directory, project }) => {
            format!("{directory} belongs to {}", project.default_name())
        }
        Some(Operation::ProjectRenamed { project, name }) => {
            format!("project {} is called {name}", project.default_name())
        }
        Some(Operation::ProjectMerged { from, into }) => {
            format!("project {} is part of {}", from.default_name(), into.default_name())
        }
        Some(Operation::RuleAdded { name, .. }) => format!("redaction rule {name} added"),
        Some(Operation::RuleRemoved { name }) => format!("redaction rule {name} removed"),
        Some(Operation::SessionForgotten { session }) => format!("forgot session {}", session.id),
        Some(Operation::SessionClosed { session, reason }) => {
            format!("closed session {} ({reason})", session.id)
        }
        Some(Operation::EpisodeRetired(retired)) => {
            format!("replaced what session {} was indexed as", retired.session.id)
        }
        Some(Operation::QuestionAsked(question)) => {
            format!("asked {} ({})", question.model, question.purpose.as_str())
        }
        Some(Operation::QuestionSettled { error: Some(error), .. }) => {
            format!("a model gave no answer of use: {error}")
        }
        Some(Operation::QuestionSettled { error: None, .. }) => "a model answered".to_owned(),
        Some(Operation::TurnRefined(refined)) => {
            format!("{} told a turn of session {}", refined.made.model, refined.session.id)
        }
        Some(Operation::SessionRefined(refined)) => {
            format!("{} told session {}", refined.made.model, refined.session.id)
        }
        Some(Operation::Delivered { session, keys }) => {
            format!("delivered {} of session {}", keys.len(), session.id)
        }
        Some(Operation::MemoryTold(told)) => format!("remembered \"{}\"", told.title),
        Some(Operation::MemoryEdited { memory, .. }) => format!("edited memory {}", start(memory)),
        Some(Operation::MemoryForgotten { memory, .. }) => {
            format!("forgot memory {}", start(memory))
        }
        Some(Operation::MemorySeparated { memory, .. }) => {
            format!("kept memory {} apart", start(memory))
        }
        Some(Operation::OperationUndone { operation }) => {
            format!("took back {}", operation.chars().take(6).collect::<String>())
        }
    }
}
