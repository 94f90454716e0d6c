//! Memories that were forgotten, as far as decisions still tell of them: to bring one back.

use schemars::JsonSchema;
use serde::Serialize;
use thru_core::{Id, SessionId, Timestamp};
use thru_intake::{Operation, RecordedMemory};
use thru_redact::{Clean, Redactor};
use thru_store::{MemoryFilter, OperationRow, Store};

use super::log::last_title;
use super::{cleaned, pages};
use crate::trouble::Result;

/// A memory that was forgotten. Nothing of its content is kept but what a person or an agent wrote.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ForgottenMemory {
    /// Its id.
    pub full_id: Id,
    /// The decision that hides it: taken back, the memory is there again.
    pub operation: String,
    /// The time of that decision.
    pub at: Option<Timestamp>,
    /// The last title that it was given; `None` where no person or agent gave one.
    pub title: Option<Clean<String>>,
    /// Its session, where it comes from one.
    pub session_id: Option<SessionId>,
    /// The title of that session.
    pub session_title: Option<Clean<String>>,
}

/// Lists what is forgotten, the latest first: of the projects, the session and the time that a filter names.
pub(super) fn list(
    store: &Store,
    redactor: &Redactor,
    filter: &MemoryFilter,
    cursor: Option<&str>,
    limit: usize,
) -> Result<(Vec<ForgottenMemory>, Option<String>)> {
    let operations = store.operations()?;
    let after: Option<String> = pages::place(cursor)?;
    let rest = pages::behind(operations.iter().rev(), after.as_deref(), |row| row.key.clone());
    let mut found = Vec::new();
    for row in rest.filter(|row| row.undone.is_none()) {
        let Some(Operation::MemoryForgotten { memory, session }) =
            Operation::read(&row.kind, &row.body)
        else {
            continue;
        };
        let is_in_time = filter.since.is_none_or(|since| row.at >= Some(since))
            && filter.until.is_none_or(|until| row.at < Some(until));
        if !is_in_time {
            continue;
        }
        let of = session.as_ref().map(|key| store.session_by_key(key)).transpose()?.flatten();
        if !is_wanted(store, &operations, filter, memory, of)? {
            continue;
        }
        let title = of.map(|row| store.session(row)).transpose()?.flatten();
        let title = title.and_then(|session| session.title);
        found.push(ForgottenMemory {
            full_id: memory,
            operation: row.key.clone(),
            at: row.at,
            title: last_title(&operations, &memory).map(|title| cleaned(redactor, &title)),
            session_id: session.map(|session| session.id),
            session_title: title.map(|title| cleaned(redactor, &title)),
        });
        if found.len() > limit {
            break;
        }
    }
    let next = pages::cut(&mut found, limit, |one| one.operation.clone())?;
    Ok((found, next))
}

/// True if a memory is of the session and the projects that a filter names.
fn is_wanted(
    store: &Store,
    operations: &[OperationRow],
    filter: &MemoryFilter,
    memory: Id,
    session: Option<i64>,
) -> Result<bool> {
    if filter.session.is_some() && filter.session != session {
        return Ok(false);
    }
    let Some(projects) = &filter.projects else { return Ok(true) };
    let project = match session {
        Some(session) => store.project_key_of_session(session)?,
        None => operations.iter().find_map(|row| match Operation::read(&row.kind, &row.body)? {
            Operation::MemoryRecorded(made) if RecordedMemory::id(&row.key) == memory => {
                made.project
            }
            _ => None,
        }),
    };
    let row = project.map(|key| store.project_by_key(&key)).transpose()?.flatten();
    Ok(row.is_some_and(|row| projects.contains(&row)))
}
