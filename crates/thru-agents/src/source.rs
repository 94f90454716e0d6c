//! The files of an agent as discovery found them. Plain values: nothing here touches the disk.

use std::path::PathBuf;

use thru_core::{Agent, SessionId, SourceKind, Timestamp};

/// One file that contributes to a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// The agent that wrote the file.
    pub agent: Agent,
    /// The file's role in its session.
    pub kind: SourceKind,
    /// The session that the file belongs to. Empty for prompt histories, which hold prompts of many
    /// sessions.
    pub session: SessionId,
    /// The subagent whose transcript this is, taken from the file name.
    pub agent_id: Option<String>,
    /// The path of the file.
    pub path: PathBuf,
    /// The name in the archive: relative, `/` between parts, no part is `.` or `..`.
    pub archive_name: String,
    /// The length in bytes at the time of the search.
    pub size: u64,
    /// The time of the last write, if the file system reports it.
    pub modified: Option<Timestamp>,
}

/// A file or folder that could not be read, or is not what it was expected to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The path of the file or folder.
    pub path: PathBuf,
    /// The problem, in words for people.
    pub message: String,
}

/// The result of a search for sources.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Discovery {
    /// The files, sorted by archive name.
    pub sources: Vec<Source>,
    /// Files and folders that could not be read. They do not make the rest incomplete.
    pub problems: Vec<Problem>,
}

impl Discovery {
    /// Adds the results of another search.
    pub fn append(&mut self, other: Self) {
        self.sources.extend(other.sources);
        self.problems.extend(other.problems);
    }
}
