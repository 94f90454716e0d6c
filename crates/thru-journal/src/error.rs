//! The errors of this crate, distinguished where callers act differently. No recovery here.

use std::io;
use std::path::{Path, PathBuf};

/// The result of this crate's functions.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of the journal or the archive.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The operating system refused.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// No room is left on the disk, or in the user's quota.
    #[error("{}: no space left on the disk", path.display())]
    DiskFull {
        /// The file that could not grow.
        path: PathBuf,
    },
    /// The file system is mounted read-only.
    #[error("{}: the file system is read-only", path.display())]
    ReadOnly {
        /// The file that could not be written.
        path: PathBuf,
    },
    /// Another process or thread is writing the file.
    #[error("{}: being written by another process", path.display())]
    Locked {
        /// The file.
        path: PathBuf,
    },
    /// The bytes on disk are damaged.
    #[error("{}: damaged: {detail}", path.display())]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// A description and the position of the damage.
        detail: String,
    },
    /// The file is whole, but this version does not understand it.
    #[error("{}: written by a newer version of Throughline ({detail})", path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// A description of what was not understood.
        detail: String,
    },
    /// The given value cannot be written.
    #[error("cannot be recorded: {0}")]
    Unrecordable(String),
}

impl Error {
    /// Returns the path and the error of the operating system, converting the other variants.
    pub fn into_io(self) -> (PathBuf, io::Error) {
        match self {
            Self::Io { path, source } => (path, source),
            Self::DiskFull { path } => (path, io::ErrorKind::StorageFull.into()),
            Self::ReadOnly { path } => (path, io::ErrorKind::ReadOnlyFilesystem.into()),
            Self::Locked { path } => (path, io::ErrorKind::WouldBlock.into()),
            Self::Corrupt { path, detail } | Self::Newer { path, detail } => {
                (path, io::Error::new(io::ErrorKind::InvalidData, detail))
            }
            Self::Unrecordable(what) => (PathBuf::new(), io::Error::other(what)),
        }
    }

    /// Returns the variant that matches an error of the operating system about `path`.
    pub(crate) fn io(path: &Path, source: io::Error) -> Self {
        let path = path.to_owned();
        match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::DiskFull { path },
            io::ErrorKind::ReadOnlyFilesystem => Self::ReadOnly { path },
            _ => Self::Io { path, source },
        }
    }

    pub(crate) fn corrupt(path: &Path, detail: impl Into<String>) -> Self {
        Self::Corrupt { path: path.to_owned(), detail: detail.into() }
    }
}

/// Adds the path to an error of the operating system.
pub(crate) trait At<T> {
    /// Converts the error of a result to one about `path`.
    fn at(self, path: &Path) -> Result<T>;
}

impl<T> At<T> for io::Result<T> {
    fn at(self, path: &Path) -> Result<T> {
        self.map_err(|source| Error::io(path, source))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn causes_that_callers_act_on_are_told_apart() {
        let path = Path::new("x");
        let of = |kind: io::ErrorKind| Error::io(path, kind.into());
        assert!(matches!(of(io::ErrorKind::StorageFull), Error::DiskFull { .. }));
        assert!(matches!(of(io::ErrorKind::QuotaExceeded), Error::DiskFull { .. }));
        assert!(matches!(of(io::ErrorKind::ReadOnlyFilesystem), Error::ReadOnly { .. }));
        assert!(matches!(of(io::ErrorKind::PermissionDenied), Error::Io { .. }));
    }
}
