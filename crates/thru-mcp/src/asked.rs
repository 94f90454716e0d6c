//! Requests: the parsed arguments of the tools.

use thru_core::{Agent, MemoryKind, ObservationType, PassageKind, UnknownName};

/// The scope of a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Place {
    /// The current project; every project if the current one is unknown.
    #[default]
    Here,
    /// In every project.
    Everywhere,
    /// In the project with this name or key.
    Named(String),
}

/// The kind of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WantedKind {
    /// A memory.
    Memory(MemoryKind),
    /// A passage, by speaker.
    Passage(PassageKind),
}

impl WantedKind {
    /// Returns its name in the type column.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Memory(kind) => kind.as_str(),
            Self::Passage(PassageKind::Human) => "prompt",
            Self::Passage(PassageKind::Assistant) => "answer",
            Self::Passage(PassageKind::Tool) => "tool",
        }
    }
}

impl std::str::FromStr for WantedKind {
    type Err = UnknownName;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Ok(match name.to_lowercase().as_str() {
            "prompt" => Self::Passage(PassageKind::Human),
            "answer" => Self::Passage(PassageKind::Assistant),
            "tool" => Self::Passage(PassageKind::Tool),
            other => Self::Memory(other.parse()?),
        })
    }
}

/// The arguments of `search`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Search {
    /// The question, in any words.
    pub query: String,
    /// The scope.
    pub place: Place,
    /// Only sessions of this agent.
    pub agent: Option<Agent>,
    /// Only these kinds; all kinds if empty.
    pub kinds: Vec<WantedKind>,
    /// Only results that touched this file (the end of its path).
    pub file: Option<String>,
    /// Not before this date, as a person writes it.
    pub since: Option<String>,
    /// Before this date.
    pub until: Option<String>,
    /// Only this session (the start of its id).
    pub session: Option<String>,
    /// Most rows.
    pub limit: usize,
    /// True to show the nearest results if nothing answers.
    pub nearest: bool,
}

/// The arguments of `timeline`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Timeline {
    /// The id of a memory or a passage.
    pub anchor: Option<String>,
    /// Without an anchor: the question whose best answer is the anchor.
    pub query: Option<String>,
    /// Rows before it.
    pub before: usize,
    /// Rows after it.
    pub after: usize,
    /// Only these kinds; all kinds if empty.
    pub kinds: Vec<MemoryKind>,
    /// The scope of the query.
    pub place: Place,
}

/// The arguments of `get_observations`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Get {
    /// Ids of memories and passages, or prefixes of them.
    pub ids: Vec<String>,
    /// True to include the sources of each.
    pub source: bool,
}

/// The arguments of `get_session`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Session {
    /// The start of its id, or `latest`.
    pub id: String,
    /// True to return the context for resuming its work.
    pub resume: bool,
}

/// The arguments of `remember`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remember {
    /// The text to keep.
    pub text: String,
    /// Its title.
    pub title: Option<String>,
    /// The type of observation.
    pub kind: ObservationType,
    /// Files it is about.
    pub files: Vec<String>,
    /// The scope of the memory.
    pub place: Place,
}

/// The arguments of `forget`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Forget {
    /// Ids of memories.
    pub ids: Vec<String>,
    /// True to forget; false for a preview.
    pub confirm: bool,
}

/// The arguments of `session_tracking_close`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Close {
    /// The session; `None` for the current one.
    pub session_id: Option<String>,
    /// The reason.
    pub reason: Option<String>,
}

/// The arguments of `session_tracking_list_unindexed`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListUnindexed {
    /// Only this project; `None` for all.
    pub project_namespace: Option<String>,
    /// True to include sessions that were left.
    pub include_inactive: bool,
}

/// The arguments of `session_tracking_sync_history`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyncHistory {
    /// Only this project; `None` for all.
    pub project: Option<String>,
    /// Only sessions used in the last `days` days; 0 means all.
    pub days: u32,
    /// Most sessions.
    pub max_sessions: Option<usize>,
}
