//! Errors that stop intake as a whole. A problem with one file is not an error: it is reported and the rest
//! goes on (see [`SourceProblem`](crate::SourceProblem)).

use std::path::{Path, PathBuf};

use crate::Loss;

/// An error of intake.
#[derive(Debug, thiserror::Error)]
pub enum IntakeError {
    /// An error of the store.
    #[error(transparent)]
    Store(#[from] thru_store::StoreError),
    /// An error of the journal or the archive.
    #[error(transparent)]
    Journal(#[from] thru_journal::Error),
    /// Another process is writing, and the caller did not wait.
    #[error("another `thru` is writing to this memory{}", process(.holder))]
    Locked {
        /// Its process id, if known.
        holder: Option<u32>,
    },
    /// Another process is embedding, and the caller did not wait.
    #[error("another `thru` is embedding what this memory holds")]
    Embedding,
    /// Vectors of forgotten texts may be left, because the index does not hold all texts yet. Everything else
    /// was done.
    #[error("vectors were not swept: the index does not hold everything yet")]
    NotSwept,
    /// An error of the embedding model.
    #[error(transparent)]
    Embed(#[from] thru_embed::EmbedError),
    /// The user interrupted it. The work done by then is kept.
    #[error("interrupted")]
    Interrupted,
    /// A redaction rule in the journal is invalid.
    #[error(transparent)]
    Rule(#[from] thru_redact::RuleError),
    /// The session does not exist.
    #[error("there is no session {0}")]
    NoSession(String),
    /// The session has no transcript: it is known only from hooks or a list of prompts.
    #[error("there is no transcript of session `{0}` to restore")]
    NoTranscript(String),
    /// The archive has lost the transcript of the session.
    #[error("the transcript of session `{0}` is no longer in the archive")]
    NotArchived(String),
    /// A file to be written exists already.
    #[error("{} exists already", .0.display())]
    Exists(PathBuf),
    /// An archived file cannot be restored.
    #[error(transparent)]
    Restore(#[from] thru_agents::RestoreError),
    /// An I/O error.
    #[error("{}: {source}", .path.display())]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// The underlying error.
        source: std::io::Error,
    },
    /// The rebuilt store lacks something of the store in use, which stays.
    #[error(
        "journal and archive no longer hold all that the store holds; a rebuild would lose {0}"
    )]
    WouldLose(Loss),
    /// A worker thread ended because of a bug.
    #[error("a worker stopped unexpectedly")]
    WorkerLost,
}

/// The result of an operation of intake.
pub type Result<T, E = IntakeError> = std::result::Result<T, E>;

fn process(holder: &Option<u32>) -> String {
    holder.map_or_else(String::new, |number| format!(" (process {number})"))
}

impl IntakeError {
    pub(crate) fn io(path: &Path, source: std::io::Error) -> Self {
        Self::Io { path: path.to_owned(), source }
    }

    /// True if the data directory cannot be written.
    pub fn is_read_only(&self) -> bool {
        use std::io::ErrorKind::{PermissionDenied, ReadOnlyFilesystem};
        match self {
            Self::Store(error) => matches!(error, thru_store::StoreError::ReadOnly { .. }),
            Self::Journal(error) => matches!(error, thru_journal::Error::ReadOnly { .. }),
            Self::Io { source, .. } => {
                matches!(source.kind(), PermissionDenied | ReadOnlyFilesystem)
            }
            _ => false,
        }
    }
}
