//! The duration of sessions and the work in them, by day and by project.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Serialize, Serializer};
use thru_core::{Agent, ProjectKey};
use thru_recall::{ActivityRequest, IDLE_TIMEOUT, Work, activity, parse_date};
use thru_redact::Clean;

use crate::answer;
use crate::app::App;
use crate::ask::{Opened, cleaned, named};
use crate::call::Call;
use crate::fresh::Freshness;
use crate::trouble::Result;

/// A request for the work in sessions.
#[derive(Clone, Debug)]
pub struct AskWork {
    /// The first day, as people write one.
    pub since: String,
    /// Only this project, by name or key.
    pub project: Option<String>,
    /// Only these agents; empty means all.
    pub agents: Vec<Agent>,
}

/// The duration of sessions and the work in them.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct WorkStats {
    /// The version of this form.
    pub version: u32,
    /// `session-stats`.
    pub kind: &'static str,
    /// The figures of each day, the latest first.
    pub days: Vec<DayWork>,
    /// The figures of each project.
    pub projects: Vec<ProjectWork>,
    /// The figures in all.
    pub total: WorkFigures,
    /// The median duration of a session.
    #[serde(rename = "median_seconds", serialize_with = "seconds")]
    #[schemars(with = "u64")]
    pub median: Duration,
    /// The longest duration of a session.
    #[serde(rename = "longest_seconds", serialize_with = "seconds")]
    #[schemars(with = "u64")]
    pub longest: Duration,
}

/// The work of one day.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct DayWork {
    /// The day: `2026-03-01`.
    pub day: String,
    /// The figures.
    pub work: WorkFigures,
}

/// The work in one project.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ProjectWork {
    /// The project's name; `None` for sessions of none.
    pub project: Option<Clean<String>>,
    /// Its key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project_key: Option<ProjectKey>,
    /// The figures.
    pub work: WorkFigures,
}

/// Figures of work.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub struct WorkFigures {
    /// The number of sessions.
    pub sessions: u64,
    /// The time at work.
    #[serde(rename = "active_seconds", serialize_with = "seconds")]
    #[schemars(with = "u64")]
    pub active: Duration,
    /// The time without any.
    #[serde(rename = "idle_seconds", serialize_with = "seconds")]
    #[schemars(with = "u64")]
    pub idle: Duration,
    /// The number of prompts.
    pub prompts: u64,
    /// The number of tool calls.
    pub tools: u64,
}

impl From<Work> for WorkFigures {
    fn from(work: Work) -> Self {
        Self {
            sessions: work.sessions,
            active: work.active,
            idle: work.idle,
            prompts: work.prompts,
            tools: work.tools,
        }
    }
}

fn seconds<S: Serializer>(time: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(time.as_secs())
}

/// Adds up the work in sessions.
///
/// # Errors
/// Fails if the day or the project cannot be understood, or the store cannot be read.
pub fn work(app: &App, request: &AskWork, call: Call<'_>) -> Result<WorkStats> {
    let Opened { store, intake, .. } = Opened::new(app, Freshness::Recorded, call)?;
    let project = request.project.as_deref();
    let project = project.map(|name| named::named_project(&store, name)).transpose()?;
    let request = ActivityRequest {
        projects: project.map(|project| store.project_rows(project.row)).transpose()?,
        agents: (!request.agents.is_empty()).then(|| request.agents.clone()),
        since: Some(parse_date(&request.since, app.clock.now(), app.zone())?),
        idle_timeout: IDLE_TIMEOUT,
        zone: app.zone().clone(),
    };
    let activity = activity(&store, &request)?;
    let of_project = |project: &Option<(i64, String)>, work: Work| -> Result<ProjectWork> {
        let project = project.as_ref();
        let key = project.map(|(row, _)| store.project_key(*row)).transpose()?.flatten();
        let name = project.map(|(_, name)| cleaned(intake.redactor(), name));
        Ok(ProjectWork { project: name, project_key: key, work: work.into() })
    };
    Ok(WorkStats {
        version: answer::VERSION,
        kind: "session-stats",
        days: activity
            .days
            .iter()
            .map(|(date, work)| DayWork { day: date.to_string(), work: (*work).into() })
            .collect(),
        projects: activity
            .projects
            .iter()
            .map(|(project, work)| of_project(project, *work))
            .collect::<Result<_>>()?,
        total: activity.total.into(),
        median: activity.median,
        longest: activity.longest,
    })
}
