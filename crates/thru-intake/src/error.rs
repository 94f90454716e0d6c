//! What can stop intake as a whole. Trouble with one file is no error: it is reported and the rest
//! goes on (see [`SourceProblem`](crate::SourceProblem)).

use std::path::{Path, PathBuf};

/// Why intake stopped.
#[derive(Debug, thiserror::Error)]
pub enum IntakeError {
    /// The store.
    #[error(transparent)]
    Store(#[from] thru_store::StoreError),
    /// Journal or archive.
    #[error(transparent)]
    Journal(#[from] thru_journal::Error),
    /// Another process is at work, and we did not wait.
    #[error("another `thru` is writing to this memory{}", process(.holder))]
    Locked {
        /// Its process number, if it said so.
        holder: Option<u32>,
    },
    /// Another process makes vectors, and we did not wait.
    #[error("another `thru` is embedding what this memory holds")]
    Embedding,
    /// Vectors of texts that are not kept any more may be left: nobody can tell which while the index does
    /// not hold all texts. Everything else was done.
    #[error("vectors were not swept: the index does not hold everything yet")]
    NotSwept,
    /// The model that makes vectors.
    #[error(transparent)]
    Embed(#[from] thru_embed::EmbedError),
    /// The user stopped it. What was done until then stays.
    #[error("interrupted")]
    Interrupted,
    /// A redaction rule in the journal cannot be used.
    #[error(transparent)]
    Rule(#[from] thru_redact::RuleError),
    /// There is no such session.
    #[error("there is no session {0}")]
    NoSession(String),
    /// There is no transcript of the session: hooks, or a list of prompts, are all that tells of it.
    #[error("there is no transcript of session `{0}` to put back")]
    NoTranscript(String),
    /// A file would have to be written where there is one already.
    #[error("{} exists already", .0.display())]
    Exists(PathBuf),
    /// An archived file cannot be put back.
    #[error(transparent)]
    Restore(#[from] thru_agents::RestoreError),
    /// The file system.
    #[error("{}: {source}", .path.display())]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A thread of ours ended by a bug.
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

    /// What the person can do about it, where we know.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Store(error) => error.hint().map(str::to_owned),
            Self::Locked { .. } => Some(
                "wait until it is done; what it brings in need not be brought in again".to_owned(),
            ),
            Self::Embedding => Some("wait until it is done: the daemon does it, too".to_owned()),
            Self::NotSwept => Some("run `thru rebuild`".to_owned()),
            Self::Embed(_) => Some("`thru doctor` says what can be done".to_owned()),
            Self::Interrupted => {
                Some("run the command again: it goes on where it stopped".to_owned())
            }
            Self::NoTranscript(id) => {
                Some(format!("`thru session show {id}` shows what was recorded"))
            }
            Self::NoSession(_) => Some("`thru sessions` lists them".to_owned()),
            Self::Exists(_) => Some(
                "nothing was changed; move the file away first if you want the archived one"
                    .to_owned(),
            ),
            Self::WorkerLost => {
                Some("this is a bug in Throughline; run it again with RUST_BACKTRACE=1".to_owned())
            }
            Self::Journal(_) | Self::Rule(_) | Self::Restore(_) | Self::Io { .. } => None,
        }
    }
}
