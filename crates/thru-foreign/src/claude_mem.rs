//! The database of claude-mem: observations, summaries of sessions, and prompts.
//!
//! Its schema is known by the columns that are there, not by a version: those of versions 4 to 13 differ in what they add.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::Path;
use std::time::Duration;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags, Row};
use thru_core::{Concept, ForeignSource, ObservationType, Timestamp};

use crate::{ForeignError, ForeignMemories, ForeignMemory, Holds, filled};

/// The time that the program may keep its database locked.
const PATIENCE: Duration = Duration::from_secs(5);

/// Times below this are seconds, not milliseconds.
const FIRST_MILLISECOND: i64 = 100_000_000_000;

type Result<T, E = rusqlite::Error> = std::result::Result<T, E>;

/// Reads a database.
///
/// # Errors
/// Fails if the file is no database of claude-mem, or cannot be read.
pub fn read(path: &Path) -> Result<ForeignMemories, ForeignError> {
    let failed = |source| ForeignError::Database { path: path.to_owned(), source };
    let connection = open(path).map_err(failed)?;
    if columns(&connection, "observations").map_err(failed)?.is_empty() {
        let (path, program) = (path.to_owned(), ForeignSource::ClaudeMem);
        return Err(ForeignError::OtherProgram { path, program });
    }
    read_all(&connection).map_err(failed)
}

fn open(path: &Path) -> Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(PATIENCE)?;
    match columns(&connection, "observations") {
        // A database beside which SQLite may put nothing, on a read-only disk say, is not in use.
        Err(error) if error.sqlite_error_code() == Some(rusqlite::ErrorCode::CannotOpen) => {
            let escaped = path.to_string_lossy().replace('%', "%25");
            let escaped = escaped.replace('?', "%3f").replace('#', "%23");
            let uri = format!("file:{escaped}?immutable=1");
            Connection::open_with_flags(uri, flags | OpenFlags::SQLITE_OPEN_URI)
        }
        Err(error) => Err(error),
        Ok(_) => Ok(connection),
    }
}

fn columns(connection: &Connection, table: &str) -> Result<HashSet<String>> {
    let mut statement = connection.prepare("SELECT name FROM pragma_table_info(?1)")?;
    statement.query_map([table], |row| row.get(0))?.collect()
}

/// Calls `each` with the columns of every row, as text; a column that the table does not have is `None`.
fn rows<const N: usize>(
    connection: &Connection,
    table: &str,
    wanted: [&str; N],
    each: &mut dyn FnMut([Option<String>; N]),
) -> Result<()> {
    let known = columns(connection, table)?;
    if !known.contains("id") {
        return Ok(());
    }
    let selected = wanted.map(|name| if known.contains(name) { name } else { "NULL" });
    let sql = format!("SELECT {} FROM {table} ORDER BY id", selected.join(", "));
    let mut statement = connection.prepare(&sql)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        each(std::array::from_fn(|at| text(row, at)));
    }
    Ok(())
}

fn text(row: &Row<'_>, column: usize) -> Option<String> {
    match row.get_ref(column).ok()? {
        ValueRef::Null => None,
        ValueRef::Integer(number) => Some(number.to_string()),
        ValueRef::Real(number) => Some(number.to_string()),
        ValueRef::Text(text) | ValueRef::Blob(text) => filled(&String::from_utf8_lossy(text)),
    }
}

/// A session of the coding agent.
#[derive(Default)]
struct Session {
    project: Option<String>,
    title: Option<String>,
    prompts: Vec<String>,
    at: Option<Timestamp>,
}

fn read_all(connection: &Connection) -> Result<ForeignMemories> {
    let mut found = ForeignMemories::default();
    let mut sessions: BTreeMap<String, Session> = BTreeMap::new();
    // Observations and summaries name the session of the model that made them.
    let mut observed: HashMap<String, String> = HashMap::new();
    // Sessions have their first prompt beside the list of prompts, which older versions did not have.
    let mut first: HashMap<String, String> = HashMap::new();
    rows(
        connection,
        "sdk_sessions",
        [
            "content_session_id",
            "claude_session_id",
            "memory_session_id",
            "sdk_session_id",
            "project",
            "custom_title",
            "user_prompt",
            "started_at_epoch",
        ],
        &mut |[id, older, by, older_by, project, title, prompt, at]| {
            let Some(id) = id.or(older) else { return };
            observed.extend(by.or(older_by).map(|by| (by, id.clone())));
            first.extend(prompt.map(|prompt| (id.clone(), prompt)));
            let session = Session { project, title, prompts: Vec::new(), at: time(at.as_deref()) };
            sessions.insert(id, session);
        },
    )?;
    observations(connection, &observed, &mut found)?;
    summaries(connection, &observed, &mut found)?;
    rows(
        connection,
        "user_prompts",
        ["content_session_id", "claude_session_id", "prompt_text", "created_at_epoch"],
        &mut |[id, older, prompt, at]| {
            let (Some(id), Some(prompt)) = (id.or(older), prompt) else {
                found.empty += 1;
                return;
            };
            let session = sessions.entry(id).or_default();
            session.at = session.at.or_else(|| time(at.as_deref()));
            session.prompts.push(prompt);
        },
    )?;
    for (id, mut session) in sessions {
        if session.prompts.is_empty() {
            session.prompts.extend(first.remove(&id));
        }
        found.memories.extend(prompts_of(id, session));
    }
    Ok(found)
}

fn observations(
    connection: &Connection,
    observed: &HashMap<String, String>,
    found: &mut ForeignMemories,
) -> Result<()> {
    rows(
        connection,
        "observations",
        [
            "id",
            "created_at_epoch",
            "memory_session_id",
            "sdk_session_id",
            "project",
            "merged_into_project",
            "type",
            "title",
            "subtitle",
            "narrative",
            "text",
            "facts",
            "concepts",
            "files_read",
            "files_modified",
        ],
        &mut |[
            id,
            at,
            by,
            older_by,
            project,
            merged,
            kind,
            title,
            subtitle,
            narrative,
            whole,
            facts,
            concepts,
            read,
            modified,
        ]| {
            let id = id.unwrap_or_default();
            let told = narrative.or(whole);
            let text = match (subtitle, told) {
                (Some(subtitle), Some(text)) => Some(format!("{subtitle}\n{text}")),
                (subtitle, text) => subtitle.or(text),
            };
            let mut facts = list(facts);
            let Some(title) = title.or_else(|| text.clone()).or_else(|| facts.first().cloned())
            else {
                found.empty += 1;
                return;
            };
            let kind = kind.unwrap_or_default();
            let (known, is_warning) = type_of(&kind);
            if known.is_none() && !kind.is_empty() {
                facts.push(format!("Type in claude-mem: {kind}"));
            }
            let mut concepts: BTreeSet<Concept> =
                list(concepts).iter().filter_map(|name| name.parse().ok()).collect();
            if is_warning {
                concepts.insert(Concept::Gotcha);
            }
            found.memories.push(ForeignMemory {
                identity: identity(&id, at.as_deref()),
                name: id,
                holds: Holds::Observation,
                title,
                text,
                kind: known,
                facts,
                concepts,
                files_read: list(read),
                files_modified: list(modified),
                at: time(at.as_deref()),
                project: merged.or(project),
                session: by.or(older_by).and_then(|by| observed.get(&by).cloned()),
            });
        },
    )
}

fn summaries(
    connection: &Connection,
    observed: &HashMap<String, String>,
    found: &mut ForeignMemories,
) -> Result<()> {
    rows(
        connection,
        "session_summaries",
        [
            "id",
            "created_at_epoch",
            "memory_session_id",
            "sdk_session_id",
            "project",
            "merged_into_project",
            "request",
            "investigated",
            "learned",
            "completed",
            "next_steps",
            "notes",
            "files_read",
            "files_edited",
        ],
        &mut |[
            id,
            at,
            by,
            older_by,
            project,
            merged,
            request,
            investigated,
            learned,
            completed,
            next,
            notes,
            read,
            edited,
        ]| {
            let name = format!("S{}", id.unwrap_or_default());
            let sections = [
                ("Looked into", investigated),
                ("Learned", learned),
                ("Done", completed.clone()),
                ("Next", next),
                ("Notes", notes),
            ];
            let facts: Vec<String> = sections
                .into_iter()
                .filter_map(|(label, text)| Some(format!("{label}: {}", text?)))
                .collect();
            let kind = match completed {
                Some(_) => ObservationType::Change,
                None => ObservationType::Discovery,
            };
            let Some(title) = request.clone().or(completed).or_else(|| facts.first().cloned())
            else {
                found.empty += 1;
                return;
            };
            found.memories.push(ForeignMemory {
                identity: identity(&name, at.as_deref()),
                name,
                holds: Holds::Summary,
                title,
                text: request,
                kind: Some(kind),
                facts,
                concepts: BTreeSet::from([Concept::WhatChanged]),
                files_read: list(read),
                files_modified: list(edited),
                at: time(at.as_deref()),
                project: merged.or(project),
                session: by.or(older_by).and_then(|by| observed.get(&by).cloned()),
            });
        },
    )
}

fn prompts_of(id: String, session: Session) -> Option<ForeignMemory> {
    let first = session.prompts.first()?;
    let title = format!("Asked: {}", session.title.as_ref().unwrap_or(first));
    Some(ForeignMemory {
        name: id.clone(),
        identity: id.clone(),
        holds: Holds::Prompts(session.prompts.len() as u64),
        title,
        facts: session.prompts,
        at: session.at,
        project: session.project,
        session: Some(id),
        ..ForeignMemory::default()
    })
}

/// Rows of two machines may have the same number.
fn identity(name: &str, at: Option<&str>) -> String {
    format!("{name}@{}", at.unwrap_or_default())
}

fn time(at: Option<&str>) -> Option<Timestamp> {
    let number: i64 = at?.parse().ok()?;
    match number < FIRST_MILLISECOND {
        true => Timestamp::from_second(number).ok(),
        false => Timestamp::from_millisecond(number).ok(),
    }
}

/// Reads a list: JSON, or lines of text in old rows.
fn list(text: Option<String>) -> Vec<String> {
    let Some(text) = text else { return Vec::new() };
    match serde_json::from_str::<Vec<serde_json::Value>>(&text) {
        Ok(values) => values
            .iter()
            .filter_map(|value| match value {
                serde_json::Value::String(text) => filled(text),
                serde_json::Value::Null => None,
                other => Some(other.to_string()),
            })
            .collect(),
        Err(_) => text.lines().filter_map(filled).collect(),
    }
}

/// Translates a type, and tells if it warns. Modes other than the one for code have types of their own.
fn type_of(name: &str) -> (Option<ObservationType>, bool) {
    (name.parse().ok(), name.starts_with("security") || name == "sensitive")
}
