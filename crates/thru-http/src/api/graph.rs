//! Questions to the graph: what holds, what held, what changed, what is open.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thru_app::ask::graph::EntityEntry;
use thru_app::ask::graph::changed::{Changed, changed};
use thru_app::ask::graph::entity::{ShowEntity, entity};
use thru_app::ask::graph::facts::{Facts, facts};
use thru_app::ask::graph::problems::{ListProblems, problems};
use thru_app::ask::graph::why::{Why, why};
use thru_app::{App, Call, Result};

use super::{Route, ask_up_to_date, get, names, scope};
use crate::drawing::{Edge, ego, timeline};

/// Facts where no number is asked for, and at most.
const USUAL: usize = 50;
const MOST: usize = 500;

pub(super) fn routes() -> Vec<Route> {
    vec![
        ask_up_to_date(
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
                    cursor: input.cursor,
                    limit: limit(input.limit),
                };
                facts(app, &request, call)
            },
        ),
        ask_up_to_date(
            "/entities/{id}",
            "Shows a thing with the facts about it, those that ended too.",
            |input: EntityInput, app, call| {
                entity(app, &ShowEntity { id: input.id, limit: limit(input.limit) }, call)
            },
        ),
        ask_up_to_date(
            "/facts/drawing",
            "Draws a thing among its neighbours, and the time in which its facts held, as SVG.",
            draw,
        ),
        get("/why", "Tells how a thing came to be as it is.", |input: WhyInput, app, call| {
            let WhyInput { about, project, cursor, limit: most } = input;
            why(app, &Why { about, project: scope(project), cursor, limit: limit(most) }, call)
        }),
        ask_up_to_date(
            "/changed",
            "Lists what changed in a span of time.",
            |input: ChangedInput, app, call| {
                let ChangedInput { span, project, cursor, limit: most } = input;
                let (project, limit) = (scope(project), limit(most));
                changed(app, &Changed { span, project, cursor, limit }, call)
            },
        ),
        ask_up_to_date(
            "/problems",
            "Lists the problems that are open.",
            |input: ProblemsInput, app, call| {
                let ProblemsInput { project, cursor, limit: most } = input;
                let (project, limit) = (scope(project), limit(most));
                problems(app, &ListProblems { project, cursor, limit }, call)
            },
        ),
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
    /// Where the page begins: `next` of the page before.
    cursor: Option<String>,
    /// Facts at most.
    limit: Option<usize>,
}

/// A thing to show.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct EntityInput {
    /// Its id, as facts name it.
    id: String,
    /// Facts at most.
    limit: Option<usize>,
}

/// A thing to draw.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct DrawingInput {
    /// Its key, or its name.
    about: String,
    /// Only this project, by its name or key.
    project: Option<String>,
}

/// The drawings of a thing.
#[derive(Serialize, JsonSchema)]
#[serde(tag = "kind", rename = "drawing")]
struct Drawings {
    version: u32,
    /// The thing; nothing where no fact is about it.
    entity: Option<EntityEntry>,
    /// The thing among its neighbours.
    ego: String,
    /// The time in which its facts held.
    timeline: String,
}

fn draw(input: DrawingInput, app: &App, call: Call<'_>) -> Result<Drawings> {
    let request = Facts {
        about: input.about,
        project: scope(input.project),
        relations: Vec::new(),
        at: None,
        known: None,
        history: true,
        cursor: None,
        limit: MOST,
    };
    let found = facts(app, &request, call)?;
    let entity = found.entities.into_iter().next();
    let name = entity.as_ref().map_or_else(String::new, |entity| entity.name.get().clone());
    let row = entity.as_ref().map(|entity| entity.row);
    let edges: Vec<Edge> = found
        .facts
        .iter()
        .filter_map(|fact| {
            let is_outgoing = Some(fact.subject.row) == row;
            let is_incoming = fact.object.as_ref().is_some_and(|one| Some(one.row) == row);
            let other = match is_outgoing {
                true => fact.object_shown().to_owned(),
                false => fact.subject.name.get().clone(),
            };
            let scope = fact.scope.get();
            let other = if scope.is_empty() { other } else { format!("{other} ({scope})") };
            let until = fact.end.as_ref().map(|end| end.at);
            (is_outgoing || is_incoming).then(|| Edge {
                relation: fact.relation.as_str(),
                other,
                is_outgoing,
                from: fact.from,
                until,
            })
        })
        .collect();
    Ok(Drawings {
        version: thru_app::answer::VERSION,
        entity,
        ego: ego(&name, &edges),
        timeline: timeline(&name, &edges, app.clock.now(), app.zone()),
    })
}

/// A thing whose course is to be told.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct WhyInput {
    /// A file, command, test, error, commit, branch, package or setting, or words of it.
    about: String,
    /// Only this project, by its name or key.
    project: Option<String>,
    /// Where the page begins: `next` of the page before.
    cursor: Option<String>,
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
    /// Where the page begins: `next` of the page before.
    cursor: Option<String>,
    /// Facts at most.
    limit: Option<usize>,
}

/// Problems to list.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ProblemsInput {
    /// Only this project, by its name or key.
    project: Option<String>,
    /// Where the page begins: `next` of the page before.
    cursor: Option<String>,
    /// Problems at most.
    limit: Option<usize>,
}
