//! Passages, their texts and their sources.

use std::collections::HashMap;

use rusqlite::{OptionalExtension, Row, ToSql, params_from_iter};
use thru_core::{Access, FileTouch, Id, IdPrefix, Outcome, PassageKind, RecordId, Timestamp};

use super::in_list;
use crate::error::Result;
use crate::statements::Statements;
use crate::store::Store;
use crate::text::TextPlace;

/// A passage as stored, without its text.
#[derive(Clone, Debug, PartialEq)]
pub struct PassageRow {
    /// Its row, which grows with every write.
    pub row: i64,
    /// The passage's id.
    pub id: Id,
    /// The row of its session.
    pub session: i64,
    /// The row of its source.
    pub source: i64,
    /// The turn, from 1; 0 before the first prompt.
    pub turn: u32,
    /// Its position among the passages of its source.
    pub ordinal: u32,
    /// Its kind.
    pub kind: PassageKind,
    /// The subagent that spoke.
    pub agent_id: Option<String>,
    /// The tool that ran.
    pub tool: Option<String>,
    /// The command line, if the tool is a shell.
    pub command: Option<String>,
    /// The outcome of the call.
    pub outcome: Option<Outcome>,
    /// Its time.
    pub at: Option<Timestamp>,
    /// The records it was made from, each with its line in the archived file.
    pub records: Vec<SourceRecord>,
    place: TextPlace,
}

impl PassageRow {
    /// Returns the length of its text in bytes.
    pub const fn length(&self) -> u64 {
        self.place.length as u64
    }
}

/// One record that a passage was made from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceRecord {
    /// The agent's name for it.
    pub id: RecordId,
    /// Its line (1-based) in the archived file.
    pub line: u64,
}

/// A file that one passage touched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Touch {
    /// The file, and the kind of access.
    pub file: FileTouch,
    /// The hash of the whole new content of the file, if the passage wrote it.
    pub content: Option<Id>,
}

/// A file that passages of a session touched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TouchedFile {
    /// The path as the agent wrote it.
    pub path: String,
    /// The number of passages that changed it.
    pub modified: u64,
    /// The number of passages that touched it at all.
    pub touched: u64,
}

/// The rows of the passages table to read.
#[derive(Clone, Copy, Debug)]
pub enum PassageFilter {
    /// All of a session, in the order of the conversation: the transcript itself, then subagents.
    Session(i64),
    /// Rows after this one, in order, at most this many.
    After {
        /// The last row before those to read.
        row: i64,
        /// The maximum number of rows.
        limit: usize,
    },
}

pub(super) const COLUMNS: &str =
    "p.row, p.id, p.session, p.source, p.turn, p.ordinal, p.kind, p.agent, p.tool,
    p.command, p.outcome, p.at, p.records, p.block, p.start, p.length";

impl Store {
    /// Returns the prompt and the last words of the agent in the turn of a passage, of the same source and
    /// thread.
    pub fn ends_of_turn(
        &self,
        of: &PassageRow,
    ) -> Result<(Option<PassageRow>, Option<PassageRow>)> {
        let end = |kind: PassageKind, order: &str| {
            let sql = format!(
                "SELECT {COLUMNS} FROM passages p WHERE p.session = ?1 AND p.source = ?2 AND p.turn = ?3
                 AND p.kind = ?4 AND p.agent IS ?5 ORDER BY p.ordinal {order} LIMIT 1"
            );
            let parameters = (of.session, of.source, of.turn, kind.code(), &of.agent_id);
            let mut statement = self.connection.prepare_cached(&sql)?;
            statement.query_row(parameters, passage).optional()
        };
        Ok((end(PassageKind::Human, "ASC")?, end(PassageKind::Assistant, "DESC")?))
    }

    /// Returns the first prompt after a passage in the same thread.
    ///
    /// # Errors
    /// Fails if the store cannot be read.
    pub fn reply_to(&self, of: &PassageRow) -> Result<Option<PassageRow>> {
        let sql = format!(
            "SELECT {COLUMNS} FROM passages p WHERE p.session = ?1 AND p.source = ?2 AND p.ordinal > ?3
             AND p.kind = ?4 AND p.agent IS ?5 ORDER BY p.ordinal LIMIT 1"
        );
        let human = PassageKind::Human.code();
        let parameters = (of.session, of.source, of.ordinal, human, &of.agent_id);
        let mut statement = self.connection.prepare_cached(&sql)?;
        Ok(statement.query_row(parameters, passage).optional()?)
    }

    /// Reads passages.
    pub fn passages(&self, filter: PassageFilter) -> Result<Vec<PassageRow>> {
        let (condition, parameters) = match filter {
            // It makes no difference from which of several snapshots of a transcript a passage was
            // read.
            PassageFilter::Session(session) => (
                "JOIN sources s ON s.id = p.source WHERE p.session = ?1
                 ORDER BY s.kind <> 'main', CASE s.kind WHEN 'main' THEN '' ELSE s.entry END,
                     p.ordinal, s.entry LIMIT ?2",
                (session, -1),
            ),
            PassageFilter::After { row, limit } => {
                ("WHERE p.row > ?1 ORDER BY p.row LIMIT ?2", (row, limit as i64))
            }
        };
        self.select(&format!("SELECT {COLUMNS} FROM passages p {condition}"), parameters, passage)
    }

    /// Reads the passages of these rows. Rows that were replaced since are left out.
    pub fn passages_of_rows(&self, rows: &[i64]) -> Result<Vec<PassageRow>> {
        let sql =
            format!("SELECT {COLUMNS} FROM passages p WHERE row IN ({})", in_list(rows.len()));
        let mut statement = self.connection.prepare(&sql)?;
        let found = statement
            .query_map(params_from_iter(rows), passage)?
            .collect::<rusqlite::Result<_>>()?;
        Ok(found)
    }

    /// Reads the passage at a position of a source.
    pub fn passage_at(
        &self,
        session: i64,
        source: i64,
        ordinal: u32,
    ) -> Result<Option<PassageRow>> {
        self.find(
            &format!(
                "SELECT {COLUMNS} FROM passages p
                 WHERE session = ?1 AND source = ?2 AND ordinal = ?3"
            ),
            (session, source, ordinal),
            passage,
        )
    }

    /// Reads the passages whose ids start with this prefix: at most `limit`, by id.
    pub fn passages_by_prefix(&self, prefix: &IdPrefix, limit: usize) -> Result<Vec<PassageRow>> {
        let (low, high) = prefix.range();
        self.select(
            &format!(
                "SELECT {COLUMNS} FROM passages p WHERE id BETWEEN ?1 AND ?2 ORDER BY id LIMIT ?3"
            ),
            (low.as_bytes(), high.as_bytes(), limit as i64),
            passage,
        )
    }

    /// Returns the shortest unambiguous prefix of an id (five characters or more) among passages and
    /// memories.
    pub fn short_id(&self, id: &Id) -> Result<String> {
        let full = id.to_string();
        let mut longest_shared = 0;
        for sql in [
            "SELECT id FROM passages WHERE id < ?1 ORDER BY id DESC LIMIT 1",
            "SELECT id FROM passages WHERE id > ?1 ORDER BY id LIMIT 1",
            "SELECT id FROM memories WHERE id < ?1 ORDER BY id DESC LIMIT 1",
            "SELECT id FROM memories WHERE id > ?1 ORDER BY id LIMIT 1",
        ] {
            let neighbour: Option<[u8; Id::BYTES]> =
                self.find(sql, [id.as_bytes()], |row| row.get(0))?;
            if let Some(neighbour) = neighbour {
                let neighbour = Id::from_bytes(neighbour).to_string();
                let shared =
                    full.bytes().zip(neighbour.bytes()).take_while(|(a, b)| a == b).count();
                longest_shared = longest_shared.max(shared);
            }
        }
        let length = (longest_shared + 1).clamp(Id::MIN_PREFIX, Id::CHARS);
        Ok(full[..length].to_owned())
    }

    /// Returns the passage with this id.
    pub fn passage(&self, id: &Id) -> Result<Option<PassageRow>> {
        self.find(
            &format!("SELECT {COLUMNS} FROM passages p WHERE id = ?1"),
            [id.as_bytes()],
            passage,
        )
    }

    /// Returns the rows of the passages at most `reach` positions before or after one, without that
    /// one.
    pub fn rows_around(
        &self,
        session: i64,
        source: i64,
        ordinal: u32,
        reach: u32,
    ) -> Result<Vec<i64>> {
        let (first, last) = (ordinal.saturating_sub(reach), ordinal.saturating_add(reach));
        self.select(
            "SELECT row FROM passages
             WHERE session = ?1 AND source = ?2 AND ordinal BETWEEN ?3 AND ?4 AND ordinal != ?5",
            (session, source, first, last, ordinal),
            |row| row.get(0),
        )
    }

    /// Returns the tool, and the command line of a shell, of the calls of a turn at most `reach` positions from one
    /// passage.
    pub fn calls_around(
        &self,
        session: i64,
        source: i64,
        turn: u32,
        ordinal: u32,
        reach: u32,
    ) -> Result<Vec<(Option<String>, Option<String>)>> {
        let (first, last) = (ordinal.saturating_sub(reach), ordinal.saturating_add(reach));
        let tool = PassageKind::Tool.code();
        self.select(
"SELECT tool, command FROM passages
             WHERE session = ?1 AND source = ?2 AND ordinal BETWEEN ?3 AND ?4 AND turn = ?5 AND kind = ?6",
(session, source, first, last, turn, tool),
|row| {
                Ok((row.get(0)?, row.get(1)?))
            },
)
    }

    /// Returns those of some rows that are calls of some tools.
    ///
    /// # Errors
    /// Fails if the store cannot be read.
    pub fn calls_of_tools(&self, rows: &[i64], tools: &[&str]) -> Result<Vec<i64>> {
        let sql = format!(
            "SELECT row FROM passages WHERE row IN ({}) AND tool IN ({})",
            in_list(rows.len()),
            in_list(tools.len())
        );
        let rows = rows.iter().map(|row| row as &dyn ToSql);
        let parameters = rows.chain(tools.iter().map(|tool| tool as &dyn ToSql));
        self.select(&sql, params_from_iter(parameters), |row| row.get(0))
    }

    /// Returns the text of a passage.
    pub fn text_of(&self, passage: &PassageRow) -> Result<String> {
        self.texts.read(&self.connection, passage.place)
    }

    /// Returns the files that a passage names, each with true if the passage changed it.
    pub fn files_of(&self, passage: &PassageRow) -> Result<Vec<(String, bool)>> {
        self.select(
            "SELECT f.path, t.modified FROM touches t JOIN files f ON f.id = t.file
             WHERE t.row = ?1 ORDER BY f.path",
            [passage.row],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )
    }

    /// Returns the files that the passages of a session name, by the passages' rows.
    pub fn touches_of_session(&self, session: i64) -> Result<HashMap<i64, Vec<Touch>>> {
        let mut statement = self.connection.prepare_cached(
            "SELECT t.row, f.path, t.modified, t.content
             FROM passages p JOIN touches t ON t.row = p.row JOIN files f ON f.id = t.file
             WHERE p.session = ?1 ORDER BY t.row, f.path",
        )?;
        let mut rows = statement.query([session])?;
        let mut found: HashMap<i64, Vec<Touch>> = HashMap::new();
        while let Some(row) = rows.next()? {
            let access = if row.get(2)? { Access::Modified } else { Access::Read };
            found.entry(row.get(0)?).or_default().push(Touch {
                file: FileTouch { path: row.get(1)?, access },
                content: row.get::<_, Option<[u8; Id::BYTES]>>(3)?.map(Id::from_bytes),
            });
        }
        Ok(found)
    }

    /// Returns the files that a session touched, the most changed first.
    pub fn files_of_session(&self, session: i64) -> Result<Vec<TouchedFile>> {
        self.select(
            "SELECT f.path, sum(t.modified) AS modified, count(*) AS touched
             FROM passages p JOIN touches t ON t.row = p.row JOIN files f ON f.id = t.file
             WHERE p.session = ?1 GROUP BY f.id ORDER BY modified DESC, touched DESC, f.path",
            [session],
            |row| {
                Ok(TouchedFile { path: row.get(0)?, modified: row.get(1)?, touched: row.get(2)? })
            },
        )
    }

    /// Returns files whose paths end with this one, or that at least have the same name: suggestions
    /// for a mistyped path.
    pub fn files_like(&self, path: &str) -> Result<Vec<String>> {
        self.select(
            "SELECT path FROM files WHERE name = ?1 ORDER BY length(path), path LIMIT 5",
            [thru_core::file_name(path)],
            |row| row.get(0),
        )
    }
}

pub(super) fn passage(row: &Row<'_>) -> rusqlite::Result<PassageRow> {
    let records: Vec<(String, u64)> =
        serde_json::from_str(row.get_ref(12)?.as_str()?).unwrap_or_default();
    Ok(PassageRow {
        row: row.get(0)?,
        id: Id::from_bytes(row.get(1)?),
        session: row.get(2)?,
        source: row.get(3)?,
        turn: row.get(4)?,
        ordinal: row.get(5)?,
        kind: PassageKind::from_code(row.get(6)?).unwrap_or(PassageKind::Tool),
        agent_id: row.get(7)?,
        tool: row.get(8)?,
        command: row.get(9)?,
        outcome: row.get::<_, Option<u8>>(10)?.and_then(Outcome::from_code),
        at: time(row, 11)?,
        records: records
            .into_iter()
            .map(|(id, line)| SourceRecord { id: RecordId::named(id), line })
            .collect(),
        place: passage_place(row, 13)?,
    })
}

/// Reads the three columns of a [`TextPlace`].
pub(crate) fn passage_place(row: &Row<'_>, first: usize) -> rusqlite::Result<TextPlace> {
    Ok(TextPlace {
        block: row.get(first)?,
        start: row.get(first + 1)?,
        length: row.get(first + 2)?,
    })
}

/// Reads a time in milliseconds.
pub(super) fn time(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<Timestamp>> {
    let milliseconds: Option<i64> = row.get(column)?;
    Ok(milliseconds.and_then(|ms| Timestamp::from_millisecond(ms).ok()))
}
