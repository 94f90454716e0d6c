//! Projects: listed, renamed, merged.

use axum::http::Method;
use schemars::JsonSchema;
use serde::Deserialize;
use thru_app::keep::projects::{self, merge, rename};

use super::{Nothing, Route, change, look};

pub(super) fn routes() -> Vec<Route> {
    vec![
        look("/projects", "Lists projects, the last used first.", |_: Nothing, app, call| {
            projects::projects(app, None, call)
        }),
        change(
            Method::POST,
            "/projects/rename",
            "Gives a project another name.",
            |input: RenameInput, app, call| {
                rename(app, &input.project, &input.name, call)?;
                projects::projects(app, None, call)
            },
        ),
        change(
            Method::POST,
            "/projects/merge",
            "Makes one project part of another.",
            |input: MergeInput, app, call| {
                merge(app, &input.from, &input.into, call)?;
                projects::projects(app, None, call)
            },
        ),
    ]
}

/// A project and its new name.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct RenameInput {
    /// Its name or key.
    project: String,
    /// The new name.
    name: String,
}

/// Two projects.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct MergeInput {
    /// The project that will no longer be listed, by its name or key.
    from: String,
    /// The project that takes its sessions.
    into: String,
}
