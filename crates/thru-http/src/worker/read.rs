//! Lists, single rows, and the state of the service.

use std::ops::Range;

use axum::http::StatusCode;
use serde_json::{Map, Value, json};
use thru_app::ask::ProjectScope;
use thru_app::ask::get::{Get, Piece, Sources, get};
use thru_app::ask::memories::{self, ListMemories, MemoryState, totals};
use thru_app::ask::memory::WholeMemory;
use thru_app::ask::prompts::{self, ListPrompts, ListedPrompt};
use thru_app::ask::status::status;
use thru_app::fresh::Freshness;
use thru_app::keep::projects;
use thru_app::{App, Call};
use thru_core::{Agent, IdPrefix, MemoryKind, ObservationType, PassageKind};

use super::input::Input;
use super::{Failure, Reply, rows};

/// Rows of a page where no number is asked for, and at most.
const USUAL: usize = 20;
const MOST: usize = 100;
/// Rows that can be skipped, and ids that can be named at once.
const DEEPEST: usize = 10_000;
const MOST_IDS: usize = 500;

pub(super) fn health(input: &Input, _: &App, _: Call<'_>) -> Result<Reply, Failure> {
    Ok(Reply::Json(json!({
        "status": "ok",
        "version": env!("CARGO_PKG_VERSION"),
        "uptime": input.uptime,
        "managed": true,
        "hasIpc": false,
        "platform": std::env::consts::OS,
        "pid": std::process::id(),
        "initialized": true,
        "mcpReady": true,
    })))
}

pub(super) fn readiness(_: &Input, _: &App, _: Call<'_>) -> Result<Reply, Failure> {
    Ok(Reply::Json(json!({ "status": "ready", "mcpReady": true })))
}

pub(super) fn version(_: &Input, _: &App, _: Call<'_>) -> Result<Reply, Failure> {
    Ok(Reply::Json(json!({ "version": env!("CARGO_PKG_VERSION") })))
}

pub(super) fn stats(input: &Input, app: &App, call: Call<'_>) -> Result<Reply, Failure> {
    let status = status(app, call)?;
    let totals = totals(app, call)?;
    let active = status.states.get("active").copied().unwrap_or_default();
    Ok(Reply::Json(json!({
        "worker": {
            "version": env!("CARGO_PKG_VERSION"),
            "uptime": input.uptime,
            "activeSessions": active,
            "sseClients": input.streams,
            "port": input.port,
        },
        "database": {
            "path": "memory.db",
            "size": status.bytes.store,
            "observations": totals.observations,
            "sessions": status.sessions,
            "summaries": totals.summaries,
            "firstObservationAt": totals.first.map(|at| at.to_string()),
        },
    })))
}

pub(super) fn projects(_: &Input, app: &App, call: Call<'_>) -> Result<Reply, Failure> {
    Ok(Reply::Json(Value::Object(all_projects(app, call)?)))
}

/// The names of all projects, and by agent.
pub(super) fn all_projects(app: &App, call: Call<'_>) -> Result<Map<String, Value>, Failure> {
    let names = |agents: Option<&[Agent]>| -> Result<Vec<String>, Failure> {
        let all = projects::projects(app, agents, call)?.projects;
        Ok(all.into_iter().map(|project| project.name.into_inner()).collect())
    };
    let mut by_source = Map::new();
    for agent in Agent::ALL {
        let names = names(Some(&[agent]))?;
        if !names.is_empty() {
            by_source.insert(rows::platform_source(Some(agent)).to_owned(), json!(names));
        }
    }
    let sources: Vec<&String> = by_source.keys().collect();
    let mut answer = Map::new();
    answer.insert("projects".to_owned(), json!(names(None)?));
    answer.insert("sources".to_owned(), json!(sources));
    answer.insert("projectsBySource".to_owned(), by_source.into());
    Ok(answer)
}

pub(super) fn processing_status(_: &Input, app: &App, call: Call<'_>) -> Result<Reply, Failure> {
    Ok(Reply::Json(Value::Object(waiting(app, call)?)))
}

/// The number of records and sessions that wait to be brought in.
pub(super) fn waiting(app: &App, call: Call<'_>) -> Result<Map<String, Value>, Failure> {
    let status = status(app, call)?;
    let waiting = status.pending_records + status.unindexed_sessions as u64;
    let answer = [("isProcessing", json!(waiting > 0)), ("queueDepth", json!(waiting))];
    Ok(answer.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}

/// Takes note of a client that says whether it works. It tells nothing that is not known.
pub(super) fn processing(_: &Input, app: &App, call: Call<'_>) -> Result<Reply, Failure> {
    let mut answer = waiting(app, call)?;
    answer.insert("status".to_owned(), "ok".into());
    Ok(Reply::Json(Value::Object(answer)))
}

pub(super) fn observations(input: &Input, app: &App, call: Call<'_>) -> Result<Reply, Failure> {
    page_of_memories(input, &observation_kinds(), app, call)
}

pub(super) fn summaries(input: &Input, app: &App, call: Call<'_>) -> Result<Reply, Failure> {
    page_of_memories(input, &[MemoryKind::Summary], app, call)
}

/// Tells what the last sessions of a project were about.
pub(super) fn recent(input: &Input, app: &App, call: Call<'_>) -> Result<Reply, Failure> {
    const SECTIONS: [(&str, &str); 5] = [
        ("request", "Request"),
        ("investigated", "Investigated"),
        ("learned", "Learned"),
        ("completed", "Completed"),
        ("next_steps", "Next steps"),
    ];
    let name = input.text(&["project"]);
    let project = known_project(name.as_deref(), app, call)?;
    let last = match project {
        Some(project) => {
            last_memories(
                project,
                &[MemoryKind::Summary],
                0..input.number("limit", 3, MOST),
                app,
                call,
            )?
            .0
        }
        None => Vec::new(),
    };
    let mut text = String::from("# Recent sessions\n");
    for row in last.iter().map(rows::memory) {
        text +=
            &format!("\n## #S{} {}\n", row["id"], row["created_at"].as_str().unwrap_or_default());
        for (field, title) in SECTIONS {
            if let Some(told) = row[field].as_str() {
                text += &format!("**{title}:** {told}\n");
            }
        }
    }
    if last.is_empty() {
        text = format!("No sessions found for {}.\n", name.as_deref().unwrap_or("any project"));
    }
    Ok(Reply::Tool(text))
}

fn page_of_memories(
    input: &Input,
    kinds: &[MemoryKind],
    app: &App,
    call: Call<'_>,
) -> Result<Reply, Failure> {
    let (offset, limit) = window(input);
    let Some(project) = known_project(input.text(&["project"]).as_deref(), app, call)? else {
        return Ok(page(Vec::new(), false, input));
    };
    let (last, more) = last_memories(project, kinds, offset..offset + limit, app, call)?;
    Ok(page(last.iter().map(rows::memory).collect(), more, input))
}

/// Reads the last memories of these kinds, the latest first, and tells if there are more.
fn last_memories(
    project: ProjectScope,
    kinds: &[MemoryKind],
    places: Range<usize>,
    app: &App,
    call: Call<'_>,
) -> Result<(Vec<WholeMemory>, bool), Failure> {
    let request = ListMemories {
        project,
        session: None,
        kinds: kinds.to_vec(),
        state: MemoryState::InForce,
        since: None,
        until: None,
        cursor: None,
        limit: places.end,
    };
    let listed = memories::list(app, &request, call)?;
    let ids = listed.memories.iter().skip(places.start).map(|one| one.entry.full_id.to_string());
    Ok((whole(ids.collect(), app, call)?, listed.more))
}

pub(super) fn prompts(input: &Input, app: &App, call: Call<'_>) -> Result<Reply, Failure> {
    let (offset, limit) = window(input);
    let Some(project) = known_project(input.text(&["project"]).as_deref(), app, call)? else {
        return Ok(page(Vec::new(), false, input));
    };
    let listed = prompts::list(app, &ListPrompts { project, limit: offset + limit }, call)?;
    let items = listed.prompts.iter().skip(offset).map(rows::prompt).collect();
    Ok(page(items, listed.more, input))
}

pub(super) fn observation(input: &Input, app: &App, call: Call<'_>) -> Result<Reply, Failure> {
    let (number, found) = numbered(input, app, call)?;
    match found {
        Some(Piece::Memory(piece)) if piece.memory.entry.kind != MemoryKind::Summary => {
            Ok(Reply::Json(single(&piece.memory)))
        }
        _ => Err(Failure::Missing(format!("Observation #{number} not found"))),
    }
}

pub(super) fn summary(input: &Input, app: &App, call: Call<'_>) -> Result<Reply, Failure> {
    let (number, found) = numbered(input, app, call)?;
    match found {
        Some(Piece::Memory(piece)) if piece.memory.entry.kind == MemoryKind::Summary => {
            Ok(Reply::Json(single(&piece.memory)))
        }
        _ => Err(Failure::Missing(format!("Session #{number} not found"))),
    }
}

pub(super) fn prompt(input: &Input, app: &App, call: Call<'_>) -> Result<Reply, Failure> {
    let (number, found) = numbered(input, app, call)?;
    let missing = || Failure::Missing(format!("Prompt #{number} not found"));
    let Some(Piece::Passage(piece)) = found else { return Err(missing()) };
    let (entry, session) = (piece.entry, piece.session.ok_or_else(missing)?);
    if entry.kind != PassageKind::Human {
        return Err(missing());
    }
    Ok(Reply::Json(rows::prompt(&ListedPrompt { entry, session })))
}

pub(super) fn batch(input: &Input, app: &App, call: Call<'_>) -> Result<Reply, Failure> {
    let ids = input.list(&["ids"]);
    let numbers: Vec<u64> = ids.iter().filter_map(|id| id.parse().ok()).collect();
    if numbers.len() != ids.len() || input.value(&["ids"]).is_none() {
        let message = "Expected an array of integers".to_owned();
        return Err(Failure::Invalid { field: "ids", message });
    }
    let starts = numbers.iter().take(MOST_IDS).filter_map(|number| IdPrefix::of_number(*number));
    let mut found = whole(starts.map(|start| start.as_str().to_owned()).collect(), app, call)?;
    found.retain(|memory| numbers.contains(&memory.entry.full_id.number()));
    found.sort_by_key(|memory| std::cmp::Reverse(memory.entry.at));
    if input.text(&["orderBy"]).as_deref() == Some("date_asc") {
        found.reverse();
    }
    found.truncate(input.number("limit", MOST_IDS, MOST_IDS));
    Ok(Reply::Json(found.iter().map(single).collect()))
}

/// Every type of observation.
pub(super) fn observation_kinds() -> Vec<MemoryKind> {
    ObservationType::ALL.map(MemoryKind::Observation).to_vec()
}

/// Reads memories whole. An id that names none is left out.
pub(super) fn whole(
    ids: Vec<String>,
    app: &App,
    call: Call<'_>,
) -> Result<Vec<WholeMemory>, Failure> {
    let request = Get { ids, sources: Sources::None, freshness: Freshness::AsItIs };
    let pieces = get(app, &request, call)?.pieces.into_iter();
    Ok(pieces
        .filter_map(|piece| match piece {
            Piece::Memory(piece) => Some(piece.memory),
            Piece::Passage(_) | Piece::Unknown { .. } => None,
        })
        .collect())
}

/// Returns the project of this name, where it is known; every one where none is named.
pub(super) fn known_project(
    name: Option<&str>,
    app: &App,
    call: Call<'_>,
) -> Result<Option<ProjectScope>, Failure> {
    let Some(name) = name else { return Ok(Some(ProjectScope::Everywhere)) };
    // The last used one, where several have the name.
    let all = projects::projects(app, None, call)?.projects;
    let named = all.into_iter().find(|project| {
        project.key.as_str() == name || project.name.get().eq_ignore_ascii_case(name)
    });
    Ok(named.map(|project| ProjectScope::Named(project.key.to_string())))
}

/// Reads prompts as rows.
pub(super) fn prompt_rows(
    ids: Vec<String>,
    app: &App,
    call: Call<'_>,
) -> Result<Vec<Value>, Failure> {
    let request = Get { ids, sources: Sources::None, freshness: Freshness::AsItIs };
    let pieces = get(app, &request, call)?.pieces.into_iter();
    Ok(pieces
        .filter_map(|piece| match piece {
            Piece::Passage(piece) => {
                Some(rows::prompt(&ListedPrompt { entry: piece.entry, session: piece.session? }))
            }
            Piece::Memory(_) | Piece::Unknown { .. } => None,
        })
        .collect())
}

/// Reads what the number in the path names.
fn numbered(input: &Input, app: &App, call: Call<'_>) -> Result<(u64, Option<Piece>), Failure> {
    let number = input.text(&["id"]).and_then(|id| id.parse().ok()).filter(|number| *number > 0);
    let number: u64 = number.ok_or_else(|| {
        Failure::Malformed(
            StatusCode::BAD_REQUEST,
            "Invalid ID: expected a positive integer".to_owned(),
        )
    })?;
    let Some(start) = IdPrefix::of_number(number) else { return Ok((number, None)) };
    let request = Get {
        ids: vec![start.as_str().to_owned()],
        sources: Sources::None,
        freshness: Freshness::Recorded,
    };
    let found = get(app, &request, call)?.pieces.pop().filter(|piece| match piece {
        Piece::Memory(piece) => piece.memory.entry.full_id.number() == number,
        Piece::Passage(piece) => piece.entry.full_id.number() == number,
        Piece::Unknown { .. } => false,
    });
    Ok((number, found))
}

/// A row by itself has what lists leave out.
fn single(memory: &WholeMemory) -> Value {
    let mut row = rows::memory(memory);
    row["discovery_tokens"] = memory.entry.raw_tokens.into();
    row
}

fn window(input: &Input) -> (usize, usize) {
    let limit = input.number("limit", USUAL, MOST).max(1);
    (input.number("offset", 0, DEEPEST), limit)
}

fn page(items: Vec<Value>, more: bool, input: &Input) -> Reply {
    let (offset, limit) = window(input);
    Reply::Json(json!({ "items": items, "hasMore": more, "offset": offset, "limit": limit }))
}
