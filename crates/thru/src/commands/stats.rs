//! `thru stats`: what briefings cost, and whether they were used.

mod models;
mod sessions;

use serde_json::{Value, json};
use thru_app::App;
use thru_app::Result;
use thru_recall::{SessionUsage, Usage, parse_date, usage};
use thru_store::{SessionRow, Store};

use super::{Outcome, shared};
use crate::environment::Environment;
use crate::ui::{Page, Tone, age, count, one_line, plural};

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
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
    /// Since: `2026-03-01`, `yesterday`, `2 weeks ago`
    #[arg(long, default_value = "30 days ago")]
    since: String,
    /// How many sessions to list
    #[arg(long, short = 'n', default_value_t = 10)]
    limit: usize,
    /// Answer as JSON
    #[arg(long)]
    json: bool,
}

/// What else there are numbers of.
#[derive(Debug, clap::Subcommand)]
enum Command {
    /// How long sessions took and what was done in them, by day and by project
    Sessions(sessions::Arguments),
    /// What models were asked, and what that cost
    Models(models::Arguments),
}

pub(crate) fn run(
    arguments: &Arguments,
    environment: &Environment,
    plain: bool,
) -> Result<Outcome> {
    match &arguments.command {
        Some(Command::Sessions(arguments)) => return sessions::run(arguments, environment, plain),
        Some(Command::Models(arguments)) => return models::run(arguments, environment, plain),
        None => {}
    }
    let store = shared::open_store(environment)?;
    let since = parse_date(&arguments.since, environment.clock.now(), environment.zone())?;
    let usage = usage(&store, Some(since))?;
    let mut page = Page::new(environment, plain);
    if arguments.json {
        page.json(&as_json(&store, &usage)?)?;
    } else if usage.sessions.is_empty() {
        page.line("No session was given anything from memory in this time.");
        let install = page.paint(Tone::Id, "thru doctor");
        page.line(format!("`{install}` says whether your agents are connected."));
    } else {
        occasions(&mut page, &usage);
        page.gap();
        list_sessions(&mut page, &store, &usage, arguments.limit, environment)?;
    }
    page.print()?;
    Ok(if usage.sessions.is_empty() { Outcome::Nothing } else { Outcome::Done })
}

fn occasions(page: &mut Page, usage: &Usage) {
    let heading = format!(
        "{:10}  {:>6}  {:>9}  {:>11}  {:>13}",
        "GIVEN AT", "TIMES", "TOKENS", "EACH TIME", "MEMORIES EACH"
    );
    page.line(page.paint(Tone::Quiet, &heading));
    for (occasion, of) in &usage.occasions {
        let times = of.injections.max(1);
        page.line(format!(
            "{occasion:10}  {:>6}  {:>9}  {:>11}  {:>13}",
            count(of.injections),
            count(of.tokens),
            count(of.tokens / times),
            count(of.memories.div_ceil(times)),
        ));
    }
}

fn list_sessions(
    page: &mut Page,
    store: &Store,
    usage: &Usage,
    limit: usize,
    environment: &App,
) -> Result<()> {
    let heading = format!(
        "{:8}  {:9}  {:>6}  {:>8}  {:>7}  {:>7}  TITLE",
        "SESSION", "LAST", "TOKENS", "MEMORIES", "FETCHED", "TOUCHED"
    );
    page.line(page.paint(Tone::Quiet, &heading));
    let now = environment.clock.now();
    for of in usage.sessions.iter().take(limit) {
        let Some(key) = store.session_key(of.session)? else { continue };
        let id = key.id.short();
        let session = store.session(of.session)?;
        let room = page.columns().saturating_sub(59).max(20);
        page.line(format!(
            "{}  {:9}  {:>6}  {:>8}  {:>7}  {:>7}  {}",
            page.paint(Tone::Id, &format!("{id:8}")),
            age(of.at, now),
            count(of.tokens),
            count(of.memories),
            count(of.fetched),
            count(of.touched),
            one_line(&title(session.as_ref()), room),
        ));
    }
    let (memories, fetched, touched, tokens) = totals(usage);
    page.gap();
    let line = format!(
        "{} in all; about {} tokens; {} memories given, {} fetched and {} touched later.",
        plural(usage.sessions.len() as u64, "session"),
        count(tokens),
        count(memories),
        count(fetched),
        count(touched),
    );
    page.line(page.paint(Tone::Quiet, &line));
    Ok(())
}

fn title(session: Option<&SessionRow>) -> String {
    session.and_then(|session| session.title.clone()).unwrap_or_else(|| "untitled".to_owned())
}

/// Memories, fetched, touched, tokens.
fn totals(usage: &Usage) -> (u64, u64, u64, u64) {
    let sum = |field: fn(&SessionUsage) -> u64| usage.sessions.iter().map(field).sum();
    (sum(|of| of.memories), sum(|of| of.fetched), sum(|of| of.touched), sum(|of| of.tokens))
}

fn as_json(store: &Store, usage: &Usage) -> Result<Value> {
    let occasions: Vec<Value> = usage
        .occasions
        .iter()
        .map(|(occasion, of)| {
            json!({
                "occasion": occasion,
                "times": of.injections,
                "tokens": of.tokens,
                "memories": of.memories,
            })
        })
        .collect();
    let mut sessions = Vec::new();
    for of in &usage.sessions {
        let Some(key) = store.session_key(of.session)? else { continue };
        sessions.push(json!({
            "agent": key.agent,
            "id": key.id,
            "last": of.at,
            "times": of.injections,
            "tokens": of.tokens,
            "memories": of.memories,
            "fetched": of.fetched,
            "touched": of.touched,
        }));
    }
    let (memories, fetched, touched, tokens) = totals(usage);
    Ok(json!({
        "version": 1,
        "kind": "stats",
        "tokens": tokens,
        "memories": memories,
        "fetched": fetched,
        "touched": touched,
        "occasions": occasions,
        "sessions": sessions,
    }))
}
