//! Lists of memories, and the history of one.

use std::collections::HashMap;

use schemars::JsonSchema;
use serde::Serialize;
use thru_core::{Id, MemoryEdit, MemoryKind, SessionId, Timestamp};
use thru_intake::Operation;
use thru_recall::{LaterUsage, later_usage, parse_date};
use thru_redact::Clean;
use thru_store::{InjectionRow, MemoryFilter, Store};

use super::forgotten::{self, ForgottenMemory};
use super::log::{LogEntry, sentence};
use super::memory::{self, MemoryEntry, MemoryFiles};
use super::{Opened, ProjectScope, cleaned, named, pages};
use crate::answer;
use crate::app::App;
use crate::call::Call;
use crate::fresh::Freshness;
use crate::trouble::{Result, Trouble};

/// A request for the memories there are.
#[derive(Clone, Debug)]
pub struct ListMemories {
    /// Their projects.
    pub project: ProjectScope,
    /// The start of the id of their session.
    pub session: Option<String>,
    /// Their kinds; empty means all.
    pub kinds: Vec<MemoryKind>,
    /// Their state.
    pub state: MemoryState,
    /// The first day, as people write one.
    pub since: Option<String>,
    /// The day or the moment that they are older than.
    pub until: Option<String>,
    /// The place behind which it begins: `next` of the page before.
    pub cursor: Option<String>,
    /// Maximum number of memories.
    pub limit: usize,
}

/// The state of memories.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryState {
    /// Answers draw on them.
    InForce,
    /// A person corrected them.
    Edited,
    /// A person or an agent told them.
    Told,
    /// They were forgotten, and can be brought back.
    Forgotten,
}

/// Memories, the latest first.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(tag = "kind", rename = "memories")]
pub struct MemoryList {
    version: u32,
    /// The name of their project; `None` for all.
    pub project: Option<Clean<String>>,
    /// True if there are more.
    pub more: bool,
    /// The cursor of the next page, if there are more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
    /// The memories.
    pub memories: Vec<ListedMemory>,
    /// Those that were forgotten, if they were asked for: no memory is both.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub forgotten: Vec<ForgottenMemory>,
}

/// A memory in a list.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ListedMemory {
    /// The memory.
    #[serde(flatten)]
    pub entry: MemoryEntry,
    /// Its files as they are now.
    #[serde(flatten)]
    pub files: MemoryFiles,
}

/// Lists memories, the latest first.
///
/// # Errors
/// Fails if a project, a session or a date cannot be understood, or the store cannot be read.
pub fn list(app: &App, request: &ListMemories, call: Call<'_>) -> Result<MemoryList> {
    let Opened { store, intake, .. } = Opened::new(app, Freshness::Recorded, call)?;
    let project = request.project.find(app, &store)?;
    let session = match &request.session {
        Some(id) => Some(named::named_session(app, &store, id)?.row),
        None => None,
    };
    let date = |text: &Option<String>| {
        text.as_deref().map(|text| parse_date(text, app.clock.now(), app.zone())).transpose()
    };
    let filter = MemoryFilter {
        projects: project.as_ref().map(|one| store.project_rows(one.row)).transpose()?,
        session,
        kinds: (!request.kinds.is_empty()).then(|| request.kinds.clone()),
        notes: request.state == MemoryState::Told,
        rows: (request.state == MemoryState::Edited).then(|| edited(&store)).transpose()?,
        since: date(&request.since)?,
        until: date(&request.until)?,
        limit: Some(request.limit + 1),
        ..MemoryFilter::default()
    };
    let (cursor, limit) = (request.cursor.as_deref(), request.limit);
    let redactor = intake.redactor();
    let project = project.map(|project| cleaned(redactor, &project.name));
    if request.state == MemoryState::Forgotten {
        if filter.kinds.is_some() {
            return Err(Trouble::invalid("no type is kept of what is forgotten"));
        }
        let (forgotten, next) = forgotten::list(&store, redactor, &filter, cursor, limit)?;
        return Ok(MemoryList { project, forgotten, ..MemoryList::new(Vec::new(), next) });
    }
    let filter = MemoryFilter { after: pages::place(cursor)?, ..filter };
    let mut rows = store.memories(&filter)?;
    let next = pages::cut(&mut rows, limit, |row| (row.at, row.turn, row.id))?;
    let entries = memory::entries(&store, redactor, &rows)?.into_iter();
    let memories = entries.map(|(entry, files)| ListedMemory { entry, files }).collect();
    Ok(MemoryList { project, ..MemoryList::new(memories, next) })
}

impl MemoryList {
    const fn new(memories: Vec<ListedMemory>, next: Option<String>) -> Self {
        let more = next.is_some();
        Self {
            version: answer::VERSION,
            project: None,
            more,
            next,
            memories,
            forgotten: Vec::new(),
        }
    }
}

/// The rows of memories that a person corrected.
fn edited(store: &Store) -> Result<Vec<i64>> {
    let mut rows = Vec::new();
    for (id, decision) in store.memory_decisions()? {
        if decision.edit != MemoryEdit::default()
            && let Some(memory) = store.memory(&id)?
        {
            rows.push(memory.row);
        }
    }
    Ok(rows)
}

/// The numbers of memories.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryTotals {
    /// Observations.
    pub observations: u64,
    /// Summaries.
    pub summaries: u64,
    /// The time of the earliest observation.
    pub first: Option<Timestamp>,
}

/// Counts memories.
///
/// # Errors
/// Fails if the store cannot be read.
pub fn totals(app: &App, call: Call<'_>) -> Result<MemoryTotals> {
    let Opened { store, .. } = Opened::new(app, Freshness::Recorded, call)?;
    let mut totals = MemoryTotals { observations: 0, summaries: 0, first: None };
    for (kind, number, first) in store.memories_by_kind()? {
        match kind {
            MemoryKind::Summary => totals.summaries += number,
            MemoryKind::Observation(_) => {
                totals.observations += number;
                totals.first = totals.first.into_iter().chain(first).min();
            }
        }
    }
    Ok(totals)
}

/// What happened to a memory since it was made.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(tag = "kind", rename = "memory-history")]
pub struct MemoryHistory {
    version: u32,
    /// The start of its id.
    pub id: String,
    /// Its id.
    pub full_id: Id,
    /// Its version: a correction names the one that it is about.
    pub base: String,
    /// The decisions about it, the latest first.
    pub decisions: Vec<LogEntry>,
    /// Its injections, the latest first.
    pub briefings: Vec<MemoryBriefing>,
}

/// An injection of one memory into a session.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct MemoryBriefing {
    /// The session.
    pub session: SessionId,
    /// Its title.
    pub title: Option<Clean<String>>,
    /// The time.
    pub at: Option<Timestamp>,
    /// The occasion.
    pub occasion: String,
    /// The reason for the memory.
    pub reason: Clean<String>,
    /// True if the session asked for it by its id later.
    pub fetched: bool,
    /// True if the session worked on one of its files later.
    pub touched: bool,
}

/// Tells what was decided about a memory, and which sessions it was given to.
///
/// # Errors
/// Fails if no memory or several have the id, or the store cannot be read.
pub fn history(app: &App, id: &str, call: Call<'_>) -> Result<MemoryHistory> {
    let Opened { store, intake, .. } = Opened::new(app, Freshness::Recorded, call)?;
    let redactor = intake.redactor();
    let row = memory::memory_named(&store, id)?.ok_or_else(|| memory::no_memory(id))?;
    let operations = store.operations()?;
    let about = operations.iter().rev().filter(|one| {
        Operation::read(&one.kind, &one.body).is_some_and(|one| memory_of(&one) == Some(row.id))
    });
    let mut given: HashMap<i64, Vec<InjectionRow>> = HashMap::new();
    for injection in store.injections(None)? {
        if injection.memories.iter().any(|(memory, _)| *memory == row.id) {
            given.entry(injection.session).or_default().push(injection);
        }
    }
    let mut briefings = Vec::new();
    for (session, injections) in given {
        let Some(key) = store.session_key(session)? else { continue };
        let title = store.session(session)?.and_then(|session| session.title);
        let usage = later_usage(&store, session, &injections)?;
        let LaterUsage { fetched, touched } = usage.get(&row.id).copied().unwrap_or_default();
        for InjectionRow { at, occasion, memories, .. } in injections {
            let reason = memories.into_iter().find(|(memory, _)| *memory == row.id);
            briefings.push(MemoryBriefing {
                session: key.id.clone(),
                title: title.as_deref().map(|title| cleaned(redactor, title)),
                at,
                occasion,
                reason: cleaned(redactor, &reason.map(|(_, reason)| reason).unwrap_or_default()),
                fetched,
                touched,
            });
        }
    }
    briefings.sort_by_key(|briefing| std::cmp::Reverse(briefing.at));
    Ok(MemoryHistory {
        version: answer::VERSION,
        id: store.short_id(&row.id)?,
        full_id: row.id,
        base: memory::version(&store, &row)?,
        decisions: about
            .map(|row| {
                let text = sentence(Operation::read(&row.kind, &row.body).as_ref());
                LogEntry::new(redactor, row, &text)
            })
            .collect(),
        briefings,
    })
}

/// The memory that a decision is about.
fn memory_of(operation: &Operation) -> Option<Id> {
    match operation {
        Operation::MemoryEdited { memory, .. }
        | Operation::MemoryForgotten { memory, .. }
        | Operation::MemorySeparated { memory, .. } => Some(*memory),
        _ => None,
    }
}
