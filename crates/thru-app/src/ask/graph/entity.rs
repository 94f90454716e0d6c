//! One thing by its id, with the facts about it.

use std::collections::HashMap;

use schemars::JsonSchema;
use serde::Serialize;
use thru_core::{Id, IdPrefix};
use thru_store::{EntityRow, FactFilter, FactTime};

use super::{EntityEntry, FactEntry, OpenGraph, ProjectScope};
use crate::answer;
use crate::app::App;
use crate::call::Call;
use crate::fresh::Prepared;
use crate::trouble::{Result, Trouble};

/// A request for a thing.
#[derive(Clone, Debug)]
pub struct ShowEntity {
    /// Its id, as answers about facts name it.
    pub id: String,
    /// Maximum number of facts.
    pub limit: usize,
}

/// A thing with the facts about it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ShownEntity {
    /// The version of this form.
    pub version: u32,
    /// `entity`.
    pub kind: &'static str,
    /// The thing.
    pub entity: EntityEntry,
    /// True if there are more facts.
    pub more: bool,
    /// The facts about it, those that ended too, the latest first.
    pub facts: Vec<FactEntry>,
    /// The work done before the answer.
    #[serde(flatten)]
    pub preparation: Prepared,
}

/// Shows a thing.
///
/// # Errors
/// Fails if no fact is about such a thing, or the store cannot be read.
pub fn entity(app: &App, request: &ShowEntity, call: Call<'_>) -> Result<ShownEntity> {
    let graph = OpenGraph::new(app, &ProjectScope::Everywhere, call)?;
    let missing = || Trouble::not_found(format!("there is no thing `{}`", request.id));
    let id: IdPrefix = request.id.trim().parse().map_err(|_| missing())?;
    let id = id.complete().ok_or_else(missing)?;
    let rows = with_id(&graph, &id)?;
    let row = rows.first().ok_or_else(missing)?;
    let mut found = graph.store().facts(&FactFilter {
        entities: Some(rows.iter().map(|one| one.row).collect()),
        time: FactTime::Ever,
        limit: Some(request.limit + 1),
        ..FactFilter::default()
    })?;
    let more = found.len() > request.limit;
    found.truncate(request.limit);
    // What was taken out of the graph is known to nothing else.
    if found.is_empty() {
        return Err(missing());
    }
    Ok(ShownEntity {
        version: answer::VERSION,
        kind: "entity",
        entity: EntityEntry::new(graph.store(), graph.opened.intake.redactor(), row)?,
        more,
        facts: graph.entries(&found, None)?,
        preparation: graph.preparation(),
    })
}

/// Finds a thing by its id, which follows from what it is and stands nowhere. Of projects that were merged, each may have it.
fn with_id(graph: &OpenGraph, id: &Id) -> Result<Vec<EntityRow>> {
    let store = graph.store();
    let mut keys: HashMap<i64, String> = HashMap::new();
    for project in store.project_names()? {
        for row in store.project_rows(project.row)? {
            keys.insert(row, project.key.as_str().to_owned());
        }
    }
    let key_of =
        |one: &EntityRow| one.project.and_then(|row| keys.get(&row)).map_or("", String::as_str);
    Ok(store.entities_that(|one| EntityEntry::id_of(key_of(one), one) == *id)?)
}
