//! The directory of an index, opened for reading, which also works on a read-only disk.

use std::path::Path;
use std::sync::Arc;

use tantivy::Directory;
use tantivy::directory::error::{DeleteError, LockError, OpenReadError, OpenWriteError};
use tantivy::directory::{
    DirectoryLock, FileHandle, Lock, MmapDirectory, WatchCallback, WatchHandle, WritePtr,
};

/// Tantivy takes a lock, which is a file, before it opens segments, so that no writer removes them
/// meanwhile. Where no file can be created there is no writer either, and no lock is needed.
#[derive(Clone, Debug)]
pub(super) struct ReadingDirectory(pub(super) MmapDirectory);

impl Directory for ReadingDirectory {
    fn get_file_handle(&self, path: &Path) -> Result<Arc<dyn FileHandle>, OpenReadError> {
        self.0.get_file_handle(path)
    }

    fn delete(&self, path: &Path) -> Result<(), DeleteError> {
        self.0.delete(path)
    }

    fn exists(&self, path: &Path) -> Result<bool, OpenReadError> {
        self.0.exists(path)
    }

    fn open_write(&self, path: &Path) -> Result<WritePtr, OpenWriteError> {
        self.0.open_write(path)
    }

    fn atomic_read(&self, path: &Path) -> Result<Vec<u8>, OpenReadError> {
        self.0.atomic_read(path)
    }

    fn atomic_write(&self, path: &Path, data: &[u8]) -> std::io::Result<()> {
        self.0.atomic_write(path, data)
    }

    fn sync_directory(&self) -> std::io::Result<()> {
        self.0.sync_directory()
    }

    fn acquire_lock(&self, lock: &Lock) -> Result<DirectoryLock, LockError> {
        use std::io::ErrorKind::{PermissionDenied, ReadOnlyFilesystem};
        match self.0.acquire_lock(lock) {
            Err(LockError::IoError(error))
                if matches!(error.kind(), PermissionDenied | ReadOnlyFilesystem) =>
            {
                Ok(DirectoryLock::from(Box::new(())))
            }
            outcome => outcome,
        }
    }

    fn watch(&self, callback: WatchCallback) -> tantivy::Result<WatchHandle> {
        self.0.watch(callback)
    }
}
