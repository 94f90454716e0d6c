//! Nodes: the things that a question names.

use thru_core::EntityKind;
use thru_store::{EntityRow, FactFilter, FactTime};

use super::{AsOf, EntityEntry, Node, open};
use crate::app::App;
use crate::call::Call;
use crate::trouble::Result;

/// Things that are looked at for each that is shown, where only some kinds are wanted.
const EACH: usize = 20;

/// A request for nodes.
#[derive(Clone, Debug)]
pub struct FindNodes {
    /// Names, or words.
    pub query: String,
    /// Their groups; the caller's project, if none is given.
    pub groups: Vec<String>,
    /// Only nodes with one of these labels; empty means all.
    pub labels: Vec<String>,
    /// The node next to which others come first.
    pub centre: Option<String>,
    /// The moments that it is about.
    pub time: AsOf,
    /// Maximum number of nodes.
    pub limit: usize,
}

/// Finds the things that a question names and of which a fact held then.
///
/// # Errors
/// Fails if a date cannot be understood, or the store cannot be read.
pub fn find_nodes(app: &App, request: &FindNodes, call: Call<'_>) -> Result<Vec<Node>> {
    let graph = open(app, &request.groups, call)?;
    let (time, known) = (request.time.time(app)?, request.time.known(app)?);
    let wanted = |entity: &EntityRow| {
        request.labels.is_empty()
            || request.labels.iter().any(|label| is_of_kind(entity.kind, label))
    };
    let mut named = graph.meant(&request.query, request.limit.saturating_mul(EACH))?.entities;
    named.retain(wanted);
    let redactor = graph.opened.intake.redactor();
    let mut nodes = Vec::new();
    for entity in &named {
        if nodes.len() == request.limit && request.centre.is_none() {
            break;
        }
        let facts = graph.store().facts(&FactFilter {
            entities: Some(vec![entity.row]),
            // What ended belongs to the time at which a thing was first known.
            time: if time == FactTime::Now { FactTime::Ever } else { time },
            ..FactFilter::default()
        })?;
        if facts.is_empty() || time == FactTime::Now && facts.iter().all(|fact| fact.end.is_some())
        {
            continue;
        }
        let facts = graph.entries(&facts, known)?;
        let is_near = request.centre.as_ref().is_some_and(|centre| {
            let is_it = |end: &EntityEntry| end.id.to_string() == *centre;
            facts.iter().any(|fact| is_it(&fact.subject) || fact.object.as_ref().is_some_and(is_it))
        });
        let entry = EntityEntry::new(graph.store(), redactor, entity)?;
        nodes.push((is_near, Node::new(redactor, &entry, &facts)));
    }
    nodes.sort_by_key(|(is_near, _)| !is_near);
    Ok(nodes.into_iter().map(|(_, node)| node).take(request.limit).collect())
}

/// True if a label means a kind: by its own name, or by one of the types that prompts for Graphiti ask for.
fn is_of_kind(kind: EntityKind, label: &str) -> bool {
    let label = label.to_lowercase();
    label == super::label(kind).to_lowercase()
        || label == "entity"
        || kind == EntityKind::Rule
            && ["preference", "procedure", "requirement"].contains(&label.as_str())
}
