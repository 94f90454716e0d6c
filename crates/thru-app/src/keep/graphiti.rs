//! What clients of Graphiti write: episodes and statements that they tell, and what they take out of the graph.
//!
//! What is told is an agent's word: a memory, from which no fact follows. What is taken out is hidden, and comes back with
//! `thru undo`. Sessions stay: only a person has them forgotten.

use thru_core::ObservationType;
use thru_intake::Operation;
pub use thru_intake::Triplet;
use thru_store::{FactFilter, FactTime, Store};

use super::forget::{self, Forget};
use super::remember::{Remember, Remembered, remember, state, title_and_text};
use crate::app::App;
use crate::ask::ProjectScope;
use crate::ask::graphiti::{DEFAULT_GROUP, full_id, projects_of_group};
use crate::ask::named::the_one;
use crate::call::Call;
use crate::fresh::{self, Freshness};
use crate::trouble::{Result, Trouble};

/// An episode to be told.
#[derive(Clone, Debug)]
pub struct AddEpisode {
    /// Its name.
    pub name: String,
    /// Its content.
    pub body: String,
    /// Its group; the caller's project, if none is given.
    pub group: Option<String>,
    /// Where it comes from, in words.
    pub source_description: Option<String>,
    /// The time that it is about.
    pub reference_time: Option<String>,
}

/// Keeps an episode as a memory.
///
/// # Errors
/// As [`remember`], and where the time cannot be read.
pub fn add_episode(app: &App, request: &AddEpisode, call: Call<'_>) -> Result<Remembered> {
    let mut text = request.body.clone();
    if let Some(time) = &request.reference_time {
        let at: thru_core::Timestamp = match time.parse() {
            Ok(at) => at,
            // Without a zone it is UTC.
            Err(_) => format!("{}Z", time.trim().replace(' ', "T"))
                .parse()
                .map_err(|error| Trouble::invalid(format!("Invalid reference_time: {error}")))?,
        };
        text = format!("{text}\n\nAs of {at}.");
    }
    if let Some(source) = &request.source_description {
        text = format!("{text}\n\nSource: {source}");
    }
    // A name that is too long is cut, as the first line of a text is.
    let (title, _) = title_and_text(request.name.lines().next().unwrap_or_default().to_owned());
    let told = Remember {
        text,
        title: Some(title),
        kind: ObservationType::Discovery,
        is_rule: false,
        files: Vec::new(),
        scope: scope(app, request.group.as_deref(), call)?,
        by_agent: true,
    };
    remember(app, &told, call)
}

/// Keeps a statement about two things as a memory.
///
/// # Errors
/// As [`remember`].
pub fn add_triplet(
    app: &App,
    states: Triplet,
    fact: &str,
    group: Option<&str>,
    call: Call<'_>,
) -> Result<Remembered> {
    let told = Remember {
        text: fact.to_owned(),
        title: None,
        kind: ObservationType::Discovery,
        is_rule: false,
        files: Vec::new(),
        scope: scope(app, group, call)?,
        by_agent: true,
    };
    state(app, &told, states, call)
}

/// Returns the project that a group names.
fn scope(app: &App, group: Option<&str>, call: Call<'_>) -> Result<ProjectScope> {
    let Some(group) = group.filter(|group| *group != DEFAULT_GROUP) else {
        return Ok(ProjectScope::Here);
    };
    let store = fresh::open(app, Freshness::Recorded, call)?;
    match &projects_of_group(app, &store, group)?[..] {
        [one] => Ok(ProjectScope::Named(one.key.to_string())),
        // The error of the name itself says what there is.
        _ => Ok(ProjectScope::Named(group.to_owned())),
    }
}

/// Takes a fact out of the graph; a statement that was told is forgotten.
///
/// # Errors
/// Fails if there is no such fact, or the journal cannot be written.
pub fn delete_edge(app: &App, uuid: &str, call: Call<'_>) -> Result<()> {
    let missing = || Trouble::not_found(format!("there is no entity edge `{uuid}`"));
    let id = full_id(uuid).ok_or_else(missing)?;
    let store = fresh::open(app, Freshness::Recorded, call)?;
    let filter = FactFilter { ids: Some(vec![id]), time: FactTime::Ever, ..FactFilter::default() };
    if store.facts(&filter)?.is_empty() {
        return delete_memory(app, uuid, call)?.ok_or_else(missing);
    }
    drop(store);
    record(app, &[Operation::FactHidden { fact: id }], call)
}

/// Forgets an episode that was told.
///
/// # Errors
/// Fails if there is none, it is a session, or the journal cannot be written.
pub fn delete_episode(app: &App, uuid: &str, call: Call<'_>) -> Result<()> {
    if let Some(()) = delete_memory(app, uuid, call)? {
        return Ok(());
    }
    let store = fresh::open(app, Freshness::Recorded, call)?;
    let session = full_id(uuid).map(|id| store.session_of_episode(&id)).transpose()?.flatten();
    let session = session.map(|row| store.session_key(row)).transpose()?.flatten();
    Err(match session {
        Some(key) => Trouble::refused(format!("episode `{uuid}` is a recorded session"))
            .run(format!("forget --session {}", key.id), "has it forgotten"),
        None => Trouble::not_found(format!("there is no episode `{uuid}`")),
    })
}

/// Forgets the memory with this id, if one was told.
fn delete_memory(app: &App, uuid: &str, call: Call<'_>) -> Result<Option<()>> {
    let store = fresh::open(app, Freshness::Recorded, call)?;
    let memory = full_id(uuid).map(|id| store.memory(&id)).transpose()?.flatten();
    if !memory.is_some_and(|memory| memory.flags.is_note) {
        return Ok(None);
    }
    drop(store);
    let targets = forget::find(app, &Forget::Memories(vec![uuid.trim().to_owned()]), call)?;
    forget::forget(app, &targets, call)?;
    Ok(Some(()))
}

/// Clears the graphs of groups: facts that began until now are left out. With no group named, that of the caller's project.
/// Returns the number of their facts; without `confirm` nothing else is done.
///
/// # Errors
/// Fails if no group is known, one names several projects, or the journal cannot be written.
pub fn clear(app: &App, groups: &[String], confirm: bool, call: Call<'_>) -> Result<usize> {
    let store = fresh::open(app, Freshness::Recorded, call)?;
    let default = [DEFAULT_GROUP.to_owned()];
    let mut projects = Vec::new();
    for group in if groups.is_empty() { &default } else { groups } {
        let mut named = projects_of_group(app, &store, group)?;
        // A key is one project's, whatever others are called.
        if let Some(at) = named.iter().position(|project| project.key.as_str() == group) {
            named = vec![named.swap_remove(at)];
        }
        projects.extend(the_one(named, group)?);
    }
    if projects.is_empty() {
        return Err(Trouble::invalid("No group IDs specified for clearing"));
    }
    let facts = count(&store, projects.iter().map(|project| project.row))?;
    drop(store);
    if confirm {
        let cleared = projects.into_iter().map(|one| Operation::GraphCleared { project: one.key });
        record(app, &cleared.collect::<Vec<_>>(), call)?;
    }
    Ok(facts)
}

fn count(store: &Store, projects: impl Iterator<Item = i64>) -> Result<usize> {
    let mut rows = Vec::new();
    for project in projects {
        rows.extend(store.project_rows(project)?);
    }
    let filter = FactFilter { projects: Some(rows), time: FactTime::Ever, ..FactFilter::default() };
    Ok(store.facts(&filter)?.len())
}

fn record(app: &App, operations: &[Operation], call: Call<'_>) -> Result<()> {
    let intake = app.intake()?;
    intake.record_and_apply(&call.lock(&intake)?, operations)?;
    Ok(())
}
