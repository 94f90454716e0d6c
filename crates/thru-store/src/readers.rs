//! A connection that stays open from one question to the next, for processes that live long: opening one and reading its
//! schema takes as long as a small question does.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::Connection;
use thru_core::{FileId, Layout};

use crate::error::Result;
use crate::store::{Store, replacement_path};

/// Opens stores for reading. One that keeps holds on to the connection of the last reader that ended, and gives it to
/// the next. Between two readers a connection holds no lock and no text. It is given up where another file has taken
/// the store's place, and not kept while a replacement is being made, which cannot take over before all readers are
/// gone.
#[derive(Clone, Default)]
pub struct Readers(Option<Arc<Slot>>);

type Slot = Mutex<Option<Kept>>;

/// A connection that no reader uses.
struct Kept {
    connection: Connection,
    path: PathBuf,
    file: FileId,
}

impl Readers {
    /// Readers that leave their connection to the next one.
    pub fn keeping() -> Self {
        Self(Some(Arc::default()))
    }

    /// Opens the store for reading.
    ///
    /// # Errors
    /// As [`Store::open_to_read`].
    pub fn open(&self, layout: &Layout) -> Result<Store> {
        let Some(slot) = &self.0 else { return Store::open_to_read(layout) };
        let path = layout.database();
        // Before the connection is opened: if the file is replaced in between, the ids differ and nothing is kept.
        let file = file_id(&path);
        let kept = lock(slot).take().filter(|kept| kept.path == path && Some(kept.file) == file);
        let store = match kept {
            Some(kept) => Store::of_reader(kept.connection, layout)?,
            None => Store::open_to_read(layout)?,
        };
        let Some(file) = file else { return Ok(store) };
        let (slot, replacement) = (Arc::clone(slot), replacement_path(layout));
        Ok(store.leaving_its_connection(move |connection| {
            if !replacement.exists() {
                *lock(&slot) = Some(Kept { connection, path, file });
            }
        }))
    }

    /// Closes the connection that is kept.
    pub fn close(&self) {
        if let Some(slot) = &self.0 {
            *lock(slot) = None;
        }
    }
}

fn lock(slot: &Slot) -> std::sync::MutexGuard<'_, Option<Kept>> {
    slot.lock().unwrap_or_else(PoisonError::into_inner)
}

fn file_id(path: &Path) -> Option<FileId> {
    Some(FileId::of(&std::fs::metadata(path).ok()?))
}
