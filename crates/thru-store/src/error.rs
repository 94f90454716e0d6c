//! The errors of the store, in terms a person can act on.

use std::path::{Path, PathBuf};

/// An error of the store.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The store does not exist yet.
    #[error("there is no memory at {}", .path.display())]
    Missing {
        /// The path at which the database was expected.
        path: PathBuf,
    },
    /// Another process held the database longer than the busy timeout.
    #[error("the memory at {} is busy: another process is writing to it", .path.display())]
    Busy {
        /// The database.
        path: PathBuf,
    },
    /// The disk is full. What was committed before is untouched.
    #[error("the disk is full: {} could not be written", .path.display())]
    DiskFull {
        /// The file that was being written.
        path: PathBuf,
    },
    /// The directory or the file cannot be written.
    #[error("{} cannot be written: it is read-only", .path.display())]
    ReadOnly {
        /// The file or directory that was being written.
        path: PathBuf,
    },
    /// The bytes on disk are damaged.
    #[error("{} is damaged: {detail}", .path.display())]
    Corrupt {
        /// The damaged file.
        path: PathBuf,
        /// A description of the damage.
        detail: String,
    },
    /// The store was written by a newer version of Throughline.
    #[error(
        "the memory was written by a newer version of Throughline (schema {found}; this one supports {known})"
    )]
    SchemaTooNew {
        /// The version on disk.
        found: u32,
        /// The newest version that this build knows.
        known: u32,
    },
    /// The SQLite that was linked has a known corruption bug.
    #[error("SQLite {found} is too old: 3.51.3 or newer is required")]
    SqliteTooOld {
        /// The linked version.
        found: String,
    },
    /// A vector, or the shape of a set of vectors, that cannot be stored.
    #[error("vectors cannot be used: {detail}")]
    Vectors {
        /// A description of the problem.
        detail: String,
    },
    /// Any other failure of the file system.
    #[error("{}: {source}", .path.display())]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// Any other failure of SQLite.
    #[error("the memory's database failed: {0}")]
    Sqlite(rusqlite::Error),
    /// Any other failure of the text index.
    #[error("the text index failed: {0}")]
    Index(tantivy::TantivyError),
}

/// The result of an operation on the store.
pub type Result<T, E = StoreError> = std::result::Result<T, E>;

impl StoreError {
    pub(crate) fn io(path: &Path, source: std::io::Error) -> Self {
        let path = path.to_owned();
        match source.kind() {
            std::io::ErrorKind::StorageFull => Self::DiskFull { path },
            std::io::ErrorKind::ReadOnlyFilesystem | std::io::ErrorKind::PermissionDenied => {
                Self::ReadOnly { path }
            }
            _ => Self::Io { path, source },
        }
    }

    /// Names the database in errors that SQLite reports without it.
    pub(crate) fn sqlite(path: &Path, error: rusqlite::Error) -> Self {
        use rusqlite::ErrorCode;
        let path = path.to_owned();
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Busy { path },
            Some(ErrorCode::DiskFull) => Self::DiskFull { path },
            Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => Self::ReadOnly { path },
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
                Self::Corrupt { path, detail: error.to_string() }
            }
            _ => Self::Sqlite(error),
        }
    }
}

impl From<thru_journal::Error> for StoreError {
    fn from(error: thru_journal::Error) -> Self {
        use thru_journal::Error;
        match error {
            Error::DiskFull { path } => Self::DiskFull { path },
            Error::ReadOnly { path } => Self::ReadOnly { path },
            Error::Io { path, source } => Self::Io { path, source },
            other => Self::Io { path: PathBuf::new(), source: std::io::Error::other(other) },
        }
    }
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        Self::sqlite(Path::new("memory.db"), error)
    }
}

impl From<tantivy::TantivyError> for StoreError {
    fn from(error: tantivy::TantivyError) -> Self {
        use tantivy::TantivyError;
        match &error {
            TantivyError::DataCorruption(corruption) => {
                Self::Corrupt { path: PathBuf::from("index"), detail: format!("{corruption:?}") }
            }
            TantivyError::IoError(io) if io.kind() == std::io::ErrorKind::StorageFull => {
                Self::DiskFull { path: PathBuf::from("index") }
            }
            _ => Self::Index(error),
        }
    }
}
