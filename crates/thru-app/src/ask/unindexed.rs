//! Sessions that are not indexed as they are: the work of the next question, or of the daemon.

use serde::Serialize;
use thru_core::{Agent, Id, SessionId, SourceKind, Timestamp};
use thru_redact::Clean;
use thru_store::Store;

use super::{Opened, ProjectScope, cleaned};
use crate::answer;
use crate::app::App;
use crate::call::Call;
use crate::fresh::Freshness;
use crate::trouble::Result;

/// More sessions than a person reads through.
const MOST: usize = 1_000;

/// A request for sessions that are not indexed as they are.
#[derive(Clone, Debug)]
pub struct ListUnindexed {
    /// Their projects.
    pub project: ProjectScope,
    /// Their agents; empty means all.
    pub agents: Vec<Agent>,
    /// True if those that go on are wanted.
    pub active: bool,
    /// True if those that were left are wanted.
    pub inactive: bool,
}

/// Sessions that are not indexed as they are, the latest first.
#[derive(Clone, Debug, Serialize)]
pub struct UnindexedList {
    /// The version of this form.
    pub version: u32,
    /// `unindexed-sessions`.
    pub kind: &'static str,
    /// `success`.
    pub status: &'static str,
    /// The number of sessions.
    pub count: usize,
    /// The sessions.
    pub sessions: Vec<UnindexedSession>,
}

/// A session that is not indexed as it is.
#[derive(Clone, Debug, Serialize)]
pub struct UnindexedSession {
    /// Its agent.
    pub agent: Agent,
    /// The agent's id of it.
    pub session_id: SessionId,
    /// Its transcript.
    pub file_path: Option<Clean<String>>,
    /// The name of its project.
    pub project_namespace: Option<Clean<String>>,
    /// `active` if it goes on, else `inactive`.
    pub state: &'static str,
    /// The time of its last activity.
    pub last_activity: Option<Timestamp>,
    /// The number of its messages.
    pub message_count: u64,
    /// The phase of its conversation.
    pub conversation: &'static str,
    /// The state of its indexing.
    pub indexing: &'static str,
    /// The id of its last episode.
    pub episode_uuid: Option<Id>,
    /// Its title.
    #[serde(skip)]
    pub title: Option<Clean<String>>,
}

/// Lists sessions that are not indexed as they are.
///
/// # Errors
/// Fails if the project cannot be found, or the store cannot be read.
pub fn list(app: &App, request: &ListUnindexed, call: Call<'_>) -> Result<UnindexedList> {
    let Opened { store, intake, .. } = Opened::new(app, Freshness::Recorded, call)?;
    let clean = |text: String| cleaned(intake.redactor(), &text);
    let project = request.project.find(app, &store)?;
    let projects = project.map(|project| store.project_rows(project.row)).transpose()?;
    let (now, limits) = (app.clock.now(), app.limits());
    let mut sessions = Vec::new();
    for state in store.unindexed_sessions(projects.as_deref(), MOST)? {
        if !request.agents.is_empty() && !request.agents.contains(&state.key.agent) {
            continue;
        }
        let Some(conversation) = state.lifecycle.at(now, &limits) else { continue };
        let is_active = conversation.left().is_none();
        if !(if is_active { request.active } else { request.inactive }) {
            continue;
        }
        let session = store.session(state.row)?;
        let (project, title) =
            session.map_or((None, None), |session| (session.project_name, session.title));
        sessions.push(UnindexedSession {
            agent: state.key.agent,
            file_path: transcript(&store, state.row)?.map(clean),
            project_namespace: project.map(clean),
            state: if is_active { "active" } else { "inactive" },
            last_activity: state.lifecycle.last(),
            message_count: state.content.map_or(0, |content| content.messages),
            conversation: conversation.phase().as_str(),
            indexing: state.indexing.as_str(),
            episode_uuid: state.episode.as_ref().map(|episode| episode.uuid),
            title: title.map(clean),
            session_id: state.key.id,
        });
    }
    Ok(UnindexedList {
        version: answer::VERSION,
        kind: "unindexed-sessions",
        status: "success",
        count: sessions.len(),
        sessions,
    })
}

fn transcript(store: &Store, session: i64) -> Result<Option<String>> {
    let sources = store.sources_of_session(session)?;
    let is_transcript = |kind| matches!(kind, SourceKind::Main | SourceKind::Hooks);
    let path = sources.into_iter().filter(|source| is_transcript(source.kind)).map(|one| one.path);
    Ok(path.into_iter().find(|path| !path.is_empty()))
}
