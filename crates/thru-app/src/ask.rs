//! Questions, and the naming of what they are about.

pub mod briefings;
pub mod changes;
pub mod context;
mod dates;
pub mod forgotten;
pub mod get;
pub mod graph;
pub mod graphiti;
pub mod log;
pub mod memories;
pub mod memory;
pub mod named;
pub mod pack;
mod pages;
pub mod passage;
pub mod prompts;
pub mod rank;
pub mod search;
pub mod session;
pub mod sessions;
pub mod stats;
pub mod status;
pub mod timeline;
pub mod transcript;
pub mod unindexed;

use std::str::FromStr;

use thru_core::{MemoryKind, PassageKind, UnknownName};
use thru_intake::Intake;
use thru_redact::{Clean, Redactor, Report};
use thru_store::{ProjectName, Store};

use crate::app::App;
use crate::call::Call;
use crate::fresh::{self, Freshness, Prepared};
use crate::trouble::Result;

/// The projects that a question is about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ProjectScope {
    /// The caller's project; every project, where nothing is known of the caller's.
    #[default]
    Here,
    /// Every project.
    Everywhere,
    /// The project with this name or key.
    Named(String),
}

impl ProjectScope {
    /// Finds the project; `None` for every project.
    ///
    /// # Errors
    /// Fails if no project has the name, several have it, or the store cannot be read.
    pub fn find(&self, app: &App, store: &Store) -> Result<Option<ProjectName>> {
        match self {
            Self::Named(name) => Ok(Some(named::named_project(store, name)?)),
            Self::Everywhere => Ok(None),
            Self::Here => named::current_project(app, store),
        }
    }
}

/// A kind of memory or of passage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    /// A memory.
    Memory(MemoryKind),
    /// A passage, by its speaker.
    Passage(PassageKind),
}

impl EntryKind {
    /// Its name: that of the memory's kind, or `prompt`, `answer`, `tool`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Memory(kind) => kind.as_str(),
            Self::Passage(PassageKind::Human) => "prompt",
            Self::Passage(PassageKind::Assistant) => "answer",
            Self::Passage(PassageKind::Tool) => "tool",
        }
    }
}

impl FromStr for EntryKind {
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

/// A store that is open for a question about all projects.
struct Opened {
    store: Store,
    intake: Intake,
    preparation: Prepared,
}

impl Opened {
    fn new(app: &App, freshness: Freshness, call: Call<'_>) -> Result<Self> {
        if freshness == Freshness::Indexed {
            return Self::up_to_date(app, call);
        }
        let store = fresh::open(app, freshness, call)?;
        let intake = app.intake_beside(&store)?;
        Ok(Self { store, intake, preparation: Prepared::default() })
    }

    /// As for [`Freshness::Indexed`], with what is missing all the same.
    fn up_to_date(app: &App, call: Call<'_>) -> Result<Self> {
        let Self { store, intake, .. } = Self::new(app, Freshness::AsItIs, call)?;
        let (store, preparation) = fresh::for_question(app, &intake, store, None, call)?;
        Ok(Self { store, intake, preparation })
    }
}

/// Text cleaned by the rules of today: the rules of the time when it was kept may be older.
pub(crate) fn cleaned(redactor: &Redactor, text: &str) -> Clean<String> {
    redactor.clean_text(text, &mut Report::default())
}
