//! Projects and sessions by what was typed.

use std::path::Path;

use thru_core::ProjectKey;
use thru_intake::identity::{self, Settled};
use thru_store::{ProjectName, SessionFilter, SessionRow, Store};

use crate::app::{App, project_settings};
use crate::trouble::{Listing, Remedy, Result, Trouble};
use crate::words::plural;

/// The name that a project's file gives, if it gives one.
pub fn declared_name(file: &Path) -> Option<String> {
    if !file.is_file() {
        return None;
    }
    project_settings(file)?.config.project.name
}

/// Returns the project of a directory, known to the store or not.
///
/// # Errors
/// Fails if the store cannot be read.
pub fn project_of_directory(app: &App, directory: &Path, store: Option<&Store>) -> Result<Settled> {
    let identity = identity::identify(directory, app.home.as_deref(), &declared_name);
    let Some(store) = store else { return Ok(identity.trusted()) };
    let mut settled = identity.settle(|project| store.directories_of(project))?;
    // It stays what it was when it was first seen, as its sessions do.
    if let Some(project) = store.project_of_directory(&directory.to_string_lossy())? {
        (settled.project, settled.root) = (project, None);
    }
    // A person may have joined the two since.
    if let Some(refused) = &settled.refused
        && let Some(claimed) = store.project_by_key(&refused.claim.project)?
        && store.project_by_key(&settled.project)? == Some(claimed)
    {
        settled.refused = None;
    }
    Ok(settled)
}

/// Returns the identity of the caller's project, known to the store or not.
///
/// # Errors
/// Fails if the store cannot be read.
pub fn key_of_directory(app: &App, store: Option<&Store>) -> Result<ProjectKey> {
    Ok(project_of_directory(app, &app.directory, store)?.project)
}

/// The caller's project, where the store has sessions of it.
///
/// # Errors
/// Fails if the store cannot be read.
pub fn current_project(app: &App, store: &Store) -> Result<Option<ProjectName>> {
    let key = key_of_directory(app, Some(store))?;
    let Some(row) = store.project_by_key(&key)? else { return Ok(None) };
    if !store.has_sessions(&store.project_rows(row)?, None)? {
        return Ok(None);
    }
    Ok(store.project_names()?.into_iter().find(|project| project.row == row))
}

/// The trouble of a question about the caller's project, where nothing was recorded of it.
pub fn unknown_here() -> Trouble {
    Trouble::not_found("nothing is known about the project in this directory")
        .with(Remedy::See(Listing::Projects))
}

/// The project of this name or key.
///
/// # Errors
/// Fails if there is none, or several have the name.
pub fn named_project(store: &Store, name: &str) -> Result<ProjectName> {
    let projects = store.project_names()?;
    let key = ProjectKey::from_stored(name);
    let exact = |project: &&ProjectName| project.key == key || project.merged.contains(&key);
    if let Some(project) = projects.iter().find(exact) {
        return Ok(project.clone());
    }
    let same_name = |project: &&ProjectName| project.name.eq_ignore_ascii_case(name);
    let named: Vec<ProjectName> = projects.iter().filter(same_name).cloned().collect();
    the_one(named, name)?.ok_or_else(|| {
        Trouble::not_found(format!("there is no project `{name}`"))
            .with(near_projects(&projects, name))
    })
}

/// Returns the project that a name fits, out of all that it fits.
///
/// # Errors
/// Fails if it fits several.
pub fn the_one(mut named: Vec<ProjectName>, name: &str) -> Result<Option<ProjectName>> {
    if named.len() < 2 {
        return Ok(named.pop());
    }
    let keys: Vec<&str> = named.iter().map(|project| project.key.as_str()).collect();
    let number = plural(named.len() as u64, "project");
    Err(Trouble::ambiguous(format!("{number} are called `{name}`"))
        .advise(format!("name one by its key: {}", keys.join(", "))))
}

fn near_projects(projects: &[ProjectName], name: &str) -> Remedy {
    let wanted = name.to_lowercase();
    let mut near: Vec<(usize, &str)> = projects
        .iter()
        .map(|project| {
            let known = project.name.to_lowercase();
            let distance = if known.contains(&wanted) || wanted.contains(&known) {
                1
            } else {
                strsim::damerau_levenshtein(&known, &wanted)
            };
            (distance, project.name.as_str())
        })
        .filter(|(distance, _)| *distance <= 1 + wanted.len() / 3)
        .collect();
    near.sort_unstable();
    near.dedup_by_key(|(_, name)| *name);
    let names: Vec<String> = near.iter().take(3).map(|(_, name)| (*name).to_owned()).collect();
    match names.is_empty() {
        true => Remedy::See(Listing::Projects),
        false => Remedy::DidYouMean { names, all: Listing::Projects },
    }
}

/// The one session whose id starts with `id`; `latest` is the latest of the caller's project, other than its own.
///
/// # Errors
/// Fails if there is none, or several start so.
pub fn named_session(app: &App, store: &Store, id: &str) -> Result<SessionRow> {
    if id == "latest" {
        return latest_session(app, store);
    }
    // Every id begins with nothing.
    if id.trim().is_empty() {
        return Err(
            Trouble::invalid("a session is named by its id").with(Remedy::See(Listing::Sessions))
        );
    }
    let filter = SessionFilter {
        id_prefix: Some(id.to_owned()),
        limit: Some(6),
        ..SessionFilter::default()
    };
    let mut found = store.sessions(&filter)?;
    if let Some(at) = found.iter().position(|session| session.key.id.as_str() == id) {
        return Ok(found.swap_remove(at));
    }
    match found.len() {
        1 => Ok(found.swap_remove(0)),
        0 => Err(Trouble::not_found(format!("there is no session `{id}`"))
            .with(Remedy::See(Listing::Sessions))),
        _ => {
            let ids = found.iter().map(|session| session.key.id.as_str().to_owned()).collect();
            Err(Trouble::ambiguous(format!("several sessions start with `{id}`"))
                .with(Remedy::WriteMore(ids)))
        }
    }
}

/// Sessions that are looked at for the latest one that was compacted.
const LATEST: usize = 50;

/// The latest session of the caller's project, other than the caller's own.
///
/// # Errors
/// Fails if there is none, or the store cannot be read.
fn latest_session(app: &App, store: &Store) -> Result<SessionRow> {
    other_than_asking(app, store, latest_sessions_here(app, store, 2)?)
}

/// The latest session of the caller's project whose context was compacted, the caller's own included; where none was,
/// the latest one other than the caller's.
///
/// # Errors
/// Fails if there is none, or the store cannot be read.
pub fn latest_compacted_session(app: &App, store: &Store) -> Result<SessionRow> {
    let mut sessions = latest_sessions_here(app, store, LATEST)?;
    for (at, session) in sessions.iter().enumerate() {
        if store.newest_snapshot(session.row)?.is_some() {
            return Ok(sessions.swap_remove(at));
        }
    }
    other_than_asking(app, store, sessions)
}

/// The first of these sessions that is not the caller's own.
fn other_than_asking(app: &App, store: &Store, sessions: Vec<SessionRow>) -> Result<SessionRow> {
    let asking = app.machine.agent_session();
    let other = sessions.into_iter().find(|session| asking.as_ref() != Some(&session.key));
    other.map_or_else(|| Err(no_session_here(store)?), Ok)
}

/// The latest sessions of the caller's project; none where it has none. `latest` is acted on: it is never a session of
/// another project.
fn latest_sessions_here(app: &App, store: &Store, most: usize) -> Result<Vec<SessionRow>> {
    match current_project(app, store)? {
        Some(_) => latest_sessions(app, store, most),
        None => Ok(Vec::new()),
    }
}

/// The latest sessions of the caller's project, of all where it has none.
///
/// # Errors
/// Fails if the store cannot be read.
pub fn latest_sessions(app: &App, store: &Store, most: usize) -> Result<Vec<SessionRow>> {
    let here = current_project(app, store)?;
    let projects = here.map(|project| store.project_rows(project.row)).transpose()?;
    let filter = SessionFilter { projects, limit: Some(most), ..SessionFilter::default() };
    Ok(store.sessions(&filter)?)
}

fn no_session_here(store: &Store) -> Result<Trouble> {
    let trouble = Trouble::not_found("there is no earlier session in this project");
    let any = SessionFilter { limit: Some(1), ..SessionFilter::default() };
    Ok(match store.sessions(&any)?.is_empty() {
        true => trouble.with(Remedy::Import),
        false => trouble.run(
            Listing::AllSessions.command(),
            "lists the sessions of all projects; name one of them by its id",
        ),
    })
}
