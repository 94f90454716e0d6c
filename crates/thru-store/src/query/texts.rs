//! Every text in the database, wherever it is stored: to search for text that must not be there.

use rusqlite::types::ValueRef;
use thru_core::SessionId;

use super::passage_place;
use crate::error::Result;
use crate::store::Store;

/// A text in the database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredText {
    /// The table that holds it.
    pub table: String,
    /// The session that it belongs to, if any.
    pub session: Option<SessionId>,
    /// The line of the archived file that it comes from, if any.
    pub line: Option<u64>,
    /// The text, or JSON.
    pub text: String,
    /// True for a rule of a person: its pattern may match itself.
    pub is_rule: bool,
}

/// Tables whose texts are stored in blocks, with the session that the rows belong to and the lines they
/// come from.
const IN_BLOCKS: [(&str, &str); 2] = [
    (
        "passages",
        "SELECT p.block, p.start, p.length, s.session, p.records ->> '$[0][1]'
         FROM passages p JOIN sessions s ON s.id = p.session ORDER BY p.block, p.start",
    ),
    (
        "memories",
        "SELECT m.block, m.start, m.length, s.session, NULL
         FROM memories m LEFT JOIN sessions s ON s.id = m.session ORDER BY m.block, m.start",
    ),
];

impl Store {
    /// Calls `visit` with every text in the database: those of passages and memories, and every text
    /// column of every table.
    pub fn texts(&self, visit: &mut dyn FnMut(&StoredText)) -> Result<()> {
        for (table, sql) in IN_BLOCKS {
            let mut statement = self.connection.prepare(sql)?;
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                let text = self.texts.read(&self.connection, passage_place(row, 0)?)?;
                let session = row.get::<_, Option<String>>(3)?.map(SessionId::new);
                let (table, line) = (table.to_owned(), row.get(4)?);
                visit(&StoredText { table, session, line, text, is_rule: false });
            }
        }
        let mut tables = self.connection.prepare(
            "SELECT t.name, c.name FROM sqlite_schema t, pragma_table_info(t.name) c
             WHERE t.type = 'table' AND c.type = 'TEXT' ORDER BY t.name, c.cid",
        )?;
        let columns = tables
            .query_map([], |row| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?)))?
            .collect::<rusqlite::Result<Vec<_>>>()?;
        for (table, column) in columns {
            let is_rule = if table == "operations" { "kind LIKE 'rule-%'" } else { "0" };
            // Both names come from our own schema.
            let mut statement =
                self.connection.prepare(&format!("SELECT {column}, {is_rule} FROM {table}"))?;
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                if let ValueRef::Text(text) = row.get_ref(0)? {
                    let text = String::from_utf8_lossy(text).into_owned();
                    let (table, is_rule) = (table.clone(), row.get(1)?);
                    visit(&StoredText { table, session: None, line: None, text, is_rule });
                }
            }
        }
        Ok(())
    }
}
