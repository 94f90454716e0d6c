//! Sessions in answers: as an entry of a list, and by their turns.

mod load;
mod standing;
mod turns;

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::Serialize;
use thru_core::{Agent, Id, MemoryKind, ProjectKey, SessionId, Timestamp, Usage, WorkOutcome};
use thru_distil::refine::{Activity, ActivityProfile};
use thru_lifecycle::conversation::MessageState;
use thru_recall::{ContextLimits, SessionContext, session_context};
use thru_redact::{Clean, Redactor};
use thru_refine::activity_profile;
use thru_store::{MemoryBody, MemoryFilter, PassageFilter, SessionRow, Store};

pub use load::{HeldContext, Load, load};
pub use standing::{RetiredEpisode, Standing};
pub use turns::{ReadTurns, RunCommand, TurnOutline, TurnPart, Utterance, read_turns};

use super::{Opened, cleaned, memory, named};
use crate::answer;
use crate::app::App;
use crate::call::Call;
use crate::fresh::{Freshness, Prepared};
use crate::trouble::Result;

/// A session without its passages.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct SessionEntry {
    /// Its agent.
    pub agent: Agent,
    /// The agent's id of it.
    pub id: SessionId,
    /// The name of its project.
    pub project: Option<Clean<String>>,
    /// The key of its project, where another one has the same name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project_key: Option<ProjectKey>,
    /// Its title.
    pub title: Option<Clean<String>>,
    /// The time of its earliest record.
    pub started: Option<Timestamp>,
    /// The time of its latest record.
    pub ended: Option<Timestamp>,
    /// The phase of its conversation.
    pub state: Option<&'static str>,
    /// The time when it was closed.
    pub closed: Option<Timestamp>,
    /// The reason why it was closed.
    pub close_reason: Option<String>,
    /// The state of its indexing.
    pub indexing: &'static str,
    /// The id of its current episode.
    pub episode_uuid: Option<Id>,
    /// The number of its turns.
    pub turns: u32,
    /// The number of its passages.
    pub passages: u64,
    /// The directory that it started in.
    pub directory: Option<Clean<String>>,
    /// The branch that was checked out last.
    pub branch: Option<Clean<String>>,
    /// Models that answered.
    pub models: BTreeSet<String>,
    /// Tokens as the agent's provider counted them.
    pub tokens: Usage,
    /// The number of compactions of its context.
    pub compactions: u32,
    /// The session that it continues as a copy.
    pub forked_from: Option<SessionId>,
    /// The agent's version, last seen.
    #[serde(skip)]
    pub agent_version: Option<String>,
}

impl SessionEntry {
    /// Makes an entry of a session.
    pub fn new(app: &App, redactor: &Redactor, session: &SessionRow) -> Self {
        let conversation = session.lifecycle.at(app.clock.now(), &app.limits());
        let close = conversation.as_ref().and_then(|one| match one.messages() {
            MessageState::Closed(close) => Some(close),
            MessageState::New | MessageState::Nothing => one.ended(),
        });
        let clean = |text: &Option<String>| text.as_deref().map(|text| cleaned(redactor, text));
        let facts = &session.facts;
        Self {
            agent: session.key.agent,
            id: session.key.id.clone(),
            project: clean(&session.project_name),
            project_key: session.project_key.clone(),
            title: clean(&session.title),
            started: session.started,
            ended: session.ended,
            state: conversation.as_ref().map(|one| one.phase().as_str()),
            closed: close.map(|close| close.at),
            close_reason: close.map(|close| close.reason.to_string()),
            indexing: session.indexing.as_str(),
            episode_uuid: session.episode,
            turns: session.turns,
            passages: session.passages,
            directory: clean(&facts.directory),
            branch: clean(&facts.branch),
            models: facts.models.clone(),
            tokens: facts.usage,
            compactions: facts.compactions,
            forked_from: facts.forked_from.clone(),
            agent_version: facts.version.clone(),
        }
    }

    /// The directory that it started in.
    pub fn root(&self) -> Option<&str> {
        self.directory.as_ref().map(|directory| directory.get().as_str())
    }
}

/// A question about one session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outline {
    /// The start of its id, or `latest`: the latest session of the caller's project other than the caller's own.
    pub id: String,
    /// The freshness of the answer.
    pub freshness: Freshness,
}

impl Outline {
    /// A question about a session.
    pub fn new(id: impl Into<String>, freshness: Freshness) -> Self {
        Self { id: id.into(), freshness }
    }
}

/// A session by its turns.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct SessionOutline {
    /// The version of this form.
    pub version: u32,
    /// `session`.
    pub kind: &'static str,
    /// The session.
    pub session: SessionEntry,
    /// Its turns, in order.
    pub turns: Vec<TurnOutline>,
    /// The number of its commands that failed.
    pub failed_commands: usize,
    /// The files that it touched.
    pub files: Vec<TouchedPath>,
    /// The kinds of work in it, each from 0 to 1.
    pub activity: ActivityProfile,
    /// Its state for going on with it.
    pub context: ContextOutline,
    /// Its place in its lifecycle.
    pub standing: Standing,
    /// Its summary, where there is one.
    #[serde(skip)]
    pub digest: Option<SessionDigest>,
    /// The work done to bring the answer up to date.
    #[serde(skip)]
    pub preparation: Prepared,
}

/// The summary of a session.
#[derive(Clone, Debug)]
pub struct SessionDigest {
    /// The short id of the memory.
    pub id: String,
    /// Its content.
    pub body: Clean<MemoryBody>,
}

impl SessionOutline {
    /// Names the kinds of work in it, the one with most signs first; `None` where little was done.
    pub fn kinds_of_work(&self) -> Option<String> {
        const SLIGHT: f32 = 0.15;
        let shares = Activity::ALL.map(|kind| (kind, self.activity.get(kind)));
        let mut shares: Vec<_> = shares.into_iter().filter(|(_, share)| *share >= SLIGHT).collect();
        shares.sort_by(|a, b| b.1.total_cmp(&a.1));
        // The weights are of each kind by itself and add up to nothing: the order is what they tell.
        let named: Vec<&str> = shares.iter().map(|(kind, _)| kind.as_str()).collect();
        Some(named.join(", ")).filter(|named| !named.is_empty())
    }
}

impl SessionDigest {
    /// The outcome of the session.
    pub fn outcome(&self) -> Option<WorkOutcome> {
        match self.body.get() {
            MemoryBody::Summary(summary) => Some(summary.digest.outcome),
            MemoryBody::Observation(_) => None,
        }
    }
}

/// A file that a session touched.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct TouchedPath {
    /// Its path.
    pub path: Clean<String>,
    /// The number of changes.
    pub modified: u64,
    /// The number of times that it was read or changed.
    pub touched: u64,
}

/// The state of a session, for going on with its work.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ContextOutline {
    /// The latest real request of a person.
    pub task: Option<Clean<String>>,
    /// Its working directory.
    pub directory: Option<Clean<String>>,
    /// The files that it worked on, the latest first.
    pub files: Vec<ContextFile>,
    /// The tools that it used, the latest first.
    pub tools: Vec<Clean<String>>,
    /// Files, identifiers and error codes from its prompts.
    pub entities: Vec<Clean<String>>,
    /// Its last actions, the newest last.
    pub hot: Vec<ContextAction>,
    /// Its last events, the newest last.
    pub events: Vec<ContextEvent>,
    /// The time of its last activity.
    pub last: Option<Timestamp>,
}

/// A file that a session worked on.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ContextFile {
    /// Its path, relative to the session's directory.
    pub path: Clean<String>,
    /// True if it was changed.
    pub modified: bool,
    /// The time when it was last worked on.
    pub at: Option<Timestamp>,
}

/// An action of a session.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ContextAction {
    /// Its time.
    pub at: Option<Timestamp>,
    /// The short id of the passage that shows it.
    pub id: String,
    /// One line that describes it.
    pub summary: Clean<String>,
}

/// An event of a session.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ContextEvent {
    /// Its time.
    pub at: Option<Timestamp>,
    /// Its name.
    pub event: String,
    /// The tool that ran.
    pub tool: Option<Clean<String>>,
    /// The beginning of a prompt, a reason or an error.
    pub note: Option<Clean<String>>,
}

impl ContextOutline {
    fn new(store: &Store, context: SessionContext) -> Result<Self> {
        let hot = context.hot.into_iter().map(|action| {
            let id = store.short_id(&action.passage)?;
            Ok(ContextAction { at: action.at, id, summary: action.summary })
        });
        let hot = hot.collect::<Result<_>>()?;
        let files = context.files.into_iter();
        let files =
            files.map(|file| ContextFile { path: file.path, modified: file.modified, at: file.at });
        let events = context.events.into_iter().map(|one| ContextEvent {
            at: one.at,
            event: one.event,
            tool: one.tool,
            note: one.note,
        });
        Ok(Self {
            task: context.task,
            directory: context.directory,
            files: files.collect(),
            tools: context.tools,
            entities: context.entities,
            hot,
            events: events.collect(),
            last: context.last,
        })
    }
}

/// Tells one session by its turns.
///
/// # Errors
/// Fails if there is no such session, or the store cannot be read.
pub fn outline(app: &App, request: &Outline, call: Call<'_>) -> Result<SessionOutline> {
    let Opened { store, intake, preparation } = Opened::new(app, request.freshness, call)?;
    let redactor = intake.redactor();
    let session = named::named_session(app, &store, &request.id)?;
    let passages = store.passages(PassageFilter::Session(session.row))?;
    let limits = ContextLimits {
        hot: app.config.session.max_hot_entries,
        idle_timeout: app.limits().idle_timeout,
        ..ContextLimits::default()
    };
    let context = session_context(&store, redactor, session.row, limits)?;
    Ok(SessionOutline {
        version: answer::VERSION,
        kind: "session",
        turns: turns::turns(&store, redactor, passages.iter())?,
        failed_commands: turns::failed_commands(&passages).count(),
        files: touched_paths(&store, redactor, session.row)?,
        activity: activity_profile(&store, session.row, passages)?,
        context: ContextOutline::new(&store, context)?,
        standing: Standing::new(app, &store, &session)?,
        digest: digest(&store, redactor, session.row)?,
        session: SessionEntry::new(app, redactor, &session),
        preparation,
    })
}

fn touched_paths(store: &Store, redactor: &Redactor, session: i64) -> Result<Vec<TouchedPath>> {
    let files = store.files_of_session(session)?.into_iter().map(|file| TouchedPath {
        path: cleaned(redactor, &file.path),
        modified: file.modified,
        touched: file.touched,
    });
    Ok(files.collect())
}

fn digest(store: &Store, redactor: &Redactor, session: i64) -> Result<Option<SessionDigest>> {
    let filter = MemoryFilter {
        session: Some(session),
        kinds: Some(vec![MemoryKind::Summary]),
        ..MemoryFilter::default()
    };
    let Some(summary) = store.memories(&filter)?.pop() else { return Ok(None) };
    let body = memory::body(store, redactor, &summary)?;
    Ok(Some(SessionDigest { id: store.short_id(&summary.id)?, body }))
}
