//! Questions: search, the rank of an answer, and the context that a session would be given.

use schemars::JsonSchema;
use serde::Deserialize;
use thru_app::ask::context::{AskContext, ContextMoment, context};
use thru_app::ask::rank::{ExplainRank, explain_rank};
use thru_app::ask::search::{AnswerSize, Search, search};
use thru_recall::TurnEnds;

use super::{Route, get, names, scope};

/// The passages shown where no number is asked for, and at most.
const USUAL: usize = 20;
const MOST: usize = 200;

pub(super) fn routes() -> Vec<Route> {
    vec![
        get(
            "/search",
            "Finds where something was said or done.",
            |input: SearchInput, app, call| search(app, &input.request()?, call),
        ),
        get("/rank", "Explains the rank of a result.", |input: RankInput, app, call| {
            let RankInput { id, q: query, project } = input;
            explain_rank(app, &ExplainRank { id, query, project: scope(project) }, call)
        }),
        get(
            "/context",
            "Shows what a session that starts in a project, or a prompt, would be given.",
            |input: ContextInput, app, call| context(app, &input.request(), call),
        ),
    ]
}

/// A question.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SearchInput {
    /// The query: text, nothing in it is syntax.
    q: String,
    /// Only this project, by its name or key.
    project: Option<String>,
    /// Only this session, by the start of its id.
    session: Option<String>,
    /// Only sessions of these agents, separated by commas.
    agent: Option<String>,
    /// Only what touched this file (the end of its path).
    file: Option<String>,
    /// Not before this day, as people write one.
    since: Option<String>,
    /// Before this day.
    until: Option<String>,
    /// Only these kinds, separated by commas: `bugfix` and other types of memories, `prompt`, `answer`, `tool`.
    r#type: Option<String>,
    /// Only memories with one of these concepts.
    concept: Option<String>,
    /// Passages at most.
    limit: Option<usize>,
    /// Passages before and after each.
    #[serde(default)]
    context: u32,
    /// True for the nearest where nothing answers.
    #[serde(default)]
    nearest: bool,
    /// True for the prompt and the result of each turn.
    #[serde(default)]
    turns: bool,
}

impl SearchInput {
    fn request(self) -> thru_app::Result<Search> {
        Ok(Search {
            agents: names(self.agent.as_deref())?,
            kinds: names(self.r#type.as_deref())?,
            concepts: names(self.concept.as_deref())?,
            query: self.q,
            project: scope(self.project),
            session: self.session,
            file: self.file,
            since: self.since,
            until: self.until,
            size: AnswerSize::Passages(Some(self.limit.unwrap_or(USUAL).clamp(1, MOST))),
            context: self.context.min(50),
            nearest: self.nearest,
            turns: if self.turns { TurnEnds::Both } else { TurnEnds::None },
        })
    }
}

/// A result whose rank is to be explained.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct RankInput {
    /// The id of a passage or a memory.
    id: String,
    /// The question.
    q: String,
    /// The project that was searched.
    project: Option<String>,
}

/// An occasion on which a session is given context.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ContextInput {
    /// The project, by its name or key.
    project: String,
    /// The prompt; without one, a session starts.
    prompt: Option<String>,
    /// The occasion, where there is no prompt.
    #[serde(default)]
    source: Source,
    /// The session that it is given to, by the start of its id.
    session: Option<String>,
}

/// How a session starts.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Source {
    #[default]
    Startup,
    Clear,
    Resume,
    Compact,
}

impl ContextInput {
    fn request(self) -> AskContext {
        let moment = match (self.prompt, self.source) {
            (Some(prompt), _) => ContextMoment::Prompt(prompt),
            (None, Source::Startup | Source::Clear) => ContextMoment::Start,
            (None, Source::Resume) => ContextMoment::Resume,
            (None, Source::Compact) => ContextMoment::Compact,
        };
        AskContext { project: Some(self.project), moment, session: self.session }
    }
}
