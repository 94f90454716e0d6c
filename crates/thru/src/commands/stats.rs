//! `thru stats`: what briefings cost, and whether they were used.

mod models;
mod sessions;

use thru_app::Result;
use thru_app::ask::stats::{ContextUsage, context_usage};

use crate::environment::Environment;
use crate::ui::{Long, Outcome, Page, Table, Tone, age, count, one_line, plural};

/// What sessions were given from memory, what that cost, and what came of it.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    thru stats                      the last 30 days\n  \
    thru stats --since yesterday\n  \
    thru stats sessions             how long sessions took and what was done\n  \
    thru stats models               what models were asked, and what that cost\n\n\
    FETCHED counts memories that a session later asked for by their id, TOUCHED those whose files it \
    later worked on. Neither proves that the memory helped.")]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct StatsArguments {
    #[command(subcommand)]
    command: Option<Command>,
    /// Since: `2026-03-01`, `yesterday`, `2 weeks ago`
    #[arg(long, default_value = "30 days ago")]
    since: String,
    /// How many sessions to list
    #[arg(long, short = 'n', default_value_t = 10)]
    limit: usize,
    /// Answer as JSON
    #[arg(long, global = true)]
    json: bool,
}

/// What else there are numbers of.
#[derive(Debug, clap::Subcommand)]
enum Command {
    /// How long sessions took and what was done in them, by day and by project
    Sessions(sessions::StatsSessionsArguments),
    /// What models were asked, and what that cost
    Models(models::StatsModelsArguments),
}

pub(crate) fn run(arguments: &StatsArguments, environment: &Environment) -> Result<Outcome> {
    match &arguments.command {
        Some(Command::Sessions(it)) => return sessions::run(it, arguments.json, environment),
        Some(Command::Models(it)) => return models::run(it, arguments.json, environment),
        None => {}
    }
    let usage = context_usage(environment, &arguments.since, environment.progress().call())?;
    environment.answer(arguments.json, &usage, |page| {
        if usage.sessions.is_empty() {
            page.line("No session was given anything from memory in this time.");
            let install = page.paint(Tone::Id, "thru doctor");
            page.line(format!("`{install}` says whether your agents are connected."));
        } else {
            occasions(page, &usage);
            page.gap();
            list_sessions(page, &usage, arguments.limit, environment);
        }
    })?;
    Ok(Outcome::found(!usage.sessions.is_empty()))
}

fn occasions(page: &mut Page, usage: &ContextUsage) {
    let headings = ["GIVEN AT", ">TIMES", ">TOKENS", ">EACH TIME", ">MEMORIES EACH"];
    let mut table = Table::new(headings, Long::Cut);
    for one in &usage.occasions {
        let times = one.times.max(1);
        table.row([
            (Tone::Plain, one.occasion.to_string()),
            (Tone::Plain, count(one.times)),
            (Tone::Plain, count(one.tokens)),
            (Tone::Plain, count(one.tokens / times)),
            (Tone::Plain, count(one.memories.div_ceil(times))),
        ]);
    }
    page.table(&table);
}

fn list_sessions(page: &mut Page, usage: &ContextUsage, limit: usize, environment: &Environment) {
    let headings = ["SESSION", "LAST", ">TOKENS", ">MEMORIES", ">FETCHED", ">TOUCHED", "TITLE"];
    let mut table = Table::new(headings, Long::Cut);
    let now = environment.clock.now();
    for session in usage.sessions.iter().take(limit) {
        let title = session.title.as_ref().map_or("untitled", |title| title.get());
        table.row([
            (Tone::Id, session.id.short()),
            (Tone::Plain, age(session.last, now)),
            (Tone::Plain, count(session.tokens)),
            (Tone::Plain, count(session.memories)),
            (Tone::Plain, count(session.fetched)),
            (Tone::Plain, count(session.touched)),
            (Tone::Plain, one_line(title, page.columns())),
        ]);
    }
    page.table(&table);
    page.gap();
    let line = format!(
        "{} in all; about {} tokens; {} memories given, {} fetched and {} touched later.",
        plural(usage.sessions.len() as u64, "session"),
        count(usage.tokens),
        count(usage.memories),
        count(usage.fetched),
        count(usage.touched),
    );
    page.toned(Tone::Quiet, &line);
}
