//! Edges: the facts that a question is about.

use std::collections::HashMap;

use thru_core::{Id, IdPrefix, Relation, Timestamp};
use thru_recall::analyse;
use thru_store::{FactFilter, FactRow, FactTime};

use super::{AsOf, Edge, OpenGraph, moment, open, told_edges};
use crate::app::App;
use crate::ask::graph::{MEANT, relations_about};
use crate::call::Call;
use crate::trouble::{Result, Trouble};

/// Facts that are looked at where more than their things decide which are shown.
const LOOKED_AT: usize = 5_000;

/// A request for facts.
#[derive(Clone, Debug, Default)]
pub struct FindFacts {
    /// Names, or words.
    pub query: String,
    /// Their groups; the caller's project, if none is given.
    pub groups: Vec<String>,
    /// Only these relations; empty means all.
    pub relations: Vec<String>,
    /// The node whose facts come first.
    pub centre: Option<String>,
    /// The moments that it is about.
    pub time: AsOf,
    /// The earliest and the latest moment at which they may have begun to hold.
    pub valid: (Option<String>, Option<String>),
    /// The earliest and the latest moment at which they may have ended.
    pub invalid: (Option<String>, Option<String>),
    /// Maximum number of facts.
    pub limit: usize,
}

/// A span of time, its ends included.
#[derive(Default)]
struct Span(Option<Timestamp>, Option<Timestamp>);

impl Span {
    fn new(app: &App, (after, before): &(Option<String>, Option<String>)) -> Result<Self> {
        let read = |text: &Option<String>| text.as_deref().map(|text| moment(app, text));
        Ok(Self(read(after).transpose()?, read(before).transpose()?))
    }

    const fn is_open(&self) -> bool {
        self.0.is_none() && self.1.is_none()
    }

    fn holds(&self, at: Option<Timestamp>) -> bool {
        let Some(at) = at else { return self.is_open() };
        self.0.is_none_or(|after| at >= after) && self.1.is_none_or(|before| at <= before)
    }
}

/// Finds facts: those about the things that the question names, the latest first, and the statements that were told in
/// its words.
///
/// # Errors
/// Fails if a date cannot be understood, or the store cannot be read.
pub fn find_facts(app: &App, request: &FindFacts, call: Call<'_>) -> Result<Vec<Edge>> {
    let (valid, invalid) = (Span::new(app, &request.valid)?, Span::new(app, &request.invalid)?);
    let (time, known) = (request.time.time(app)?, request.time.known(app)?);
    let graph = open(app, &request.groups, call)?;
    let mut edges = Vec::new();
    let meant = graph.meant(&request.query, MEANT)?;
    let is_typed = !request.relations.is_empty();
    let asked: Vec<Relation> = match is_typed {
        true => {
            request.relations.iter().filter_map(|name| name.to_uppercase().parse().ok()).collect()
        }
        false => meant.relations,
    };
    if !meant.entities.is_empty() || !asked.is_empty() {
        let is_plain = valid.is_open() && invalid.is_open() && request.centre.is_none();
        let found = graph.store().facts(&FactFilter {
            projects: graph.projects.clone(),
            entities: (!meant.entities.is_empty())
                .then(|| meant.entities.iter().map(|one| one.row).collect()),
            relations: match is_typed {
                true => Some(asked),
                false => relations_about(&meant.entities, asked),
            },
            // A question about ends is about what ended.
            time: if time == FactTime::Now && !invalid.is_open() { FactTime::Ever } else { time },
            limit: Some(if is_plain { request.limit } else { LOOKED_AT }),
            ..FactFilter::default()
        })?;
        edges = edges_of(&graph, &found, known)?;
    }
    edges.extend(told_about(&graph, request, (time, known))?);
    edges.retain(|edge| valid.holds(edge.short.valid_at) && invalid.holds(edge.short.invalid_at));
    if let Some(centre) = &request.centre {
        let ends = |edge: &Edge| [edge.short.source_node_uuid, edge.short.target_node_uuid];
        edges.sort_by_key(|edge| !ends(edge).iter().any(|end| end.to_string() == *centre));
    }
    edges.truncate(request.limit);
    Ok(edges)
}

/// Reads one fact, or one statement that was told.
///
/// # Errors
/// Fails if there is none, or the store cannot be read.
pub fn edge(app: &App, uuid: &str, call: Call<'_>) -> Result<Edge> {
    let missing = || Trouble::not_found(format!("there is no entity edge `{uuid}`"));
    let id = full_id(uuid).ok_or_else(missing)?;
    let graph = open(app, &["*".to_owned()], call)?;
    let found = graph.store().facts(&FactFilter {
        ids: Some(vec![id]),
        time: FactTime::Ever,
        ..FactFilter::default()
    })?;
    if let Some(edge) = edges_of(&graph, &found, None)?.pop() {
        return Ok(edge);
    }
    told_edges(&graph)?.into_iter().find(|edge| edge.short.uuid == id).ok_or_else(missing)
}

/// Reads an id that is written out in full.
pub(crate) fn full_id(text: &str) -> Option<Id> {
    text.trim().parse::<IdPrefix>().ok()?.complete()
}

/// Makes edges of facts, in their order.
pub(super) fn edges_of(
    graph: &OpenGraph,
    facts: &[FactRow],
    known: Option<Timestamp>,
) -> Result<Vec<Edge>> {
    let rows: Vec<i64> = facts.iter().map(|fact| fact.row).collect();
    let mut episodes: HashMap<i64, Vec<Id>> = graph.store().episodes_showing(&rows)?;
    let redactor = graph.opened.intake.redactor();
    let entries = graph.entries(facts, known)?;
    let edges = facts.iter().zip(&entries).map(|(row, entry)| {
        Edge::new(redactor, entry, episodes.remove(&row.row).unwrap_or_default())
    });
    Ok(edges.collect())
}

/// Returns the statements that hold most of the words of a question.
fn told_about(
    graph: &OpenGraph,
    request: &FindFacts,
    (time, known): (FactTime, Option<Timestamp>),
) -> Result<Vec<Edge>> {
    let words = analyse(&request.query).terms;
    let mut edges = told_edges(graph)?;
    edges.retain(|edge| {
        let at = edge.short.valid_at;
        let is_wanted = request.relations.is_empty()
            || request
                .relations
                .iter()
                .any(|name| name.eq_ignore_ascii_case(edge.short.name.get()));
        let was_told = match time {
            FactTime::At(then, _) => at.is_some_and(|at| at <= then),
            _ => known.is_none_or(|known| at.is_some_and(|at| at <= known)),
        };
        let ends = edge.nodes.iter().map(|node| node.name.get().as_str());
        let text = ends.chain([edge.short.fact.get().as_str()]).collect::<Vec<_>>().join(" ");
        let text = text.to_lowercase();
        let held = words.iter().filter(|word| text.contains(word.as_str())).count();
        is_wanted && was_told && held > 0 && held * 2 >= words.len()
    });
    Ok(edges)
}
