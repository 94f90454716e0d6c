//! The versions of the schema and the migrations between them.
//!
//! Migrations go forward only. Each is a list of small steps that commit one by one with their own
//! cursor, so that an interrupted migration continues where it stopped. A copy of the database is made
//! before the first step. A migration must never rewrite a big table in one transaction.

mod migrations;

use std::path::{Path, PathBuf};

use rusqlite::{Connection, OptionalExtension, Transaction};

use crate::error::{Result, StoreError};

pub use migrations::NEWEST;
use migrations::{MIGRATIONS, Migration};

/// Receives the progress of a migration: its current task, rows done, and rows in total.
pub type Progress<'a> = &'a mut dyn FnMut(&str, u64, u64);

/// Returns the version of the schema in this database; 0 if it is empty.
pub(crate) fn version(connection: &Connection) -> Result<u32> {
    Ok(connection.pragma_query_value(None, "user_version", |row| row.get(0))?)
}

/// Refuses a database that a newer version wrote.
pub(crate) fn check_not_newer(connection: &Connection) -> Result<u32> {
    let found = version(connection)?;
    if found > NEWEST {
        return Err(StoreError::SchemaTooNew { found, known: NEWEST });
    }
    Ok(found)
}

/// Migrates the database to schema `target`, from an empty one or from any older version.
pub(crate) fn migrate(
    connection: &mut Connection,
    path: &Path,
    target: u32,
    progress: Progress<'_>,
) -> Result<()> {
    let found = check_not_newer(connection)?;
    if found >= target {
        return Ok(());
    }
    if found == 0 {
        return make(connection, target);
    }
    back_up(connection, path, found)?;
    for migration in MIGRATIONS.iter().filter(|m| m.version > found && m.version <= target) {
        run(connection, migration, progress)?;
    }
    let backup = backup_path(path, found);
    std::fs::remove_file(&backup).map_err(|source| StoreError::io(&backup, source))
}

/// Creates a new database in one transaction: a half-made one must not be read.
fn make(connection: &mut Connection, target: u32) -> Result<()> {
    let transaction = connection.transaction()?;
    for migration in MIGRATIONS.iter().filter(|migration| migration.version <= target) {
        transaction.execute_batch(migration.sql)?;
        if let Some(backfill) = &migration.backfill {
            transaction.execute_batch(backfill.afterwards)?;
        }
    }
    finish(&transaction, target)?;
    transaction.commit()?;
    Ok(())
}

/// Returns the path of the backup that exists while a migration runs.
pub(crate) fn backup_path(path: &Path, version: u32) -> PathBuf {
    path.with_extension(format!("before-v{}.db", version + 1))
}

fn back_up(connection: &Connection, path: &Path, version: u32) -> Result<()> {
    let backup = backup_path(path, version);
    if migration_cursor(connection)?.is_some() && backup.exists() {
        // An earlier run was interrupted after its first step: its backup is the older, complete one.
        return Ok(());
    }
    // A backup that an interrupted run left half-written is useless: make it again.
    let unfinished = backup.with_extension("partial");
    for stale in [&backup, &unfinished] {
        match std::fs::remove_file(stale) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(StoreError::io(stale, error));
            }
            _ => {}
        }
    }
    connection.execute("VACUUM INTO ?1", [unfinished.to_string_lossy()])?;
    crate::files::make_private(&unfinished)?;
    std::fs::rename(&unfinished, &backup).map_err(|source| StoreError::io(&backup, source))
}

fn run(connection: &mut Connection, migration: &Migration, progress: Progress<'_>) -> Result<()> {
    let started = migration_cursor(connection)?;
    let mut cursor = match started {
        Some((version, cursor)) if version == migration.version => cursor,
        _ => {
            let transaction = connection.transaction()?;
            transaction.execute_batch(migration.sql)?;
            if migration.backfill.is_some() {
                set_migration_cursor(&transaction, migration.version, 0)?;
            } else {
                finish(&transaction, migration.version)?;
            }
            transaction.commit()?;
            0
        }
    };
    let Some(backfill) = &migration.backfill else { return Ok(()) };
    let total = (backfill.total)(connection)?;
    let mut done = 0;
    loop {
        let transaction = connection.transaction()?;
        let step = (backfill.step)(&transaction, cursor)?;
        match step {
            Some(step) => {
                cursor = step.cursor;
                done += step.rows;
                set_migration_cursor(&transaction, migration.version, cursor)?;
                transaction.commit()?;
                progress(backfill.what, done, total);
            }
            None => {
                transaction.execute_batch(backfill.afterwards)?;
                finish(&transaction, migration.version)?;
                transaction.commit()?;
                return Ok(());
            }
        }
    }
}

/// Returns the version and cursor of a migration that was begun and not finished.
fn migration_cursor(connection: &Connection) -> Result<Option<(u32, i64)>> {
    if version(connection)? == 0 {
        return Ok(None);
    }
    let text: Option<String> = connection
        .query_row("SELECT value FROM meta WHERE key = 'migration'", [], |row| row.get(0))
        .optional()?;
    Ok(text.and_then(|text| {
        let (version, cursor) = text.split_once(':')?;
        Some((version.parse().ok()?, cursor.parse().ok()?))
    }))
}

fn set_migration_cursor(transaction: &Transaction<'_>, version: u32, cursor: i64) -> Result<()> {
    transaction.execute(
        "INSERT OR REPLACE INTO meta (key, value) VALUES ('migration', ?1)",
        [format!("{version}:{cursor}")],
    )?;
    Ok(())
}

fn finish(transaction: &Transaction<'_>, version: u32) -> Result<()> {
    transaction.execute("DELETE FROM meta WHERE key = 'migration'", [])?;
    transaction.pragma_update(None, "user_version", version)?;
    Ok(())
}
