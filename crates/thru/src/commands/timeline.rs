//! `thru timeline`: what happened before and after something.

use serde_json::{Value, json};
use thru_app::App;
use thru_app::ask::{memory, named};
use thru_app::{Context, Result};
use thru_core::{Agent, MemoryKind};
use thru_recall::{Anchor, Request, Timeline, timeline};
use thru_redact::Report;
use thru_store::index::IndexFilter;
use thru_store::{MemoryFilter, ProjectName, Store};

use super::memories::{self, TableRow};
use super::of_agents::OfAgents;
use super::show::named_passage;
use super::{Outcome, shared};
use crate::environment::Environment;
use crate::ui::{Page, Tone};
use thru_app::fresh::{self, Prepared, answer};

/// Shows the memories of a project around one of them, around a passage, or around what answers a
/// question best.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    thru timeline k3f9a\n  \
    thru timeline --query 'lost update in the session index' --after 8")]
pub(crate) struct Arguments {
    /// The id of a memory or a passage
    #[arg(required_unless_present = "query")]
    id: Option<String>,
    /// Around what answers this best
    #[arg(long, short, conflicts_with = "id")]
    query: Option<String>,
    /// With --query: only this project
    #[arg(long, short, conflicts_with = "id")]
    project: Option<String>,
    #[command(flatten)]
    of: OfAgents,
    /// How many memories before it
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u16).range(0..=100))]
    before: u16,
    /// How many memories after it
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u16).range(0..=100))]
    after: u16,
    /// Only memories of this type (more than once for several)
    #[arg(long = "type", value_name = "TYPE")]
    kinds: Vec<MemoryKind>,
    /// Answer as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(
    arguments: &Arguments,
    environment: &Environment,
    plain: bool,
) -> Result<Outcome> {
    let store = shared::open_store_as_it_is(environment)?;
    let intake = environment.intake_beside(&store)?;
    let shown = shared::Shown::new(environment);
    let call = shown.call();
    let (store, prepared) = fresh::for_question(environment, &intake, store, None, call)?;
    let mut page = Page::new(environment, plain);
    let anchor = match (&arguments.id, &arguments.query) {
        (Some(id), _) => Some(named(&store, id)?),
        (None, Some(query)) => {
            let project = match &arguments.project {
                Some(name) => Some(named::named_project(&store, name)?),
                None => named::current_project(environment, &store)?,
            };
            found(query, project, &arguments.kinds, arguments.of.filter(), environment, &store)?
        }
        (None, None) => None,
    };
    let Some(anchor) = anchor else {
        match arguments.json {
            true => {
                let timeline = Timeline::default();
                page.json(&as_json(&store, intake.redactor(), &timeline, &prepared)?)?;
            }
            false => {
                page.line("Nothing found.");
                shared::show_prepared(&mut page, &prepared);
            }
        }
        page.print()?;
        return Ok(Outcome::Nothing);
    };
    let wanted = MemoryFilter {
        agents: arguments.of.filter(),
        kinds: (!arguments.kinds.is_empty()).then(|| arguments.kinds.clone()),
        ..MemoryFilter::default()
    };
    let timeline =
        timeline(&store, anchor, arguments.before.into(), arguments.after.into(), wanted)?;
    if arguments.json {
        page.json(&as_json(&store, intake.redactor(), &timeline, &prepared)?)?;
    } else {
        let rows: Vec<TableRow<'_>> = timeline
            .before
            .iter()
            .map(|memory| TableRow { memory, mark: ' ' })
            .chain(timeline.anchor.iter().map(|memory| TableRow { memory, mark: '>' }))
            .chain(timeline.after.iter().map(|memory| TableRow { memory, mark: ' ' }))
            .collect();
        if rows.is_empty() {
            page.line("Nothing was remembered around it.");
        } else {
            memories::table(&mut page, &store, intake.redactor(), &rows, environment)?;
            page.gap();
            page.line(page.paint(Tone::Quiet, "`thru show ID…` tells them whole."));
        }
        shared::show_prepared(&mut page, &prepared);
    }
    page.print()?;
    Ok(Outcome::Done)
}

/// The memory or passage whose id starts so, as what a timeline is about.
pub(crate) fn named(store: &Store, id: &str) -> Result<Anchor> {
    if let Some(memory) = memory::memory_named(store, id)? {
        return Ok(Anchor::Memory(memory));
    }
    let passage = named_passage(store, id)?;
    let session = store.session(passage.session)?;
    let project = session.as_ref().and_then(|session| session.project);
    let at = passage.at.or_else(|| session.and_then(|session| session.ended));
    let at = at.context("the passage has no date")?;
    Ok(Anchor::Moment { at, project, session: Some(passage.session) })
}

/// The memory that answers a question best, of a project where there is one.
pub(crate) fn found(
    query: &str,
    project: Option<ProjectName>,
    kinds: &[MemoryKind],
    agents: Option<Vec<Agent>>,
    environment: &App,
    store: &Store,
) -> Result<Option<Anchor>> {
    let projects = project.map(|project| store.project_rows(project.row)).transpose()?;
    let request = Request {
        query: query.to_owned(),
        filter: IndexFilter {
            projects,
            agents,
            kinds: (!kinds.is_empty()).then(|| kinds.to_vec()),
            ..IndexFilter::default()
        },
        memories: 1,
        open: environment.open.clone(),
        ..Request::default()
    };
    let answer = answer(environment, store, &request)?;
    let near = answer.memories.into_iter().find(|found| found.hit.is_near());
    Ok(near.map(|found| Anchor::Memory(found.hit.memory)))
}

fn as_json(
    store: &Store,
    redactor: &thru_redact::Redactor,
    timeline: &Timeline,
    prepared: &Prepared,
) -> Result<Value> {
    let row = |memory: &thru_store::MemoryRow| -> Result<Value> {
        let title = redactor.clean_text(&memory.title, &mut Report::default());
        let session = memory::session_of(store, memory)?;
        memories::memory_json(store, memory, &title, session.as_ref())
    };
    let rows = |memories: &[thru_store::MemoryRow]| -> Result<Vec<Value>> {
        memories.iter().map(row).collect()
    };
    Ok(json!({
        "version": 1,
        "kind": "timeline",
        "before": rows(&timeline.before)?,
        "anchor": timeline.anchor.as_ref().map(row).transpose()?,
        "after": rows(&timeline.after)?,
        "preparation": json!(prepared),
    }))
}
