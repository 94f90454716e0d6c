//! The coding assistants.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A coding assistant that we observe.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema, Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum Agent {
    /// Anthropic's Claude Code.
    ClaudeCode,
    /// OpenAI's Codex.
    Codex,
    /// GitHub's Copilot CLI.
    Copilot,
}

impl Agent {
    /// Every agent that this build can read.
    pub const ALL: [Self; 3] = [Self::ClaudeCode, Self::Codex, Self::Copilot];

    /// Returns the number used in indexes. 0 is not an agent: it is for documents without one.
    pub const fn code(self) -> u8 {
        match self {
            Self::ClaudeCode => 1,
            Self::Codex => 2,
            Self::Copilot => 3,
        }
    }

    /// Returns the name used in paths, tables and on the command line.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
            Self::Copilot => "copilot",
        }
    }

    /// Returns the name as its makers write it, for people.
    pub const fn display_name(self) -> &'static str {
        match self {
            Self::ClaudeCode => "Claude Code",
            Self::Codex => "Codex",
            Self::Copilot => "Copilot CLI",
        }
    }
}

impl fmt::Display for Agent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// An error for a name that is not one of an agent that this build can read.
#[derive(Debug, thiserror::Error)]
#[error("unknown agent `{0}`: there are {names}", names = Agent::ALL.map(Agent::as_str).join(", "))]
pub struct UnknownAgent(pub String);

impl FromStr for Agent {
    type Err = UnknownAgent;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|agent| agent.as_str() == name)
            .ok_or_else(|| UnknownAgent(name.to_owned()))
    }
}
