//! The decisions of the user, and the merges that were made automatically.

use schemars::JsonSchema;
use serde::Serialize;
use thru_core::{Id, SessionKey, Timestamp};
use thru_intake::{LineChange, Operation, RecordedMemory};
use thru_redact::{Clean, Redactor};
use thru_store::{OperationRow, Store};

use super::memory::{Merge, merges, session_of};
use super::{Opened, cleaned, pages};
use crate::answer;
use crate::app::App;
use crate::call::Call;
use crate::fresh::Freshness;
use crate::trouble::Result;
use crate::words::plural;

/// A request for the latest decisions.
#[derive(Clone, Debug)]
pub struct AskLog {
    /// Maximum number of entries.
    pub limit: usize,
    /// The subject.
    pub subject: LogSubject,
    /// The place behind which it begins: `next` of the page before.
    pub cursor: Option<String>,
}

/// The subject of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogSubject {
    /// The decisions of the user.
    Decisions,
    /// Near-duplicates that were merged automatically.
    Merges,
    /// Memories that agents recorded and no person agreed to.
    AgentNotes,
}

/// Decisions, the latest first.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct DecisionLog {
    /// The version of this form.
    pub version: u32,
    /// `log`.
    pub kind: &'static str,
    /// The cursor of the next page, if there are more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
    /// The decisions.
    pub entries: Vec<LogEntry>,
}

/// A decision.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct LogEntry {
    /// The start of its id.
    pub id: String,
    /// Its id.
    pub full_id: String,
    /// Its time.
    pub at: Option<Timestamp>,
    /// Its kind.
    pub kind: String,
    /// A sentence that describes it.
    pub text: Clean<String>,
    /// The id of the decision that took it back.
    pub undone_by: Option<String>,
}

impl LogEntry {
    pub(super) fn new(redactor: &Redactor, row: &OperationRow, text: &str) -> Self {
        Self {
            // Few enough for six characters to tell them apart; `undo` says so where they do not.
            id: row.key.chars().take(6).collect(),
            full_id: row.key.clone(),
            at: row.at,
            kind: row.kind.clone(),
            text: cleaned(redactor, text),
            undone_by: row.undone.clone(),
        }
    }
}

/// Lists decisions or merges, the latest first.
///
/// # Errors
/// Fails if the store cannot be read.
pub fn log(app: &App, request: &AskLog, call: Call<'_>) -> Result<DecisionLog> {
    let Opened { store, intake, .. } = Opened::new(app, Freshness::Recorded, call)?;
    let after: Option<String> = pages::place(request.cursor.as_deref())?;
    let part = Part { after: after.as_deref(), limit: request.limit.saturating_add(1) };
    let mut entries = match request.subject {
        LogSubject::Decisions => decided(&store, intake.redactor(), part)?,
        LogSubject::Merges => merged(&store, intake.redactor(), part)?,
        LogSubject::AgentNotes => recorded(&store, intake.redactor(), part)?,
    };
    let next = pages::cut(&mut entries, request.limit, |entry| entry.full_id.clone())?;
    Ok(DecisionLog { version: answer::VERSION, kind: "log", next, entries })
}

/// A part of a log.
#[derive(Clone, Copy)]
struct Part<'a> {
    /// The id of the entry that it follows.
    after: Option<&'a str>,
    limit: usize,
}

impl Part<'_> {
    fn of<T>(
        self,
        all: impl Iterator<Item = T>,
        id: impl Fn(&T) -> String,
    ) -> impl Iterator<Item = T> {
        pages::behind(all, self.after, id).take(self.limit)
    }
}

fn decided(store: &Store, redactor: &Redactor, part: Part<'_>) -> Result<Vec<LogEntry>> {
    let operations = store.operations()?;
    let decided = operations.iter().rev().filter(|row| !is_of_vault(&row.kind));
    let decided = part.of(decided, |row| row.key.clone());
    decided.map(|row| Ok(LogEntry::new(redactor, row, &told(store, &operations, row)?))).collect()
}

/// Describes a decision with the title of what it is about: an id alone does not tell what to undo.
///
/// # Errors
/// Fails if the store cannot be read.
pub fn told(store: &Store, operations: &[OperationRow], row: &OperationRow) -> Result<String> {
    let operation = Operation::read(&row.kind, &row.body);
    let text = sentence(operation.as_ref());
    let about = match &operation {
        Some(
            Operation::MemoryEdited { memory, session, .. }
            | Operation::MemoryForgotten { memory, session }
            | Operation::MemorySeparated { memory, session },
        ) => subject(store, operations, memory, session.as_ref())?.map(|it| format!(" {it}")),
        Some(Operation::OperationUndone { operation }) => {
            let undone = operations.iter().find(|row| row.key == *operation);
            let undone = undone.map(|row| told(store, operations, row)).transpose()?;
            undone.map(|undone| format!(": {undone}"))
        }
        _ => None,
    };
    Ok(text + &about.unwrap_or_default())
}

/// The title of a memory; of one that is hidden the last that it was given, else that of its session.
fn subject(
    store: &Store,
    operations: &[OperationRow],
    memory: &Id,
    session: Option<&SessionKey>,
) -> Result<Option<String>> {
    if let Some(memory) = store.memory(memory)? {
        return Ok(Some(quoted(&memory.title)));
    }
    if let Some(title) = last_title(operations, memory) {
        return Ok(Some(quoted(&title)));
    }
    let row = session.map(|key| store.session_by_key(key)).transpose()?.flatten();
    let session = row.map(|row| store.session(row)).transpose()?.flatten();
    Ok(session.and_then(|session| session.title).map(|title| format!("of session \"{title}\"")))
}

/// The last title that a person, an agent or another program gave a memory.
pub(super) fn last_title(operations: &[OperationRow], memory: &Id) -> Option<String> {
    operations.iter().rev().find_map(|row| match Operation::read(&row.kind, &row.body)? {
        Operation::MemoryEdited { memory: of, edit, .. } => {
            edit.title.filter(|_| of == *memory && row.undone.is_none())
        }
        Operation::MemoryRecorded(made) if RecordedMemory::id(&row.key) == *memory => {
            Some(made.title)
        }
        Operation::MemoryImported(made) if made.memory == *memory => Some(made.title),
        _ => None,
    })
}

/// A title in quotation marks; one that stands for a missing title has its own.
fn quoted(title: &str) -> String {
    if title.starts_with('“') { title.to_owned() } else { format!("\"{title}\"") }
}

/// True for what the vault did by itself, which no list of decisions shows.
pub fn is_of_vault(kind: &str) -> bool {
    matches!(kind, "note-archived" | "note-unarchived")
}

fn recorded(store: &Store, redactor: &Redactor, part: Part<'_>) -> Result<Vec<LogEntry>> {
    let notes = thru_recall::agent_notes(store)?.into_iter();
    let entries = part.of(notes, |memory| memory.id.to_string()).map(|memory| LogEntry {
        id: format!("{:.8}", memory.id),
        full_id: memory.id.to_string(),
        at: memory.at,
        kind: "agent-note".to_owned(),
        text: cleaned(redactor, &memory.title),
        undone_by: None,
    });
    Ok(entries.collect())
}

fn merged(store: &Store, redactor: &Redactor, part: Part<'_>) -> Result<Vec<LogEntry>> {
    let mut entries = Vec::new();
    let id = |merge: &Result<Merge>| {
        merge.as_ref().map(|merge| merge.merged.id.to_string()).unwrap_or_default()
    };
    for merge in part.of(merges(store)?, id) {
        let Merge { merged, into } = merge?;
        let session = session_of(store, &into)?;
        let session = session.map_or_else(String::new, |session| session.key.id.short());
        let text = format!("\"{}\" into \"{}\" (session {session})", merged.title, into.title);
        entries.push(LogEntry {
            id: format!("{:.8}", merged.id),
            full_id: merged.id.to_string(),
            at: into.at,
            kind: "merged".to_owned(),
            text: cleaned(redactor, &text),
            undone_by: None,
        });
    }
    Ok(entries)
}

/// Describes an operation in a sentence.
pub fn sentence(operation: Option<&Operation>) -> String {
    let start = |id: &Id| format!("{id:.8}");
    match operation {
        None => "something that this version does not know".to_owned(),
        Some(Operation::DirectoryPlaced { directory, project }) => {
            format!("{directory} belongs to {}", project.default_name())
        }
        Some(Operation::ProjectRenamed { project, name }) if project.default_name() == name => {
            format!("project {name} has its own name again")
        }
        Some(Operation::ProjectRenamed { project, name }) => {
            format!("project {} is called {name}", project.default_name())
        }
        Some(Operation::ProjectMerged { from, into }) => {
            format!("project {} is part of {}", from.default_name(), into.default_name())
        }
        Some(Operation::RuleAdded { name, .. }) => format!("redaction rule {name} added"),
        Some(Operation::RuleRemoved { name }) => format!("redaction rule {name} removed"),
        Some(Operation::SessionForgotten { session, .. }) => {
            format!("forgot session {}", session.id)
        }
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
            format!("a model gave no usable answer: {error}")
        }
        Some(Operation::QuestionSettled { error: None, .. }) => "a model answered".to_owned(),
        Some(Operation::TurnRefined(refined)) => {
            format!("{} described a turn of session {}", refined.made.model, refined.session.id)
        }
        Some(Operation::SessionRefined(refined)) => {
            format!("{} described session {}", refined.made.model, refined.session.id)
        }
        Some(Operation::Delivered { session, keys }) => {
            format!("delivered {} of session {}", keys.len(), session.id)
        }
        Some(Operation::CommitsSeen { session, commits }) => {
            let commits = plural(commits.len() as u64, "commit");
            format!("saw {commits} in the time of session {}", session.id)
        }
        Some(Operation::MemoryImported(imported)) => {
            format!("imported {} \"{}\"", imported.named, imported.title)
        }
        Some(Operation::MemoryRecorded(recorded)) => {
            let who = if recorded.by_agent { "an agent " } else { "" };
            format!("{who}remembered \"{}\"", recorded.title)
        }
        Some(Operation::MemoryEdited { memory, edit, .. }) if edit.agreed == Some(true) => {
            format!("agreed to memory {}", start(memory))
        }
        Some(Operation::MemoryEdited { memory, .. }) => format!("edited memory {}", start(memory)),
        Some(Operation::MemoryForgotten { memory, .. }) => {
            format!("forgot memory {}", start(memory))
        }
        Some(Operation::MemorySeparated { memory, .. }) => {
            format!("kept memory {} apart", start(memory))
        }
        Some(Operation::NoteLineChanged { line, change, .. }) => match change {
            LineChange::Text(text) => format!("changed line {line} of the vault to \"{text}\""),
            LineChange::Done(true) => format!("ticked line {line} of the vault"),
            LineChange::Done(false) => format!("opened line {line} of the vault again"),
            LineChange::Hidden => format!("took line {line} out of a note of the vault"),
        },
        Some(Operation::NoteHidden { note }) => {
            format!("deleted note {} of the vault", start(note))
        }
        Some(Operation::NotePromoted { note }) => {
            format!("made note {} of the vault one of all projects", start(note))
        }
        Some(Operation::NoteArchived { session, .. }) => {
            format!("archived the note of session {}", session.id)
        }
        Some(Operation::NoteUnarchived { session }) => {
            format!("took the note of session {} out of the archive", session.id)
        }
        Some(Operation::FactHidden { fact }) => {
            format!("took fact {} out of the graph", start(fact))
        }
        Some(Operation::GraphCleared { project }) => {
            format!("cleared the graph of {}", project.default_name())
        }
        Some(Operation::OperationUndone { operation }) => {
            format!("undid {}", operation.chars().take(6).collect::<String>())
        }
    }
}
