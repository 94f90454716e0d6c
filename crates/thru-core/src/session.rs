//! Sessions and the files that record them.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Agent;

/// A session's id: the agent's own, never ours.
#[derive(
    Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema, Deserialize,
)]
#[serde(transparent)]
pub struct SessionId(String);

impl SessionId {
    /// Wraps the id that the agent gave.
    pub fn new(id: impl Into<String>) -> Self {
        Self(id.into())
    }

    /// Returns the id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the part of it that is shown to people.
    pub fn short(&self) -> String {
        short_id(&self.0)
    }
}

/// Returns the part of a session's id that is shown to people: eight characters, and thirteen of a
/// UUID of version 7, whose first eight are the same for all that begin within 65 seconds.
pub fn short_id(id: &str) -> String {
    id.chars().take(if is_timed_uuid(id) { 13 } else { 8 }).collect()
}

/// True if a text has the form of a UUID.
pub fn is_uuid(text: &str) -> bool {
    text.len() == 36
        && text.bytes().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

/// True if a text is a UUID of version 7, which begins with its time.
pub fn is_timed_uuid(text: &str) -> bool {
    is_uuid(text) && text.as_bytes()[14] == b'7'
}

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// One conversation of one agent.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct SessionKey {
    /// The agent.
    pub agent: Agent,
    /// The agent's own id for it.
    pub id: SessionId,
}

/// The kind of a source file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SourceKind {
    /// The session's own transcript.
    Main,
    /// The transcript of a subagent that the session started.
    Subagent,
    /// A file beside the transcript that belongs to it (a spilled tool result, a subagent's
    /// description): archived and restored, but not read for passages.
    Attachment,
    /// A list of prompts of many sessions, kept by the agent apart from the transcripts.
    PromptHistory,
    /// Records of hooks that are not in the session's transcript (yet). It has no file: the records are
    /// in the journal.
    Hooks,
}

impl SourceKind {
    /// Every kind.
    pub const ALL: [Self; 5] =
        [Self::Main, Self::Subagent, Self::Attachment, Self::PromptHistory, Self::Hooks];

    /// Returns the kind with this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == name)
    }

    /// Returns the name used in the archive and the store.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Main => "main",
            Self::Subagent => "subagent",
            Self::Attachment => "attachment",
            Self::PromptHistory => "prompt-history",
            Self::Hooks => "hooks",
        }
    }
}

impl fmt::Display for SourceKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
