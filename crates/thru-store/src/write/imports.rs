//! Memories that were imported from other programs, as they came.

use thru_core::{ForeignName, Id, Timestamp};

use super::Batch;
use crate::error::Result;
use crate::statements::Statements;

/// An imported memory as its record in the journal holds it.
#[derive(Clone, Copy, Debug)]
pub struct NewImport<'r> {
    /// The memory.
    pub memory: &'r Id,
    /// The key of the record.
    pub key: &'r str,
    /// The time of the record.
    pub at: Timestamp,
    /// The memory's name in the program it comes from.
    pub named: &'r ForeignName,
    /// The hash of the memory there.
    pub content: &'r Id,
    /// The body of the record.
    pub body: &'r serde_json::Value,
}

impl Batch<'_> {
    /// Writes an imported memory over an earlier form of it. Returns false if a later one is known.
    pub fn put_import(&self, import: &NewImport<'_>) -> Result<bool> {
        let written = self.run(
            "INSERT INTO imports (memory, key, at, source, name, content, body)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
             ON CONFLICT (memory) DO UPDATE
             SET key = ?2, at = ?3, source = ?4, name = ?5, content = ?6, body = ?7
             WHERE (imports.at, imports.key) <= (?3, ?2)",
            (
                import.memory.as_bytes(),
                import.key,
                import.at.as_millisecond(),
                import.named.source.as_str(),
                &import.named.name,
                import.content.as_bytes(),
                import.body.to_string(),
            ),
        )?;
        Ok(written > 0)
    }
}
