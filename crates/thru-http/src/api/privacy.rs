//! Taking out what must not be kept: rules, traces, and what a project or a time left.

use axum::http::Method;
use schemars::JsonSchema;
use serde::Deserialize;
use thru_app::keep::forget::{self, Forget};
use thru_app::keep::redact::{apply, redacted, rule_list, scan};
use thru_app::{App, Call, Result, Trouble};

use super::{Nothing, Route, change, get};

pub(super) fn routes() -> Vec<Route> {
    vec![
        get("/redact/rules", "Lists the rules of redaction.", |_: Nothing, app, _| rule_list(app)),
        change(
            Method::POST,
            "/redact/test",
            "Shows what the rules take out of a text.",
            |input: TestInput, app, _| redacted(app, &input.text),
        ),
        change(
            Method::POST,
            "/redact/scan",
            "Finds what the rules, and a text, match in what is kept.",
            |input: TextInput, app, call| scan(app, input.text.as_deref(), call),
        ),
        change(
            Method::POST,
            "/redact/apply",
            "Takes out of what is kept what the rules, and a text, match.",
            |input: TextInput, app, call| apply(app, input.text.as_deref(), call),
        ),
        change(
            Method::POST,
            "/forget",
            "Forgets the sessions of a project, or before a day, for good.",
            forget_sessions,
        ),
    ]
}

/// A text to look for, besides what the rules match.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct TextInput {
    /// The text; only the rules where none is given.
    text: Option<String>,
}

/// A text to try the rules on.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct TestInput {
    /// The text. It is not kept.
    text: String,
}

/// Sessions to forget.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ForgetInput {
    /// Only of this project, by its name or key.
    project: Option<String>,
    /// Only those that ended before this day, as people write one.
    before: Option<String>,
    /// True to tell what would be forgotten, and forget nothing.
    #[serde(default)]
    dry_run: bool,
}

fn forget_sessions(input: ForgetInput, app: &App, call: Call<'_>) -> Result<forget::Forgetting> {
    let ForgetInput { project, before, dry_run } = input;
    if project.is_none() && before.is_none() {
        return Err(Trouble::invalid("name a project, a day, or both"));
    }
    forget::forget_or_preview(app, &Forget::Sessions { project, before }, dry_run, call)
}
