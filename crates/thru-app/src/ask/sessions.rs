//! Lists of sessions.

use schemars::JsonSchema;
use serde::Serialize;
use thru_core::Agent;
use thru_recall::parse_date;
use thru_redact::Clean;
use thru_store::{SessionFilter, SessionRow};

use super::session::SessionEntry;
use super::{Opened, ProjectScope, cleaned, named, pages};
use crate::answer;
use crate::app::App;
use crate::call::Call;
use crate::fresh::Freshness;
use crate::trouble::Result;

/// A request for the sessions there are.
#[derive(Clone, Debug)]
pub struct ListSessions {
    /// Their projects.
    pub project: ProjectScope,
    /// Their agents; empty means all.
    pub agents: Vec<Agent>,
    /// The first day of activity, as people write one.
    pub since: Option<String>,
    /// The day that they began before.
    pub until: Option<String>,
    /// The place behind which it begins: `next` of the page before.
    pub cursor: Option<String>,
    /// Maximum number of sessions.
    pub limit: usize,
}

/// Sessions, the latest first.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct SessionList {
    /// The version of this form.
    pub version: u32,
    /// `sessions`.
    pub kind: &'static str,
    /// True if there are more.
    pub more: bool,
    /// The cursor of the next page, if there are more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
    /// The sessions.
    pub sessions: Vec<SessionEntry>,
    /// The name of their project; `None` for all.
    #[serde(skip)]
    pub project: Option<Clean<String>>,
}

/// Lists sessions, the latest first.
///
/// # Errors
/// Fails if a project or a date cannot be understood, or the store cannot be read.
pub fn list(app: &App, request: &ListSessions, call: Call<'_>) -> Result<SessionList> {
    let Opened { store, intake, .. } = Opened::new(app, Freshness::Recorded, call)?;
    let project = request.project.find(app, &store)?;
    let now = app.clock.now();
    let date = |text: &Option<String>| {
        text.as_deref().map(|text| parse_date(text, now, app.zone())).transpose()
    };
    let filter = SessionFilter {
        projects: project.as_ref().map(|one| store.project_rows(one.row)).transpose()?,
        since: date(&request.since)?,
        until: date(&request.until)?,
        after: pages::place(request.cursor.as_deref())?,
        agents: (!request.agents.is_empty()).then(|| request.agents.clone()),
        limit: Some(request.limit + 1),
        ..SessionFilter::default()
    };
    let mut sessions = store.sessions(&filter)?;
    let place = |one: &SessionRow| (one.ended, one.key.id.clone());
    let next = pages::cut(&mut sessions, request.limit, place)?;
    let redactor = intake.redactor();
    Ok(SessionList {
        version: answer::VERSION,
        kind: "sessions",
        more: next.is_some(),
        next,
        sessions: sessions.iter().map(|one| SessionEntry::new(app, redactor, one)).collect(),
        project: project.map(|project| cleaned(redactor, &project.name)),
    })
}

/// The caller's project with its latest sessions.
#[derive(Clone, Debug)]
pub struct Here {
    /// The key and the name of the project, where anything is known of it.
    pub project: Option<(String, Clean<String>)>,
    /// Its latest sessions; those of all projects, where nothing is known of it.
    pub sessions: Vec<SessionEntry>,
}

/// Reads the caller's project and its latest sessions, at most so many.
///
/// # Errors
/// Fails if the store cannot be read.
pub fn here(app: &App, most: usize, call: Call<'_>) -> Result<Here> {
    let Opened { store, intake, .. } = Opened::new(app, Freshness::Recorded, call)?;
    let redactor = intake.redactor();
    let project = named::current_project(app, &store)?;
    let sessions = named::latest_sessions(app, &store, most)?;
    Ok(Here {
        project: project.map(|project| (project.key.to_string(), cleaned(redactor, &project.name))),
        sessions: sessions.iter().map(|one| SessionEntry::new(app, redactor, one)).collect(),
    })
}
