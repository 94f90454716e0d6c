//! The list of migrations. Flat on purpose: one entry per version, never edited once released.

use rusqlite::{Connection, Transaction};

use crate::error::Result;
use crate::text;

/// The newest version of the schema.
pub const NEWEST: u32 = 15;

/// The step from the previous version to this one.
pub(super) struct Migration {
    pub(super) version: u32,
    /// Cheap statements, run in one transaction.
    pub(super) sql: &'static str,
    /// Work that grows with the data, done in steps.
    pub(super) backfill: Option<Backfill>,
}

/// Work in steps, each committed with its cursor.
pub(super) struct Backfill {
    pub(super) what: &'static str,
    pub(super) total: fn(&Connection) -> Result<u64>,
    /// Does the next step after the cursor; returns `None` when all is done.
    pub(super) step: fn(&Transaction<'_>, i64) -> Result<Option<Step>>,
    /// Statements that need the whole backfill.
    pub(super) afterwards: &'static str,
}

/// The result of one step.
pub(super) struct Step {
    pub(super) cursor: i64,
    pub(super) rows: u64,
}

pub(super) const MIGRATIONS: &[Migration] = &[
    Migration { version: 1, sql: include_str!("v1.sql"), backfill: None },
    Migration {
        version: 2,
        sql: include_str!("v2.sql"),
        backfill: Some(Backfill {
            what: "naming files",
            total: |connection| {
                Ok(connection.query_row("SELECT count(*) FROM files", [], |row| row.get(0))?)
            },
            step: name_files,
            afterwards: "CREATE INDEX files_by_name ON files (name);",
        }),
    },
    Migration { version: 3, sql: include_str!("v3.sql"), backfill: None },
    Migration { version: 4, sql: include_str!("v4.sql"), backfill: None },
    Migration { version: 5, sql: include_str!("v5.sql"), backfill: None },
    Migration { version: 6, sql: include_str!("v6.sql"), backfill: None },
    Migration {
        version: 7,
        sql: include_str!("v7.sql"),
        backfill: Some(Backfill {
            what: "hashing texts",
            total: |connection| {
                Ok(connection
                    .query_row("SELECT count(*) FROM text_blocks", [], |row| row.get(0))?)
            },
            step: |transaction, cursor| {
                let done = text::add_hashes(transaction, cursor, BLOCKS_PER_STEP)?;
                Ok(done.map(|(cursor, rows)| Step { cursor, rows }))
            },
            afterwards: "",
        }),
    },
    Migration { version: 8, sql: include_str!("v8.sql"), backfill: None },
    Migration { version: 9, sql: include_str!("v9.sql"), backfill: None },
    Migration { version: 10, sql: include_str!("v10.sql"), backfill: None },
    Migration { version: 11, sql: include_str!("v11.sql"), backfill: None },
    Migration { version: 12, sql: include_str!("v12.sql"), backfill: None },
    Migration { version: 13, sql: include_str!("v13.sql"), backfill: None },
    Migration { version: 14, sql: include_str!("v14.sql"), backfill: None },
    Migration { version: 15, sql: include_str!("v15.sql"), backfill: None },
];

/// Text blocks per step.
const BLOCKS_PER_STEP: usize = 128;

/// Files per step: small enough to commit in a few milliseconds.
const FILES_PER_STEP: usize = 5_000;

fn name_files(transaction: &Transaction<'_>, cursor: i64) -> Result<Option<Step>> {
    let mut select = transaction
        .prepare_cached("SELECT id, path FROM files WHERE id > ?1 ORDER BY id LIMIT ?2")?;
    let files = select
        .query_map((cursor, FILES_PER_STEP as i64), |row| {
            Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?))
        })?
        .collect::<rusqlite::Result<Vec<_>>>()?;
    let Some(&(last, _)) = files.last() else { return Ok(None) };
    let mut update = transaction.prepare_cached("UPDATE files SET name = ?2 WHERE id = ?1")?;
    for (id, path) in &files {
        update.execute((id, thru_core::file_name(path)))?;
    }
    Ok(Some(Step { cursor: last, rows: files.len() as u64 }))
}
