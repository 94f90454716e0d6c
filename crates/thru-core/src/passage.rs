//! The unit of ranking, citation and evidence.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What a passage is: who speaks in it, or that a tool ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
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

    /// The number that stands for the kind in the store.
    pub const fn code(self) -> u8 {
        match self {
            Self::Human => 0,
            Self::Assistant => 1,
            Self::Tool => 2,
        }
    }

    /// The kind of that number.
    pub fn from_code(code: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.code() == code)
    }

    /// The name shown to people and programs.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Human => "human",
            Self::Assistant => "assistant",
            Self::Tool => "tool",
        }
    }

    /// Whether a person or the agent speaks, rather than a tool.
    pub const fn is_prose(self) -> bool {
        !matches!(self, Self::Tool)
    }
}

impl fmt::Display for PassageKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// How a tool call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// The result was recorded and does not say that it failed.
    Succeeded,
    /// The result says that the call failed.
    Failed,
    /// No result was recorded (yet).
    Pending,
}

impl Outcome {
    /// The number that stands for the outcome in the store.
    pub const fn code(self) -> u8 {
        match self {
            Self::Succeeded => 0,
            Self::Failed => 1,
            Self::Pending => 2,
        }
    }

    /// The outcome of that number.
    pub fn from_code(code: u8) -> Option<Self> {
        [Self::Succeeded, Self::Failed, Self::Pending].into_iter().find(|o| o.code() == code)
    }
}

/// The agent's own name for one record of a transcript: its uuid, or `L<n>` (the 1-based line in the
/// source file) where the agent gives none.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RecordId(String);

impl RecordId {
    /// A record that its agent named.
    pub fn named(id: impl Into<String>) -> Self {
        Self(id.into())
    }

    /// A record without a name of its own, on this line (1-based) of its file.
    pub fn line(number: u64) -> Self {
        Self(format!("L{number}"))
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RecordId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
