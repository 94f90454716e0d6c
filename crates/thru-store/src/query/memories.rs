//! Memories: observations, summaries, and notes that people added.

use std::collections::HashMap;

use rusqlite::types::Value;
use rusqlite::{Row, params_from_iter};
use schemars::JsonSchema;
use serde::Serialize;
use thru_core::{
    Agent, FileState, Id, IdPrefix, MemoryDecision, MemoryKind, Observation, ObservationType,
    SessionKey, Summary, Timestamp, WorkOutcome,
};

use super::passages::{passage_place, time};
use crate::error::{Result, StoreError};
use crate::statements::Statements;
use crate::store::Store;
use crate::text::TextPlace;
use crate::write::outcome_of_code;

/// The boolean properties of a memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemoryFlags {
    /// A person's rule, which holds from then on.
    pub is_rule: bool,
    /// It was recognised in prose by its form only.
    pub is_uncertain: bool,
    /// It is the statement of a person.
    pub is_from_person: bool,
    /// A person added it outside of any session.
    pub is_note: bool,
    /// A person edited it.
    pub is_edited: bool,
    /// A person corrected the work of that moment, without a rule for later.
    pub is_correction: bool,
    /// A model made it.
    pub is_refined: bool,
    /// Superseded by a better memory: it is kept, but neither found nor injected.
    pub is_superseded: bool,
    /// It was imported from another program.
    pub is_imported: bool,
    /// It has no title of its own: the beginning of what was said stands for it, in quotation marks.
    pub is_untitled: bool,
}

impl MemoryFlags {
    pub(crate) fn code(self) -> u16 {
        let Self {
            is_rule,
            is_uncertain,
            is_from_person,
            is_note,
            is_edited,
            is_correction,
            is_refined,
            is_superseded,
            is_imported,
            is_untitled,
        } = self;
        [
            is_rule,
            is_uncertain,
            is_from_person,
            is_note,
            is_edited,
            is_correction,
            is_refined,
            is_superseded,
            is_imported,
            is_untitled,
        ]
        .into_iter()
        .enumerate()
        .fold(0, |code, (bit, is_set)| code | (u16::from(is_set) << bit))
    }

    fn from_code(code: u16) -> Self {
        let is_set = |bit: u8| code & (1 << bit) != 0;
        Self {
            is_rule: is_set(0),
            is_uncertain: is_set(1),
            is_from_person: is_set(2),
            is_note: is_set(3),
            is_edited: is_set(4),
            is_correction: is_set(5),
            is_refined: is_set(6),
            is_superseded: is_set(7),
            is_imported: is_set(8),
            is_untitled: is_set(9),
        }
    }
}

/// A memory as stored, without its body.
#[derive(Clone, Debug, PartialEq)]
pub struct MemoryRow {
    /// Its row, which grows with every write.
    pub row: i64,
    /// The memory's id.
    pub id: Id,
    /// The row of its session, if it comes from one.
    pub session: Option<i64>,
    /// The row of its project; `None` if it applies everywhere, or if its session has no project.
    pub project: Option<i64>,
    /// The turn that it comes from; 0 for the whole session.
    pub turn: u32,
    /// Its kind.
    pub kind: MemoryKind,
    /// Its boolean properties.
    pub flags: MemoryFlags,
    /// The outcome of the work, of a summary.
    pub outcome: Option<WorkOutcome>,
    /// Its time.
    pub at: Option<Timestamp>,
    /// Its title, or the beginning of what was said in quotation marks: see [`Self::is_untitled`].
    pub title: String,
    /// Tokens (estimated) to read all of it.
    pub tokens: u64,
    /// Tokens (estimated) of the passages that it stands for.
    pub raw_tokens: u64,
    place: TextPlace,
}

impl MemoryRow {
    /// True if a person added it for every project.
    pub const fn is_global(&self) -> bool {
        self.flags.is_note && self.project.is_none()
    }

    /// True if it has no title of its own.
    pub const fn is_untitled(&self) -> bool {
        self.flags.is_untitled
    }
}

/// The full content of a memory.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum MemoryBody {
    /// One distilled unit of memory, or a note that a person added.
    Observation(Box<Observation>),
    /// The digest of a session.
    Summary(Box<Summary>),
}

impl MemoryBody {
    /// Calls `each` with every text, file names included.
    pub fn texts(&mut self, each: &mut dyn FnMut(&mut String)) {
        match self {
            Self::Observation(observation) => observation.texts(each),
            Self::Summary(summary) => summary.texts(each),
        }
    }

    /// Returns the text that searches look in.
    pub fn search_text(&self) -> String {
        match self {
            Self::Observation(observation) => observation.search_text(),
            Self::Summary(summary) => summary.search_text(),
        }
    }

    /// Returns the passages that it was made from.
    pub fn sources(&self) -> Vec<Id> {
        let mut sources: Vec<Id> = match self {
            Self::Observation(observation) => observation.sources.clone(),
            Self::Summary(summary) => summary
                .digest
                .statements()
                .flat_map(|statement| statement.sources.iter().copied())
                .collect(),
        };
        let mut seen = std::collections::HashSet::new();
        sources.retain(|id| seen.insert(*id));
        sources
    }
}

/// A filter of memories. By default all of them are read, except superseded ones.
#[derive(Clone, Debug, Default)]
pub struct MemoryFilter {
    /// Of these projects.
    pub projects: Option<Vec<i64>>,
    /// Only those that people added for every project.
    pub global: bool,
    /// Only those that a person or an agent recorded directly.
    pub notes: bool,
    /// Of this session.
    pub session: Option<i64>,
    /// Of sessions of these agents.
    pub agents: Option<Vec<Agent>>,
    /// Rows of memories.
    pub rows: Option<Vec<i64>>,
    /// Of these kinds.
    pub kinds: Option<Vec<MemoryKind>>,
    /// Only rules that a person gave.
    pub rules: bool,
    /// Includes superseded memories.
    pub superseded: bool,
    /// Those that name one of these files (whole paths).
    pub files: Option<Vec<String>>,
    /// At or after this time.
    pub since: Option<Timestamp>,
    /// Before this time.
    pub until: Option<Timestamp>,
    /// Only those that follow this one, latest first.
    pub after: Option<(Option<Timestamp>, u32, Id)>,
    /// Oldest first; by default latest first.
    pub oldest_first: bool,
    /// At most this many.
    pub limit: Option<usize>,
}

const COLUMNS: &str = "m.row, m.id, m.session, m.project, m.turn, m.kind, m.flags, m.outcome, m.at,
    m.title, m.tokens, m.raw_tokens, m.block, m.start, m.length";

impl Store {
    /// Returns the number of memories without superseded ones.
    pub fn memory_count(&self) -> Result<u64> {
        let all = super::count(&self.connection, "SELECT count(*) FROM memories")?;
        Ok(all.saturating_sub(self.superseded_count()?))
    }

    /// Returns the number of memories of each kind without superseded ones, and the time of the earliest.
    pub fn memories_by_kind(&self) -> Result<Vec<(MemoryKind, u64, Option<Timestamp>)>> {
        self.select(
            "SELECT kind, count(*), min(at) FROM memories WHERE flags & 128 = 0 GROUP BY kind",
            [],
            |row| Ok((memory_kind(row.get(0)?), row.get(1)?, time(row, 2)?)),
        )
    }

    /// Returns the number of memories of projects.
    pub fn memories_of_projects(&self, projects: &[i64]) -> Result<u64> {
        let list = super::in_list(projects.len());
        let sql = format!("SELECT count(*) FROM memories WHERE project IN ({list})");
        let mut statement = self.connection.prepare_cached(&sql)?;
        let count: i64 =
            statement.query_row(params_from_iter(projects.iter()), |row| row.get(0))?;
        Ok(count.unsigned_abs())
    }

    /// Returns the number of superseded memories.
    pub fn superseded_count(&self) -> Result<u64> {
        super::count(&self.connection, "SELECT count(*) FROM memories WHERE flags & 128")
    }

    /// Reads memories, ordered by time.
    pub fn memories(&self, filter: &MemoryFilter) -> Result<Vec<MemoryRow>> {
        let mut conditions: Vec<String> = Vec::new();
        let mut parameters: Vec<Value> = Vec::new();
        let list = |count: usize| super::in_list(count);
        if let Some(projects) = &filter.projects {
            conditions.push(format!("m.project IN ({})", list(projects.len())));
            parameters.extend(projects.iter().map(|row| Value::from(*row)));
        }
        if let Some(session) = filter.session {
            conditions.push("m.session = ?".to_owned());
            parameters.push(Value::from(session));
        }
        if let Some(agents) = &filter.agents {
            conditions.push(format!(
                "m.session IN (SELECT id FROM sessions WHERE agent IN ({}))",
                list(agents.len())
            ));
            parameters.extend(agents.iter().map(|agent| Value::from(agent.as_str().to_owned())));
        }
        if let Some(rows) = &filter.rows {
            conditions.push(format!("m.row IN ({})", list(rows.len())));
            parameters.extend(rows.iter().map(|row| Value::from(*row)));
        }
        if let Some(kinds) = &filter.kinds {
            // As constants, which partial indexes are chosen by.
            let codes: Vec<String> = kinds.iter().map(|kind| kind.code().to_string()).collect();
            conditions.push(match &codes[..] {
                [code] => format!("m.kind = {code}"),
                codes => format!("m.kind IN ({})", codes.join(", ")),
            });
        }
        if !filter.superseded {
            conditions.push("m.flags & 128 = 0".to_owned());
        }
        if filter.rules {
            conditions.push("m.flags & 1".to_owned());
        }
        if filter.notes {
            conditions.push("m.flags & 8".to_owned());
        }
        if filter.global {
            conditions.push("m.project IS NULL AND m.flags & 8".to_owned());
        }
        if let Some(files) = &filter.files {
            conditions.push(format!(
                "m.row IN (SELECT n.row FROM memory_files n JOIN files f ON f.id = n.file
                           WHERE f.path IN ({}))",
                list(files.len())
            ));
            parameters.extend(files.iter().map(|path| Value::from(path.clone())));
        }
        for (condition, time) in [("m.at >= ?", filter.since), ("m.at < ?", filter.until)] {
            if let Some(time) = time {
                conditions.push(condition.to_owned());
                parameters.push(Value::from(time.as_millisecond()));
            }
        }
        if let Some((at, turn, id)) = filter.after {
            conditions.push(format!("(coalesce(m.at, {}), m.turn, m.id) < (?, ?, ?)", i64::MIN));
            parameters.push(Value::from(at.map_or(i64::MIN, Timestamp::as_millisecond)));
            parameters.extend([Value::from(turn), Value::from(id.as_bytes().to_vec())]);
        }
        let conditions = match conditions.is_empty() {
            true => String::new(),
            false => format!("WHERE {}", conditions.join(" AND ")),
        };
        let direction = if filter.oldest_first { "ASC" } else { "DESC" };
        parameters.push(Value::from(filter.limit.map_or(-1, |limit| limit as i64)));
        self.select(
            &format!(
                "SELECT {COLUMNS} FROM memories m {conditions}
             ORDER BY m.at {direction}, m.turn {direction}, m.id {direction} LIMIT ?"
            ),
            params_from_iter(parameters),
            memory,
        )
    }

    /// Returns the memories after a row, in order, at most this many.
    pub(crate) fn memories_after(&self, row: i64, limit: usize) -> Result<Vec<MemoryRow>> {
        self.select(
            &format!("SELECT {COLUMNS} FROM memories m WHERE m.row > ?1 ORDER BY m.row LIMIT ?2"),
            (row, limit as i64),
            memory,
        )
    }

    /// Returns the memories whose ids start with this prefix: at most `limit`, by id.
    pub fn memories_by_prefix(&self, prefix: &IdPrefix, limit: usize) -> Result<Vec<MemoryRow>> {
        let (low, high) = prefix.range();
        self.select(
            &format!(
                "SELECT {COLUMNS} FROM memories m WHERE id BETWEEN ?1 AND ?2 ORDER BY id LIMIT ?3"
            ),
            (low.as_bytes(), high.as_bytes(), limit as i64),
            memory,
        )
    }

    /// Returns the memory with this id.
    pub fn memory(&self, id: &Id) -> Result<Option<MemoryRow>> {
        self.find(
            &format!("SELECT {COLUMNS} FROM memories m WHERE id = ?1"),
            [id.as_bytes()],
            memory,
        )
    }

    /// Returns the full content of a memory.
    ///
    /// # Errors
    /// Returns an error if the database cannot be read, or the content is damaged.
    pub fn body_of(&self, memory: &MemoryRow) -> Result<MemoryBody> {
        let text = self.texts.read(&self.connection, memory.place)?;
        let parsed = match memory.kind {
            MemoryKind::Observation(_) => {
                serde_json::from_str(&text).map(|body| MemoryBody::Observation(Box::new(body)))
            }
            MemoryKind::Summary => {
                serde_json::from_str(&text).map(|body| MemoryBody::Summary(Box::new(body)))
            }
        };
        parsed.map_err(|error| StoreError::Corrupt {
            path: self.path.clone(),
            detail: format!("memory {}: {error}", memory.id),
        })
    }

    /// Returns the files that memories name, by the memories' rows.
    pub fn files_of_memories(&self, rows: &[i64]) -> Result<HashMap<i64, Vec<FileState>>> {
        let mut statement = self.connection.prepare_cached(
            "SELECT f.path, n.modified, n.at, n.content FROM memory_files n
             JOIN files f ON f.id = n.file WHERE n.row = ?1 ORDER BY f.path",
        )?;
        let mut found = HashMap::new();
        for row in rows {
            let files = statement
                .query_map([row], |row| {
                    Ok(FileState {
                        path: row.get(0)?,
                        modified: row.get(1)?,
                        at: time(row, 2)?,
                        content: row.get::<_, Option<[u8; Id::BYTES]>>(3)?.map(Id::from_bytes),
                    })
                })?
                .collect::<rusqlite::Result<Vec<_>>>()?;
            found.insert(*row, files);
        }
        Ok(found)
    }

    /// Returns the files that memories of these projects changed last, latest first.
    pub fn files_changed_last(&self, projects: &[i64], limit: usize) -> Result<Vec<String>> {
        let mut statement = self.connection.prepare(&format!(
            "SELECT f.path, max(m.at) AS last
             FROM (SELECT row, at FROM memories WHERE project IN ({})
                   ORDER BY at DESC, id DESC LIMIT ?) m
             JOIN memory_files n ON n.row = m.row AND n.modified
             JOIN files f ON f.id = n.file
             GROUP BY f.id ORDER BY last DESC, f.path LIMIT ?",
            super::in_list(projects.len())
        ))?;
        let mut parameters: Vec<i64> = projects.to_vec();
        parameters.extend([4 * limit as i64, limit as i64]);
        let files = statement
            .query_map(params_from_iter(parameters), |row| row.get(0))?
            .collect::<rusqlite::Result<_>>()?;
        Ok(files)
    }

    /// Returns the whole paths of files with this name in memories of these projects.
    pub fn files_named(&self, projects: &[i64], name: &str) -> Result<Vec<String>> {
        let mut statement = self.connection.prepare(&format!(
            "SELECT DISTINCT f.path FROM files f
             JOIN memory_files n ON n.file = f.id JOIN memories m ON m.row = n.row
             WHERE f.name = ?1 AND m.project IN ({}) ORDER BY f.path",
            super::in_list(projects.len())
        ))?;
        let parameters = std::iter::once(Value::from(name.to_owned()))
            .chain(projects.iter().map(|row| Value::from(*row)));
        let files = statement
            .query_map(params_from_iter(parameters), |row| row.get(0))?
            .collect::<rusqlite::Result<_>>()?;
        Ok(files)
    }

    /// Returns the sessions with passages that were not distilled yet.
    pub fn stale_sessions(&self) -> Result<Vec<i64>> {
        self.select("SELECT id FROM sessions WHERE stale = 1 ORDER BY ended DESC, id", [], |row| {
            row.get(0)
        })
    }

    /// Returns the version of a projection that the store holds, `None` if it holds none.
    pub fn projection_version(&self, projection: &str) -> Result<Option<u32>> {
        let version = self.meta(&version_key(projection))?;
        Ok(version.and_then(|version| version.parse().ok()))
    }

    /// True if people made decisions about memories of a session, in force or undone.
    pub fn is_decided_about(&self, session: &SessionKey) -> Result<bool> {
        self.exists(
            "SELECT 1 FROM operations WHERE kind LIKE 'memory-%'
                     AND json_extract(body, '$.session.id') = ?1
                     AND json_extract(body, '$.session.agent') = ?2",
            (session.id.as_str(), session.agent.as_str()),
        )
    }

    /// Returns the decisions that people made about memories.
    pub fn memory_decisions(&self) -> Result<HashMap<Id, MemoryDecision>> {
        let rows: Vec<_> = self.select("SELECT id, decision FROM memory_decisions", [], |row| {
            Ok((Id::from_bytes(row.get(0)?), row.get::<_, String>(1)?))
        })?;
        Ok(rows
            .into_iter()
            .filter_map(|(id, decision)| Some((id, serde_json::from_str(&decision).ok()?)))
            .collect())
    }
}

fn memory(row: &Row<'_>) -> rusqlite::Result<MemoryRow> {
    Ok(MemoryRow {
        row: row.get(0)?,
        id: Id::from_bytes(row.get(1)?),
        session: row.get(2)?,
        project: row.get(3)?,
        turn: row.get(4)?,
        kind: memory_kind(row.get(5)?),
        flags: MemoryFlags::from_code(row.get(6)?),
        outcome: row.get::<_, Option<u8>>(7)?.and_then(outcome_of_code),
        at: time(row, 8)?,
        title: row.get(9)?,
        tokens: row.get(10)?,
        raw_tokens: row.get(11)?,
        place: passage_place(row, 12)?,
    })
}

fn memory_kind(code: u8) -> MemoryKind {
    MemoryKind::from_code(code).unwrap_or(MemoryKind::Observation(ObservationType::Change))
}

/// The key of a projection's version in the table `meta`. That of memories has an older name.
pub(crate) fn version_key(projection: &str) -> String {
    match projection {
        "memories" => "distiller".to_owned(),
        other => format!("projection.{other}"),
    }
}
