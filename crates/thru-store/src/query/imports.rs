//! Memories that were imported from other programs, and their names there.

use std::collections::HashMap;

use thru_core::{ForeignName, Id};

use super::MemoryRow;
use crate::error::Result;
use crate::statements::Statements;
use crate::store::Store;
use crate::write::Batch;

impl Store {
    /// Returns the name that an imported memory has in the program it comes from; `None` if it was not imported.
    pub fn foreign_name(&self, memory: &MemoryRow) -> Result<Option<ForeignName>> {
        if !memory.flags.is_imported {
            return Ok(None);
        }
        let named = self.find(
            "SELECT source, name FROM imports WHERE memory = ?1",
            [memory.id.as_bytes()],
            |row| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?)),
        )?;
        Ok(named
            .and_then(|(source, name)| Some(ForeignName { source: source.parse().ok()?, name })))
    }

    /// Returns the memories that have this name in the program they come from: one, unless they were imported from
    /// several machines.
    pub fn memories_imported_as(&self, named: &ForeignName) -> Result<Vec<MemoryRow>> {
        let ids = self
            .connection
            .prepare_cached("SELECT memory FROM imports WHERE name = ?1 AND source = ?2")?
            .query_map((&named.name, named.source.as_str()), |row| Ok(Id::from_bytes(row.get(0)?)))?
            .collect::<rusqlite::Result<Vec<_>>>()?;
        ids.iter().filter_map(|id| self.memory(id).transpose()).collect()
    }

    /// Returns the hash of each imported memory, as it was where it comes from.
    pub fn imported(&self) -> Result<HashMap<Id, Id>> {
        let mut statement = self.connection.prepare("SELECT memory, content FROM imports")?;
        let imported = statement
            .query_map([], |row| Ok((Id::from_bytes(row.get(0)?), Id::from_bytes(row.get(1)?))))?
            .collect::<rusqlite::Result<_>>()?;
        Ok(imported)
    }
}

impl Batch<'_> {
    /// Returns an imported memory as the journal holds it.
    pub fn import_body(&self, memory: &Id) -> Result<Option<serde_json::Value>> {
        let body: Option<String> =
            self.find("SELECT body FROM imports WHERE memory = ?1", [memory.as_bytes()], |row| {
                row.get(0)
            })?;
        Ok(body.and_then(|body| serde_json::from_str(&body).ok()))
    }
}
