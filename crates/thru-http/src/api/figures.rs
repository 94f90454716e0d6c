//! Figures and health: status, work, costs, jobs, the doctor, settings.

use axum::http::Method;
use schemars::JsonSchema;
use serde::Deserialize;
use thru_app::ask::stats::{AskModelUsage, AskWork, context_usage, model_usage, work};
use thru_app::ask::status::status;
use thru_app::health::{self, Examination, Seen};
use thru_app::ingest::jobs::{self, JobSelection};
use thru_app::keep::capture::{pause_capture, resume_capture};
use thru_app::keep::settings::settings;
use thru_app::{App, Call, Result, Trouble};

use super::{Nothing, Route, change, get, look, names};

/// The days that figures are about where none are named.
const USUAL: &str = "30 days ago";

pub(super) fn routes() -> Vec<Route> {
    vec![
        get("/status", "Shows the state of the memory.", |_: Nothing, app, call| status(app, call)),
        look(
            "/stats",
            "Adds up the work of sessions, by day and project.",
            |input: WorkInput, app, call| {
                let agents = names(input.agent.as_deref())?;
                work(
                    app,
                    &AskWork { since: since(input.since), project: input.project, agents },
                    call,
                )
            },
        ),
        look(
            "/stats/context",
            "Adds up what context cost, and the use that was made of it.",
            |input: SinceInput, app, call| context_usage(app, &since(input.since), call),
        ),
        look("/spending", "Adds up what models cost.", |input: SpendingInput, app, call| {
            let request = AskModelUsage { since: since(input.since), project: input.project };
            model_usage(app, &request, call)
        }),
        look("/jobs", "Lists work that waits or failed.", |_: Nothing, app, call| {
            jobs::list(app, call)
        }),
        change(
            Method::POST,
            "/jobs/{id}/retry",
            "Tries a job again.",
            |input: JobInput, app, call| {
                jobs::retry(app, &JobSelection::Numbers(vec![input.number()?]), call)
            },
        ),
        change(
            Method::POST,
            "/jobs/{id}/cancel",
            "Removes a job from the queue.",
            |input: JobInput, app, call| jobs::cancel(app, &[input.number()?], call),
        ),
        get("/doctor", "Looks for problems. Reads journal and archive to their ends.", doctor),
        get("/settings", "Shows the settings and where each was set.", |_: Nothing, app, _| {
            Ok(settings(app, true))
        }),
        change(
            Method::POST,
            "/capture/pause",
            "Pauses recording.",
            |input: PauseInput, app, call| {
                pause_capture(app, input.length.as_deref())?;
                status(app, call)
            },
        ),
        change(
            Method::POST,
            "/capture/resume",
            "Takes recording up again.",
            |_: Nothing, app, call| {
                resume_capture(app)?;
                status(app, call)
            },
        ),
    ]
}

fn since(day: Option<String>) -> String {
    day.unwrap_or_else(|| USUAL.to_owned())
}

fn doctor(_: Nothing, app: &App, call: Call<'_>) -> Result<Examination> {
    let seen = Seen::at(app, &mut |_, _| {});
    call.check()?;
    Ok(Examination::new(health::examine(&seen), Vec::new()))
}

/// The days that figures are about.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SinceInput {
    /// The first day, as people write one; 30 days ago where none is given.
    since: Option<String>,
}

/// The work that figures are about.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct WorkInput {
    /// The first day, as people write one; 30 days ago where none is given.
    since: Option<String>,
    /// Only this project, by its name or key.
    project: Option<String>,
    /// Only these agents, separated by commas.
    agent: Option<String>,
}

/// The costs that figures are about.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SpendingInput {
    /// The first day, as people write one; 30 days ago where none is given.
    since: Option<String>,
    /// Only this project, by its name or key.
    project: Option<String>,
}

/// A job.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct JobInput {
    /// Its number.
    id: String,
}

impl JobInput {
    fn number(&self) -> Result<i64> {
        self.id.parse().map_err(|_| Trouble::invalid("a job has a number"))
    }
}

/// A pause of recording.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct PauseInput {
    /// Its length, such as `30m` or `2h`; until it is taken up again where none is given.
    length: Option<String>,
}
