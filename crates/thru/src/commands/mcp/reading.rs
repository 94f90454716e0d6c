//! What is read whole: memories, passages, sessions, and what a session that starts is given.

use std::collections::HashMap;
use thru_app::ask::{memory, named};

use thru_app::Result;
use thru_core::Id;
use thru_intake::Intake;
use thru_mcp::{
    Command, Digest, Get, Outline, Passage, Piece, Place, Project, Session, SessionName,
    SessionTold, Turn, WantedKind, Whole,
};
use thru_redact::{Clean, Redactor};
use thru_store::{MemoryBody, MemoryRow, PassageFilter, SessionFilter, SessionRow, Store};

use super::own::cleaned;
use crate::commands::session::{load, standing_line, summary_of, turns};
use crate::commands::{context, memories, shared, show};
use crate::environment::Environment;
use crate::failure::{self, advised};
use crate::ui::plural;
use thru_app::{Call, fresh};

/// Passages shown of those that a memory was made from.
const SOURCES: usize = 30;

/// Memories and passages whole. An id that names nothing costs only itself.
pub(super) fn get(
    environment: &Environment,
    intake: &Intake,
    store: Store,
    asked: &Get,
    call: Call<'_>,
) -> Result<Vec<Piece>> {
    let (store, _) = fresh::for_question(environment, intake, store, None, call)?;
    let redactor = intake.redactor();
    let mut pieces = Vec::new();
    for id in &asked.ids {
        let piece = piece(&store, redactor, id, asked.source);
        pieces.push(piece.unwrap_or_else(|error| Piece::unknown(id, failure::whole(&error))));
    }
    Ok(pieces)
}

fn piece(store: &Store, redactor: &Redactor, id: &str, with_source: bool) -> Result<Piece> {
    let names_session = |id: &str| -> Result<bool> {
        let id_prefix = Some(id.to_owned());
        let filter = SessionFilter { id_prefix, limit: Some(1), ..SessionFilter::default() };
        Ok(id.len() >= 4 && !store.sessions(&filter)?.is_empty())
    };
    let named = memory::memory_named(store, id);
    if let Ok(Some(memory)) = &named {
        return Ok(Piece::Memory(Box::new(whole(store, redactor, memory, with_source)?)));
    }
    match named.and_then(|_| passage_named(store, redactor, id)) {
        Ok(passage) => Ok(Piece::Passage(Box::new(passage))),
        Err(_) if names_session(id)? => {
            Ok(Piece::unknown(id, "this is a session; get_session reads it"))
        }
        Err(error) => Err(error),
    }
}

/// The passage whose id starts so.
pub(super) fn passage_named(store: &Store, redactor: &Redactor, id: &str) -> Result<Passage> {
    let row = show::named_passage(store, id)?;
    passage(store, redactor, &row, true)
}

fn passage(
    store: &Store,
    redactor: &Redactor,
    row: &thru_store::PassageRow,
    with_session: bool,
) -> Result<Passage> {
    let session = if with_session { store.session(row.session)? } else { None };
    Ok(Passage {
        id: store.short_id(&row.id)?,
        at: row.at,
        kind: WantedKind::Passage(row.kind),
        tool: row.tool.as_deref().map(|tool| cleaned(redactor, tool)),
        outcome: row.outcome,
        session: session.map(|session| name(redactor, &session)),
        turn: row.turn,
        text: cleaned(redactor, &store.text_of(row)?),
    })
}

fn whole(
    store: &Store,
    redactor: &Redactor,
    memory: &MemoryRow,
    with_source: bool,
) -> Result<Whole> {
    let session = memory::session_of(store, memory)?;
    let body = memories::whole(store, redactor, memory)?;
    let sources = body.get().sources();
    let mut ids: HashMap<Id, String> = HashMap::new();
    for id in sources.iter().chain(named_in(body.get())) {
        if !ids.contains_key(id) {
            ids.insert(*id, store.short_id(id)?);
        }
    }
    let mut source = Vec::new();
    if with_source {
        for id in sources.iter().take(SOURCES) {
            if let Some(row) = store.passage(id)? {
                source.push(passage(store, redactor, &row, false)?);
            }
        }
    }
    Ok(Whole {
        id: store.short_id(&memory.id)?,
        at: memory.at,
        kind: WantedKind::Memory(memory.kind),
        turn: memory.turn,
        marks: memories::marks(memory).chain(told_by(memory)).collect(),
        stale: memories::freshness(store, memory, session.as_ref())?.note(),
        session: session.map(|session| name(redactor, &session)),
        body,
        ids,
        source,
    })
}

/// The passages that single facts of an observation name.
fn named_in(body: &MemoryBody) -> impl Iterator<Item = &Id> {
    let facts = match body {
        MemoryBody::Observation(observation) => observation.facts.as_slice(),
        MemoryBody::Summary(_) => &[],
    };
    facts.iter().flat_map(|fact| &fact.sources)
}

fn told_by(memory: &MemoryRow) -> Option<&'static str> {
    match (memory.flags.is_told, memory.flags.is_of_person) {
        (true, true) => Some("told by the user"),
        (true, false) => Some("told by an agent"),
        (false, _) => None,
    }
}

fn name(redactor: &Redactor, session: &SessionRow) -> SessionName {
    SessionName {
        id: session.key.id.as_str().to_owned(),
        title: session.title.as_deref().map(|title| cleaned(redactor, title)),
        project: session.project_name.as_deref().map(|name| cleaned(redactor, name)),
        at: session.ended,
    }
}

/// One session: its outline, or what it held.
pub(super) fn session(
    environment: &Environment,
    intake: &Intake,
    store: Store,
    asked: &Session,
    call: Call<'_>,
) -> Result<SessionTold> {
    let (store, prepared) = fresh::for_question(environment, intake, store, None, call)?;
    if asked.resume {
        drop(store);
        let held = load::held(environment, &asked.id)?;
        if !held.pack.lines.is_empty() {
            held.note(environment);
        }
        return Ok(SessionTold::Pack(held.pack.text));
    }
    let redactor = intake.redactor();
    let session = match asked.id.as_str() {
        "latest" => latest(environment, &store)?,
        id => named::named_session(&store, id)?,
    };
    let passages = store.passages(PassageFilter::Session(session.row))?;
    let clean = |text: &str| cleaned(redactor, text);
    let mut facts = vec![
        plural(u64::from(session.turns), "turn"),
        plural(session.passages, "passage"),
        session.key.agent.display_name().to_owned(),
    ];
    facts.extend(session.facts.branch.as_ref().map(|branch| format!("branch {branch}")));
    facts.extend(session.facts.directory.clone());
    facts.push(standing_line(&store, &session, environment)?);
    let digest = match summary_of(&store, session.row)? {
        Some(memory) => Some(Digest {
            id: store.short_id(&memory.id)?,
            body: memories::whole(&store, redactor, &memory)?,
        }),
        None => None,
    };
    let told = turns(&store, redactor, &passages)?;
    let files = store.files_of_session(session.row)?;
    let changed = files.iter().filter(|file| file.modified > 0);
    Ok(SessionTold::Outline(Box::new(Outline {
        name: name(redactor, &session),
        started: session.started,
        facts: facts.iter().map(|fact| clean(fact)).collect(),
        digest,
        turns: told
            .into_iter()
            .map(|(number, turn)| Turn {
                number,
                prompt: turn.prompt.map(|said| (said.id, said.text)),
                conclusion: turn.conclusion.map(|said| (said.id, said.text)),
                commands: turn
                    .commands
                    .iter()
                    .map(|command| Command {
                        line: clean(&command.line),
                        runs: command.runs,
                        outcome: command.outcome,
                    })
                    .collect(),
                calls: turn.calls,
            })
            .collect(),
        files: changed
            .map(|file| (clean(memories::relative(&file.path, Some(&session))), file.modified))
            .collect(),
        notes: prepared.sentences().iter().map(|one| clean(one)).collect(),
    })))
}

/// The latest session here, but for the one that asks.
fn latest(environment: &Environment, store: &Store) -> Result<SessionRow> {
    let here = named::current_project(environment, store)?;
    let projects = here.map(|project| store.project_rows(project.row)).transpose()?;
    let filter = SessionFilter { projects, limit: Some(2), ..SessionFilter::default() };
    let asking = environment.machine.agent_session();
    let mut sessions = store.sessions(&filter)?.into_iter();
    sessions
        .find(|session| asking != Some(session.key.id.as_str()))
        .ok_or_else(|| advised("there is no earlier session here", "name one by its id"))
}

/// What a session that starts in a project now would be given.
pub(super) fn context(environment: &Environment, project: &Place) -> Result<Clean<String>> {
    if environment.config.context.off {
        return Ok(Clean::default());
    }
    let name = match project {
        Place::Named(name) => Some(name.as_str()),
        Place::Here | Place::Everywhere => None,
    };
    let (pack, _) = context::make(&context::Arguments::at_start(name), environment)?;
    Ok(pack.text)
}

/// The latest sessions of the project that one stands in.
pub(super) fn latest_sessions(
    environment: &Environment,
    intake: &Intake,
    most: usize,
) -> Result<Vec<SessionName>> {
    let store = shared::open_store(environment)?;
    let here = named::current_project(environment, &store)?;
    let projects = here.map(|project| store.project_rows(project.row)).transpose()?;
    let filter = SessionFilter { projects, limit: Some(most), ..SessionFilter::default() };
    let sessions = store.sessions(&filter)?;
    Ok(sessions.iter().map(|session| name(intake.redactor(), session)).collect())
}

/// The project that one stands in.
pub(super) fn project(environment: &Environment, intake: &Intake) -> Result<Option<Project>> {
    let store = shared::open_store(environment)?;
    let here = named::current_project(environment, &store)?;
    Ok(here.map(|project| Project {
        key: project.key.as_str().to_owned(),
        name: cleaned(intake.redactor(), &project.name),
    }))
}
