//! How a thing came to be as it is: its facts from the beginning, with the sessions behind its commits, and the decisions
//! that speak of it.

use schemars::JsonSchema;
use serde::Serialize;
use thru_core::{EntityKind, MemoryKind, ObservationType, Relation};
use thru_store::{EntityRow, FactFilter, FactTime};

use super::super::pages;
use super::{EntityEntry, FactEntry, NAMED, OpenGraph, ProjectScope, relations_about};
use crate::answer;
use crate::app::App;
use crate::ask::EntryKind;
use crate::ask::memory::MemoryEntry;
use crate::ask::named::key_of_directory;
use crate::ask::search::{AnswerSize, FoundRow, Search, Verdict, search};
use crate::call::Call;
use crate::fresh::Prepared;
use crate::trouble::Result;

/// Decisions that are named.
const DECISIONS: usize = 5;

/// A request for how something came to be.
#[derive(Clone, Debug)]
pub struct Why {
    /// The name, path or key of the thing, or words of it.
    pub about: String,
    /// The projects to look in.
    pub project: ProjectScope,
    /// The place before which it ends: `next` of the page of later facts.
    pub cursor: Option<String>,
    /// Maximum number of facts.
    pub limit: usize,
}

/// The course of a thing.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Course {
    /// The version of this form.
    pub version: u32,
    /// `why`.
    pub kind: &'static str,
    /// The things that the name means.
    pub entities: Vec<EntityEntry>,
    /// True if there are earlier facts.
    pub more: bool,
    /// The cursor of the page of earlier facts, if there are any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
    /// Its facts, the earliest first.
    pub facts: Vec<FactEntry>,
    /// Decisions that speak of it, the best first.
    pub decisions: Vec<MemoryEntry>,
    /// The work done before the answer.
    #[serde(flatten)]
    pub preparation: Prepared,
}

/// Tells how a thing came to be as it is.
///
/// # Errors
/// Fails if a project cannot be understood, or store, index or vectors cannot be read.
pub fn why(app: &App, request: &Why, call: Call<'_>) -> Result<Course> {
    let graph = OpenGraph::new(app, &request.project, call)?;
    let store = graph.store();
    let is_elsewhere = request.project == ProjectScope::Here
        && store.project_by_key(&key_of_directory(app, Some(store))?)?.is_none();
    // The very name, of any project, before what only resembles it.
    let called = match is_elsewhere {
        true => store.entities_called(None, request.about.trim(), NAMED)?,
        false => Vec::new(),
    };
    let named = match called.is_empty() {
        true => graph.meant(&request.about, NAMED)?.entities,
        false => called,
    };
    let about = |entities: Vec<i64>| FactFilter {
        entities: Some(entities),
        time: FactTime::Ever,
        ..FactFilter::default()
    };
    let mut facts = store.facts(&FactFilter {
        relations: relations_about(&named, Vec::new()),
        after: pages::place(request.cursor.as_deref())?,
        limit: Some(request.limit + 1),
        ..about(rows(&named))
    })?;
    let next = pages::cut(&mut facts, request.limit, |fact| (fact.from, fact.id))?;
    // A commit says who made it: the session that did knows why.
    let commits = facts.iter().flat_map(|fact| [Some(&fact.subject), fact.object.as_ref()]);
    let commits: Vec<i64> = commits
        .flatten()
        .filter(|entity| entity.kind == EntityKind::Commit)
        .map(|entity| entity.row)
        .collect();
    if !commits.is_empty() {
        let relations = Some(vec![Relation::Committed]);
        facts.extend(store.facts(&FactFilter { relations, ..about(commits) })?);
    }
    facts.sort_by_key(|fact| (fact.from, fact.row));
    facts.dedup_by_key(|fact| fact.row);
    let redactor = graph.opened.intake.redactor();
    let entities = named.iter().map(|one| EntityEntry::new(store, redactor, one));
    Ok(Course {
        version: answer::VERSION,
        kind: "why",
        entities: entities.collect::<Result<_>>()?,
        more: next.is_some(),
        next,
        facts: graph.entries(&facts, None)?,
        // Those of other projects are about other things.
        decisions: if is_elsewhere { Vec::new() } else { decisions(app, request, call)? },
        preparation: graph.preparation(),
    })
}

fn rows(entities: &[EntityRow]) -> Vec<i64> {
    entities.iter().map(|entity| entity.row).collect()
}

fn decisions(app: &App, request: &Why, call: Call<'_>) -> Result<Vec<MemoryEntry>> {
    let kind = MemoryKind::Observation(ObservationType::Decision);
    let asked = Search {
        query: request.about.clone(),
        project: request.project.clone(),
        kinds: vec![EntryKind::Memory(kind)],
        size: AnswerSize::Rows(DECISIONS),
        ..Search::default()
    };
    let found = search(app, &asked, call)?;
    if found.verdict != Verdict::Answered {
        return Ok(Vec::new());
    }
    let rows = found.rows().filter_map(|row| match row {
        FoundRow::Memory(memory) => Some(memory.entry.clone()),
        FoundRow::Passage(_) => None,
    });
    Ok(rows.take(DECISIONS).collect())
}
