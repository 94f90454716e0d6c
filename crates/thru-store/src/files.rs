//! Files that only their owner may read, with errors in the store's terms.

use std::fs::OpenOptions;
use std::path::Path;

use crate::error::{Result, StoreError};

/// Creates a directory, and those above it, that only the owner may enter.
pub(crate) fn create_private_directory(path: &Path) -> Result<()> {
    Ok(thru_journal::files::create_dir_private(path)?)
}

/// Syncs a directory, so that its entries survive a power cut.
pub(crate) fn sync_directory(path: &Path) -> Result<()> {
    Ok(thru_journal::files::sync_dir(path)?)
}

/// Creates an empty file that only the owner may read, if there is none.
pub(crate) fn create_private_file(path: &Path) -> Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false);
    thru_journal::files::private(&mut options)
        .open(path)
        .map(drop)
        .map_err(|source| StoreError::io(path, source))
}

/// Removes all permissions but the owner's. Elsewhere than on Unix a file inherits the permissions of
/// the data directory, which belongs to the user's profile.
pub(crate) fn make_private(path: &Path) -> Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600))
            .map_err(|source| StoreError::io(path, source))?;
    }
    #[cfg(not(unix))]
    let _ = path;
    Ok(())
}
