//! Why there are no vectors.

use std::path::PathBuf;

/// Why there are no vectors.
#[derive(Debug, thiserror::Error)]
pub enum EmbedError {
    /// The model's files are not where they should be.
    #[error("the embedding model is not there: {path} cannot be read ({reason})")]
    Missing {
        /// The file.
        path: PathBuf,
        /// What the system says.
        reason: String,
    },
    /// A file of the model is cut short, changed, or of another version.
    #[error("{path} is not the embedding model of this version: {detail}")]
    Foreign {
        /// The file.
        path: PathBuf,
        /// How it differs.
        detail: String,
    },
    /// The model could not be run.
    #[error("the embedding model failed: {0}")]
    Failed(String),
    /// A server did not answer as it should.
    #[error("{place} gave no embeddings: {reason}")]
    Refused {
        /// The server.
        place: String,
        /// What it said, or did not say.
        reason: String,
        /// Whether asking later may help.
        may_pass: bool,
    },
    /// Somebody asked to stop.
    #[error("stopped")]
    Stopped,
}
