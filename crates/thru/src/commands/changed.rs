//! `thru changed`: the facts that began and ended between two moments.

use thru_app::Result;
use thru_app::ask::graph::changed::{Changed, changed};

use super::{graph, shared};
use crate::environment::Environment;
use crate::ui::{Outcome, Tone, plural};

/// An end is a date, a commit (at least seven characters of its hash), or the start of a session's id (at least four). Without a
/// second one, the span ends now.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    thru changed yesterday\n  \
    thru changed 2026-03-01..2026-03-08\n  \
    thru changed 1a2b3c4..5d6e7f8")]
pub(crate) struct ChangedArguments {
    /// `A..B`, or `A` alone
    span: String,
    #[command(flatten)]
    within: shared::InProjects,
    /// How many to list
    #[arg(long, short = 'n', default_value_t = 50)]
    limit: usize,
    /// Answer as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &ChangedArguments, environment: &Environment) -> Result<Outcome> {
    let request = Changed {
        span: arguments.span.clone(),
        project: arguments.within.scope(),
        cursor: None,
        limit: arguments.limit,
    };
    let found = changed(environment, &request, environment.progress().call())?;
    environment.answer(arguments.json, &found, |page| {
        graph::lines(page, &found.facts, environment);
        let line = match found.facts.len() {
            0 => "Nothing changed.".to_owned(),
            number => {
                let rest = if found.more { "; `--limit` shows more" } else { "" };
                page.gap();
                let number = plural(number as u64, "change");
                format!("{number}{rest}. `thru show ID` shows the record.")
            }
        };
        page.toned(Tone::Quiet, &line);
        shared::show_prepared(page, &found.preparation);
    })?;
    Ok(Outcome::found(!found.facts.is_empty()))
}
