//! The changes of an installation, decided before any of them is made.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde::Serialize;
use thru_core::Agent;

use super::permissions::allows_reading;
use super::{Refusal, Server, Site, installed, server};

/// The sessions that an installation is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scope {
    /// All of the user's.
    User,
    /// Those of the current project, for the user alone.
    Project,
}

/// The form of an installation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Form {
    /// Hooks in a settings file.
    Settings,
    /// A plugin in the agent's folder.
    Plugin,
}

impl Scope {
    /// Returns its name on the command line and in answers for programs.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Project => "project",
        }
    }
}

impl Form {
    /// Returns its name on the command line and in answers for programs.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Settings => "settings",
            Self::Plugin => "plugin",
        }
    }
}

/// The parts that are wanted beside hooks, for all of the user's sessions.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    /// Slash commands and skills.
    pub commands: bool,
    /// The MCP server.
    pub server: bool,
    /// The permission for agents to call the tools of the server that change nothing without asking.
    pub reading: bool,
}

/// The parts of ours in a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Contents {
    /// Number of hooks.
    pub hooks: u64,
    /// True if our MCP server is among its servers.
    pub serves: bool,
    /// True if agents may call its tools that change nothing without asking.
    pub allows: bool,
}

impl Contents {
    fn read(text: Option<&str>, agent: Agent) -> Self {
        let Some(text) = text else { return Self::default() };
        Self {
            hooks: installed(text, agent).unwrap_or_default().len() as u64,
            serves: matches!(server(text), Ok(Some(Server::Ours(_)))),
            allows: allows_reading(text),
        }
    }

    /// True if nothing in the text is ours.
    pub const fn is_empty(self) -> bool {
        self.hooks == 0 && !self.serves
    }
}

/// A change of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The file.
    pub path: PathBuf,
    /// Its content; `None` if it is not there.
    pub before: Option<String>,
    /// Its new content; `None` to remove it.
    pub after: Option<String>,
    /// True if a copy of the old content is kept. Files of our own need none.
    pub is_shared: bool,
    /// The parts of ours in the old content.
    pub had: Contents,
    /// The parts of ours in the new content.
    pub has: Contents,
}

/// The changes of an installation.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// The files that change; empty if everything is in place.
    pub changes: Vec<Change>,
    /// The file that holds our hooks afterwards.
    pub holds: Option<PathBuf>,
    /// Files in our folder that are not ours and stay.
    pub foreign: Vec<PathBuf>,
    /// Files of ours that were changed since, and stay.
    pub edited: Vec<PathBuf>,
    /// True if commands were wanted, and none can call our program where it lies.
    pub lacks_commands: bool,
    /// The file in which another server has our name.
    pub other_server: Option<PathBuf>,
    /// Folders of ours that are removed if they are empty afterwards, the inner ones first.
    pub folders: Vec<PathBuf>,
    /// Folders that are not ours alone: as well, but only those that we made.
    pub shared_folders: Vec<PathBuf>,
}

impl Plan {
    /// Adds a change, unless it changes nothing.
    pub fn add(
        &mut self,
        agent: Agent,
        path: PathBuf,
        before: Option<String>,
        after: Option<String>,
        is_shared: bool,
    ) {
        if before != after {
            let had = Contents::read(before.as_deref(), agent);
            let has = Contents::read(after.as_deref(), agent);
            self.changes.push(Change { path, before, after, is_shared, had, has });
        }
    }
}

/// The reason why there is no plan.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    /// A file of settings is not UTF-8.
    #[error("{} is not UTF-8, as settings are", .0.display())]
    NotText(PathBuf),
    /// A file cannot be read.
    #[error("{} cannot be read", .path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The error.
        source: std::io::Error,
    },
    /// A file is not what the agent takes.
    #[error("{shown} is left alone: {refusal}")]
    Refused {
        /// The file, as people write its path.
        shown: String,
        /// The reason.
        refusal: Refusal,
    },
    /// A plugin has our name and is not ours.
    #[error("{0} was not written by Throughline")]
    NotOurs(String),
    /// A plugin was asked for in a project.
    #[error("a plugin in a project's folder would run for everyone who clones it")]
    PluginInProject,
}

impl SetupError {
    pub(crate) fn refused(path: &Path, refusal: Refusal, site: &Site<'_>) -> Self {
        Self::Refused { shown: site.shown(path), refusal }
    }

    /// Returns the user's next step.
    pub const fn remedy(&self) -> Option<&'static str> {
        match self {
            Self::NotText(_) => Some("correct the file; nothing was changed"),
            Self::Unreadable { .. } => None,
            Self::Refused { .. } => {
                Some("correct the file, then run this again; nothing was changed")
            }
            Self::NotOurs(_) => Some("move that plugin away, or use `thru install --as settings`"),
            Self::PluginInProject => Some(
                "use `thru install --scope project`, which writes your own settings for the project",
            ),
        }
    }
}

/// Reads a file of settings; `None` if it is not there.
///
/// # Errors
/// Returns [`SetupError`] if the file cannot be read or is not UTF-8.
pub fn read(path: &Path) -> Result<Option<String>, SetupError> {
    match std::fs::read(path) {
        Ok(bytes) => {
            String::from_utf8(bytes).map(Some).map_err(|_| SetupError::NotText(path.to_owned()))
        }
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(source) => Err(SetupError::Unreadable { path: path.to_owned(), source }),
    }
}
