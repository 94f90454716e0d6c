//! Questions to the graph: what holds, what held, what changed, what is open.

use schemars::JsonSchema;
use serde::Deserialize;
use thru_app::ask::graph::changed::{Changed, changed};
use thru_app::ask::graph::facts::{Facts, facts};
use thru_app::ask::graph::problems::{ListProblems, problems};
use thru_app::ask::graph::why::{Why, why};

use super::{Route, get, names, scope};

/// Facts where no number is asked for, and at most.
const USUAL: usize = 50;
const MOST: usize = 500;

pub(super) fn routes() -> Vec<Route> {
    vec![
        get(
            "/facts",
            "Lists facts about a thing, the latest first.",
            |input: FactsInput, app, call| {
                let request = Facts {
                    about: input.about.unwrap_or_default(),
                    project: scope(input.project),
                    relations: names(input.relation.as_deref())?,
                    at: input.at,
                    known: input.as_known,
                    history: input.history,
                    limit: limit(input.limit),
                };
                facts(app, &request, call)
            },
        ),
        get("/why", "Tells how a thing came to be as it is.", |input: WhyInput, app, call| {
            let WhyInput { about, project, limit: most } = input;
            why(app, &Why { about, project: scope(project), limit: limit(most) }, call)
        }),
        get(
            "/changed",
            "Lists what changed in a span of time.",
            |input: ChangedInput, app, call| {
                let ChangedInput { span, project, limit: most } = input;
                changed(app, &Changed { span, project: scope(project), limit: limit(most) }, call)
            },
        ),
        get("/problems", "Lists the problems that are open.", |input: ProblemsInput, app, call| {
            let ProblemsInput { project, limit: most } = input;
            problems(app, &ListProblems { project: scope(project), limit: limit(most) }, call)
        }),
    ]
}

fn limit(asked: Option<usize>) -> usize {
    asked.unwrap_or(USUAL).clamp(1, MOST)
}

/// Facts to list.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct FactsInput {
    /// A file, command, test, error, commit, branch, package or setting, or words of it.
    about: Option<String>,
    /// Only this project, by its name or key.
    project: Option<String>,
    /// Only these relations, separated by commas.
    relation: Option<String>,
    /// As it was then, as people write a day.
    at: Option<String>,
    /// As far as it was known then.
    as_known: Option<String>,
    /// True for those that no longer hold, too.
    #[serde(default)]
    history: bool,
    /// Facts at most.
    limit: Option<usize>,
}

/// A thing whose course is to be told.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct WhyInput {
    /// A file, command, test, error, commit, branch, package or setting, or words of it.
    about: String,
    /// Only this project, by its name or key.
    project: Option<String>,
    /// Facts at most.
    limit: Option<usize>,
}

/// A span of time.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ChangedInput {
    /// `A..B`: days as people write them, commits, or starts of ids of sessions; `A` alone ends now.
    span: String,
    /// Only this project, by its name or key.
    project: Option<String>,
    /// Facts at most.
    limit: Option<usize>,
}

/// Problems to list.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ProblemsInput {
    /// Only this project, by its name or key.
    project: Option<String>,
    /// Problems at most.
    limit: Option<usize>,
}
