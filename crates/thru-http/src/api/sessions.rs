//! Sessions: listed, by their turns, passage by passage, and with the briefings that they were given.

use axum::http::Method;
use schemars::JsonSchema;
use serde::Deserialize;
use thru_app::ask::briefings::{self, ListBriefings};
use thru_app::ask::context::{AskContext, ContextMoment, context};
use thru_app::ask::session::{Outline, ReadTurns, outline, read_turns};
use thru_app::ask::sessions::{ListSessions, list};
use thru_app::ask::transcript::{self, ReadTranscript};
use thru_app::fresh::Freshness;
use thru_app::ingest::rebuild::resumable;
use thru_app::keep::forget::{self, Forget};

use super::{Named, Route, change, get, look, names, scope};

/// Entries of a list where no number is asked for, and at most.
const USUAL: usize = 50;
const MOST: usize = 500;

pub(super) fn routes() -> Vec<Route> {
    vec![
        look("/sessions", "Lists sessions, the latest first.", |input: ListInput, app, call| {
            let request = ListSessions {
                project: scope(input.project),
                agents: names(input.agent.as_deref())?,
                since: input.since,
                until: input.until,
                cursor: input.cursor,
                limit: input.limit.unwrap_or(USUAL).clamp(1, MOST),
            };
            list(app, &request, call)
        }),
        look("/sessions/{id}", "Tells a session by its turns.", |input: Named, app, call| {
            outline(app, &Outline::new(input.id, Freshness::Recorded), call)
        }),
        look(
            "/sessions/{id}/turns",
            "Reads some turns of a session.",
            |input: TurnsInput, app, call| {
                let limit = input.limit.unwrap_or(USUAL).clamp(1, MOST) as u32;
                read_turns(app, &ReadTurns { session: input.id, first: input.first, limit }, call)
            },
        ),
        look(
            "/sessions/{id}/passages",
            "Reads a session passage by passage.",
            |input: PassagesInput, app, call| {
                let limit = input.limit.unwrap_or(USUAL).clamp(1, MOST);
                transcript::read(
                    app,
                    &ReadTranscript { session: input.id, from: input.from, limit },
                    call,
                )
            },
        ),
        get(
            "/sessions/{id}/pack",
            "Shows what a session would be given now.",
            |input: PackInput, app, call| context(app, &input.request(), call),
        ),
        look(
            "/briefings",
            "Lists what sessions were given from memory, the latest first.",
            |input: BriefingsInput, app, call| {
                let request = ListBriefings {
                    session: input.session,
                    since: input.since,
                    cursor: input.cursor,
                    limit: input.limit.unwrap_or(USUAL).clamp(1, MOST),
                };
                briefings::list(app, &request, call)
            },
        ),
        change(
            Method::POST,
            "/sessions/{id}/resume",
            "Returns the command that resumes a session; a transcript that its agent deleted is put back.",
            |input: Named, app, call| resumable(app, &input.id, call),
        ),
        change(
            Method::POST,
            "/sessions/{id}/forget",
            "Forgets a session for good.",
            |input: ForgetInput, app, call| {
                let request = Forget::Session { id: input.id, with_effects: input.with_effects };
                forget::forget_or_preview(app, &request, input.dry_run, call)
            },
        ),
    ]
}

/// Sessions to list.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ListInput {
    /// Only this project, by its name or key.
    project: Option<String>,
    /// Only of these agents, separated by commas.
    agent: Option<String>,
    /// Active on this day or later, as people write one.
    since: Option<String>,
    /// Begun before this day or moment.
    until: Option<String>,
    /// Where the page begins: `next` of the page before.
    cursor: Option<String>,
    /// Entries at most.
    limit: Option<usize>,
}

/// Some turns of a session.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct TurnsInput {
    /// Its id, or the start of it.
    id: String,
    /// The number of the first turn.
    #[serde(default)]
    first: u32,
    /// Turns at most.
    limit: Option<usize>,
}

/// A part of a session.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct PassagesInput {
    /// Its id, or the start of it.
    id: String,
    /// The number of passages to skip.
    #[serde(default)]
    from: usize,
    /// Passages at most.
    limit: Option<usize>,
}

/// An occasion on which a session is given context.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct PackInput {
    /// Its id, or the start of it.
    id: String,
    /// The occasion.
    #[serde(default)]
    purpose: Purpose,
    /// The prompt, where that is the occasion.
    prompt: Option<String>,
}

/// The purpose of what a session is given.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Purpose {
    #[default]
    Start,
    Prompt,
    Compact,
    Resume,
}

impl PackInput {
    fn request(self) -> AskContext {
        let moment = match (self.prompt, self.purpose) {
            (prompt, Purpose::Prompt) => ContextMoment::Prompt(prompt.unwrap_or_default()),
            (Some(prompt), Purpose::Start) => ContextMoment::Prompt(prompt),
            (_, Purpose::Start) => ContextMoment::Start,
            (_, Purpose::Compact) => ContextMoment::Compact,
            (_, Purpose::Resume) => ContextMoment::Resume,
        };
        AskContext { project: None, moment, session: Some(self.id) }
    }
}

/// Briefings to list.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct BriefingsInput {
    /// Only those of this session, by the start of its id.
    session: Option<String>,
    /// Not before this day, as people write one; the last 30 days where none is given.
    since: Option<String>,
    /// Where the page begins: `next` of the page before.
    cursor: Option<String>,
    /// Entries at most.
    limit: Option<usize>,
}

/// A session to forget.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ForgetInput {
    /// Its id, or the start of it.
    id: String,
    /// True for the memories, too, that came of it elsewhere.
    #[serde(default)]
    with_effects: bool,
    /// True to tell what would be forgotten, and forget nothing.
    #[serde(default)]
    dry_run: bool,
}
