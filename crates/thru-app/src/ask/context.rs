//! The context that a session which starts now, or a prompt, would be given.

use schemars::JsonSchema;
use serde::Serialize;
use thru_core::{Id, MemoryKind, SessionId};
use thru_recall::{Occasion, Pack, PackLine, Tier, calls_for_memory};
use thru_redact::Clean;

use super::named;
use super::pack::{PackProject, Recipient, make_pack, snapshot_now};
use crate::answer;
use crate::app::App;
use crate::call::Call;
use crate::embedding;
use crate::fresh::{self, Freshness, Prepared};
use crate::trouble::{Remedy, Result};

/// A request for the context of a session.
#[derive(Clone, Debug, Default)]
pub struct AskContext {
    /// The project's name or key; that of the session where there is none, else the caller's.
    pub project: Option<String>,
    /// The occasion.
    pub moment: ContextMoment,
    /// The start of the id of the session that it is given to.
    pub session: Option<String>,
}

/// The occasion of a context.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ContextMoment {
    /// A session starts, or its context was cleared.
    #[default]
    Start,
    /// A session is resumed.
    Resume,
    /// A session goes on after a compaction.
    Compact,
    /// This prompt.
    Prompt(String),
}

/// The context of a session.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct SessionBriefing {
    /// The version of this form.
    pub version: u32,
    /// `context`.
    pub kind: &'static str,
    /// The whole text, fenced; empty if there is nothing to say.
    pub text: Clean<String>,
    /// Estimated tokens of the text.
    pub tokens: u64,
    /// The reason for silence, or the basis of the choice.
    pub note: String,
    /// Its lines.
    pub lines: Vec<BriefingLine>,
    /// The work done to bring the answer up to date.
    pub preparation: Prepared,
}

/// A line of a context.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct BriefingLine {
    /// The short id of the memory; `None` if the line is about the session itself.
    pub id: Option<String>,
    /// Its id.
    pub full_id: Option<Id>,
    /// The session that it comes from.
    pub session: Option<SessionId>,
    /// The turn that it comes from.
    pub turn: Option<u32>,
    /// `snapshot`, `summary`, `note` or `observation`.
    pub kind: &'static str,
    /// The kind of the memory.
    #[serde(rename = "type")]
    pub memory_kind: Option<&'static str>,
    /// The line.
    pub title: Clean<String>,
    /// The tier that let it in.
    pub tier: Tier,
    /// The reason for it.
    pub reason: String,
}

impl From<PackLine> for BriefingLine {
    fn from(line: PackLine) -> Self {
        let memory = line.memory.as_ref();
        Self {
            id: line.short_id,
            full_id: memory.map(|memory| memory.id),
            turn: memory.map(|memory| memory.turn),
            kind: memory.map_or("snapshot", |memory| match memory.kind {
                MemoryKind::Summary => "summary",
                MemoryKind::Observation(_) if memory.flags.is_note => "note",
                MemoryKind::Observation(_) => "observation",
            }),
            memory_kind: memory.map(|memory| memory.kind.as_str()),
            session: line.session,
            title: line.text,
            tier: line.tier,
            reason: line.reason,
        }
    }
}

impl SessionBriefing {
    fn new(pack: Pack, preparation: Prepared) -> Self {
        Self {
            version: answer::VERSION,
            kind: "context",
            text: pack.text,
            tokens: pack.tokens,
            note: pack.note,
            lines: pack.lines.into_iter().map(BriefingLine::from).collect(),
            preparation,
        }
    }

    fn silent(note: &str) -> Self {
        Self::new(Pack { note: note.to_owned(), ..Pack::default() }, Prepared::default())
    }
}

/// Makes the context of a session. It is empty where nothing was recorded yet, or context is switched off.
///
/// # Errors
/// Fails if a project or a session cannot be found, a setting cannot be understood, or the store cannot be read.
pub fn context(app: &App, request: &AskContext, call: Call<'_>) -> Result<SessionBriefing> {
    fresh::of_whole_index(app, call, || make_context(app, request, call))
}

fn make_context(app: &App, request: &AskContext, call: Call<'_>) -> Result<SessionBriefing> {
    call.check()?;
    if app.config.context.off {
        return Ok(SessionBriefing::silent("silent: `context.off` is set here"));
    }
    let store = match fresh::open(app, Freshness::AsItIs, call) {
        // Nothing can be known yet.
        Err(trouble) if trouble.remedy() == Some(&Remedy::Import) => {
            return Ok(SessionBriefing::silent("silent: nothing was recorded yet"));
        }
        opened => opened?,
    };
    let session = match &request.session {
        Some(id) => Some(named::named_session(app, &store, id)?.row),
        None => None,
    };
    let of_session = session.map(|session| store.project_key_of_session(session)).transpose()?;
    let of_session = of_session.flatten().map(|key| key.to_string());
    let project = match request.project.as_ref().or(of_session.as_ref()) {
        Some(name) => PackProject::known(&store, named::named_project(&store, name)?)?,
        None => PackProject::here(app, &store)?,
    };
    // It is embedded while new records are brought in.
    let embedding = match &request.moment {
        ContextMoment::Prompt(prompt) if calls_for_memory(prompt) => {
            Some(embedding::embed_question(app, prompt))
        }
        _ => None,
    };
    let intake = app.intake_beside(&store)?;
    let (store, prepared) = fresh::for_question(app, &intake, store, Some(&project.rows), call)?;
    let occasion = match &request.moment {
        ContextMoment::Prompt(prompt) => Occasion::Prompt(prompt.clone()),
        ContextMoment::Start => Occasion::Start,
        ContextMoment::Resume => Occasion::Resume,
        ContextMoment::Compact => Occasion::Compact,
    };
    let snapshot = match (&occasion, session) {
        (Occasion::Compact, Some(session)) => {
            snapshot_now(&intake, &store, session, app.clock.now())?.map(Clean::into_inner)
        }
        _ => None,
    };
    let recipient = Recipient { session, snapshot, ..Recipient::default() };
    let embedding = embedding::pending(embedding);
    let pack = make_pack(app, &store, intake.redactor(), project, occasion, recipient, embedding)?;
    Ok(SessionBriefing::new(pack, prepared))
}
