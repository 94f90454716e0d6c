//! Episodes: sessions as they were indexed, memories that were told, and the facts that they show.

use thru_core::{Id, MemoryKind};
use thru_store::{FactFilter, FactTime, MemoryBody, MemoryFilter, SessionFilter, SessionRow};

use super::facts::{edges_of, full_id};
use super::{Edge, Episode, Node, OpenGraph, group_of, open, told_edges};
use crate::app::App;
use crate::ask::cleaned;
use crate::ask::memory::body;
use crate::call::Call;
use crate::trouble::{Result, Trouble};

/// What episodes show.
#[derive(Clone, Debug)]
pub struct Provenance {
    /// The things, each once.
    pub nodes: Vec<Node>,
    /// The facts, the latest first.
    pub edges: Vec<Edge>,
}

/// Lists the episodes of groups, the latest first.
///
/// # Errors
/// Fails if the store cannot be read.
pub fn episodes(
    app: &App,
    groups: &[String],
    limit: usize,
    call: Call<'_>,
) -> Result<Vec<Episode>> {
    let graph = open(app, groups, call)?;
    let sessions = graph.store().sessions(&SessionFilter {
        projects: graph.projects.clone(),
        limit: Some(limit),
        ..SessionFilter::default()
    })?;
    let mut episodes = Vec::new();
    for session in &sessions {
        // One that goes on is an episode once it is left.
        if let Some(uuid) = session.episode {
            episodes.push(of_session(&graph, session, uuid)?);
        }
    }
    episodes.extend(told(&graph, limit)?);
    episodes.sort_by_key(|episode| (std::cmp::Reverse(episode.valid_at), episode.uuid));
    episodes.truncate(limit);
    Ok(episodes)
}

fn of_session(graph: &OpenGraph, session: &SessionRow, uuid: Id) -> Result<Episode> {
    let (store, redactor) = (graph.store(), graph.opened.intake.redactor());
    let summary = store.memories(&MemoryFilter {
        session: Some(session.row),
        kinds: Some(vec![MemoryKind::Summary]),
        limit: Some(1),
        ..MemoryFilter::default()
    })?;
    let content = match summary.first() {
        Some(summary) => body(store, redactor, summary)?.map(|body| body.search_text()),
        None => cleaned(redactor, ""),
    };
    let state = store.session_state(session.row)?.and_then(|state| state.episode);
    Ok(Episode {
        uuid,
        name: cleaned(redactor, session.title.as_deref().unwrap_or(session.key.id.as_str())),
        content,
        created_at: state.map(|episode| episode.indexed),
        source: "message",
        source_description: format!("session of {}", session.key.agent.as_str()),
        group_id: cleaned(redactor, &group_of(session.project_name.as_deref())),
        valid_at: session.ended,
    })
}

fn told(graph: &OpenGraph, limit: usize) -> Result<Vec<Episode>> {
    let (store, redactor) = (graph.store(), graph.opened.intake.redactor());
    let notes = store.memories(&MemoryFilter {
        projects: graph.projects.clone(),
        notes: true,
        limit: Some(limit),
        ..MemoryFilter::default()
    })?;
    let mut episodes = Vec::new();
    for note in notes.iter().filter(|note| !note.flags.is_imported) {
        let project = note.project.map(|row| store.project_name(row)).transpose()?.flatten();
        let content = body(store, redactor, note)?.map(|body| match body {
            MemoryBody::Observation(told) => {
                told.narrative.map_or(told.title, |narrative| narrative.text)
            }
            MemoryBody::Summary(summary) => summary.title,
        });
        let teller = if note.flags.is_from_person { "a person" } else { "an agent" };
        episodes.push(Episode {
            uuid: note.id,
            name: cleaned(redactor, &note.title),
            content,
            created_at: note.at,
            source: "text",
            source_description: format!("told by {teller}"),
            group_id: cleaned(redactor, &group_of(project.as_deref())),
            valid_at: note.at,
        });
    }
    Ok(episodes)
}

/// Returns what episodes show, by their ids.
///
/// # Errors
/// Fails if one of them is not an episode, or the store cannot be read.
pub fn provenance(app: &App, episodes: &[String], call: Call<'_>) -> Result<Provenance> {
    let graph = open(app, &["*".to_owned()], call)?;
    let store = graph.store();
    let (mut sessions, mut notes) = (Vec::new(), Vec::new());
    for uuid in episodes {
        let missing = || Trouble::not_found(format!("there is no episode `{uuid}`"));
        let id = full_id(uuid).ok_or_else(missing)?;
        match store.session_of_episode(&id)? {
            Some(session) => sessions.push(session),
            None if store.memory(&id)?.is_some() => notes.push(id),
            None => return Err(missing()),
        }
    }
    let mut edges = Vec::new();
    if !sessions.is_empty() {
        let found = store.facts(&FactFilter {
            sessions: Some(sessions),
            time: FactTime::Ever,
            ..FactFilter::default()
        })?;
        edges = edges_of(&graph, &found, None)?;
    }
    if !notes.is_empty() {
        edges.extend(
            told_edges(&graph)?.into_iter().filter(|edge| notes.contains(&edge.short.uuid)),
        );
    }
    let mut nodes: Vec<Node> = edges.iter().flat_map(|edge| edge.nodes.clone()).collect();
    nodes.sort_by_key(|node| node.uuid);
    nodes.dedup_by_key(|node| node.uuid);
    Ok(Provenance { nodes, edges })
}
