//! The errors of writing and reading summaries.

use std::io;
use std::path::{Path, PathBuf};

/// An error of the summaries.
#[derive(Debug, thiserror::Error)]
pub enum SummariesError {
    /// A link, or something else that is neither folder nor file, is in the way. A link may lead anywhere.
    #[error("{} is a link, or of the wrong type: it is not followed", .0.display())]
    Refused(PathBuf),
    /// The id of the session could be a path.
    #[error("`{0}` cannot be the name of a folder")]
    NoName(String),
    /// The project does not exist.
    #[error("{} does not exist", .0.display())]
    NoProject(PathBuf),
    /// Another process is writing there.
    #[error("another process is writing to {}", .0.display())]
    Busy(PathBuf),
    /// The session has no summary.
    #[error("there is no summary of session {0}")]
    Unknown(String),
    /// The user removed the summaries of this session.
    #[error("the summaries of session {0} were removed")]
    Removed(String),
    /// An I/O error.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The underlying error.
        source: io::Error,
    },
}

/// The result of an operation on summaries.
pub type Result<T> = std::result::Result<T, SummariesError>;

impl SummariesError {
    pub(crate) fn io(path: &Path, source: io::Error) -> Self {
        Self::Io { path: path.to_owned(), source }
    }

    /// Returns true if a later attempt may succeed.
    pub fn is_passing(&self) -> bool {
        match self {
            Self::Busy(_) => true,
            Self::Io { source, .. } => !matches!(
                source.kind(),
                io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem
            ),
            Self::Refused(_)
            | Self::NoName(_)
            | Self::NoProject(_)
            | Self::Unknown(_)
            | Self::Removed(_) => false,
        }
    }
}

impl From<thru_journal::Error> for SummariesError {
    fn from(error: thru_journal::Error) -> Self {
        let (path, source) = error.into_io();
        Self::Io { path, source }
    }
}
