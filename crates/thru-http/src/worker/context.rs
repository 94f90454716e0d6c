//! What a session is told when it starts, or for a prompt.

use axum::http::StatusCode;
use serde_json::json;
use thru_app::ask::ProjectScope;
use thru_app::ask::context::{AskContext, ContextMoment, context};
use thru_app::{App, Call};

use super::input::Input;
use super::read::known_project;
use super::{Failure, Reply};

/// Characters of a prompt that is worth a look into memory.
const SHORTEST: usize = 20;
/// Memories that are told for a prompt where no number is asked for, and at most.
const USUAL: usize = 5;
const MOST: usize = 20;

/// Tells what a session that starts in one of these projects is told. Of a project that is not known, nothing is.
pub(super) fn inject(input: &Input, app: &App, call: Call<'_>) -> Result<Reply, Failure> {
    let names = input.list(&["projects", "project"]);
    if names.is_empty() {
        let message = "Project(s) parameter is required".to_owned();
        return Err(Failure::Malformed(StatusCode::BAD_REQUEST, message));
    }
    let mut texts = Vec::new();
    for name in names {
        if let Some(ProjectScope::Named(key)) = known_project(Some(&name), app, call)? {
            let request = AskContext { project: Some(key), ..AskContext::default() };
            texts.push(context(app, &request, call)?.text.into_inner());
        }
    }
    texts.retain(|text| !text.is_empty());
    Ok(Reply::Text(texts.join("\n\n")))
}

/// Tells what memory has for a prompt.
pub(super) fn semantic(input: &Input, app: &App, call: Call<'_>) -> Result<Reply, Failure> {
    let nothing = || Ok(Reply::Json(json!({ "context": "", "count": 0 })));
    let prompt = input.text(&["q"]).unwrap_or_default();
    let Some(project) = input.text(&["project"]).filter(|_| prompt.chars().count() >= SHORTEST)
    else {
        return nothing();
    };
    let Some(ProjectScope::Named(key)) = known_project(Some(&project), app, call)? else {
        return nothing();
    };
    let moment = ContextMoment::Prompt(prompt);
    let request = AskContext { project: Some(key), moment, ..AskContext::default() };
    let told = context(app, &request, call)?;
    if told.lines.is_empty() {
        return nothing();
    }
    let count = told.lines.len().min(input.number("limit", USUAL, MOST).max(1));
    let rest = &told.lines[count..];
    let is_told = |line: &&str| !rest.iter().any(|one| line.contains(one.title.get().as_str()));
    let text = told.text.derive(|text| text.lines().filter(is_told).collect::<Vec<_>>().join("\n"));
    Ok(Reply::Json(json!({ "context": text, "count": count })))
}
