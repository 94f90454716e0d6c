//! `thru problems`: what failed last and was not seen to pass since.

use thru_app::Result;
use thru_app::ask::graph::problems::{ListProblems, problems};

use super::{graph, shared};
use crate::environment::Environment;
use crate::ui::{Outcome, Tone, plural};

/// Errors and failing tests by the last run of each check, on branches that were not merged since.
#[derive(Debug, clap::Args)]
pub(crate) struct ProblemsArguments {
    #[command(flatten)]
    within: shared::InProjects,
    /// How many to list
    #[arg(long, short = 'n', default_value_t = 30)]
    limit: usize,
    /// Answer as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &ProblemsArguments, environment: &Environment) -> Result<Outcome> {
    let request =
        ListProblems { project: arguments.within.scope(), cursor: None, limit: arguments.limit };
    let found = problems(environment, &request, environment.progress().call())?;
    environment.answer(arguments.json, &found, |page| {
        graph::lines(page, &found.problems, environment);
        let line = match found.problems.len() {
            0 => "No open problems.".to_owned(),
            number => {
                let rest = if found.more { "; `--limit` shows more" } else { "" };
                page.gap();
                let number = plural(number as u64, "open problem");
                format!("{number}{rest}. `thru show ID` shows the record.")
            }
        };
        page.toned(Tone::Quiet, &line);
        shared::show_prepared(page, &found.preparation);
    })?;
    Ok(Outcome::found(!found.problems.is_empty()))
}
