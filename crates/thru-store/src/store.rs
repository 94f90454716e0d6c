//! Opening and closing the database.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, OptionalExtension};
use scopeguard::ScopeGuard;
use thru_core::{Id, Layout, percent_encoded};

use crate::error::{Result, StoreError};
use crate::schema::{self, Progress};
use crate::{files, text::TextReader};

/// The time that a statement waits for another process's write to end.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// The interval at which a rebuild looks whether the old database is still being read.
const LOOK_AGAIN: Duration = Duration::from_millis(100);

/// The oldest SQLite without the WAL-reset corruption bug (<https://sqlite.org/wal.html>).
const OLDEST_SQLITE: i32 = 3_051_003;

/// The fate of a connection whose store is dropped.
type Afterwards = Box<dyn FnOnce(Connection) + Send>;

/// An open store.
pub struct Store {
    pub(crate) connection: ScopeGuard<Connection, Afterwards>,
    /// True for a connection that sees what others write.
    is_shared: bool,
    pub(crate) path: PathBuf,
    pub(crate) layout: Layout,
    pub(crate) texts: TextReader,
}

/// A consistent view of the store, for as long as it is kept.
pub struct Snapshot<'s> {
    _transaction: rusqlite::Transaction<'s>,
}

/// The file of the store, by its first bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreFile {
    /// There is none, or it is empty.
    None,
    /// A database.
    Database,
    /// Something else, which was written in its place.
    Foreign,
}

impl Store {
    /// Looks at the file of the store without opening it as a database. One that cannot be read passes for a database: the
    /// error is that of opening it.
    pub fn file(layout: &Layout) -> StoreFile {
        const HEADER: &[u8] = b"SQLite format 3\0";
        let mut begin = Vec::new();
        let read = std::fs::File::open(layout.database())
            .and_then(|file| file.take(HEADER.len() as u64).read_to_end(&mut begin));
        match read {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => StoreFile::None,
            Ok(0) => StoreFile::None,
            Ok(_) if begin != HEADER => StoreFile::Foreign,
            _ => StoreFile::Database,
        }
    }

    /// Opens the store for reading.
    ///
    /// # Errors
    /// [`StoreError::Missing`] if there is none yet; [`StoreError::SchemaTooNew`] if a newer version
    /// wrote it.
    pub fn open_to_read(layout: &Layout) -> Result<Self> {
        let path = layout.database();
        if !path.exists() {
            return Err(StoreError::Missing { path });
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(&path, flags)
            .map_err(|error| StoreError::sqlite(&path, error))?;
        let (connection, is_shared) = match readable(&connection) {
            Ok(()) => (connection, true),
            // A database in WAL mode needs its side files. Where the directory cannot be written there
            // is no other writer either, and the file can be read as it is.
            Err(StoreError::ReadOnly { .. } | StoreError::Sqlite(_)) => {
                let address = path.to_string_lossy().replace('\\', "/");
                let uri = format!("file:{}?immutable=1", percent_encoded(&address, b"/:"));
                let flags = flags | OpenFlags::SQLITE_OPEN_URI;
                let connection = Connection::open_with_flags(uri, flags)
                    .map_err(|error| StoreError::sqlite(&path, error))?;
                (connection, false)
            }
            Err(error) => return Err(error),
        };
        let store = Self::of_reader(connection, layout)?;
        Ok(Self { is_shared, ..store })
    }

    /// The store of a connection that reads it.
    pub(crate) fn of_reader(connection: Connection, layout: &Layout) -> Result<Self> {
        let store = Self::wrap(connection, layout.database(), layout)?;
        if schema::check_not_newer(&store.connection)? == 0 {
            // The process that was creating it was stopped before its first commit.
            return Err(StoreError::Missing { path: store.path });
        }
        Ok(store)
    }

    /// Has the connection outlive this store, if it sees what others write.
    pub(crate) fn leaving_its_connection(
        self,
        to: impl FnOnce(Connection) + Send + 'static,
    ) -> Self {
        if !self.is_shared {
            return self;
        }
        let connection = ScopeGuard::into_inner(self.connection);
        Self { connection: scopeguard::guard(connection, Box::new(to)), ..self }
    }

    /// Opens another connection to this store, which reads what is committed while this one writes.
    ///
    /// # Errors
    /// Returns an error if the database cannot be opened.
    pub fn reader(&self) -> Result<Self> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(&self.path, flags)
            .map_err(|error| StoreError::sqlite(&self.path, error))?;
        Self::wrap(connection, self.path.clone(), &self.layout)
    }

    /// Begins a snapshot: until it is dropped, all reads see the same state of the store, under one
    /// lock instead of one for each of hundreds of small reads.
    pub fn snapshot(&self) -> Result<Snapshot<'_>> {
        Ok(Snapshot { _transaction: self.connection.unchecked_transaction()? })
    }

    /// As [`Store::open_to_read`], but returns `None` if there is no store yet.
    ///
    /// # Errors
    /// [`StoreError::SchemaTooNew`] if a newer version wrote the store; other errors if it cannot be
    /// read.
    pub fn open_if_there(layout: &Layout) -> Result<Option<Self>> {
        match Self::open_to_read(layout) {
            Ok(store) => Ok(Some(store)),
            Err(StoreError::Missing { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Opens the store for writing, creating or upgrading it as needed. The caller holds the intake
    /// lock.
    ///
    /// # Errors
    /// [`StoreError::SchemaTooNew`] if a newer version wrote the store; other errors if it cannot be
    /// written.
    pub fn open_to_write(layout: &Layout, generation: Id, progress: Progress<'_>) -> Result<Self> {
        Self::open_at(layout, &layout.database(), generation, schema::NEWEST, progress)
    }

    /// Creates an empty store beside the one in use, for a rebuild. See [`Store::take_over`].
    ///
    /// # Errors
    /// Returns an error if the disk cannot be written.
    pub fn open_replacement(layout: &Layout, generation: Id) -> Result<Self> {
        let path = replacement_path(layout);
        remove_database(&path)?;
        Self::open_at(layout, &path, generation, schema::NEWEST, &mut |_, _, _| {})
    }

    /// Opens the replacement that was begun with [`Store::open_replacement`] and has not taken over yet; `None` if there is
    /// none of today's schema. The caller holds the intake lock.
    ///
    /// # Errors
    /// Returns an error if it cannot be written.
    pub fn resume_replacement(layout: &Layout, generation: Id) -> Result<Option<Self>> {
        let begun = Self::begun_replacement(layout);
        let version = begun.and_then(|store| store.schema_version().ok());
        if version != Some(schema::NEWEST) {
            return Ok(None);
        }
        let path = replacement_path(layout);
        Self::open_at(layout, &path, generation, schema::NEWEST, &mut |_, _, _| {}).map(Some)
    }

    /// Opens the replacement that is being made for reading. One that cannot be read is of no use to anything.
    pub(crate) fn begun_replacement(layout: &Layout) -> Option<Self> {
        let path = replacement_path(layout);
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = path.exists().then(|| Connection::open_with_flags(&path, flags))?;
        Self::wrap(connection.ok()?, path, layout).ok()
    }

    /// True if the file of this store is still in its place: another process that begins a replacement of its own
    /// removes this one.
    pub fn is_in_place(&self) -> Result<bool> {
        let generation = self.generation()?;
        let there = self.reader().and_then(|there| there.generation());
        Ok(there.is_ok_and(|there| there == generation))
    }

    /// As [`Store::open_to_write`], stopping at an older schema. For tests of upgrades.
    ///
    /// # Errors
    /// As for [`Store::open_to_write`].
    #[doc(hidden)]
    pub fn open_at_schema(layout: &Layout, generation: Id, version: u32) -> Result<Self> {
        Self::open_at(layout, &layout.database(), generation, version, &mut |_, _, _| {})
    }

    fn open_at(
        layout: &Layout,
        path: &Path,
        generation: Id,
        version: u32,
        progress: Progress<'_>,
    ) -> Result<Self> {
        files::create_private_directory(layout.root())?;
        files::create_private_file(path)?;
        let connection = Connection::open(path).map_err(|error| StoreError::sqlite(path, error))?;
        let mut store = Self::wrap(connection, path.to_owned(), layout)?;
        // Before the first write: a database of a newer version must stay as it is.
        schema::check_not_newer(&store.connection)?;
        store.pragma("journal_mode", "WAL")?;
        // The store can be rebuilt, so a commit need not survive a power cut, only a crash.
        store.pragma("synchronous", "NORMAL")?;
        // Ids are evenly distributed: during many writes, most of their index should stay in memory,
        // and reach the file in few large steps. A million messages take no longer with 64 MiB than with 128.
        store.pragma("cache_size", "-65536")?;
        store.pragma("wal_autocheckpoint", "20000")?;
        store.pragma("temp_store", "MEMORY")?;
        // Deleted data is overwritten: a forgotten session must not linger in free pages.
        store.pragma("secure_delete", "ON")?;
        // `verify` checks references as a whole: row by row they would slow every import.
        store.pragma("foreign_keys", "OFF")?;
        schema::migrate(&mut store.connection, path, version, progress)?;
        store.connection.execute(
            "INSERT OR IGNORE INTO meta (key, value) VALUES ('generation', ?1)",
            [generation.to_string()],
        )?;
        Ok(store)
    }

    /// Removes a replacement that is not to take the place of the store in use.
    ///
    /// # Errors
    /// Returns an error if a file cannot be removed.
    pub fn discard(self) -> Result<()> {
        let Self { connection, path, .. } = self;
        drop(connection);
        remove_database(&path)
    }

    fn wrap(connection: Connection, path: PathBuf, layout: &Layout) -> Result<Self> {
        if rusqlite::version_number() < OLDEST_SQLITE {
            return Err(StoreError::SqliteTooOld { found: rusqlite::version().to_owned() });
        }
        connection.busy_timeout(BUSY_TIMEOUT)?;
        // Plans must not depend on bound values: each new id would prepare its statement again.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
        connection.set_prepared_statement_cache_capacity(64);
        let connection = scopeguard::guard(connection, Box::new(drop) as Afterwards);
        let (layout, texts) = (layout.clone(), TextReader::default());
        Ok(Self { connection, is_shared: true, path, layout, texts })
    }

    fn pragma(&self, name: &str, value: &str) -> Result<()> {
        self.connection.pragma_update_and_check(None, name, value, |_| Ok(())).or_else(|error| {
            match error {
                // Most pragmas return nothing.
                rusqlite::Error::QueryReturnedNoRows => Ok(()),
                error => Err(StoreError::sqlite(&self.path, error)),
            }
        })
    }

    /// Replaces the store in use with this one (see [`Store::open_replacement`]).
    ///
    /// The old database is checkpointed first, so that it leaves no write-ahead log that could be
    /// mistaken for the new one's. That is possible only while nothing reads it: `wait` is called as long as another
    /// process does, and returns true to go on waiting.
    ///
    /// # Errors
    /// [`StoreError::Busy`] if another process still holds the old database; other errors if the disk cannot
    /// be written.
    pub fn take_over(self, wait: &mut dyn FnMut() -> bool) -> Result<()> {
        let target = self.layout.database();
        self.pragma("wal_checkpoint", "TRUNCATE")?;
        self.pragma("journal_mode", "DELETE")?;
        let Self { connection, path, .. } = self;
        let connection = ScopeGuard::into_inner(connection);
        connection.close().map_err(|(_, error)| StoreError::sqlite(&path, error))?;
        if target.exists() {
            let mut at_rest = bring_to_rest(&target);
            while matches!(at_rest, Err(StoreError::Busy { .. })) && wait() {
                std::thread::sleep(LOOK_AGAIN);
                at_rest = bring_to_rest(&target);
            }
            match at_rest {
                // Damage beyond opening is a good reason to rebuild: its side files are removed with
                // it.
                Ok(()) | Err(StoreError::Corrupt { .. }) => remove_side_files(&target)?,
                Err(error) => return Err(error),
            }
        } else {
            // The log of a removed database would be mistaken for this one's.
            remove_side_files(&target)?;
        }
        std::fs::rename(&path, &target).map_err(|source| StoreError::io(&target, source))?;
        files::sync_directory(target.parent().unwrap_or(&target))
    }

    /// Truncates the write-ahead log, so that it keeps nothing of what was deleted.
    pub fn checkpoint(&self) -> Result<()> {
        self.pragma("wal_checkpoint", "TRUNCATE")
    }

    /// Returns the id that distinguishes this store from every other one that was ever built in this
    /// home.
    pub fn generation(&self) -> Result<String> {
        let found: Option<String> = self
            .connection
            .query_row("SELECT value FROM meta WHERE key = 'generation'", [], |row| row.get(0))
            .optional()?;
        Ok(found.unwrap_or_default())
    }

    /// Returns the version of the schema on disk.
    pub fn schema_version(&self) -> Result<u32> {
        schema::version(&self.connection)
    }

    /// Has SQLite check its file; returns the problems found, empty if there are none. A thorough check also compares
    /// each index with its table.
    ///
    /// # Errors
    /// Returns an error if the check cannot be run.
    pub fn integrity_problems(&self, is_thorough: bool) -> Result<Vec<String>> {
        let check = if is_thorough { "integrity_check" } else { "quick_check" };
        let mut statement = self.connection.prepare(&format!("PRAGMA {check}(20)"))?;
        let lines = statement
            .query_map([], |row| row.get::<_, String>(0))?
            .collect::<rusqlite::Result<Vec<_>>>()?;
        Ok(lines.into_iter().filter(|line| line != "ok").collect())
    }
}

fn readable(connection: &Connection) -> Result<()> {
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get::<_, i64>(0))?;
    Ok(())
}

pub(crate) fn replacement_path(layout: &Layout) -> PathBuf {
    layout.root().join("memory.rebuild.db")
}

fn bring_to_rest(path: &Path) -> Result<()> {
    let wrap = |error| StoreError::sqlite(path, error);
    let connection = Connection::open(path).map_err(wrap)?;
    connection.busy_timeout(LOOK_AGAIN).map_err(wrap)?;
    connection
        .pragma_update_and_check(None, "wal_checkpoint", "TRUNCATE", |_| Ok(()))
        .map_err(wrap)?;
    let mode: String = connection
        .pragma_update_and_check(None, "journal_mode", "DELETE", |row| row.get(0))
        .map_err(wrap)?;
    if !mode.eq_ignore_ascii_case("delete") {
        return Err(StoreError::Busy { path: path.to_owned() });
    }
    connection.close().map_err(|(_, error)| wrap(error))
}

fn remove_database(path: &Path) -> Result<()> {
    remove_side_files(path)?;
    remove_if_there(path)
}

fn remove_side_files(path: &Path) -> Result<()> {
    for suffix in ["-wal", "-shm", "-journal"] {
        let mut name = path.as_os_str().to_owned();
        name.push(suffix);
        remove_if_there(Path::new(&name))?;
    }
    Ok(())
}

fn remove_if_there(path: &Path) -> Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(StoreError::io(path, error))
        }
        _ => Ok(()),
    }
}
