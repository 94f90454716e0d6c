//! What people decided, as the journal tells it.

use std::collections::HashMap;

use thru_core::Timestamp;

use super::passages::time;
use crate::error::Result;
use crate::store::Store;
use crate::write::Batch;

/// One thing that a person decided.
#[derive(Clone, Debug, PartialEq)]
pub struct OperationRow {
    /// The key of its record in the journal.
    pub key: String,
    /// When it was decided.
    pub at: Option<Timestamp>,
    /// What kind of decision it is.
    pub kind: String,
    /// The decision, as in the journal.
    pub body: serde_json::Value,
    /// The operation that took it back.
    pub undone: Option<String>,
}

impl Store {
    /// What people decided, the earliest first.
    pub fn operations(&self) -> Result<Vec<OperationRow>> {
        read(&self.connection)
    }
}

impl Batch<'_> {
    /// Notes a decision; one that is known already stays as it is.
    pub fn operation(
        &self,
        key: &str,
        at: Timestamp,
        kind: &str,
        body: &serde_json::Value,
    ) -> Result<()> {
        self.transaction
            .prepare_cached(
                "INSERT OR IGNORE INTO operations (key, at, kind, body) VALUES (?1, ?2, ?3, ?4)",
            )?
            .execute((key, at.as_millisecond(), kind, body.to_string()))?;
        Ok(())
    }

    /// Notes which operations were taken back, and by which others.
    pub fn set_undone(&self, undone: &HashMap<String, String>) -> Result<()> {
        self.transaction.execute("UPDATE operations SET undone = NULL", [])?;
        for (key, by) in undone {
            self.transaction
                .prepare_cached("UPDATE operations SET undone = ?2 WHERE key = ?1")?
                .execute((key, by))?;
        }
        Ok(())
    }

    /// What people decided, the earliest first, as far as this batch knows.
    pub fn operations(&self) -> Result<Vec<OperationRow>> {
        read(&self.transaction)
    }
}

fn read(connection: &rusqlite::Connection) -> Result<Vec<OperationRow>> {
    let mut statement = connection
        .prepare_cached("SELECT key, at, kind, body, undone FROM operations ORDER BY at, key")?;
    let rows = statement
        .query_map([], |row| {
            Ok(OperationRow {
                key: row.get(0)?,
                at: time(row, 1)?,
                kind: row.get(2)?,
                body: serde_json::from_str(row.get_ref(3)?.as_str()?).unwrap_or_default(),
                undone: row.get(4)?,
            })
        })?
        .collect::<rusqlite::Result<_>>()?;
    Ok(rows)
}
