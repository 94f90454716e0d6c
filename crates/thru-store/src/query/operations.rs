//! Decisions of people, as recorded in the journal.

use std::collections::HashMap;

use rusqlite::Row;
use thru_core::Timestamp;

use super::passages::time;
use crate::error::Result;
use crate::statements::Statements;
use crate::store::Store;
use crate::write::Batch;

/// A decision of a person.
#[derive(Clone, Debug, PartialEq)]
pub struct OperationRow {
    /// The key of its record in the journal.
    pub key: String,
    /// The time of the decision.
    pub at: Option<Timestamp>,
    /// The kind of decision.
    pub kind: String,
    /// The decision, as in the journal.
    pub body: serde_json::Value,
    /// The key of the operation that undid it.
    pub undone: Option<String>,
}

impl Store {
    /// Returns the decisions of people, earliest first.
    pub fn operations(&self) -> Result<Vec<OperationRow>> {
        read(&self.connection)
    }

    /// Returns the decisions whose record holds one of these words, earliest first.
    pub fn operations_with(&self, words: &[String]) -> Result<Vec<OperationRow>> {
        let conditions = format!("0{}", " OR instr(body, ?)".repeat(words.len()));
        let mut statement = self.connection.prepare(&format!(
            "SELECT {COLUMNS} FROM operations WHERE {conditions} ORDER BY at, number"
        ))?;
        let rows = statement.query_map(rusqlite::params_from_iter(words), operation)?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }
}

impl Batch<'_> {
    /// Writes a decision; one that is known already stays as it is.
    pub fn operation(
        &self,
        key: &str,
        at: Timestamp,
        kind: &str,
        body: &serde_json::Value,
    ) -> Result<()> {
        self.run(
            "INSERT OR IGNORE INTO operations (key, at, kind, body) VALUES (?1, ?2, ?3, ?4)",
            (key, at.as_millisecond(), kind, body.to_string()),
        )?;
        Ok(())
    }

    /// Records which operations were undone, and by which others.
    pub fn set_undone(&self, undone: &HashMap<String, String>) -> Result<()> {
        self.transaction.execute("UPDATE operations SET undone = NULL", [])?;
        for (key, by) in undone {
            self.run("UPDATE operations SET undone = ?2 WHERE key = ?1", (key, by))?;
        }
        Ok(())
    }

    /// Returns the decisions of people, earliest first, including those that this batch wrote.
    pub fn operations(&self) -> Result<Vec<OperationRow>> {
        read(&self.transaction)
    }
}

const COLUMNS: &str = "key, at, kind, body, undone";

fn read(connection: &rusqlite::Connection) -> Result<Vec<OperationRow>> {
    connection.select(
        &format!("SELECT {COLUMNS} FROM operations ORDER BY at, number"),
        [],
        operation,
    )
}

fn operation(row: &Row<'_>) -> rusqlite::Result<OperationRow> {
    Ok(OperationRow {
        key: row.get(0)?,
        at: time(row, 1)?,
        kind: row.get(2)?,
        body: serde_json::from_str(row.get_ref(3)?.as_str()?).unwrap_or_default(),
        undone: row.get(4)?,
    })
}
