//! Paths: what two things have to do with each other.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use thru_core::EntityKind;
use thru_recall::parse_date;
use thru_store::{EntityRow, FactFilter, FactRow, FactTime, Store};

use super::{EntityEntry, FactEntry, NAMED, OpenGraph, ProjectScope, relations_about};
use crate::answer;
use crate::app::App;
use crate::call::Call;
use crate::fresh::Prepared;
use crate::trouble::Result;

/// Most facts on a path.
const HOPS: usize = 3;

/// Things with more facts than this lead everywhere, and so nowhere.
const HUB: usize = 200;

/// Most things that are looked at from one side, hop by hop.
const BUDGET: usize = 256;

/// A request for a path.
#[derive(Clone, Debug)]
pub struct FindPath {
    /// The name, path or key of one thing.
    pub from: String,
    /// That of the other.
    pub to: String,
    /// The moment at which all facts on it held, as people write one; without it they may be of any time.
    pub at: Option<String>,
    /// The projects to look in.
    pub project: ProjectScope,
}

/// A path between two things.
#[derive(Clone, Debug, Serialize)]
pub struct FactPath {
    /// The version of this form.
    pub version: u32,
    /// `path`.
    pub kind: &'static str,
    /// Where it begins.
    pub from: EntityEntry,
    /// The name of the other thing.
    #[serde(skip)]
    pub to: String,
    /// The facts on it, in order; none, if the things have nothing to do with each other.
    pub facts: Vec<FactEntry>,
    /// The work done before the answer.
    #[serde(flatten)]
    pub preparation: Prepared,
}

/// Finds a shortest path between two things: at most three facts, over nothing that has to do with everything.
///
/// # Errors
/// Fails if a name means nothing, a project or a date cannot be understood, or the store cannot be read.
pub fn path(app: &App, request: &FindPath, call: Call<'_>) -> Result<FactPath> {
    let date = |text: &String| parse_date(text, app.clock.now(), app.zone());
    let at = request.at.as_ref().map(date).transpose()?;
    let graph = OpenGraph::new(app, &request.project, call)?;
    let store = graph.store();
    let named = |name: &str| graph.named(name, NAMED);
    let (from, to) = (named(&request.from)?, named(&request.to)?);
    let goals: BTreeSet<i64> = to.iter().map(|one| one.row).collect();
    let ends = [&from[..], &to[..]].concat();
    let edges = FactFilter {
        projects: graph.projects.clone(),
        relations: relations_about(&ends, Vec::new()),
        time: at.map_or(FactTime::Ever, |at| FactTime::At(at, None)),
        limit: Some(HUB + 1),
        ..FactFilter::default()
    };
    let snapshot = store.snapshot()?;
    let facts = shortest(store, &edges, &from, &goals)?;
    drop(snapshot);
    let start = match facts.first() {
        Some(first) => from.iter().find(|one| touches(first, one.row)).unwrap_or(&from[0]),
        None => &from[0],
    };
    Ok(FactPath {
        version: answer::VERSION,
        kind: "path",
        from: EntityEntry::new(store, graph.opened.intake.redactor(), start)?,
        to: EntityEntry::new(store, graph.opened.intake.redactor(), &to[0])?.name.into_inner(),
        facts: graph.entries(&facts, None)?,
        preparation: graph.preparation(),
    })
}

/// Returns the facts of a shortest path over these edges, level by level.
fn shortest(
    store: &Store,
    edges: &FactFilter,
    from: &[EntityRow],
    goals: &BTreeSet<i64>,
) -> Result<Vec<FactRow>> {
    // The fact by which each thing was reached, and from where.
    let mut reached: BTreeMap<i64, Option<(i64, FactRow)>> =
        from.iter().map(|one| (one.row, None)).collect();
    let mut frontier: Vec<i64> = from.iter().map(|one| one.row).collect();
    for _ in 0..HOPS {
        let mut next = Vec::new();
        for row in frontier {
            let facts = store.facts(&FactFilter { entities: Some(vec![row]), ..edges.clone() })?;
            // What was asked for may be a hub, what lies between may not.
            if facts.len() > HUB && reached.get(&row).is_some_and(Option::is_some) {
                continue;
            }
            for fact in facts {
                let ends = [Some(&fact.subject), fact.object.as_ref()].into_iter().flatten();
                let Some(other) = ends.into_iter().find(|end| end.row != row) else { continue };
                if other.kind == EntityKind::Project || reached.contains_key(&other.row) {
                    continue;
                }
                let other = other.row;
                reached.insert(other, Some((row, fact)));
                if goals.contains(&other) {
                    return Ok(back(&mut reached, other));
                }
                next.push(other);
            }
        }
        next.truncate(BUDGET);
        frontier = next;
    }
    Ok(Vec::new())
}

/// Returns the facts by which a thing was reached, the first one first.
fn back(reached: &mut BTreeMap<i64, Option<(i64, FactRow)>>, mut at: i64) -> Vec<FactRow> {
    let mut facts = Vec::new();
    while let Some(Some((before, fact))) = reached.remove(&at) {
        facts.push(fact);
        at = before;
    }
    facts.reverse();
    facts
}

fn touches(fact: &FactRow, row: i64) -> bool {
    fact.subject.row == row || fact.object.as_ref().is_some_and(|object| object.row == row)
}
