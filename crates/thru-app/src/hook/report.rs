//! Events that a program reports over HTTP: through the same door as hooks, into the same journal.

use std::sync::Arc;
use std::time::Instant;

use serde_json::{Map, Value};
use thru_agents::hooks::Event;
use thru_capture::Recorded;
pub use thru_capture::Skip;
use thru_capture::session::Session;
use thru_core::{Agent, Id, ProjectKey, SessionId, SessionKey, Summary};
use thru_store::Store;

use super::HookCall;
use crate::app::App;
use crate::ask::named;
use crate::machine::Places;
use crate::trouble::{Result, Trouble};

/// An event of a session, as a program reports it.
#[derive(Clone, Debug)]
pub struct ReportedEvent {
    /// The agent that the program speaks for.
    pub agent: Agent,
    /// The event.
    pub event: Event,
    /// The program's id of the session.
    pub session: SessionId,
    /// The directory that the session works in.
    pub directory: Option<String>,
    /// The name of the project, where no directory is known.
    pub project: Option<String>,
    /// What belongs to the event, by the names of Claude Code's hooks.
    pub fields: Map<String, Value>,
}

/// The result of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reported {
    /// The id that the summary of the session has, or will have.
    pub summary: Id,
    /// The number of prompts of the session that were counted.
    pub prompts: u32,
    /// True for a prompt that was just reported: it is the same one.
    pub is_again: bool,
    /// The reason why the event is not kept, where it is not.
    pub left_out: Option<LeftOut>,
}

/// The reason why a reported event is not kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeftOut {
    /// Recording is paused, or switched off there.
    Off,
    /// The event itself is not to be kept.
    Skipped(Skip),
}

/// Records an event. Nothing is told to the session: its program asks for context by itself.
///
/// # Errors
/// Fails if the event cannot be read, the settings cannot be used, or the journal cannot be written.
pub fn report(app: &App, reported: ReportedEvent) -> Result<Reported> {
    let ReportedEvent { agent, event, session, directory, project, mut fields } = reported;
    let adapter = thru_agents::hooks::adapter(agent)
        .ok_or_else(|| Trouble::invalid(format!("{} has no hooks", agent.display_name())))?;
    fields.insert("session_id".to_owned(), session.as_str().into());
    fields.insert("hook_event_name".to_owned(), event.as_str().into());
    match (directory, project) {
        (Some(directory), _) => _ = fields.insert("cwd".to_owned(), directory.into()),
        (None, Some(name)) => match directory_of(app, &name)? {
            Some(directory) => _ = fields.insert("cwd".to_owned(), directory.into()),
            None => _ = fields.insert("project".to_owned(), name.into()),
        },
        (None, None) => {}
    }
    let raw = Value::Object(fields).to_string();
    let mut call =
        HookCall::new(agent.as_str().to_owned(), event.as_str().to_owned(), Instant::now());
    call.answers = false;
    let places = Places {
        layout: app.layout.clone(),
        config_file: app.config_file.clone(),
        homes: app.homes.clone(),
        home: app.home.clone(),
    };
    let key = SessionKey { agent: adapter.agent, id: session };
    let counted = Session::at(&app.layout, &key).prompts();
    let handled = call.work(&mut raw.as_bytes(), places, Arc::clone(&app.machine), &app.clock);
    let handled = handled.map_err(|failed| {
        // The program is told: it may report the event again.
        call.note(&app.layout, &*app.clock, &failed.reason, failed.shape);
        Trouble::invalid(failed.reason)
    })?;
    call.note_time(&app.layout, &*app.clock);
    let prompts = Session::at(&app.layout, &key).prompts();
    let is_kept = handled.recorded == Some(Recorded::Kept);
    Ok(Reported {
        summary: Summary::id_of(key.agent, key.id.as_str()),
        prompts,
        is_again: event == Event::UserPromptSubmit && is_kept && prompts == counted,
        left_out: match handled.recorded {
            None => Some(LeftOut::Off),
            Some(Recorded::Skipped(skip)) => Some(LeftOut::Skipped(skip)),
            Some(Recorded::Kept) => None,
        },
    })
}

/// Returns the directory of a project that is known by this name: its root, as far as it is known.
fn directory_of(app: &App, name: &str) -> Result<Option<String>> {
    let Some(store) = Store::open_if_there(&app.layout)? else { return Ok(None) };
    let Ok(project) = named::named_project(&store, name) else { return Ok(None) };
    if project.key == ProjectKey::named(name) {
        return Ok(None);
    }
    let directories = store.directories_of(&project.key)?;
    Ok(directories.into_iter().min_by_key(String::len))
}
