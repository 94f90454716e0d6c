//! `thru close`: a session is over for now; index it, so that the next agent finds it.
//!
//! Others call this (agents, their commands, hooks of other tools); it calls nobody.

use std::time::Duration;
use thru_app::App;
use thru_app::ask::named;

use serde_json::{Value, json};
use thru_agents::Discovery;
use thru_app::{Call, Patience, Result, Trouble};
use thru_core::{Agent, Id, SessionId, SessionKey};
use thru_intake::{Indexed, Intake};
use thru_lifecycle::conversation::{Phase, Said};
use thru_lifecycle::{Conversation, Indexing};
use thru_store::{SessionFilter, SessionRow, Store};

use super::{Outcome, shared};
use crate::environment::Environment;
use crate::failure::advised;
use crate::ui::{Page, printable};
use thru_app::ingest::catch_up::{self, Effort, Where, bring_in};

/// How long another process is waited for.
const PATIENCE: Duration = Duration::from_secs(20);
/// Sessions of a project that may be the one that is meant.
const CANDIDATES: usize = 20;
/// A reason is a word or a few.
const LONGEST_REASON: usize = 200;

/// Say that a session is over for now, and index it.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    thru close\n  \
    thru close 0f8fad5b --reason story_complete\n\n\
    Without an id: the session that runs the command, else the one that is at work in\n\
    this project. A session that goes on afterwards is recorded as before; closing it\n\
    again indexes what was added, and does nothing where nothing was.")]
pub(crate) struct Arguments {
    /// The session (the start of its id is enough)
    session: Option<String>,
    /// Why, in a word: kept with the session
    #[arg(long, short)]
    reason: Option<String>,
    /// Answer as JSON
    #[arg(long)]
    json: bool,
}

/// What came of it.
pub(crate) struct Closed {
    /// Which session.
    pub(crate) session: SessionKey,
    /// What it is indexed as.
    pub(crate) episode: Option<Id>,
    /// In words.
    pub(crate) message: String,
}

impl Closed {
    /// As programs are told.
    pub(crate) fn as_json(&self) -> Value {
        json!({
            "status": "success",
            "session_id": self.session.id,
            "episode_uuid": self.episode,
            "message": self.message,
        })
    }
}

pub(crate) fn run(
    arguments: &Arguments,
    environment: &Environment,
    plain: bool,
) -> Result<Outcome> {
    let closed =
        close(environment, arguments.session.as_deref(), arguments.reason.as_deref(), Asker::Own);
    let mut page = Page::new(environment, plain);
    let outcome = match (closed, arguments.json) {
        (Ok(closed), false) => {
            page.line(closed.message);
            Outcome::Done
        }
        (Ok(closed), true) => {
            page.json(&answer(closed.as_json()))?;
            Outcome::Done
        }
        (Err(error), true) => {
            page.json(&answer(failed(arguments.session.as_deref(), &error)))?;
            Outcome::Wrong
        }
        (Err(error), false) => return Err(error),
    };
    page.print()?;
    Ok(outcome)
}

fn answer(mut fields: Value) -> Value {
    fields["version"] = json!(1);
    fields["kind"] = json!("close");
    fields
}

/// As programs are told that it did not work.
pub(crate) fn failed(session: Option<&str>, error: &Trouble) -> Value {
    json!({
        "status": "error",
        "session_id": session,
        "episode_uuid": null,
        "message": crate::failure::whole(error),
    })
}

/// Who asks for a session to be closed, and so which is meant where none is named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asker {
    /// A command: the session that runs it, else the only one at work in this project.
    Own,
    /// A server that an agent started in a project: the only one at work there. The session that it was
    /// started in goes before others only while it is at work: after `/clear` it is not the one that asks.
    Server,
    /// Somebody elsewhere: the only one at work.
    Elsewhere,
}

/// Closes the session that was named, or the one that is meant.
pub(crate) fn close(
    environment: &Environment,
    named: Option<&str>,
    reason: Option<&str>,
    asker: Asker,
) -> Result<Closed> {
    let store = shared::open_store(environment)?;
    // An agent tells its commands in which session they run.
    let own = environment.machine.agent_session().filter(|_| asker == Asker::Own);
    let session = match (named, own) {
        (Some(id), _) => named::named_session(&store, id)?,
        (None, Some(own)) => own_session(environment, &store, own)?,
        (None, _) => only_active(environment, &store, asker)?,
    };
    let found = catch_up::of_session(&store, session.row)?;
    let intake = environment.intake()?;
    let plan = intake.plan(found, None)?;
    let waits = Intake::news(&environment.layout, environment.host(), &store)? > 0;
    if plan.is_empty() && !waits && is_closed(environment, &session) {
        return unchanged(&store, &session);
    }
    drop(store);
    let lock = Call::unattended(Patience::Within(PATIENCE)).lock(&intake)?;
    let reason: String =
        printable(reason.map(str::trim).filter(|reason| !reason.is_empty()).unwrap_or("request"))
            .chars()
            .take(LONGEST_REASON)
            .collect();
    intake.record_close(&lock, &session.key, &reason)?;
    let effort = Effort::of(std::slice::from_ref(&session.key), plan.bytes);
    let place = Where::Found(Discovery { sources: plan.sources, problems: Vec::new() });
    let brought =
        bring_in(environment, &lock, place, effort, Call::unattended(Patience::Within(PATIENCE)))?;
    drop(lock);
    let store = Store::open_to_read(&environment.layout)?;
    let id = session.key.id.short();
    let (episode, message) = match brought.report.indexed.get(&session.key) {
        Some(Indexed::New(episode)) => {
            (Some(*episode), format!("Session {id} is closed and indexed."))
        }
        Some(Indexed::Replaced(episode)) => (
            Some(*episode),
            format!(
                "Session {id} is closed and indexed anew; what it was indexed as before is kept, retired."
            ),
        ),
        Some(Indexed::Unchanged(_)) => return unchanged(&store, &session),
        Some(Indexed::Empty) => {
            (None, format!("Session {id} is closed; there is nothing in it to index."))
        }
        Some(Indexed::Undistilled) => {
            return Err(advised(
                format!("session {id} is closed and not indexed: nothing is distilled"),
                "`distil.enabled` is off; switch it on with `thru config set distil.enabled true`",
            ));
        }
        Some(Indexed::Failed(trouble)) => {
            return Err(advised(
                format!("session {id} is closed and could not be indexed: {}", printable(trouble)),
                "it is tried again by itself; `thru jobs` shows it",
            ));
        }
        // What came was nothing that was said.
        None if is_indexed(&store, session.row)? => return unchanged(&store, &session),
        None => {
            return Err(advised(
                format!("session {id} is closed and not indexed yet"),
                "the next question or the daemon does it; `thru sessions --unindexed` lists what waits",
            ));
        }
    };
    Ok(Closed { session: session.key, episode, message })
}

fn conversation(environment: &App, session: &SessionRow) -> Option<Conversation> {
    session.heard.at(environment.clock.now(), &environment.limits())
}

/// Whether nothing was said in it since it was closed and indexed.
fn is_closed(environment: &App, session: &SessionRow) -> bool {
    session.indexing == Indexing::Indexed
        && conversation(environment, session)
            .is_some_and(|conversation| !matches!(conversation.said(), Said::New))
}

fn is_indexed(store: &Store, session: i64) -> Result<bool> {
    Ok(store.course(session)?.is_some_and(|course| course.indexing == Indexing::Indexed))
}

fn unchanged(store: &Store, session: &SessionRow) -> Result<Closed> {
    let episode = store.course(session.row)?.and_then(|course| course.episode);
    let hash = episode
        .as_ref()
        .map_or_else(String::new, |episode| format!(" (hash: {})", episode.content));
    Ok(Closed {
        session: session.key.clone(),
        episode: episode.map(|episode| episode.uuid),
        message: format!(
            "Session {} is unchanged{hash}: it is indexed already.",
            session.key.id.short()
        ),
    })
}

/// The session that runs the command. Nothing else is guessed: what hooks recorded of it may only wait to be
/// brought in.
fn own_session(environment: &App, store: &Store, own: &str) -> Result<SessionRow> {
    let key = SessionKey { agent: Agent::ClaudeCode, id: SessionId::new(own) };
    let known = |store: &Store| -> Result<Option<SessionRow>> {
        Ok(store.session_by_key(&key)?.map(|row| store.session(row)).transpose()?.flatten())
    };
    if let Some(session) = known(store)? {
        return Ok(session);
    }
    let intake = environment.intake()?;
    let lock = Call::unattended(Patience::Within(PATIENCE)).lock(&intake)?;
    intake.take_events(&lock, &mut |_, _, _| {})?;
    drop(lock);
    known(&Store::open_to_read(&environment.layout)?)?.ok_or_else(|| {
        advised(
            "nothing was recorded yet of the session that runs this command",
            "`thru doctor` says whether its hooks run; `thru close ID` closes another one",
        )
    })
}

/// The only session that is at work. What a server takes for the current one is another after `/clear`, so
/// nothing else is guessed.
fn only_active(environment: &App, store: &Store, asker: Asker) -> Result<SessionRow> {
    let here = asker != Asker::Elsewhere;
    let project = match here {
        true => named::current_project(environment, store)?,
        false => None,
    };
    // Where one stands in no project that is known, there is none to choose from.
    let may_choose = !here || project.is_some();
    let place = match (&project, here) {
        (Some(project), _) => format!("in project {}", printable(&project.name)),
        (None, true) => "here".to_owned(),
        (None, false) => "on this machine".to_owned(),
    };
    let sessions = store.sessions(&SessionFilter {
        projects: project.map(|project| store.project_rows(project.row)).transpose()?,
        limit: Some(CANDIDATES),
        ..SessionFilter::default()
    })?;
    let state = |session: &SessionRow| conversation(environment, session);
    let is_active = |session: &&SessionRow| {
        state(session)
            .is_some_and(|conversation| matches!(conversation.phase(), Phase::Active { .. }))
    };
    let active: Vec<&SessionRow> = sessions.iter().filter(is_active).collect();
    let active = if may_choose { active } else { Vec::new() };
    let started_in = environment.machine.agent_session().filter(|_| asker == Asker::Server);
    let own = active.iter().find(|session| Some(session.key.id.as_str()) == started_in);
    match (&active[..], own) {
        ([session], _) | (_, Some(session)) => return Ok((*session).clone()),
        _ => {}
    }
    let candidates =
        if active.is_empty() { sessions.iter().take(5).collect() } else { active.clone() };
    let listed: Vec<String> = candidates
        .iter()
        .map(|session| {
            let phase = state(session).map_or("", |conversation| conversation.phase().as_str());
            let title = session.title.as_deref().unwrap_or("untitled");
            format!("{} ({phase}: {})", session.key.id.short(), crate::ui::one_line(title, 50))
        })
        .collect();
    let what = match active.len() {
        0 => format!("no session is at work {place}"),
        number => format!("{number} sessions are at work {place}"),
    };
    let advice = match listed.is_empty() {
        true => "`thru sessions --all` lists those of other projects".to_owned(),
        false => format!("name one: {}", listed.join(", ")),
    };
    Err(advised(what, advice))
}
