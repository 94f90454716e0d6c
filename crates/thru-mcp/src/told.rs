//! Answers of a memory: clean values, not yet rendered.

use std::collections::HashMap;

use jiff::Timestamp;
use serde_json::Value;
use thru_core::{Id, Outcome};
use thru_redact::Clean;
use thru_store::MemoryBody;

use crate::asked::WantedKind;

/// A row of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The shortest unique prefix of its id.
    pub id: String,
    /// The time.
    pub at: Option<Timestamp>,
    /// Its kind.
    pub kind: WantedKind,
    /// The title, on one line.
    pub title: Clean<String>,
    /// Tokens (estimated) of its full text.
    pub tokens: u64,
    /// True if its files changed since.
    pub is_stale: bool,
}

/// The results of a search, best first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Found {
    /// The rows; memories before passages.
    pub rows: Vec<Row>,
    /// The project searched; `None` for all.
    pub project: Option<Clean<String>>,
    /// True if the limit cut off further rows.
    pub has_more: bool,
    /// True if these rows are only the nearest ones.
    pub are_nearest: bool,
    /// Notes on omissions, one sentence each.
    pub notes: Vec<Clean<String>>,
}

/// A timeline around an anchor, earliest first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Around {
    /// The rows.
    pub rows: Vec<Row>,
    /// The index of the anchor.
    pub anchor: Option<usize>,
    /// Notes on omissions.
    pub notes: Vec<Clean<String>>,
}

/// The name of a session.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionName {
    /// The agent's id of the session.
    pub id: String,
    /// Its title.
    pub title: Option<Clean<String>>,
    /// Its project.
    pub project: Option<Clean<String>>,
    /// The time it was last used.
    pub at: Option<Timestamp>,
}

/// A project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Project {
    /// Its key, the same everywhere.
    pub key: String,
    /// Its name.
    pub name: Clean<String>,
}

/// The item behind a requested id.
#[derive(Clone, Debug, PartialEq)]
pub enum Piece {
    /// A memory.
    Memory(Box<Whole>),
    /// A passage.
    Passage(Box<Passage>),
    /// No item.
    Unknown {
        /// The requested id.
        asked: String,
        /// The reason.
        why: String,
    },
}

/// A memory in full.
#[derive(Clone, Debug, PartialEq)]
pub struct Whole {
    /// The shortest unique prefix of its id.
    pub id: String,
    /// The time.
    pub at: Option<Timestamp>,
    /// Its kind, as the type column names it.
    pub kind: WantedKind,
    /// Its session.
    pub session: Option<SessionName>,
    /// The turn of the session; 0 for the session as a whole.
    pub turn: u32,
    /// Other properties, in a word or two each.
    pub marks: Vec<&'static str>,
    /// Its contents.
    pub body: Clean<MemoryBody>,
    /// The short ids of the passages that it names.
    pub ids: HashMap<Id, String>,
    /// A note on changes to its files, if there are any.
    pub stale: Option<String>,
    /// The passages that it was made from, if requested.
    pub source: Vec<Passage>,
}

/// A passage.
#[derive(Clone, Debug, PartialEq)]
pub struct Passage {
    /// The shortest unique prefix of its id.
    pub id: String,
    /// The time.
    pub at: Option<Timestamp>,
    /// Its kind.
    pub kind: WantedKind,
    /// The tool that ran.
    pub tool: Option<Clean<String>>,
    /// The outcome of the call.
    pub outcome: Option<Outcome>,
    /// Its session.
    pub session: Option<SessionName>,
    /// Its turn.
    pub turn: u32,
    /// Its text.
    pub text: Clean<String>,
}

/// A session.
#[derive(Clone, Debug, PartialEq)]
pub enum SessionTold {
    /// Its outline.
    Outline(Box<Outline>),
    /// The context for resuming it, in its fence; empty if nothing is known.
    Pack(Clean<String>),
}

/// The outline of a session.
#[derive(Clone, Debug, PartialEq)]
pub struct Outline {
    /// The session.
    pub name: SessionName,
    /// The time of the earliest record.
    pub started: Option<Timestamp>,
    /// Facts about it, in a few words each.
    pub facts: Vec<Clean<String>>,
    /// Its summary.
    pub digest: Option<Digest>,
    /// Its turns, in order.
    pub turns: Vec<Turn>,
    /// Files that it changed, with the number of changes.
    pub files: Vec<(Clean<String>, u64)>,
    /// Notes on omissions.
    pub notes: Vec<Clean<String>>,
}

/// The summary of a session.
#[derive(Clone, Debug, PartialEq)]
pub struct Digest {
    /// The id of the memory.
    pub id: String,
    /// Its contents.
    pub body: Clean<MemoryBody>,
}

/// The course of one turn.
#[derive(Clone, Debug, PartialEq)]
pub struct Turn {
    /// Its number.
    pub number: u32,
    /// The user's prompt: id and text.
    pub prompt: Option<(String, Clean<String>)>,
    /// The agent's last text: id and text.
    pub conclusion: Option<(String, Clean<String>)>,
    /// The commands that it ran.
    pub commands: Vec<Command>,
    /// Number of all tool calls.
    pub calls: u64,
}

/// A command that ran.
#[derive(Clone, Debug, PartialEq)]
pub struct Command {
    /// The command line.
    pub line: Clean<String>,
    /// Number of runs.
    pub runs: u32,
    /// The outcome of the last run.
    pub outcome: Option<Outcome>,
}

/// A stored memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remembered {
    /// The shortest unique prefix of its id.
    pub id: String,
    /// The project it is for; `None` for all.
    pub project: Option<Clean<String>>,
    /// True if something private or secret in it was left out.
    pub is_redacted: bool,
}

/// The result or the preview of forgetting.
#[derive(Clone, Debug, PartialEq)]
pub struct Forgotten {
    /// The memories.
    pub rows: Vec<Row>,
    /// Ids that name none, with the reason.
    pub unknown: Vec<(String, String)>,
    /// True if they were forgotten; false for a preview.
    pub is_done: bool,
}

impl Piece {
    /// Creates an answer for an id that names nothing.
    pub fn unknown(asked: &str, why: impl Into<String>) -> Self {
        Self::Unknown { asked: asked.to_owned(), why: why.into() }
    }
}

/// Returns JSON with all texts defused, so that none can steer its reader.
pub(crate) fn harmless(value: &Clean<Value>) -> Clean<Value> {
    fn walk(value: &mut Value) {
        match value {
            Value::String(text) => *text = thru_core::plain_line(text, 1_000),
            Value::Array(items) => items.iter_mut().for_each(walk),
            Value::Object(fields) => fields.values_mut().for_each(walk),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
    value.derive(|value| {
        let mut value = value.clone();
        walk(&mut value);
        value
    })
}
