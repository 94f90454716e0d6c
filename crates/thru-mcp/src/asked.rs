//! What is asked for: the arguments of the tools, read.

use thru_core::{Agent, MemoryKind, ObservationType, PassageKind, UnknownName};

/// Where to look.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Place {
    /// In the project that one stands in; everywhere, where one stands in none that is known.
    #[default]
    Here,
    /// In every project.
    Everywhere,
    /// In the project with this name or key.
    Named(String),
}

/// What kind of thing to look for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WantedKind {
    /// A memory.
    Memory(MemoryKind),
    /// A passage, by who speaks.
    Passage(PassageKind),
}

impl WantedKind {
    /// Its name in the type column.
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
    /// What to look for, in anybody's words.
    pub query: String,
    /// Where.
    pub place: Place,
    /// Only what this agent said and did.
    pub agent: Option<Agent>,
    /// Only these kinds; all where there are none.
    pub kinds: Vec<WantedKind>,
    /// Only what touched this file (the end of its path).
    pub file: Option<String>,
    /// Not before this day, as people write one.
    pub since: Option<String>,
    /// Before this day.
    pub until: Option<String>,
    /// Only this session (the start of its id).
    pub session: Option<String>,
    /// How many rows at most.
    pub limit: usize,
    /// Whether to show what comes nearest where nothing answers.
    pub nearest: bool,
}

/// The arguments of `timeline`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Timeline {
    /// The id of a memory or a passage.
    pub anchor: Option<String>,
    /// Else: around what answers this best.
    pub query: Option<String>,
    /// How many before it.
    pub before: usize,
    /// How many after it.
    pub after: usize,
    /// Only these kinds; all where there are none.
    pub kinds: Vec<MemoryKind>,
    /// Where a query looks.
    pub place: Place,
}

/// The arguments of `get_observations`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Get {
    /// Ids of memories and passages, or what starts them.
    pub ids: Vec<String>,
    /// Whether to show what each was made from.
    pub source: bool,
}

/// The arguments of `get_session`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Session {
    /// The start of its id, or `latest`.
    pub id: String,
    /// Whether to give what it held, to go on with its work.
    pub resume: bool,
}

/// The arguments of `remember`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remember {
    /// What to keep.
    pub text: String,
    /// Its title.
    pub title: Option<String>,
    /// What it is about.
    pub kind: ObservationType,
    /// Files that it is about.
    pub files: Vec<String>,
    /// For which project.
    pub place: Place,
}

/// The arguments of `forget`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Forget {
    /// Ids of memories.
    pub ids: Vec<String>,
    /// Whether it is meant; else only shown.
    pub confirm: bool,
}

/// The arguments of `session_tracking_close`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Close {
    /// Which session; the one at work where none is named.
    pub session_id: Option<String>,
    /// Why.
    pub reason: Option<String>,
}

/// The arguments of `session_tracking_list_unindexed`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListUnindexed {
    /// Of this project; of all where none is named.
    pub project_namespace: Option<String>,
    /// Whether those that were left are wanted, too.
    pub include_inactive: bool,
}

/// The arguments of `session_tracking_sync_history`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyncHistory {
    /// Of this project; of all where none is named.
    pub project: Option<String>,
    /// Used in the last so many days; 0 means all.
    pub days: u32,
    /// At most so many.
    pub max_sessions: Option<usize>,
}
