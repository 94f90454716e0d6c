//! Why summaries cannot be written or read.

use std::io;
use std::path::{Path, PathBuf};

/// What went wrong.
#[derive(Debug, thiserror::Error)]
pub enum SummariesError {
    /// A link, or something else that is no folder or file, stands in the way. It may lead anywhere.
    #[error("{} is a link, or not what it should be: it is not followed", .0.display())]
    Refused(PathBuf),
    /// The id of a session that could be a path.
    #[error("`{0}` cannot be the name of a folder")]
    NoName(String),
    /// The project is gone.
    #[error("{} is not there", .0.display())]
    NoProject(PathBuf),
    /// Another process is writing there.
    #[error("another process is writing in {}", .0.display())]
    Busy(PathBuf),
    /// There is no summary of this session.
    #[error("there is no summary of session {0}")]
    Unknown(String),
    /// The disk says no.
    #[error("{}: {source}", path.display())]
    Io {
        /// What was to be read or written.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
}

/// The usual result.
pub type Result<T> = std::result::Result<T, SummariesError>;

impl SummariesError {
    pub(crate) fn io(path: &Path, source: io::Error) -> Self {
        Self::Io { path: path.to_owned(), source }
    }

    /// Whether trying again later may help.
    pub fn is_passing(&self) -> bool {
        match self {
            Self::Busy(_) => true,
            Self::Io { source, .. } => !matches!(
                source.kind(),
                io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem
            ),
            Self::Refused(_) | Self::NoName(_) | Self::NoProject(_) | Self::Unknown(_) => false,
        }
    }
}

impl From<thru_journal::Error> for SummariesError {
    fn from(error: thru_journal::Error) -> Self {
        let (path, source) = error.into_io();
        Self::Io { path, source }
    }
}
