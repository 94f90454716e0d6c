//! A home with a vault, as tests of the vault begin with.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use thru_app::App;
use thru_app::vault::{SyncVault, VaultSynced, init, sync};
use thru_core::{FixedClock, Timestamp};
use thru_store::{MemoryFilter, Store};

use crate::home::{Home, call};
use crate::records::{Author, ONE, TWO, conversation, file};

/// A home with a vault.
pub(crate) struct Vaulted {
    pub(crate) home: Home,
    pub(crate) now: Timestamp,
}

impl Vaulted {
    /// With two sessions of the first of March, on that day.
    pub(crate) fn new() -> Self {
        Self::of(&[(ONE, decided(ONE)), (TWO, conversation(TWO))])
    }

    /// With these sessions, on the day of them.
    pub(crate) fn of(sessions: &[(&str, Author)]) -> Self {
        let home = Home::new();
        for (session, author) in sessions {
            home.write(&file(session), author.text());
        }
        home.import();
        let vaulted = Self { home, now: "2026-03-01T20:00:00Z".parse().unwrap() };
        let made = init(&vaulted.app(), Some(&vaulted.folder()), false, call()).unwrap();
        assert_eq!(made.vault, vaulted.folder());
        vaulted
    }

    /// The same some days later.
    pub(crate) fn after(mut self, days: i64) -> Self {
        self.now = Timestamp::from_second(self.now.as_second() + days * 86_400).unwrap();
        self
    }

    pub(crate) fn app(&self) -> App {
        let mut app = self.home.app();
        app.clock = Arc::new(FixedClock(self.now));
        app
    }

    pub(crate) fn folder(&self) -> PathBuf {
        self.home.data().with_file_name("vault")
    }

    pub(crate) fn sync(&self) -> VaultSynced {
        sync(&self.app(), &SyncVault::default(), call()).unwrap()
    }

    /// Every note, by its path.
    pub(crate) fn notes(&self) -> Vec<PathBuf> {
        let mut notes: Vec<PathBuf> = files(&self.folder());
        notes.retain(|path| path.extension().is_some_and(|ending| ending == "md"));
        notes.sort();
        notes
    }

    /// The note whose path holds this.
    pub(crate) fn path(&self, part: &str) -> PathBuf {
        let notes = self.notes();
        let found = notes.iter().find(|path| path.to_string_lossy().contains(part));
        found.unwrap_or_else(|| panic!("no {part} in {notes:?}")).clone()
    }

    pub(crate) fn read(&self, part: &str) -> String {
        fs::read_to_string(self.path(part)).unwrap()
    }

    /// Edits a note as a person does, long enough ago for it to be written again.
    pub(crate) fn edit(&self, part: &str, edit: impl FnOnce(String) -> String) {
        let path = self.path(part);
        fs::write(&path, edit(self.read(part))).unwrap();
        let long_ago = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
        fs::File::options().write(true).open(&path).unwrap().set_modified(long_ago).unwrap();
    }

    pub(crate) fn titles(&self) -> Vec<String> {
        let store = Store::open_to_read(&self.app().layout).unwrap();
        let memories = store.memories(&MemoryFilter::default()).unwrap();
        memories.into_iter().map(|memory| memory.title).collect()
    }
}

/// Every file below a folder.
pub(crate) fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

/// A session with decisions of a person.
pub(crate) fn decided(session: &str) -> Author {
    let mut author = conversation(session);
    author
        .asks("Let's use one lock file for each index, not a global lock.")
        .says("Agreed: one lock file for each index. Next: make the timeout a setting.");
    author
}
