//! The parts of the store that cannot be made again once journal and archive have lost them.

use std::collections::{BTreeMap, BTreeSet};

use thru_core::{Id, SessionId, SessionKey};

use crate::error::Result;
use crate::store::Store;

/// The tables of rows that were made of exactly one record of the journal each, with the name of such a row.
const RECORDED: [(&str, &str); 6] = [
    ("events", "event"),
    ("injections", "context pack"),
    ("snapshots", "snapshot"),
    ("refinements", "answer of a model"),
    ("operations", "decision"),
    ("imports", "imported memory"),
];

/// The holdings of a store, to be compared with those of another.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Holdings {
    /// Passages by session.
    pub passages: BTreeMap<SessionKey, u64>,
    /// The kinds of people's decisions, by the keys of their records.
    pub decisions: BTreeMap<String, String>,
    /// The memories that were imported from other programs.
    pub imported: BTreeSet<Id>,
}

impl Store {
    /// Calls `visit` with the key of each journal record that a row was made of, and the name of such a row.
    pub fn journal_keys(&self, visit: &mut dyn FnMut(&'static str, &str)) -> Result<()> {
        for (table, name) in RECORDED {
            // Stores of older schemas do not have all of them.
            let Ok(mut statement) = self.connection.prepare(&format!("SELECT key FROM {table}"))
            else {
                continue;
            };
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                visit(name, row.get_ref(0)?.as_str().map_err(rusqlite::Error::from)?);
            }
        }
        Ok(())
    }

    /// Returns the holdings of this store, whatever its schema.
    pub fn holdings(&self) -> Result<Holdings> {
        let mut holdings = Holdings::default();
        let mut statement = self.connection.prepare(
            "SELECT s.agent, s.session, count(*) FROM passages p JOIN sessions s ON s.id = p.session
             GROUP BY s.id",
        )?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let id = SessionId::new(row.get::<_, String>(1)?);
            let session = SessionKey { agent: super::agent(row, 0)?, id };
            holdings.passages.insert(session, row.get(2)?);
        }
        // Stores of the first schemas list none.
        if let Ok(mut decisions) = self.connection.prepare("SELECT key, kind FROM operations") {
            holdings.decisions = decisions
                .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
                .collect::<rusqlite::Result<_>>()?;
        }
        if let Ok(mut imported) = self.connection.prepare("SELECT memory FROM imports") {
            holdings.imported = imported
                .query_map([], |row| Ok(Id::from_bytes(row.get(0)?)))?
                .collect::<rusqlite::Result<_>>()?;
        }
        Ok(holdings)
    }
}
