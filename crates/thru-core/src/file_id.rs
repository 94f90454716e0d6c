//! The identity of an open file.

use std::fs::Metadata;

/// The device and the number of a file. No other file gets them while it is open. Where the system does not number files,
/// it is the same for all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileId {
    device: u64,
    number: u64,
}

impl FileId {
    /// Returns the identity of the file that these metadata describe.
    #[cfg(unix)]
    pub fn of(metadata: &Metadata) -> Self {
        use std::os::unix::fs::MetadataExt;
        Self { device: metadata.dev(), number: metadata.ino() }
    }

    /// Returns the identity of the file that these metadata describe.
    #[cfg(not(unix))]
    pub const fn of(_: &Metadata) -> Self {
        Self { device: 0, number: 0 }
    }
}
