//! Resources: the same answers, by URI.

use rmcp::model::{Resource, ResourceTemplate};
use thru_recall::recorded;

use crate::asked::{Get, Place, Session};
use crate::memory::{Call, Memory, Trouble};
use crate::told::{Piece, SessionTold};
use crate::uri::Named;
use crate::{fence, render};

/// The media type of all resources.
pub(crate) const MIME: &str = "text/markdown";
/// Most sessions that are listed.
const LISTED: usize = 10;

/// Returns the URI templates.
pub(crate) fn templates() -> Vec<ResourceTemplate> {
    [
        ("throughline://session/{id}", "session", "Outline and summary of a session"),
        ("throughline://memory/{id}", "memory", "A memory or a passage in full"),
        (
            "throughline://project/{id}/context",
            "context",
            "Context that a session starting in a project (name or key) gets",
        ),
    ]
    .into_iter()
    .map(|(uri, name, about)| {
        ResourceTemplate::new(uri, name).with_description(about).with_mime_type(MIME)
    })
    .collect()
}

/// Lists the context of the current project, and its latest sessions.
pub(crate) fn list(memory: &dyn Memory) -> Result<Vec<Resource>, Trouble> {
    let mut listed = Vec::new();
    if let Some(project) = memory.project()? {
        let name = thru_core::plain_line(project.name.get(), 60);
        let uri = Named::Context(project.key).to_string();
        listed.push(
            Resource::new(uri, format!("context of {name}"))
                .with_description("Context that a session starting here gets")
                .with_mime_type(MIME),
        );
    }
    for session in memory.sessions(LISTED)? {
        let title = session.title.map(|title| recorded(title.get(), 80));
        let name = format!("session {}", session.id.chars().take(8).collect::<String>());
        let resource = Resource::new(Named::Session(session.id).to_string(), name);
        let titled = match title {
            Some(title) => resource.with_title(title),
            None => resource,
        };
        listed.push(titled.with_mime_type(MIME));
    }
    Ok(listed)
}

/// Returns the contents behind a URI; `None` if the URI is not ours, or names nothing.
pub(crate) fn read(uri: &str, memory: &dyn Memory, call: &Call) -> Result<Option<String>, Trouble> {
    let zone = memory.now().1;
    let text = match Named::parse(uri) {
        None => return Ok(None),
        Some(Named::Session(id)) => match memory.session(&Session { id, resume: false }, call)? {
            SessionTold::Outline(outline) => render::outline(&outline, &zone),
            SessionTold::Pack(pack) => return Ok(Some(pack.into_inner())),
        },
        Some(Named::Memory(id)) => {
            let pieces = memory.get(&Get { ids: vec![id], source: false }, call)?;
            if matches!(pieces[..], [] | [Piece::Unknown { .. }]) {
                return Ok(None);
            }
            render::pieces(&pieces, false, &zone)
        }
        Some(Named::Context(project)) => {
            let pack = memory.context(&Place::Named(project), call)?;
            return Ok(Some(match pack.get().is_empty() {
                true => "Nothing is remembered about this project.".to_owned(),
                false => pack.into_inner(),
            }));
        }
    };
    Ok(Some(fence::answer(memory, &text).into_inner()))
}
