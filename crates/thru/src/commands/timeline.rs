//! `thru timeline`: what happened before and after something.

use thru_app::Result;
use thru_app::ask::ProjectScope;
use thru_app::ask::timeline::{Around, AroundWhat, around};
use thru_core::MemoryKind;

use super::entries::{self, TableRow};
use super::of_agents::OfAgents;
use super::shared;
use crate::environment::Environment;
use crate::ui::{Outcome, Tone};

/// Shows the memories of a project around one of them, around a passage, or around what answers a
/// question best.
#[derive(Debug, clap::Args)]
#[command(group(clap::ArgGroup::new("place").required(true).args(["id", "query"])))]
#[command(after_help = "Examples:\n  \
    thru timeline k3f9a\n  \
    thru timeline --query 'lost update in the session index' --after 8")]
pub(crate) struct TimelineArguments {
    /// The id of a memory or a passage
    id: Option<String>,
    /// Centre on the best match for this query
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

pub(crate) fn run(arguments: &TimelineArguments, environment: &Environment) -> Result<Outcome> {
    let anchor = match (&arguments.id, &arguments.query) {
        (Some(id), _) => AroundWhat::Id(id.clone()),
        (None, query) => AroundWhat::Query {
            query: query.clone().unwrap_or_default(),
            project: arguments.project.clone().map_or(ProjectScope::Here, ProjectScope::Named),
        },
    };
    let request = Around {
        anchor,
        before: arguments.before.into(),
        after: arguments.after.into(),
        kinds: arguments.kinds.clone(),
        agents: arguments.of.agents(),
    };
    let timeline = around(environment, &request, environment.progress().call())?;
    environment.answer(arguments.json, &timeline, |page| {
        let mut rows: Vec<TableRow<'_>> = timeline
            .memories()
            .map(|(row, is_anchor)| TableRow {
                entry: &row.entry,
                files: &row.files,
                mark: if is_anchor { '>' } else { ' ' },
            })
            .collect();
        if !timeline.is_found {
            page.line("Nothing found.");
        } else if rows.is_empty() {
            page.line("Nothing was remembered around it.");
        } else {
            // A passage is no memory: it stands between those before and after it.
            let after = match &timeline.passage {
                Some(_) => rows.split_off(timeline.before.len()),
                None => Vec::new(),
            };
            let mut day = String::new();
            entries::table(page, &rows, &mut day, environment);
            if let Some(passage) = &timeline.passage {
                entries::between(page, passage, &mut day, environment);
            }
            entries::table(page, &after, &mut day, environment);
            page.gap();
            page.toned(Tone::Quiet, "`thru show ID…` shows them in full. ~Nt of M: about N tokens to read, made from M.");
        }
        shared::show_prepared(page, &timeline.preparation);
    })?;
    Ok(Outcome::found(timeline.is_found))
}
