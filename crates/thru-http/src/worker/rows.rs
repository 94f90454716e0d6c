//! Rows as the tables of claude-mem have them: lists are JSON in a text, ids are numbers, times stand twice.

use serde_json::{Value, json};
use thru_app::ask::memory::{WholeMemory, relative};
use thru_app::ask::prompts::ListedPrompt;
use thru_core::{Agent, Statement, Timestamp};
use thru_redact::Clean;
use thru_store::MemoryBody;

/// The row of an observation or of a summary.
pub(super) fn memory(memory: &WholeMemory) -> Value {
    let entry = &memory.entry;
    let platform = memory.session_entry.as_ref().map(|session| session.agent);
    let mut row = json!({
        "id": entry.full_id.number(),
        "project": project(entry.project.as_ref()),
        "platform_source": platform_source(platform),
    });
    match memory.body.get() {
        MemoryBody::Observation(body) => {
            let files = |paths: &[String]| {
                list(paths.iter().map(|path| relative(path, memory.directory())))
            };
            let narrative = body.narrative.as_ref().or(body.report.as_ref());
            row["memory_session_id"] = json!(entry.session);
            row["merged_into_project"] = Value::Null;
            row["type"] = entry.kind.as_str().into();
            row["title"] = entry.headline().get().as_str().into();
            row["subtitle"] = Value::Null;
            row["narrative"] = json!(narrative.map(|statement| &statement.text));
            row["text"] = Value::Null;
            row["facts"] = list(body.facts.iter().map(|fact| fact.text.as_str()));
            row["concepts"] = list(body.concepts.iter().map(|concept| concept.as_str()));
            row["files_read"] = files(&body.files_read);
            row["files_modified"] = files(&body.files_modified);
            row["prompt_number"] = entry.turn.into();
        }
        MemoryBody::Summary(body) => {
            let digest = &body.digest;
            row["session_id"] = json!(entry.session);
            row["request"] = json!(digest.request.as_ref().map(|request| &request.text));
            row["investigated"] = lines(&digest.investigated);
            row["learned"] = lines(&digest.learned);
            row["completed"] = lines(&digest.completed);
            row["next_steps"] = lines(&digest.next_steps);
        }
    }
    at(&mut row, entry.at);
    row
}

/// The row of a prompt.
pub(super) fn prompt(prompt: &ListedPrompt) -> Value {
    let ListedPrompt { entry, session } = prompt;
    let mut row = json!({
        "id": entry.full_id.number(),
        "content_session_id": session.id,
        "project": project(session.project.as_ref()),
        "platform_source": platform_source(Some(session.agent)),
        "prompt_number": entry.turn,
        "prompt_text": entry.text.get(),
    });
    at(&mut row, entry.at);
    row
}

/// Names the agent of a session as clients know it.
pub(super) const fn platform_source(agent: Option<Agent>) -> &'static str {
    match agent {
        Some(Agent::Codex) => "codex",
        Some(Agent::Copilot) => "copilot",
        Some(Agent::ClaudeCode) | None => "claude",
    }
}

fn project(name: Option<&Clean<String>>) -> &str {
    name.map_or("unknown", |name| name.get())
}

fn at(row: &mut Value, at: Option<Timestamp>) {
    row["created_at"] = json!(at.map(|at| at.to_string()));
    row["created_at_epoch"] = json!(at.map(Timestamp::as_millisecond));
}

fn list<'a>(items: impl Iterator<Item = &'a str>) -> Value {
    json!(items.collect::<Vec<_>>()).to_string().into()
}

fn lines(statements: &[Statement]) -> Value {
    let texts: Vec<&str> = statements.iter().map(|statement| statement.text.as_str()).collect();
    if texts.is_empty() { Value::Null } else { texts.join("\n").into() }
}
