//! Forgetting memories, sessions, or everything of a project or before a day.
//!
//! It takes two steps, so that a surface can show what would go: [`find`] the targets, then [`forget`] them.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Serialize;
use thru_capture::session::Session;
use thru_core::{Id, SessionId, SessionKey};
use thru_intake::{Intake, IntakeLock, Operation};
use thru_recall::parse_date;
use thru_store::{MemoryFilter, MemoryRow, SessionFilter, SessionRow, Store};

use super::{effects, is_unswept, teller};
use crate::app::App;
use crate::ask::memory::{self, MemoryEntry, MemoryFiles};
use crate::ask::named;
use crate::ask::session::SessionEntry;
use crate::call::Call;
use crate::fresh::{self, Freshness};
use crate::trouble::{MemoryAction, Result, Trouble};
use crate::vault::{self, VaultSettled};
use crate::{answer, compaction};

/// The request to forget something.
#[derive(Clone, Debug)]
pub enum Forget {
    /// Memories by their ids, which can be undone.
    Memories(Vec<String>),
    /// A session by the start of its id, for good.
    Session {
        /// The start of its id.
        id: String,
        /// True to forget as well what its agent had remembered, and what other sessions made of what they were told
        /// of it. These are memories, which can be undone.
        with_effects: bool,
    },
    /// Sessions for good, and with a project named what was told of it.
    Sessions {
        /// Only of this project.
        project: Option<String>,
        /// Only those that ended before this day, as a person writes it.
        before: Option<String>,
    },
}

/// The things that a request would forget.
#[derive(Debug, Default)]
pub struct ForgetTargets {
    /// Memories.
    pub memories: Vec<MemoryTarget>,
    /// Sessions.
    pub sessions: Vec<SessionRow>,
    /// The number of sessions that were told memories of the forgotten one, where its effects go too.
    pub told: usize,
    /// Ids that name no memory, each with the reason.
    pub unknown: Vec<(String, Trouble)>,
}

/// A memory that is to be forgotten.
#[derive(Clone, Debug)]
pub struct MemoryTarget {
    /// The memory.
    pub entry: MemoryEntry,
    /// Its files as they are now.
    pub files: MemoryFiles,
    session: Option<SessionKey>,
}

/// The things that were forgotten.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(tag = "kind", rename = "forgotten")]
pub struct Forgotten {
    version: u32,
    /// Ids of memories.
    pub memories: Vec<Id>,
    /// Ids of sessions.
    pub sessions: Vec<SessionId>,
    /// Passages of the sessions.
    pub passages: u64,
    /// Archived files that were removed.
    pub archived_files: u64,
    /// Bytes of those files.
    pub bytes: u64,
    /// The notes of the vault, if there is one.
    pub vault: Option<VaultSettled>,
    /// Summaries in projects that could not be removed.
    pub summaries_left: Vec<PathBuf>,
    /// True if vectors of what was forgotten may be left.
    #[serde(rename = "vectors_left")]
    pub is_unswept: bool,
}

/// The things that a request would forget, for a person to look at first.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(tag = "kind", rename = "forget-preview")]
pub struct ForgetPreview {
    version: u32,
    /// Memories, which can be brought back.
    pub memories: Vec<MemoryEntry>,
    /// Sessions, which cannot.
    pub sessions: Vec<SessionEntry>,
    /// Passages of the sessions.
    pub passages: u64,
    /// Sessions that were told memories of them.
    pub told: usize,
}

/// The answer to a request to forget.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Forgetting {
    /// What would be forgotten.
    Preview(ForgetPreview),
    /// What was forgotten.
    Done(Forgotten),
}

impl ForgetTargets {
    /// True if there is nothing to forget.
    pub fn is_empty(&self) -> bool {
        self.memories.is_empty() && self.sessions.is_empty()
    }

    /// The passages of the sessions.
    pub fn passages(&self) -> u64 {
        self.sessions.iter().map(|session| session.passages).sum()
    }
}

/// Finds what a request names. Memories that are not found are listed among the targets; their number is no failure.
///
/// # Errors
/// Fails if a session or a project is not found, if a day cannot be understood, and if the store cannot be read.
pub fn find(app: &App, request: &Forget, call: Call<'_>) -> Result<ForgetTargets> {
    let store = fresh::open(app, Freshness::Recorded, call)?;
    let mut targets = ForgetTargets::default();
    match request {
        Forget::Memories(ids) => {
            let intake = app.intake_beside(&store)?;
            let mut memories: Vec<MemoryRow> = Vec::new();
            for id in ids {
                match memory::required_memory(&store, id, MemoryAction::Forget) {
                    Ok(memory) if memories.iter().any(|known| known.id == memory.id) => {}
                    Ok(memory) => memories.push(memory),
                    Err(trouble) => targets.unknown.push((id.clone(), trouble)),
                }
            }
            targets.memories = memory_targets(&store, &intake, &memories)?;
        }
        Forget::Session { id, with_effects } => {
            let session = named::named_session(app, &store, id)?;
            if *with_effects {
                let found = effects::effects(&store, &session)?;
                let intake = app.intake_beside(&store)?;
                targets.memories = memory_targets(&store, &intake, &found.memories)?;
                targets.told = found.told.len();
            }
            targets.sessions.push(session);
        }
        Forget::Sessions { project, before } => {
            find_sessions(app, &store, project.as_deref(), before.as_deref(), &mut targets)?;
        }
    }
    Ok(targets)
}

fn find_sessions(
    app: &App,
    store: &Store,
    project: Option<&str>,
    before: Option<&str>,
    targets: &mut ForgetTargets,
) -> Result<()> {
    let projects = match project {
        Some(name) => Some(store.project_rows(named::named_project(store, name)?.row)?),
        None => None,
    };
    let before = before.map(|text| parse_date(text, app.clock.now(), app.zone())).transpose()?;
    let filter =
        SessionFilter { projects: projects.clone(), until: before, ..SessionFilter::default() };
    targets.sessions = store.sessions(&filter)?;
    if let Some(before) = before {
        // One that began before that day and went on is still in use.
        targets.sessions.retain(|session| session.ended.is_none_or(|ended| ended < before));
    }
    // What was told goes with its project; without one named, a day is about sessions.
    if projects.is_some() {
        let intake = app.intake_beside(store)?;
        let told = MemoryFilter { projects, until: before, ..MemoryFilter::default() };
        let mut memories = store.memories(&told)?;
        memories.retain(|memory| memory.flags.is_note);
        targets.memories = memory_targets(store, &intake, &memories)?;
    }
    Ok(())
}

fn memory_targets(
    store: &Store,
    intake: &Intake,
    memories: &[MemoryRow],
) -> Result<Vec<MemoryTarget>> {
    let entries = memory::entries(store, intake.redactor(), memories)?;
    let targets = memories.iter().zip(entries).map(|(memory, (entry, files))| {
        let session = memory::session_of(store, memory)?.map(|session| session.key);
        Ok(MemoryTarget { entry, files, session })
    });
    targets.collect()
}

/// Forgets what a request names, or tells what that would be.
///
/// # Errors
/// As [`find`] and [`forget`], and if an id names no memory.
pub fn forget_or_preview(
    app: &App,
    request: &Forget,
    is_preview: bool,
    call: Call<'_>,
) -> Result<Forgetting> {
    let mut targets = find(app, request, call)?;
    if let Some((_, trouble)) = targets.unknown.drain(..).next() {
        return Err(trouble);
    }
    if !is_preview {
        return forget(app, &targets, call).map(Forgetting::Done);
    }
    let intake = app.intake()?;
    let sessions = targets.sessions.iter();
    Ok(Forgetting::Preview(ForgetPreview {
        version: answer::VERSION,
        passages: targets.passages(),
        sessions: sessions.map(|one| SessionEntry::new(app, intake.redactor(), one)).collect(),
        memories: targets.memories.into_iter().map(|target| target.entry).collect(),
        told: targets.told,
    }))
}

/// Forgets the targets: memories until it is undone, sessions for good.
///
/// # Errors
/// Fails if an agent in its shell would forget sessions, if another process keeps writing, and if journal, archive or
/// store cannot be written.
pub fn forget(app: &App, targets: &ForgetTargets, call: Call<'_>) -> Result<Forgotten> {
    if !targets.sessions.is_empty() {
        teller::require_person(app, &[], "forget recorded sessions", call)?;
    }
    let intake = app.intake()?;
    let lock = call.lock(&intake)?;
    let mut forgotten = Forgotten {
        version: answer::VERSION,
        memories: targets.memories.iter().map(|target| target.entry.full_id).collect(),
        sessions: targets.sessions.iter().map(|session| session.key.id.clone()).collect(),
        passages: targets.passages(),
        archived_files: 0,
        bytes: 0,
        vault: None,
        summaries_left: Vec::new(),
        is_unswept: false,
    };
    if !targets.memories.is_empty() {
        forgotten.is_unswept |= forget_memories(app, &targets.memories, &intake, &lock)?;
    }
    if !targets.sessions.is_empty() {
        let keys: Vec<&SessionKey> = targets.sessions.iter().map(|session| &session.key).collect();
        // Should one of them go on, hooks must not record it again.
        for key in &keys {
            Session::at(&app.layout, key).set_forgotten()?;
        }
        // While it is known where they lie.
        let store = fresh::open(app, Freshness::AsItIs, call)?;
        for session in &targets.sessions {
            forgotten.summaries_left.extend(compaction::remove(app, &store, session)?);
        }
        drop(store);
        let removed = intake.forget(&lock, &keys)?;
        forgotten.is_unswept |= removed.is_unswept;
        forgotten.archived_files = removed.archived as u64;
        forgotten.bytes = removed.bytes;
    }
    drop(lock);
    forgotten.vault = vault::settle(app, call);
    Ok(forgotten)
}

/// Returns true if vectors of the memories may be left.
fn forget_memories(
    app: &App,
    targets: &[MemoryTarget],
    intake: &Intake,
    lock: &IntakeLock,
) -> Result<bool> {
    let operations: Vec<Operation> = targets
        .iter()
        .map(|target| Operation::MemoryForgotten {
            memory: target.entry.full_id,
            session: target.session.clone(),
        })
        .collect();
    let is_unswept = is_unswept(intake.record_and_apply(lock, &operations))?;
    let sessions: Vec<SessionKey> =
        targets.iter().filter_map(|target| target.session.clone()).collect();
    compaction::write_again(app, Some(&sessions))?;
    Ok(is_unswept)
}
