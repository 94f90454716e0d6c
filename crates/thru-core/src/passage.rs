//! The unit of ranking, citation and evidence.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The kind of a passage: its speaker, or a tool call.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema, Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum PassageKind {
    /// One prompt that a person wrote.
    Human,
    /// One block of text that the agent wrote.
    Assistant,
    /// One tool call with its result.
    Tool,
}

impl PassageKind {
    /// Every kind, in the order of their codes.
    pub const ALL: [Self; 3] = [Self::Human, Self::Assistant, Self::Tool];

    /// Returns the number of the kind in the store.
    pub const fn code(self) -> u8 {
        match self {
            Self::Human => 0,
            Self::Assistant => 1,
            Self::Tool => 2,
        }
    }

    /// Returns the kind with this number.
    pub fn from_code(code: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.code() == code)
    }

    /// Returns the name shown to people and programs.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Human => "human",
            Self::Assistant => "assistant",
            Self::Tool => "tool",
        }
    }

    /// True for the words of a person or the agent, rather than a tool call.
    pub const fn is_prose(self) -> bool {
        !matches!(self, Self::Tool)
    }
}

impl fmt::Display for PassageKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The outcome of a tool call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, JsonSchema, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// The result was recorded and does not report a failure.
    Succeeded,
    /// The result reports a failure.
    Failed,
    /// No result was recorded (yet).
    Pending,
}

impl Outcome {
    /// Returns the number of the outcome in the store.
    pub const fn code(self) -> u8 {
        match self {
            Self::Succeeded => 0,
            Self::Failed => 1,
            Self::Pending => 2,
        }
    }

    /// Returns the outcome with this number.
    pub fn from_code(code: u8) -> Option<Self> {
        [Self::Succeeded, Self::Failed, Self::Pending].into_iter().find(|o| o.code() == code)
    }
}

/// The agent's own name for one record of a transcript: its uuid, or `L<n>` (the 1-based line in the
/// source file) if it has none.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RecordId(String);

impl RecordId {
    /// Returns the id of a record that its agent named.
    pub fn named(id: impl Into<String>) -> Self {
        Self(id.into())
    }

    /// Returns the id of an unnamed record on this line (1-based) of its file.
    pub fn line(number: u64) -> Self {
        Self(format!("L{number}"))
    }

    /// Returns the id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RecordId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
