//! `thru graph`: the graph as a whole; and facts as lines, for all commands that show some.

use std::io::Write;

use thru_app::ask::graph::FactEntry;
use thru_app::ask::graph::export::{ExportGraph, GraphFormat, export};
use thru_app::ask::graph::path::{FindPath, path};
use thru_app::{Context, Result};
use thru_core::{EndReason, Relation};

use super::shared;
use crate::environment::Environment;
use crate::ui::{Outcome, Page, Tone, day_and_time, one_line, without_middle};

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// Show what two things have to do with each other
    Path(PathArguments),
    /// Write facts as a graph for other programs
    Export(ExportArguments),
}

/// A shortest path of at most three facts.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    thru graph path src/kiln.rs E0382\n  \
    thru graph path src/kiln.rs src/cone.rs --at 2026-03-01")]
pub(crate) struct PathArguments {
    /// A file, package, error, test, commit, branch or session
    from: String,
    /// Another one
    to: String,
    /// Over what was true then: `2026-03-01`, `yesterday`, `2 weeks ago`
    #[arg(long, value_name = "DATE")]
    at: Option<String>,
    #[command(flatten)]
    within: shared::InProjects,
    /// Answer as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    thru graph export --format mermaid src/kiln.rs\n  \
    thru graph export --format graphml --history > kiln.graphml")]
pub(crate) struct ExportArguments {
    /// Only what lies around this thing
    #[arg(default_value = "", hide_default_value = true)]
    what: String,
    /// json, graphml, canvas or mermaid
    #[arg(long, default_value = "json")]
    format: String,
    /// Also what no longer holds
    #[arg(long)]
    history: bool,
    #[command(flatten)]
    within: shared::InProjects,
}

pub(crate) fn run(command: &Command, environment: &Environment) -> Result<Outcome> {
    match command {
        Command::Path(arguments) => find_path(arguments, environment),
        Command::Export(arguments) => write_graph(arguments, environment),
    }
}

fn find_path(arguments: &PathArguments, environment: &Environment) -> Result<Outcome> {
    let request = FindPath {
        from: arguments.from.clone(),
        to: arguments.to.clone(),
        at: arguments.at.clone(),
        project: arguments.within.scope(),
    };
    let found = path(environment, &request, environment.progress().call())?;
    environment.answer(arguments.json, &found, |page| match found.facts[..] {
        [] => {
            let (from, to) = (found.from.name.get().as_str(), found.to.as_str());
            page.line(format!("No path of three facts or fewer leads from “{from}” to “{to}”."));
            for (asked, name) in [(&arguments.from, from), (&arguments.to, to)] {
                if is_part_of_a_word(asked.trim(), name) {
                    page.toned(Tone::Quiet, &format!("“{asked}” was taken for “{name}”."));
                }
            }
        }
        _ => lines(page, &found.facts, environment),
    })?;
    Ok(Outcome::found(!found.facts.is_empty()))
}

/// True if a text stands in a name without being a word of it: "a" in "main".
fn is_part_of_a_word(text: &str, name: &str) -> bool {
    let (text, name) = (text.to_lowercase(), name.to_lowercase());
    let Some((before, after)) = name.split_once(&text) else { return false };
    let goes_on = |side: Option<char>| side.is_some_and(char::is_alphanumeric);
    goes_on(before.chars().next_back()) || goes_on(after.chars().next())
}

fn write_graph(arguments: &ExportArguments, environment: &Environment) -> Result<Outcome> {
    let format: GraphFormat = arguments.format.parse()?;
    let request = ExportGraph {
        about: arguments.what.clone(),
        project: arguments.within.scope(),
        history: arguments.history,
    };
    let graph = export(environment, &request, environment.progress().call())?;
    let text = graph.rendered(format)?;
    let mut output = environment.streams.output();
    writeln!(output, "{}", text.trim_end()).context("the graph cannot be written")?;
    Ok(Outcome::found(!graph.facts.is_empty()))
}

/// Columns before the words of a fact: the moment.
const MOMENT: usize = 16;

/// Rows of the terminal over which the words of a fact may go.
const ROWS: usize = 3;

/// Adds a line for each fact.
pub(super) fn lines(page: &mut Page, facts: &[FactEntry], environment: &Environment) {
    let ids = facts.iter().map(|fact| fact.shown_by().unwrap_or("-").len());
    let width = ids.max().unwrap_or_default();
    // Whatever reads a pipe gets whole names.
    let row = match environment.terminal.output {
        true => page.columns().saturating_sub(width + MOMENT + 4).max(30),
        false => usize::MAX,
    };
    let room = ROWS.saturating_mul(row);
    for fact in facts {
        let id = format!("{:width$}", fact.shown_by().unwrap_or("-"));
        let from = day_and_time(Some(fact.from), environment.zone());
        let text = one_line(&fact.sentence_within(room), room);
        // A path that is longer than a row would be broken by the terminal.
        let words: Vec<String> = text.split(' ').map(|word| without_middle(word, row)).collect();
        let line = words.join(" ");
        let line = if is_bad(fact) { page.paint(Tone::Bad, &line) } else { line };
        let id = page.paint(Tone::Id, &id);
        page.line(format!("{id}  {}  {line}", page.paint(Tone::Quiet, &from)));
        if let Some(end) = &fact.end {
            let until = day_and_time(Some(end.at), environment.zone());
            let until = format!("{:width$}  until {until}, {}", "", ending(fact, end.reason));
            page.toned(Tone::Quiet, &until);
        }
    }
}

/// Returns true if a fact is a problem that is open.
fn is_bad(fact: &FactEntry) -> bool {
    let fails = fact.relation == Relation::Outcome && fact.object_shown() == "fail";
    fact.end.is_none() && (fails || fact.relation == Relation::FailedWith)
}

fn ending(fact: &FactEntry, reason: EndReason) -> &'static str {
    match reason {
        EndReason::Superseded if fact.relation == Relation::Outcome => {
            if fact.object_shown() == "fail" { "when it passed" } else { "when it failed" }
        }
        EndReason::Superseded => "when another took its place",
        EndReason::Removed => "when it was removed",
        EndReason::Fixed => "fixed by changes to files",
        EndReason::Flaky => "flaky: it passed without any change",
        EndReason::Gone => "gone, and the record does not say why",
    }
}
