//! `thru why`: how a thing came to be as it is.

use thru_app::ask::graph::why::{Course, Why, why};
use thru_app::{Result, Trouble};

use super::{graph, shared};
use crate::environment::Environment;
use crate::ui::{Outcome, Page, Tone, day_and_time, one_line};

/// Tells the facts of a thing from the beginning, with the sessions behind its commits, and the decisions that speak of it.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    thru why src/kiln.rs\n  \
    thru why E0382\n  \
    thru why zod")]
pub(crate) struct WhyArguments {
    /// A file, package, error, test or commit, or words of it
    #[arg(required = true)]
    what: Vec<String>,
    #[command(flatten)]
    within: shared::InProjects,
    /// How many facts to show: the latest
    #[arg(long, short = 'n', default_value_t = 30)]
    limit: usize,
    /// Answer as JSON
    #[arg(long)]
    json: bool,
    /// The question whose answers are explained by another command now
    #[arg(long = "for", value_name = "QUERY", hide = true)]
    query: Option<String>,
}

pub(crate) fn run(arguments: &WhyArguments, environment: &Environment) -> Result<Outcome> {
    if let Some(query) = &arguments.query {
        let id = arguments.what.join(" ");
        return Err(Trouble::invalid("`thru why` tells how something came to be").advise(format!(
            "`thru search {query} --explain-id {id}` explains the rank of a result"
        )));
    }
    let request = Why {
        about: arguments.what.join(" "),
        project: arguments.within.scope(),
        cursor: None,
        limit: arguments.limit,
    };
    let course = why(environment, &request, environment.progress().call())?;
    let is_empty = course.facts.is_empty() && course.decisions.is_empty();
    environment.answer(arguments.json, &course, |page| show(page, &course, environment))?;
    Ok(Outcome::found(!is_empty))
}

fn show(page: &mut Page, course: &Course, environment: &Environment) {
    if course.more {
        page.toned(Tone::Quiet, "Earlier facts are left out; `--limit` shows more.");
    }
    graph::lines(page, &course.facts, environment);
    if !course.decisions.is_empty() {
        page.gap();
        page.toned(Tone::Heading, "Decisions");
    }
    for decision in &course.decisions {
        let when = day_and_time(decision.at, environment.zone());
        let room = page.columns().saturating_sub(decision.id.len() + when.len() + 4).max(30);
        let id = page.paint(Tone::Id, &decision.id);
        let when = page.paint(Tone::Quiet, &when);
        page.line(format!("{id}  {when}  {}", one_line(decision.listed().get(), room)));
    }
    match course.facts.is_empty() && course.decisions.is_empty() {
        true => page.toned(Tone::Quiet, "Nothing is known about it."),
        false => {
            page.gap();
            let hint = "`thru show ID` shows the record, `thru session show ID` a session.";
            page.toned(Tone::Quiet, hint);
        }
    }
    shared::show_prepared(page, &course.preparation);
}
