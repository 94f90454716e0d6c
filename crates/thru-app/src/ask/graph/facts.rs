//! Facts about a thing: those that hold, those that held, and how they came to be.

use schemars::JsonSchema;
use serde::Serialize;
use thru_core::Relation;
use thru_recall::parse_date;
use thru_store::{FactFilter, FactTime};

use super::super::pages;
use super::words::Meant;
use super::{EntityEntry, FactEntry, MEANT, OpenGraph, ProjectScope, relations_about};
use crate::answer;
use crate::app::App;
use crate::call::Call;
use crate::fresh::Prepared;
use crate::trouble::Result;

/// A request for facts.
#[derive(Clone, Debug)]
pub struct Facts {
    /// The name, path or key of the thing, or words of it; everything, if empty.
    pub about: String,
    /// The projects to look in.
    pub project: ProjectScope,
    /// Only these relations; empty means all.
    pub relations: Vec<Relation>,
    /// The moment at which they held, as people write one.
    pub at: Option<String>,
    /// The moment at which they were known, as people write one.
    pub known: Option<String>,
    /// True for those that ended, too.
    pub history: bool,
    /// The place behind which it begins: `next` of the page before.
    pub cursor: Option<String>,
    /// Maximum number of facts.
    pub limit: usize,
}

/// Facts, the latest first.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct FactList {
    /// The version of this form.
    pub version: u32,
    /// `facts`.
    pub kind: &'static str,
    /// The things that the name means.
    pub entities: Vec<EntityEntry>,
    /// True if there are more facts.
    pub more: bool,
    /// The cursor of the next page, if there are more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
    /// The facts.
    pub facts: Vec<FactEntry>,
    /// The number of facts about it that no longer hold, where none does.
    #[serde(skip_serializing_if = "is_zero")]
    pub ended: usize,
    /// The work done before the answer.
    #[serde(flatten)]
    pub preparation: Prepared,
}

const fn is_zero(number: &usize) -> bool {
    *number == 0
}

/// Finds facts about a thing.
///
/// # Errors
/// Fails if a project or a date cannot be understood, or the store cannot be read.
pub fn facts(app: &App, request: &Facts, call: Call<'_>) -> Result<FactList> {
    let date = |text: &Option<String>| {
        text.as_deref().map(|text| parse_date(text, app.clock.now(), app.zone())).transpose()
    };
    let (at, known) = (date(&request.at)?, date(&request.known)?);
    let graph = OpenGraph::new(app, &request.project, call)?;
    let store = graph.store();
    let Meant { entities: named, relations } = graph.meant(&request.about, MEANT)?;
    let is_unknown = named.is_empty() && relations.is_empty() && !request.about.trim().is_empty();
    let relations =
        if request.relations.is_empty() { relations } else { request.relations.clone() };
    let is_open = relations.is_empty();
    let mut filter = FactFilter {
        projects: graph.projects.clone(),
        entities: (!named.is_empty()).then(|| named.iter().map(|one| one.row).collect()),
        relations: relations_about(&named, relations),
        time: match (request.history, at, known) {
            (true, ..) => FactTime::Ever,
            (false, None, None) => FactTime::Now,
            (false, at, known) => {
                FactTime::At(at.or(known).unwrap_or_else(|| app.clock.now()), known)
            }
        },
        after: pages::place(request.cursor.as_deref())?,
        limit: Some(request.limit + 1),
        ..FactFilter::default()
    };
    let mut found = if is_unknown { Vec::new() } else { store.facts(&filter)? };
    // Of a file of which nothing else is known, it says something what it defines.
    if found.is_empty() && is_open && !named.is_empty() {
        filter.relations = None;
        found = store.facts(&filter)?;
    }
    let next = pages::cut(&mut found, request.limit, |fact| (fact.from, fact.id))?;
    if let Some(known) = known {
        found.retain(|fact| fact.from <= known);
    }
    let mut ended = 0;
    if found.is_empty() && !is_unknown && filter.time == FactTime::Now {
        filter.time = FactTime::Ever;
        ended = store.facts(&filter)?.len();
    }
    let redactor = graph.opened.intake.redactor();
    let entities = named.iter().map(|one| EntityEntry::new(store, redactor, one));
    Ok(FactList {
        version: answer::VERSION,
        kind: "facts",
        entities: entities.collect::<Result<_>>()?,
        more: next.is_some(),
        next,
        facts: graph.entries(&found, known)?,
        ended,
        preparation: graph.preparation(),
    })
}
