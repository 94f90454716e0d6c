//! `thru facts`: what is true of a thing now, and what was true then.

use thru_app::Result;
use thru_app::ask::graph::facts::{FactList, Facts, facts};
use thru_core::Relation;

use super::{graph, shared};
use crate::environment::Environment;
use crate::ui::{Outcome, Page, Tone, plural};

/// Facts are taken from what agents did, with the time they held and the record that shows each.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    thru facts src/kiln.rs                   a file: its commits, errors and fixes\n  \
    thru facts 'cargo test' --history        how its outcome changed\n  \
    thru facts serde --at 2026-03-01         what was true then\n  \
    thru facts --relation RULED              the rules given in sessions, as far as they are in force")]
pub(crate) struct FactsArguments {
    /// A file, command, test, error, commit, branch, package or setting, or words of it; omit it to list all facts
    #[arg(default_value = "", hide_default_value = true)]
    what: Vec<String>,
    /// As it was then: `2026-03-01` (as the day began), `yesterday`, `2 weeks ago`
    #[arg(long, value_name = "DATE")]
    at: Option<String>,
    /// As far as it was known then: as --at
    #[arg(long, value_name = "DATE")]
    as_known: Option<String>,
    /// Also what no longer holds
    #[arg(long, conflicts_with_all = ["at"])]
    history: bool,
    /// Only this relation, e.g. DEPENDS_ON (more than once for several)
    #[arg(long = "relation", value_name = "NAME")]
    relations: Vec<Relation>,
    #[command(flatten)]
    within: shared::InProjects,
    /// How many to list
    #[arg(long, short = 'n', default_value_t = 30)]
    limit: usize,
    /// Answer as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &FactsArguments, environment: &Environment) -> Result<Outcome> {
    let request = Facts {
        about: arguments.what.join(" "),
        project: arguments.within.scope(),
        relations: arguments.relations.clone(),
        at: arguments.at.clone(),
        known: arguments.as_known.clone(),
        history: arguments.history,
        cursor: None,
        limit: arguments.limit,
    };
    let found = facts(environment, &request, environment.progress().call())?;
    environment.answer(arguments.json, &found, |page| show(page, &found, environment))?;
    Ok(Outcome::found(!found.facts.is_empty()))
}

fn show(page: &mut Page, found: &FactList, environment: &Environment) {
    graph::lines(page, &found.facts, environment);
    let line = match found.facts.len() {
        0 if found.ended > 0 => format!(
            "Nothing is true of it now. `--history` shows {} that no longer {}.",
            plural(found.ended as u64, "fact"),
            if found.ended == 1 { "does" } else { "do" },
        ),
        0 => "No facts. `thru search` looks through everything that was said.".to_owned(),
        number => {
            let rest = if found.more { "; `--limit` shows more" } else { "" };
            page.gap();
            format!("{}{rest}. `thru show ID` shows the record.", plural(number as u64, "fact"))
        }
    };
    page.toned(Tone::Quiet, &line);
    shared::show_prepared(page, &found.preparation);
}
