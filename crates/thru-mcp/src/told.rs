//! What a memory tells: values, cleaned and not yet written out.

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
    /// The shortest id that names it alone.
    pub id: String,
    /// When.
    pub at: Option<Timestamp>,
    /// What it is.
    pub kind: WantedKind,
    /// In a line.
    pub title: Clean<String>,
    /// Tokens (estimated) that reading all of it costs.
    pub tokens: u64,
    /// Whether the files that it names changed since.
    pub is_stale: bool,
}

/// What a search found, best first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Found {
    /// The rows; memories before passages.
    pub rows: Vec<Row>,
    /// Where it looked; nothing for everywhere.
    pub project: Option<Clean<String>>,
    /// Whether there is more than the limit lets through.
    pub has_more: bool,
    /// Whether these rows only come nearest.
    pub are_nearest: bool,
    /// What is not in the answer, in a sentence each.
    pub notes: Vec<Clean<String>>,
}

/// What happened around something, the earliest first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Around {
    /// The rows.
    pub rows: Vec<Row>,
    /// Which of them was asked about.
    pub anchor: Option<usize>,
    /// What is not in the answer.
    pub notes: Vec<Clean<String>>,
}

/// What a session is called.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionName {
    /// The agent's id of it.
    pub id: String,
    /// Its title.
    pub title: Option<Clean<String>>,
    /// Its project.
    pub project: Option<Clean<String>>,
    /// When it was used last.
    pub at: Option<Timestamp>,
}

/// A project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Project {
    /// What stands for it everywhere.
    pub key: String,
    /// What it is called.
    pub name: Clean<String>,
}

/// What was asked for by an id.
#[derive(Clone, Debug, PartialEq)]
pub enum Piece {
    /// A memory.
    Memory(Box<Whole>),
    /// A passage.
    Passage(Box<Passage>),
    /// Nothing, and why.
    Unknown {
        /// What was asked for.
        asked: String,
        /// Why there is none.
        why: String,
    },
}

/// A memory whole.
#[derive(Clone, Debug, PartialEq)]
pub struct Whole {
    /// The shortest id that names it alone.
    pub id: String,
    /// When.
    pub at: Option<Timestamp>,
    /// Its kind, as the type column names it.
    pub kind: WantedKind,
    /// Its session.
    pub session: Option<SessionName>,
    /// The turn of the session; 0 for all of it.
    pub turn: u32,
    /// What else there is to say of it, in a word or two each.
    pub marks: Vec<&'static str>,
    /// What it says.
    pub body: Clean<MemoryBody>,
    /// The short ids of the passages that it names.
    pub ids: HashMap<Id, String>,
    /// What became of its files, where that is worth knowing.
    pub stale: Option<String>,
    /// The passages that it was made from, where they were asked for.
    pub source: Vec<Passage>,
}

/// A passage.
#[derive(Clone, Debug, PartialEq)]
pub struct Passage {
    /// The shortest id that names it alone.
    pub id: String,
    /// When.
    pub at: Option<Timestamp>,
    /// Its kind.
    pub kind: WantedKind,
    /// The tool that ran.
    pub tool: Option<Clean<String>>,
    /// How the call ended.
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
    /// What happened in it.
    Outline(Box<Outline>),
    /// What it held, in its fence; empty where nothing is known.
    Pack(Clean<String>),
}

/// What happened in a session.
#[derive(Clone, Debug, PartialEq)]
pub struct Outline {
    /// Which.
    pub name: SessionName,
    /// The earliest record.
    pub started: Option<Timestamp>,
    /// Facts about it, in a few words each.
    pub facts: Vec<Clean<String>>,
    /// How it ended.
    pub digest: Option<Digest>,
    /// Its turns, in order.
    pub turns: Vec<Turn>,
    /// Files that it changed, with how often.
    pub files: Vec<(Clean<String>, u64)>,
    /// What is not in the answer.
    pub notes: Vec<Clean<String>>,
}

/// The summary of a session.
#[derive(Clone, Debug, PartialEq)]
pub struct Digest {
    /// The id of the memory.
    pub id: String,
    /// What it says.
    pub body: Clean<MemoryBody>,
}

/// What happened in one turn.
#[derive(Clone, Debug, PartialEq)]
pub struct Turn {
    /// Its number.
    pub number: u32,
    /// What the user asked: id and text.
    pub prompt: Option<(String, Clean<String>)>,
    /// What the agent said last: id and text.
    pub conclusion: Option<(String, Clean<String>)>,
    /// The commands that it ran.
    pub commands: Vec<Command>,
    /// Tool calls in all.
    pub calls: u64,
}

/// A command that ran.
#[derive(Clone, Debug, PartialEq)]
pub struct Command {
    /// The command line.
    pub line: Clean<String>,
    /// How often.
    pub runs: u32,
    /// How it ended last.
    pub outcome: Option<Outcome>,
}

/// What was kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remembered {
    /// The shortest id that names it alone.
    pub id: String,
    /// For which project; for every one where there is none.
    pub project: Option<Clean<String>>,
    /// Whether something in it was private or secret and was left out.
    pub is_redacted: bool,
}

/// What is, or would be, forgotten.
#[derive(Clone, Debug, PartialEq)]
pub struct Forgotten {
    /// The memories.
    pub rows: Vec<Row>,
    /// Ids that name none, and why.
    pub unknown: Vec<(String, String)>,
    /// Whether it was done.
    pub is_done: bool,
}

impl Piece {
    /// The id that was asked for and names nothing.
    pub fn unknown(asked: &str, why: impl Into<String>) -> Self {
        Self::Unknown { asked: asked.to_owned(), why: why.into() }
    }
}

/// JSON as an agent reads it: no text in it steers a reader.
pub(crate) fn harmless(value: &Clean<Value>) -> Clean<Value> {
    fn walk(value: &mut Value) {
        match value {
            Value::String(text) => *text = thru_recall::plain(text, 1_000),
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
