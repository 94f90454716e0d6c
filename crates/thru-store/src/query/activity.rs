//! The activity of sessions: the newest passages of one, and the times of many.

use std::collections::HashMap;

use rusqlite::types::Value;
use rusqlite::{Row, params_from_iter};
use thru_core::{Access, Agent, FileTouch, Id, PassageKind, Timestamp};

use super::passages::{COLUMNS, passage};
use super::{PassageRow, Touch};
use crate::error::Result;
use crate::statements::Statements;
use crate::store::Store;

/// A selection of the newest passages of a session.
#[derive(Clone, Copy, Debug)]
pub struct Newest {
    /// Only passages of this kind.
    pub kind: Option<PassageKind>,
    /// The number of passages of each source to look back.
    pub within: usize,
    /// The maximum number of passages.
    pub limit: usize,
}

/// A passage reduced to its session, time and kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    /// The row of the session.
    pub session: i64,
    /// Its time.
    pub at: Timestamp,
    /// Its kind.
    pub kind: PassageKind,
}

/// A filter of moments. By default all of them are read.
#[derive(Clone, Debug, Default)]
pub struct MomentFilter {
    /// Rows of projects.
    pub projects: Option<Vec<i64>>,
    /// Sessions of these agents.
    pub agents: Option<Vec<Agent>>,
    /// At or after this time.
    pub since: Option<Timestamp>,
}

impl Store {
    /// Returns the newest passages of a session, newest first: of its transcript and of what hooks
    /// recorded, not of its subagents. Reads only the end of the session, however long it is.
    pub fn newest_passages(&self, session: i64, newest: Newest) -> Result<Vec<PassageRow>> {
        let mut statement = self.connection.prepare_cached(&format!(
            "SELECT {COLUMNS} FROM
                 (SELECT * FROM passages WHERE session = ?1 AND source = ?2
                  ORDER BY ordinal DESC LIMIT ?3) p
             WHERE ?4 IS NULL OR p.kind = ?4 ORDER BY p.ordinal DESC LIMIT ?5"
        ))?;
        let kind = newest.kind.map(PassageKind::code);
        let (within, limit) = (newest.within as i64, newest.limit as i64);
        let mut found = Vec::new();
        for source in self.own_sources(session)? {
            let rows = statement.query_map((session, source, within, kind, limit), passage)?;
            found.extend(rows.collect::<rusqlite::Result<Vec<PassageRow>>>()?);
        }
        // A stable sort: passages of one source keep their order where times are equal.
        found.sort_by_key(|passage| std::cmp::Reverse(passage.at));
        found.truncate(newest.limit);
        Ok(found)
    }

    /// Returns the fingerprint of a passage, by which the event of a hook is known to be the same.
    pub fn fingerprint_of(&self, passage: &PassageRow) -> Result<Option<u64>> {
        let sql = "SELECT fingerprint FROM passages WHERE row = ?1";
        let found: Option<Option<i64>> = self.find(sql, [passage.row], |row| row.get(0))?;
        Ok(found.flatten().map(i64::cast_unsigned))
    }

    /// Returns the calls that a session made to a tool of an MCP server; its name has the agent's prefix.
    pub fn calls_of_tool(&self, session: i64, name: &str) -> Result<Vec<PassageRow>> {
        self.select(
            &format!(
                "SELECT {COLUMNS} FROM passages p
             WHERE p.session = ?1 AND p.kind = ?2 AND substr(p.tool, -length(?3)) = ?3"
            ),
            (session, PassageKind::Tool.code(), name),
            passage,
        )
    }

    /// Returns the sources of a session's own passages: its transcript and the records of hooks.
    fn own_sources(&self, session: i64) -> Result<Vec<i64>> {
        self.select(
            "SELECT id FROM sources WHERE session = ?1 AND kind IN ('main', 'hooks')
             ORDER BY kind, entry",
            [session],
            |row| row.get(0),
        )
    }

    /// Returns the files that a passage touched, with the hash of what it wrote.
    pub fn touches_of(&self, passage: &PassageRow) -> Result<Vec<Touch>> {
        self.select(
            "SELECT f.path, t.modified, t.content FROM touches t JOIN files f ON f.id = t.file
             WHERE t.row = ?1 ORDER BY f.path",
            [passage.row],
            touch,
        )
    }

    /// Calls `each` with every moment of the selected sessions, in no particular order. A passage
    /// copied from another session counts only there.
    pub fn moments(&self, filter: &MomentFilter, each: &mut dyn FnMut(Moment)) -> Result<()> {
        let mut conditions = vec!["p.copied = 0 AND p.at IS NOT NULL".to_owned()];
        let mut parameters: Vec<Value> = Vec::new();
        // A table scan is the fastest way to read all sessions, the index to read some.
        let mut tables = "passages p";
        if filter.projects.is_some() || filter.agents.is_some() || filter.since.is_some() {
            tables = "sessions s CROSS JOIN passages p ON p.session = s.id";
        }
        if let Some(projects) = &filter.projects {
            conditions.push(format!("s.project IN ({})", super::in_list(projects.len())));
            parameters.extend(projects.iter().map(|row| Value::from(*row)));
        }
        if let Some(agents) = &filter.agents {
            conditions.push(format!("s.agent IN ({})", super::in_list(agents.len())));
            parameters.extend(agents.iter().map(|agent| Value::from(agent.as_str().to_owned())));
        }
        if let Some(since) = filter.since {
            conditions.push("s.ended >= ? AND p.at >= ?".to_owned());
            parameters.extend([since.as_millisecond(); 2].map(Value::from));
        }
        let mut statement = self.connection.prepare(&format!(
            "SELECT p.session, p.at, p.kind FROM {tables} WHERE {}",
            conditions.join(" AND ")
        ))?;
        let mut rows = statement.query(params_from_iter(parameters))?;
        while let Some(row) = rows.next()? {
            if let Ok(at) = Timestamp::from_millisecond(row.get(1)?) {
                let kind = PassageKind::from_code(row.get(2)?).unwrap_or(PassageKind::Tool);
                each(Moment { session: row.get(0)?, at, kind });
            }
        }
        Ok(())
    }

    /// Returns the projects of sessions (row and name) by the sessions' rows. A merged project is
    /// replaced by the one that it was merged into.
    pub fn projects_of_sessions(&self) -> Result<HashMap<i64, (i64, String)>> {
        self.select(
            "SELECT s.id, coalesce(m.id, p.id), coalesce(m.name, p.name) FROM sessions s
             JOIN projects p ON p.id = s.project LEFT JOIN projects m ON m.id = p.merged_into",
            [],
            |row| Ok((row.get(0)?, (row.get(1)?, row.get(2)?))),
        )
    }
}

fn touch(row: &Row<'_>) -> rusqlite::Result<Touch> {
    let access = if row.get(1)? { Access::Modified } else { Access::Read };
    Ok(Touch {
        file: FileTouch { path: row.get(0)?, access },
        content: row.get::<_, Option<[u8; Id::BYTES]>>(2)?.map(Id::from_bytes),
    })
}
