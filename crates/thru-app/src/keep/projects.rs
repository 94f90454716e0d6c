//! Listing, renaming and merging projects.

use std::path::Path;

use schemars::JsonSchema;
use serde::Serialize;
use thru_core::{Agent, ProjectKey, Timestamp, one_line};
use thru_intake::Operation;
use thru_redact::{Clean, Report};
use thru_store::ProjectRow;

use super::teller;
use crate::answer;
use crate::app::App;
use crate::ask::named;
use crate::call::Call;
use crate::fresh::{self, Freshness};
use crate::trouble::{Result, Trouble};

/// Characters of a project's name.
const LONGEST_NAME: usize = 100;

/// The projects of this memory, the last used first.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(tag = "kind", rename = "projects")]
pub struct Projects {
    version: u32,
    /// The projects.
    pub projects: Vec<ProjectEntry>,
}

/// A project.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ProjectEntry {
    /// Its identity.
    pub key: ProjectKey,
    /// Its display name.
    pub name: Clean<String>,
    /// The number of its sessions.
    pub sessions: u64,
    /// The number of their passages.
    pub passages: u64,
    /// The time of its last activity.
    pub last: Option<Timestamp>,
    /// The projects that were merged into it.
    pub merged: Vec<ProjectKey>,
}

/// Lists the projects with sessions of these agents; of all agents where none are named.
///
/// # Errors
/// Fails if the store cannot be read.
pub fn projects(app: &App, agents: Option<&[Agent]>, call: Call<'_>) -> Result<Projects> {
    let store = fresh::open(app, Freshness::Recorded, call)?;
    let projects = match agents {
        Some(agents) => {
            let mut projects = store.projects_of(agents)?;
            projects.retain(|project| project.sessions > 0);
            projects
        }
        None => store.projects()?,
    };
    let intake = app.intake_beside(&store)?;
    let entry = |ProjectRow { key, name, sessions, passages, last, merged, .. }| ProjectEntry {
        key,
        name: intake.redactor().clean_text(&name, &mut Report::default()),
        sessions,
        passages,
        last,
        merged,
    };
    Ok(Projects { version: answer::VERSION, projects: projects.into_iter().map(entry).collect() })
}

/// Gives a project another name, and returns the old and the new one.
///
/// # Errors
/// Fails if there is no such project, if the new name is empty, and if the journal cannot be written.
pub fn rename(app: &App, project: &str, name: &str, call: Call<'_>) -> Result<(String, String)> {
    let store = fresh::open(app, Freshness::Recorded, call)?;
    let project = named::named_project(&store, project)?;
    let name = one_line(name, LONGEST_NAME);
    if name.is_empty() {
        return Err(
            Trouble::invalid("a project needs a name").advise("give one of at least a letter")
        );
    }
    drop(store);
    let renamed = Operation::ProjectRenamed { project: project.key, name: name.clone() };
    record(app, renamed, call)?;
    Ok((project.name, name))
}

/// Makes one project part of another, and returns the names of the two.
///
/// # Errors
/// Fails if one of them does not exist, if both are the same, and if the journal cannot be written.
pub fn merge(app: &App, from: &str, into: &str, call: Call<'_>) -> Result<(String, String)> {
    let store = fresh::open(app, Freshness::Recorded, call)?;
    let from = named::named_project(&store, from)?;
    let into = named::named_project(&store, into)?;
    if from.row == into.row {
        return Err(Trouble::invalid(format!("both names mean the project {}", into.name))
            .run("projects", "lists keys that tell projects apart"));
    }
    drop(store);
    record(app, Operation::ProjectMerged { from: from.key, into: into.key }, call)?;
    Ok((from.name, into.name))
}

/// The project of a directory after a person vouched for it.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "kind", rename = "project-trusted")]
pub struct TrustedDirectory {
    version: u32,
    /// The directory.
    pub directory: Clean<String>,
    /// The name of the project that it belongs to.
    pub project: Clean<String>,
    /// True if it was kept apart until now.
    pub is_new: bool,
}

/// Returns the project that the caller's directory says it is part of, with a directory of that project, if the two
/// wait for a person to join them.
///
/// # Errors
/// Fails if the store cannot be read.
pub fn waiting(app: &App, call: Call<'_>) -> Result<Option<(String, String)>> {
    let store = fresh::open(app, Freshness::Recorded, call)?;
    let settled = named::project_of_directory(app, &app.directory, Some(&store))?;
    let described = settled.refused.map(|refused| {
        let known_at = refused.known_at.unwrap_or_else(|| "elsewhere".to_owned());
        (refused.claim.project.default_name().to_owned(), known_at)
    });
    Ok(described)
}

/// Joins a directory, with all that is remembered of it, to the project that it says it is part of.
///
/// # Errors
/// Fails if an agent does it, if the store cannot be read and if the journal cannot be written.
pub fn trust(app: &App, directory: Option<&Path>, call: Call<'_>) -> Result<TrustedDirectory> {
    teller::require_person(app, &[], "trust a directory", call)?;
    let directory = directory.map_or(app.directory.clone(), |named| app.directory.join(named));
    let directory = directory.canonicalize().map_err(|error| {
        Trouble::invalid(format!("{}: {error}", directory.display()))
            .advise("name a directory that exists")
    })?;
    let store = fresh::open(app, Freshness::Recorded, call)?;
    let settled = named::project_of_directory(app, &directory, Some(&store))?;
    let intake = app.intake_beside(&store)?;
    let clean = |text: &str| intake.redactor().clean_text(text, &mut Report::default());
    let project = settled.refused.as_ref().map_or(&settled.project, |it| &it.claim.project);
    let row = store.project_by_key(project)?;
    let name = row.map(|row| store.project_name(row)).transpose()?.flatten();
    let answer = TrustedDirectory {
        version: answer::VERSION,
        directory: clean(&directory.to_string_lossy()),
        project: clean(name.as_deref().unwrap_or_else(|| project.default_name())),
        is_new: settled.refused.is_some(),
    };
    drop(store);
    if let Some(refused) = settled.refused {
        let joined =
            Operation::ProjectMerged { from: settled.project, into: refused.claim.project };
        record(app, joined, call)?;
    }
    Ok(answer)
}

fn record(app: &App, operation: Operation, call: Call<'_>) -> Result<()> {
    let intake = app.intake()?;
    intake.record_and_apply(&call.lock(&intake)?, &[operation])?;
    Ok(())
}
