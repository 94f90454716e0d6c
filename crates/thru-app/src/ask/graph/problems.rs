//! Problems: what failed last and was not seen to pass since.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::Serialize;
use thru_core::{Id, Relation, Timestamp, is_trunk};
use thru_store::{FactFilter, FactRow, FactTime};

use super::super::pages;
use super::{FactEntry, OpenGraph, ProjectScope};
use crate::answer;
use crate::app::App;
use crate::call::Call;
use crate::fresh::Prepared;
use crate::trouble::Result;

/// Failures that are looked at for those that are shown.
const LOOKED_AT: usize = 500;

/// A request for the problems that are open.
#[derive(Clone, Debug)]
pub struct ListProblems {
    /// The projects to look in.
    pub project: ProjectScope,
    /// The place behind which it begins: `next` of the page before.
    pub cursor: Option<String>,
    /// Maximum number of problems.
    pub limit: usize,
}

/// Open problems, the latest first.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ProblemList {
    /// The version of this form.
    pub version: u32,
    /// `problems`.
    pub kind: &'static str,
    /// True if there are more.
    pub more: bool,
    /// The cursor of the next page, if there are more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
    /// What failed, and with what.
    pub problems: Vec<FactEntry>,
    /// The work done before the answer.
    #[serde(flatten)]
    pub preparation: Prepared,
}

/// Lists the problems that are open: errors and tests that a check failed with, and checks that failed without naming any.
/// Those on branches that were merged are left out.
///
/// # Errors
/// Fails if a project cannot be understood, or the store cannot be read.
pub fn problems(app: &App, request: &ListProblems, call: Call<'_>) -> Result<ProblemList> {
    let graph = OpenGraph::new(app, &request.project, call)?;
    let now = |relations: &[Relation], limit| {
        graph.store().facts(&FactFilter {
            projects: graph.projects.clone(),
            relations: Some(relations.to_vec()),
            time: FactTime::Now,
            limit,
            ..FactFilter::default()
        })
    };
    let mut failing = now(&[Relation::FailedWith, Relation::Outcome], Some(LOOKED_AT))?;
    failing.retain(|fact| fact.value.as_deref() != Some("pass"));
    let merged = now(&[Relation::MergedInto], None)?;
    failing.retain(|fact| !merged.iter().any(|merge| is_on(fact, merge)));
    // A check that names what it failed with is told by that.
    let named: BTreeSet<(i64, String)> = failing
        .iter()
        .filter(|fact| fact.relation == Relation::FailedWith)
        .map(|fact| (fact.subject.row, fact.scope.clone()))
        .collect();
    failing.retain(|fact| {
        fact.relation == Relation::FailedWith
            || !named.contains(&(fact.subject.row, fact.scope.clone()))
    });
    let behind: Option<(Timestamp, Id)> = pages::place(request.cursor.as_deref())?;
    failing.retain(|fact| {
        behind.is_none_or(|(at, id)| (Reverse(fact.from), fact.id) > (Reverse(at), id))
    });
    let next = pages::cut(&mut failing, request.limit, |fact| (fact.from, fact.id))?;
    Ok(ProblemList {
        version: answer::VERSION,
        kind: "problems",
        more: next.is_some(),
        next,
        problems: graph.entries(&failing, None)?,
        preparation: graph.preparation(),
    })
}

/// Returns true if a fact was about a branch that was merged after it, for good: a trunk goes on.
fn is_on(fact: &FactRow, merge: &FactRow) -> bool {
    let branch = fact.scope.split("; ").find_map(|part| part.strip_prefix("on "));
    fact.subject.project == merge.subject.project
        && !is_trunk(&merge.subject.key)
        && branch == Some(merge.subject.key.as_str())
        && fact.from <= merge.from
}
