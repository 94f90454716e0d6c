//! Failures of embedding.

use std::path::PathBuf;

/// The reason there are no vectors.
#[derive(Debug, thiserror::Error)]
pub enum EmbedError {
    /// The model's files are missing or unreadable.
    #[error("the embedding model is missing: {path} cannot be read ({reason})")]
    Missing {
        /// The file.
        path: PathBuf,
        /// The system's message.
        reason: String,
    },
    /// A file of the model is truncated, modified, or of another version.
    #[error("{path} is not the embedding model of this version: {detail}")]
    Foreign {
        /// The file.
        path: PathBuf,
        /// The difference.
        detail: String,
    },
    /// The model could not be run.
    #[error("the embedding model failed: {0}")]
    Failed(String),
    /// A server did not answer as it should.
    #[error("{service}: {reason}")]
    Refused {
        /// The server.
        service: String,
        /// The server's message, or the failure to answer.
        reason: String,
        /// True if trying later may help.
        may_pass: bool,
    },
    /// The `stop` flag was set.
    #[error("stopped")]
    Stopped,
}
