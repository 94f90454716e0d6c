//! `thru session load`: what a session held, for another one to go on with.

use std::collections::HashSet;
use thru_app::App;
use thru_app::ask::named;

use serde_json::json;
use thru_app::Result;
use thru_core::Snapshot;
use thru_recall::{Occasion, Pack};
use thru_store::{SessionFilter, SessionRow, Store};

use super::Load;
use crate::commands::{Outcome, shared, summaries};
use crate::environment::Environment;
use crate::failure::advised;
use crate::ui::Page;
use thru_app::ask::pack::{PackProject, Recipient, make_pack, snapshot_now};
use thru_app::embedding;

/// Sessions that are looked at for the latest.
const LATEST: usize = 50;

/// What a session held, to go on with its work.
pub(crate) struct Held {
    session: SessionRow,
    snapshot: Option<Snapshot>,
    /// As another session is given it.
    pub(crate) pack: Pack,
}

impl Held {
    /// Notes that somebody loaded it: only for people who look into the index.
    pub(crate) fn note(&self, environment: &App) {
        let _ = summaries::note_loaded(environment, &self.session, self.snapshot.as_ref());
    }
}

/// What the session that is named held when its context was last compacted; where it never was, what it holds
/// now.
pub(crate) fn held(environment: &Environment, id: &str) -> Result<Held> {
    let store = shared::open_store(environment)?;
    let intake = environment.intake()?;
    let session = named(id, environment, &store)?;
    let snapshot = match store.newest_snapshot(session.row)? {
        Some(known) => {
            Some(intake.kept_snapshot(&store, session.row, known.snapshot)?.into_inner())
        }
        None => snapshot_now(&intake, &store, session.row, environment.clock.now())?,
    };
    let place = match &session.project_name {
        Some(name) => PackProject {
            rows: session
                .project
                .map(|row| store.project_rows(row))
                .transpose()?
                .unwrap_or_default(),
            name: name.clone(),
        },
        None => PackProject::here(environment, &store)?,
    };
    let recipient =
        Recipient { session: Some(session.row), told: HashSet::new(), snapshot: snapshot.clone() };
    let redactor = intake.redactor();
    let meaning = embedding::awaited(None);
    let occasion = Occasion::Compact;
    let pack = make_pack(environment, &store, redactor, place, occasion, recipient, meaning)?;
    Ok(Held { session, snapshot, pack })
}

pub(crate) fn run(arguments: &Load, environment: &Environment, plain: bool) -> Result<Outcome> {
    let held = held(environment, &arguments.id)?;
    let Held { session, snapshot, pack } = &held;
    let is_silent = pack.lines.is_empty();
    let mut page = Page::new(environment, plain);
    if arguments.json {
        page.json(&json!({
            "version": 1,
            "kind": "session-load",
            "session_id": session.key.id,
            "title": session.title,
            "project": session.project_name,
            "text": pack.text.get(),
            "tokens": pack.tokens,
            "compacted": snapshot.as_ref().filter(|known| is_kept(known)).map(|known| known.at),
            "snapshot": snapshot,
        }))?;
    } else if is_silent {
        page.line(format!("Nothing is known of what session {} held.", session.key.id.short()));
    } else {
        for line in pack.text.get().lines() {
            page.line(line);
        }
    }
    page.print()?;
    if !is_silent {
        held.note(environment);
    }
    Ok(if is_silent { Outcome::Nothing } else { Outcome::Done })
}

/// Whether it was kept at a compaction.
fn is_kept(snapshot: &Snapshot) -> bool {
    !snapshot.event.is_empty()
}

/// The session that was named; `latest` is the last one here whose context was compacted, else the last
/// one, and never the one that asks.
pub(crate) fn named(id: &str, environment: &App, store: &Store) -> Result<SessionRow> {
    if id != "latest" {
        return named::named_session(store, id);
    }
    let here = named::current_project(environment, store)?;
    let projects = here.map(|project| store.project_rows(project.row)).transpose()?;
    let filter = SessionFilter { projects, limit: Some(LATEST), ..SessionFilter::default() };
    let mut sessions = store.sessions(&filter)?;
    let asking = environment.machine.agent_session();
    // Of itself it knows; but where its context was compacted, that is what it wants to hear of.
    let mut latest = None;
    for session in &sessions {
        if store.newest_snapshot(session.row)?.is_some() {
            latest = Some(session.row);
            break;
        }
    }
    let wanted = |session: &SessionRow| match latest {
        Some(row) => session.row == row,
        None => asking != Some(session.key.id.as_str()),
    };
    match sessions.iter().position(wanted) {
        Some(at) => Ok(sessions.swap_remove(at)),
        None => Err(advised("there is no earlier session here", "`thru sessions --all` lists all")),
    }
}
