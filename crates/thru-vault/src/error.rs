//! The errors of reading and writing notes.

use std::io;
use std::path::{Path, PathBuf};

/// An error of the vault.
#[derive(Debug, thiserror::Error)]
pub enum VaultError {
    /// The folder of the vault does not exist: it was moved, or its disk is not there.
    #[error("the vault {} is not there", .0.display())]
    Missing(PathBuf),
    /// A link, or something else that is neither folder nor file, is in the way.
    #[error("{} is a link, or of the wrong type: it is not followed", .0.display())]
    Refused(PathBuf),
    /// The file has other names that a replacement would cut off.
    #[error("{} has several names (hard links): it is left alone", .0.display())]
    Linked(PathBuf),
    /// Another program wrote the file at the same time, again and again.
    #[error("{} is being written by another program", .0.display())]
    Busy(PathBuf),
    /// A new note has the name of another.
    #[error("{} exists already", .0.display())]
    Exists(PathBuf),
    /// The record of what was written is damaged.
    #[error("{}: {detail}", path.display())]
    Record {
        /// The file.
        path: PathBuf,
        /// The damage.
        detail: String,
    },
    /// An I/O error.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The underlying error.
        source: io::Error,
    },
}

/// The result of an operation on the vault.
pub type Result<T> = std::result::Result<T, VaultError>;

impl VaultError {
    pub(crate) fn io(path: &Path, source: io::Error) -> Self {
        Self::Io { path: path.to_owned(), source }
    }
}

impl From<thru_journal::Error> for VaultError {
    fn from(error: thru_journal::Error) -> Self {
        let (path, source) = error.into_io();
        Self::Io { path, source }
    }
}
