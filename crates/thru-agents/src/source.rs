//! The files that an agent left on disk, as found. Plain values: nothing here touches the disk.

use std::path::PathBuf;

use thru_core::{Agent, SessionId, SourceKind, Timestamp};

/// One file that contributes to a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// Whose file it is.
    pub agent: Agent,
    /// Its contribution.
    pub kind: SourceKind,
    /// The session it belongs to. Prompt histories belong to many: theirs is empty.
    pub session: SessionId,
    /// The subagent whose transcript it is, as its file name says.
    pub agent_id: Option<String>,
    /// Its path.
    pub path: PathBuf,
    /// Its name in the archive: relative, `/` between parts, no part is `.` or `..`.
    pub archive_name: String,
    /// Its length in bytes when it was found.
    pub size: u64,
    /// Time of the last write, if the file system knows it.
    pub modified: Option<Timestamp>,
}

/// Something that could not be looked at, or is not what it was taken for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The file or folder.
    pub path: PathBuf,
    /// The problem, for people.
    pub message: String,
}

/// The result of a search for sources.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Discovery {
    /// The files, sorted by their names in the archive.
    pub sources: Vec<Source>,
    /// The files and folders that could not be read. The rest is complete all the same.
    pub problems: Vec<Problem>,
}

impl Discovery {
    /// Adds what was found elsewhere.
    pub fn append(&mut self, other: Self) {
        self.sources.extend(other.sources);
        self.problems.extend(other.problems);
    }
}
