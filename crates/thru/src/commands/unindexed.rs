//! `thru sessions --unindexed`: what the next question, or the daemon, will index. The same for programs that
//! ask the daemon.

use serde_json::{Value, json};
use thru_app::App;
use thru_app::Result;
use thru_app::ask::named;
use thru_core::{SourceKind, Timestamp};
use thru_store::{Course, Store};

use super::of_agents::OfAgents;
use super::shared;
use crate::environment::Environment;
use crate::ui::{Page, Tone, age, one_line, plural};

/// More sessions than anybody reads through.
const MOST: usize = 1_000;

/// Which sessions are wanted.
pub(crate) struct Wanted<'a> {
    /// Of this project; of all where none is named.
    pub(crate) project: Option<&'a str>,
    /// Of these agents.
    pub(crate) of: &'a OfAgents,
    /// Those that go on.
    pub(crate) active: bool,
    /// Those that were left.
    pub(crate) inactive: bool,
}

/// A session that is not indexed as it is.
pub(crate) struct Unindexed {
    course: Course,
    file: Option<String>,
    project: Option<String>,
    title: Option<String>,
    /// Whether it goes on.
    is_active: bool,
    /// Where the conversation stands.
    phase: &'static str,
    last: Option<Timestamp>,
}

/// Lists them, the latest first.
pub(crate) fn list(environment: &Environment, wanted: &Wanted<'_>) -> Result<Vec<Unindexed>> {
    let store = shared::open_store(environment)?;
    let projects = match wanted.project {
        Some(name) => Some(store.project_rows(named::named_project(&store, name)?.row)?),
        None => None,
    };
    let (now, limits) = (environment.clock.now(), environment.limits());
    let mut found = Vec::new();
    for course in store.unindexed_sessions(projects.as_deref(), MOST)? {
        if !wanted.of.hold(course.key.agent) {
            continue;
        }
        let Some(conversation) = course.heard.at(now, &limits) else { continue };
        let is_active = conversation.left().is_none();
        if !(if is_active { wanted.active } else { wanted.inactive }) {
            continue;
        }
        let session = store.session(course.row)?;
        found.push(Unindexed {
            file: file(&store, course.row)?,
            project: session.as_ref().and_then(|session| session.project_name.clone()),
            title: session.and_then(|session| session.title),
            is_active,
            phase: conversation.phase().as_str(),
            last: course.heard.last(),
            course,
        });
    }
    Ok(found)
}

fn file(store: &Store, session: i64) -> Result<Option<String>> {
    let sources = store.sources_of_session(session)?;
    let is_transcript = |kind| matches!(kind, SourceKind::Main | SourceKind::Hooks);
    let path = sources.into_iter().filter(|source| is_transcript(source.kind)).map(|one| one.path);
    Ok(path.into_iter().find(|path| !path.is_empty()))
}

/// As programs are told.
pub(crate) fn as_json(sessions: &[Unindexed]) -> Value {
    let listed: Vec<Value> = sessions
        .iter()
        .map(|session| {
            json!({
                "agent": session.course.key.agent,
                "session_id": session.course.key.id,
                "file_path": session.file,
                "project_namespace": session.project,
                "state": if session.is_active { "active" } else { "inactive" },
                "last_activity": session.last,
                "message_count": session.course.content.map_or(0, |content| content.messages),
                "conversation": session.phase,
                "indexing": session.course.indexing.as_str(),
                "episode_uuid": session.course.episode.as_ref().map(|episode| episode.uuid),
            })
        })
        .collect();
    json!({ "status": "success", "count": listed.len(), "sessions": listed })
}

/// As people read it.
pub(crate) fn show(page: &mut Page, sessions: &[Unindexed], environment: &App) {
    if sessions.is_empty() {
        page.line("Every session is indexed.");
        return;
    }
    let heading =
        format!("{:8}  {:9}  {:9}  {:10}  TITLE", "SESSION", "LAST USED", "STATE", "INDEXING");
    page.line(page.paint(Tone::Quiet, &heading));
    for session in sessions {
        let id = session.course.key.id.short();
        let room = page.columns().saturating_sub(44).max(20);
        let title = one_line(session.title.as_deref().unwrap_or("untitled"), room);
        page.line(format!(
            "{}  {:9}  {:9}  {:10}  {title}",
            page.paint(Tone::Id, &format!("{id:8}")),
            age(session.last, environment.clock.now()),
            session.phase,
            session.course.indexing.as_str(),
        ));
    }
    page.gap();
    let line = format!(
        "{} to be indexed. `thru close ID` does it now; so does the next question.",
        plural(sessions.len() as u64, "session")
    );
    page.line(page.paint(Tone::Quiet, &line));
}
