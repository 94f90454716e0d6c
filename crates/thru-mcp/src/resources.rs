//! Resources: the same answers, by URI.

use rmcp::model::{Resource, ResourceTemplate};
use thru_app::ask::context::{AskContext, context};
use thru_app::ask::get::{Get, Piece, Sources, get};
use thru_app::ask::session::{Outline, outline};
use thru_app::ask::sessions::here;
use thru_app::fresh::Freshness;
use thru_app::{Backend, Call, Result, vault};
use thru_core::plain_line;
use thru_recall::recorded;

use crate::fence;
use crate::render::Renderer;
use crate::uri::Named;

/// The media type of all resources.
pub(crate) const MIME: &str = "text/markdown";
/// Most sessions that are listed.
const LISTED: usize = 10;

/// Returns the URI templates.
pub(crate) fn templates() -> Vec<ResourceTemplate> {
    [
        ("throughline://session/{id}", "session", "Outline and summary of a session"),
        ("throughline://memory/{id}", "memory", "A memory or a passage in full"),
        ("throughline://note/{id}", "note", "Note of a session in the vault, as people keep it"),
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
pub(crate) fn list(backend: &Backend, call: Call<'_>) -> Result<Vec<Resource>> {
    let here = backend.call(|app| here(app, LISTED, call))?;
    let mut listed = Vec::new();
    if let Some((key, name)) = here.project {
        let name = plain_line(name.get(), 60);
        let uri = Named::Context(key).to_string();
        listed.push(
            Resource::new(uri, format!("context of {name}"))
                .with_description("Context that a session starting here gets")
                .with_mime_type(MIME),
        );
    }
    for session in here.sessions {
        let title = session.title.map(|title| recorded(title.get(), 80));
        let name = format!("session {}", session.id.short());
        let uri = Named::Session(session.id.as_str().to_owned()).to_string();
        let resource = Resource::new(uri, name);
        let titled = match title {
            Some(title) => resource.with_title(title),
            None => resource,
        };
        listed.push(titled.with_mime_type(MIME));
    }
    Ok(listed)
}

/// Returns the contents behind a URI; `None` if the URI is not ours, or names nothing.
pub(crate) fn read(uri: &str, backend: &Backend, call: Call<'_>) -> Result<Option<String>> {
    let Some(named) = Named::parse(uri) else { return Ok(None) };
    let freshness = Freshness::Indexed;
    backend.call(|app| {
        let text = match named {
            Named::Session(id) => {
                let outline = outline(app, &Outline::new(id, freshness), call)?;
                Renderer::new(app).outline(&outline)
            }
            Named::Memory(id) => {
                let request = Get { ids: vec![id], sources: Sources::None, freshness };
                let pieces = get(app, &request, call)?;
                if matches!(pieces.pieces[..], [] | [Piece::Unknown { .. }]) {
                    return Ok(None);
                }
                Renderer::new(app).pieces(&pieces, false)
            }
            Named::Note(id) => vault::note_text(app, &id, call)?.into_inner(),
            Named::Context(project) => {
                let request = AskContext { project: Some(project), ..AskContext::default() };
                let context = context(app, &request, call)?;
                return Ok(Some(match context.text.get().is_empty() {
                    true => "Nothing is remembered about this project.".to_owned(),
                    false => context.text.into_inner(),
                }));
            }
        };
        Ok(Some(fence::answer(app, &text).into_inner()))
    })
}
