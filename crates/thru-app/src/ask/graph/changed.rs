//! Changes: the facts that began and ended between two moments.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;
use thru_core::{EntityKind, Relation, Timestamp};
use thru_recall::parse_date;
use thru_store::{FactFilter, FactTime, SessionFilter, Store};

use super::super::pages;
use super::{FactEntry, OpenGraph, ProjectScope, relations_about};
use crate::answer;
use crate::app::App;
use crate::ask::named::named_session;
use crate::call::Call;
use crate::fresh::Prepared;
use crate::trouble::{Result, Trouble};

/// A request for what changed.
#[derive(Clone, Debug)]
pub struct Changed {
    /// `A..B`: dates as people write them, commits, or starts of ids of sessions; `A` alone and `A..` end now.
    pub span: String,
    /// The projects to look in.
    pub project: ProjectScope,
    /// The place behind which it begins: `next` of the page before.
    pub cursor: Option<String>,
    /// Maximum number of facts.
    pub limit: usize,
}

/// Changes, the latest first.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ChangeList {
    /// The version of this form.
    pub version: u32,
    /// `changed`.
    pub kind: &'static str,
    /// The first moment.
    pub from: Timestamp,
    /// The first moment that is left out.
    pub to: Timestamp,
    /// True if there are more.
    pub more: bool,
    /// The cursor of the next page, if there are more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
    /// The facts that began or ended.
    pub facts: Vec<FactEntry>,
    /// The work done before the answer.
    #[serde(flatten)]
    pub preparation: Prepared,
}

/// Lists what changed.
///
/// # Errors
/// Fails if an end of the span names nothing, it ends before it begins, or the store cannot be read.
pub fn changed(app: &App, request: &Changed, call: Call<'_>) -> Result<ChangeList> {
    let graph = OpenGraph::new(app, &request.project, call)?;
    let (from, to) = request.span.split_once("..").unwrap_or((&request.span, ""));
    let to = to.trim_start_matches('.').trim();
    let from = moment(app, &graph, from.trim(), End::First)?;
    let to = match to {
        "" => app.clock.now(),
        to => moment(app, &graph, to, End::Last)?,
    };
    if from >= to {
        return Err(Trouble::invalid("the span ends before it begins"));
    }
    let mut found = graph.store().facts(&FactFilter {
        projects: graph.projects.clone(),
        relations: relations_about(&[], Vec::new()),
        time: FactTime::Changed(from, to),
        after: pages::place(request.cursor.as_deref())?,
        limit: Some(request.limit + 1),
        ..FactFilter::default()
    })?;
    let next = pages::cut(&mut found, request.limit, |fact| (fact.from, fact.id))?;
    Ok(ChangeList {
        version: answer::VERSION,
        kind: "changed",
        from,
        to,
        more: next.is_some(),
        next,
        // What ended later had not ended then.
        facts: graph.entries(&found, Some(to))?,
        preparation: graph.preparation(),
    })
}

/// An end of a span: what takes time counts with all of it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    First,
    Last,
}

/// Returns the moment that a text names: a date, a commit, or a session. The last commit and the last session belong to it.
fn moment(app: &App, graph: &OpenGraph, text: &str, end: End) -> Result<Timestamp> {
    let date = parse_date(text, app.clock.now(), app.zone());
    if let Ok(date) = date {
        return Ok(date);
    }
    let past = |at: Timestamp| match end {
        End::First => at,
        End::Last => at.saturating_add(Duration::from_millis(1)).unwrap_or(Timestamp::MAX),
    };
    if let Some(at) = commit(graph.store(), graph.projects.as_deref(), text)? {
        return Ok(past(at));
    }
    let filter = SessionFilter {
        id_prefix: Some(text.to_owned()),
        projects: graph.projects.clone(),
        limit: Some(2),
        ..SessionFilter::default()
    };
    let sessions = match text {
        "latest" => vec![named_session(app, graph.store(), text)?],
        _ if text.len() < 4 => Vec::new(),
        _ => graph.store().sessions(&filter)?,
    };
    let at = match &sessions[..] {
        [session] => {
            if end == End::First {
                session.started
            } else {
                session.ended
            }
        }
        _ => None,
    };
    at.map(past).ok_or_else(|| {
        let what = format!("`{text}` is not a date, a known commit or a single session");
        Trouble::not_found(what)
            .advise("write a date such as `2026-03-01` or `yesterday`, or the start of a hash (seven characters) or of a session's id (four)")
    })
}

fn commit(store: &Store, projects: Option<&[i64]>, hash: &str) -> Result<Option<Timestamp>> {
    let is_hash =
        (7..=40).contains(&hash.len()) && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
    if !is_hash {
        return Ok(None);
    }
    let named = store.entities_named(projects, &hash[..7].to_lowercase(), 2)?;
    let Some(commit) = named.iter().find(|one| one.kind == EntityKind::Commit) else {
        return Ok(None);
    };
    let about = FactFilter {
        entities: Some(vec![commit.row]),
        time: FactTime::Ever,
        ..FactFilter::default()
    };
    let facts = store.facts(&about)?;
    // What it fixed was so before it was made.
    let made = facts.iter().find(|fact| fact.relation == Relation::Committed);
    Ok(made.map(|fact| fact.from).or_else(|| facts.iter().map(|fact| fact.from).min()))
}
