//! Closing a session: it is over for now, and is indexed so that the next agent finds it.
//!
//! Agents call this, their commands, hooks of other tools. It calls no agent.

use std::time::Duration;

use serde::Serialize;
use thru_agents::Discovery;
use thru_core::{Id, SessionId, SessionKey, one_line};
use thru_intake::{Indexed, Intake};
use thru_lifecycle::conversation::{MessageState, Phase};
use thru_lifecycle::{Conversation, Indexing};
use thru_store::{SessionFilter, SessionRow, Store};

use crate::answer;
use crate::app::App;
use crate::ask::named;
use crate::call::{Call, Patience};
use crate::fresh::{self, Freshness};
use crate::ingest::catch_up::{self, Effort, TranscriptScope, ingest};
use crate::trouble::{Listing, Remedy, Result, Trouble, TroubleKind};
use crate::words::printable;

/// The time to wait for another process that writes: agents give up on slow tools.
const PATIENCE: Duration = Duration::from_secs(20);
/// Sessions of a project that are considered where none is named.
const CANDIDATES: usize = 20;
/// The reason of a close for which none was given.
pub(crate) const UNSAID: &str = "request";
/// Characters of a reason that are kept: it is a word or a few.
const LONGEST_REASON: usize = 200;

/// The request to close a session.
#[derive(Clone, Debug)]
pub struct Close {
    /// The session's id, or the start of it; see [`Closer`] where there is none.
    pub session: Option<String>,
    /// The reason in a word, kept with the session.
    pub reason: Option<String>,
    /// The caller.
    pub closer: Closer,
}

/// The caller of a close. It decides which session is meant where none is named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Closer {
    /// A command: the session that runs it, else the only active one of this project.
    Command,
    /// A server that an agent started in a project: the only active session there. The session that the server was
    /// started in goes before others only while it or none is active: after `/clear` it is not the one that asks.
    Server,
    /// A program elsewhere: the only active session.
    Elsewhere,
}

/// The outcome of a close.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "kind", rename = "close")]
pub struct Closed {
    version: u32,
    status: &'static str,
    /// The session; of a close that failed, the name that was given.
    pub session_id: Option<SessionId>,
    /// The session's episode, where there was something to index.
    pub episode_uuid: Option<Id>,
    /// The outcome in a sentence.
    pub message: String,
}

impl Closed {
    fn new(session: SessionKey, episode: Option<Id>, message: String) -> Self {
        Self {
            version: answer::VERSION,
            status: "success",
            session_id: Some(session.id),
            episode_uuid: episode,
            message,
        }
    }

    /// The answer of a close that failed, for programs. `message` is the trouble as the surface words it.
    pub fn failed(session: Option<&str>, message: String) -> Self {
        Self {
            version: answer::VERSION,
            status: "error",
            session_id: session.map(SessionId::new),
            episode_uuid: None,
            message,
        }
    }
}

/// Closes the session that is named, or the one that is meant, and indexes it.
///
/// # Errors
/// Fails if no session fits or several do, if another process keeps writing, and if the session is closed and could
/// not be indexed.
pub fn close(app: &App, request: &Close, call: Call<'_>) -> Result<Closed> {
    let mut store = fresh::open(app, Freshness::Recorded, call)?;
    let call = call.patient(Patience::Within(PATIENCE));
    // An agent tells its commands in which session they run.
    let own = app.machine.agent_session().filter(|_| request.closer == Closer::Command);
    let session = match (&request.session, own) {
        (Some(id), _) => {
            let (session, opened) = find_named(app, store, id, call)?;
            store = opened;
            session
        }
        (None, Some(own)) => {
            let (session, opened) = own_session(app, store, &own, call)?;
            store = opened;
            session
        }
        (None, _) => {
            // Another process may be ingesting what tells of further sessions.
            if Intake::news(&app.layout, app.host(), &store)? > 0 {
                drop(store);
                store = ingest_events(app, call)?;
            }
            only_active(app, &store, request.closer)?
        }
    };
    let found = catch_up::of_session(&store, session.row)?;
    let intake = app.intake()?;
    let plan = intake.plan(found, None)?;
    let has_news = Intake::news(&app.layout, app.host(), &store)? > 0;
    if plan.is_empty() && !has_news && is_closed(app, &session) {
        return unchanged(&store, &session);
    }
    drop(store);
    let lock = call.lock(&intake)?;
    intake.record_close(&lock, &session.key, &reason(request.reason.as_deref()))?;
    let effort = Effort::for_sessions(std::slice::from_ref(&session.key), plan.bytes);
    let scope = TranscriptScope::Found(Discovery { sources: plan.sources, problems: Vec::new() });
    let ingested = ingest(app, &lock, scope, effort, call)?;
    drop(lock);
    let store = Store::open_to_read(&app.layout)?;
    let id = session.key.id.short();
    let (episode, message) = match ingested.report.indexed.get(&session.key) {
        Some(Indexed::New(episode)) => {
            (Some(*episode), format!("Session {id} is closed and indexed."))
        }
        Some(Indexed::Replaced(episode)) => (
            Some(*episode),
            format!(
                "Session {id} is closed and reindexed; the previous version is kept but no longer used."
            ),
        ),
        Some(Indexed::Unchanged(_)) => return unchanged(&store, &session),
        Some(Indexed::Empty) => {
            (None, format!("Session {id} is closed; there is nothing in it to index."))
        }
        Some(Indexed::Undistilled) => {
            return Err(Trouble::refused(format!(
                "session {id} is closed and not indexed: `distil.enabled` is off"
            ))
            .with(Remedy::Set { key: "distil.enabled", value: Some("true".to_owned()) }));
        }
        Some(Indexed::Failed(trouble)) => {
            return Err(Trouble::failed(format!(
                "session {id} is closed and could not be indexed, which is tried again later: {}",
                printable(trouble)
            ))
            .with(Remedy::See(Listing::Jobs)));
        }
        // The news held nothing that was said.
        None if is_indexed(&store, session.row)? => return unchanged(&store, &session),
        // What was said since the last close is not.
        None if episode_of(&store, session.row)?.is_some() => (
            episode_of(&store, session.row)?,
            format!(
                "Session {id} is closed; it is indexed as it was before, and what was said since follows."
            ),
        ),
        None => {
            return Err(Trouble::busy(format!(
                "session {id} is closed and not indexed yet: the next question or the daemon does it"
            ))
            .with(Remedy::See(Listing::Unindexed)));
        }
    };
    Ok(Closed::new(session.key, episode, message))
}

fn reason(text: Option<&str>) -> String {
    let text = text.map(str::trim).filter(|text| !text.is_empty()).unwrap_or(UNSAID);
    printable(text).chars().take(LONGEST_REASON).collect()
}

fn conversation(app: &App, session: &SessionRow) -> Option<Conversation> {
    session.lifecycle.at(app.clock.now(), &app.limits())
}

/// True if nothing was said in a session since it was closed and indexed. A close that time assumed gives way to this
/// one, with its reason.
fn is_closed(app: &App, session: &SessionRow) -> bool {
    let is_closed = |conversation: Conversation| match conversation.messages() {
        MessageState::New => false,
        MessageState::Nothing => true,
        MessageState::Closed(close) => !close.reason.is_assumed(),
    };
    session.indexing == Indexing::Indexed && conversation(app, session).is_some_and(is_closed)
}

/// Ingests what hooks recorded, behind another process that does so, and opens the store again.
fn ingest_events(app: &App, call: Call<'_>) -> Result<Store> {
    let intake = app.intake()?;
    let lock = call.lock(&intake)?;
    intake.ingest_events(&lock, &mut |_, _, _| {})?;
    drop(lock);
    Ok(Store::open_to_read(&app.layout)?)
}

/// The session of this name. One that is not known yet may wait in the journal, while another process ingests it, or be
/// in a transcript that no hook told of.
fn find_named(app: &App, store: Store, id: &str, call: Call<'_>) -> Result<(SessionRow, Store)> {
    let is_unknown = |found: &Result<SessionRow>| {
        found.as_ref().is_err_and(|error| error.kind() == TroubleKind::NotFound)
    };
    let mut found = named::named_session(app, &store, id);
    if !is_unknown(&found) {
        return Ok((found?, store));
    }
    drop(store);
    let mut store = ingest_events(app, call)?;
    found = named::named_session(app, &store, id);
    if is_unknown(&found) {
        drop(store);
        // Recent transcripts tell of sessions that no hook told of.
        store = fresh::open(app, Freshness::Indexed, call)?;
        found = named::named_session(app, &store, id);
    }
    Ok((found?, store))
}

fn is_indexed(store: &Store, session: i64) -> Result<bool> {
    Ok(store.session_state(session)?.is_some_and(|state| state.indexing == Indexing::Indexed))
}

fn episode_of(store: &Store, session: i64) -> Result<Option<Id>> {
    let state = store.session_state(session)?;
    Ok(state.and_then(|state| state.episode).map(|episode| episode.uuid))
}

fn unchanged(store: &Store, session: &SessionRow) -> Result<Closed> {
    let episode = store.session_state(session.row)?.and_then(|state| state.episode);
    let hash = episode
        .as_ref()
        .map_or_else(String::new, |episode| format!(" (hash: {})", episode.content));
    let id = session.key.id.short();
    Ok(Closed::new(
        session.key.clone(),
        episode.map(|episode| episode.uuid),
        format!("Session {id} is unchanged{hash}: it is indexed already."),
    ))
}

/// The session that runs the command. No other is guessed: what hooks recorded of this one may only wait to be ingested,
/// or its transcript may be all there is of it.
fn own_session(
    app: &App,
    store: Store,
    own: &SessionKey,
    call: Call<'_>,
) -> Result<(SessionRow, Store)> {
    let known = |store: &Store| -> Result<Option<SessionRow>> {
        Ok(store.session_by_key(own)?.map(|row| store.session(row)).transpose()?.flatten())
    };
    if let Some(session) = known(&store)? {
        return Ok((session, store));
    }
    drop(store);
    let mut store = ingest_events(app, call)?;
    let mut found = known(&store)?;
    if found.is_none() {
        drop(store);
        store = fresh::open(app, Freshness::Indexed, call)?;
        found = known(&store)?;
    }
    let found = found.ok_or_else(|| {
        Trouble::not_found(
            "nothing has been recorded yet for the session that runs this command; name another one by its id",
        )
        .run("doctor", "says whether its hooks run")
    })?;
    Ok((found, store))
}

/// The only active session. Where there are several, none is guessed: the one that a server was started in is another
/// after `/clear`.
fn only_active(app: &App, store: &Store, closer: Closer) -> Result<SessionRow> {
    let here = closer != Closer::Elsewhere;
    let project = match here {
        true => named::current_project(app, store)?,
        false => None,
    };
    // In a directory of no known project there is none to choose from.
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
    let state = |session: &SessionRow| conversation(app, session);
    let is_active = |session: &&SessionRow| {
        state(session)
            .is_some_and(|conversation| matches!(conversation.phase(), Phase::Active { .. }))
    };
    let active: Vec<&SessionRow> = sessions.iter().filter(is_active).collect();
    let active = if may_choose { active } else { Vec::new() };
    let started_in = app.machine.agent_session().filter(|_| closer == Closer::Server);
    let is_own = |session: &&SessionRow| Some(&session.key) == started_in.as_ref();
    // Closed before in this turn, and at work still.
    let own = match active.is_empty() {
        true => sessions.iter().find(is_own),
        false => active.iter().copied().find(is_own),
    };
    let only = match &active[..] {
        [session] => Some(*session),
        _ => own,
    };
    if let Some(session) = only {
        return Ok(session.clone());
    }
    let candidates = match active.is_empty() {
        true if may_choose => sessions.iter().take(5).collect(),
        _ => active.clone(),
    };
    let listed: Vec<String> = candidates
        .iter()
        .map(|session| {
            let phase = state(session).map_or("", |conversation| conversation.phase().as_str());
            let title = session.title.as_deref().unwrap_or("untitled");
            format!("{} ({phase}: {})", session.key.id.short(), one_line(title, 50))
        })
        .collect();
    let trouble = match active.len() {
        0 => Trouble::not_found(format!("no session is at work {place}")),
        number => Trouble::ambiguous(format!("{number} sessions are at work {place}")),
    };
    Err(match listed.is_empty() {
        true => trouble.run(
            Listing::AllSessions.command(),
            "lists the sessions of all projects; name one by its id, or run this in its project",
        ),
        false => trouble.with(Remedy::Choose(listed)),
    })
}
