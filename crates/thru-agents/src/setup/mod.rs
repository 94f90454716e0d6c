//! Installation into agents: the files in which our hooks stand, the changes that put them in or take them
//! out, and the reasons why an agent may not run them.
//!
//! Plans are made of texts and paths, from files as they are now; the caller makes the changes. Nothing here
//! writes. Putting in and taking out are exact inverses: for every file in every formatting, taking out
//! restores the bytes that were there before.

mod command;
mod document;
mod merge;
mod permissions;
mod places;
mod plan;
mod servers;
mod version;

use std::path::{Path, PathBuf};

use serde::Serialize;

pub(crate) use command::quoted;
pub use command::{HookForm, InstalledHook, Registration};
pub use merge::{Refusal, install, installed, uninstall};
pub use permissions::{allow_reading, forbid_reading};
pub use places::{HookFile, HookOwner, Platform, Site};
pub use plan::{Change, Contents, Form, Plan, Scope, SetupError, Wanted, read};
pub use servers::{SERVER_NAME, Server, add_server, remove_server, server};
pub use version::ClientVersion;

/// Puts our hooks into an agent, takes them out, and knows when they run.
pub trait Setup: Sync {
    /// Names of the agent's program.
    fn programs(&self, platform: Platform) -> &'static [&'static str];

    /// Folders below the home directory in which the agent installs itself, for users whose shell does not
    /// search them.
    fn usual_places(&self) -> &'static [&'static str];

    /// True if versions of the agent take different hooks.
    fn depends_on_version(&self) -> bool {
        false
    }

    /// Returns the hooks for a version of the agent, or for every version if it is unknown.
    fn registration(
        &self,
        program: &str,
        version: Option<ClientVersion>,
        platform: Platform,
        timeout: u64,
    ) -> Registration;

    /// Returns all files in which hooks for a session in this project may stand, existing or not.
    fn hook_files(&self, site: &Site<'_>) -> Vec<HookFile>;

    /// True if there is a file for hooks of this scope that is the user's alone.
    fn has_scope(&self, scope: Scope) -> bool;

    /// True if hooks can be installed in this form.
    fn has_form(&self, form: Form) -> bool {
        form == Form::Settings
    }

    /// Returns the form that is installed for the user, or the usual one.
    fn present_form(&self, _site: &Site<'_>) -> Form {
        Form::Settings
    }

    /// Returns the changes of an installation.
    ///
    /// # Errors
    /// Returns [`SetupError`] if a file cannot be read or is not what the agent takes.
    fn install(
        &self,
        site: &Site<'_>,
        scope: Scope,
        form: Form,
        registration: &Registration,
        wanted: Wanted,
    ) -> Result<Plan, SetupError>;

    /// Returns the changes that take everything of ours out.
    ///
    /// # Errors
    /// Returns [`SetupError`] if a file with our hooks cannot be read.
    fn uninstall(&self, site: &Site<'_>, scopes: &[Scope]) -> Result<Plan, SetupError>;

    /// Returns the reason why no hook runs whatever is installed, as a sentence.
    fn obstacle(&self, _site: &Site<'_>, _form: Form) -> Option<String> {
        None
    }

    /// Returns the trust that the user gave the agent to run our hooks.
    fn trust(&self, site: &Site<'_>) -> Trust;

    /// Returns the MCP servers that stand under our name, each with its file; `None` if the agent has no file
    /// for them that we write.
    fn servers(&self, _site: &Site<'_>) -> Option<Vec<(PathBuf, Server)>> {
        None
    }

    /// Returns a command for the user that registers our MCP server, if only the user can and has not.
    fn server_by_hand(&self, _site: &Site<'_>, _program: &str) -> Option<String> {
        None
    }

    /// Returns the command that removes our MCP server, which the user registered by hand, if it is there.
    fn server_left(&self, _site: &Site<'_>) -> Option<String> {
        None
    }

    /// True if any of our slash commands is installed for the user.
    fn has_commands(&self, _site: &Site<'_>) -> bool {
        false
    }

    /// Returns our slash commands that the user changed.
    fn changed_commands(&self, _site: &Site<'_>) -> Vec<PathBuf> {
        Vec::new()
    }

    /// Returns the time after which the agent deletes transcripts, if it does.
    fn retention(&self, _site: &Site<'_>) -> Option<Retention> {
        None
    }
}

/// The trust that the user gave an agent to run our hooks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Trust {
    /// Its state.
    pub state: TrustState,
    /// The state in a line.
    pub line: String,
    /// The user's next step.
    pub remedy: Option<String>,
}

/// The state of the trust in our hooks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum TrustState {
    /// The hooks run.
    Given,
    /// Nothing is held back, as far as can be seen.
    Unknown,
    /// The hooks do not run in this folder yet.
    Asked,
    /// No hook runs.
    Missing,
}

impl Trust {
    /// The hooks run.
    pub fn given(line: impl Into<String>) -> Self {
        Self { state: TrustState::Given, line: line.into(), remedy: None }
    }

    /// Nothing is known.
    pub fn unknown(line: impl Into<String>) -> Self {
        Self { state: TrustState::Unknown, line: line.into(), remedy: None }
    }

    /// The hooks run once the user did something.
    pub fn lacking(state: TrustState, line: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { state, line: line.into(), remedy: Some(remedy.into()) }
    }
}

/// The time for which an agent keeps transcripts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Retention {
    /// Days; 0 keeps none.
    pub days: u64,
    /// The agent's setting.
    pub setting: &'static str,
    /// The file that sets it; `None` for the default.
    pub set_in: Option<PathBuf>,
}

/// Reads a file of JSON; `None` if there is none that can be read.
pub(crate) fn read_json(file: &Path) -> Option<serde_json::Value> {
    /// More than any settings file, and more than any list of projects.
    const LARGEST: u64 = 64 * 1024 * 1024;
    let metadata = file.metadata().ok()?;
    if !metadata.is_file() || metadata.len() > LARGEST {
        return None;
    }
    serde_json::from_slice(&std::fs::read(file).ok()?).ok()
}
