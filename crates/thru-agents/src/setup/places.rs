//! The files of an agent on this machine.

use std::path::{Path, PathBuf};

/// An operating system, as far as agents differ on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Platform {
    /// Linux, and everything that is like it.
    Linux,
    /// macOS.
    MacOs,
    /// Windows.
    Windows,
}

/// The owner of the hooks in a file. Hooks of all of them run; none overrides another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HookOwner {
    /// The organisation's settings. We never write them.
    Managed,
    /// The user's settings.
    User,
    /// Our plugin in the user's folder.
    Plugin,
    /// The project's settings, which every clone of it has. We never write them.
    Project,
    /// The user's own settings for the project.
    ProjectLocal,
}

impl HookOwner {
    /// Returns its name in answers for programs.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Managed => "managed",
            Self::User => "user",
            Self::Plugin => "plugin",
            Self::Project => "project",
            Self::ProjectLocal => "project-local",
        }
    }
}

/// A file in which hooks of ours may stand, whether it exists or not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookFile {
    /// Its owner.
    pub owner: HookOwner,
    /// Its path.
    pub path: PathBuf,
}

/// The surroundings of an installation.
#[derive(Clone, Copy, Debug)]
pub struct Site<'a> {
    /// The agent's home.
    pub folder: &'a Path,
    /// True if a variable says where that is.
    pub is_named: bool,
    /// The user's home directory.
    pub home: Option<&'a Path>,
    /// The current directory.
    pub directory: &'a Path,
    /// The root of the project that it lies in.
    pub project: &'a Path,
    /// The system.
    pub platform: Platform,
    /// The folders in which the user's shell looks for programs.
    pub search_path: &'a [PathBuf],
}

impl Site<'_> {
    /// Returns a path as people write it: `~` for the home directory.
    pub fn shown(&self, path: &Path) -> String {
        match self.home.and_then(|home| path.strip_prefix(home).ok()) {
            Some(rest) if !rest.as_os_str().is_empty() => format!("~/{}", rest.display()),
            _ => path.display().to_string(),
        }
    }
}
