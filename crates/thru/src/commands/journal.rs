//! `thru journal`: look into the journal.

use std::io::Write;
use thru_app::App;

use serde_json::{Value, json};
use thru_app::Result;
use thru_intake::Operation;
use thru_journal::journal::{
    Count, Cursor, Item, Journal, JournalProblem, ProblemKind, Stats, Stored,
};
use thru_recall::parse_date;
use thru_redact::Report;

use super::{Outcome, log};
use crate::environment::Environment;
use crate::ui::{Page, Tone, count, day_and_time, one_line, plural, size, width};

/// The journal holds what cannot be made again: what hooks recorded, and what you decided.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// List records, the newest last
    Show(ShowArguments),
    /// Read every record, and say what is damaged
    Verify {
        /// Answer as JSON
        #[arg(long)]
        json: bool,
    },
    /// How much there is, of what
    Stats {
        /// Answer as JSON
        #[arg(long)]
        json: bool,
    },
}

/// The newest records; everything with a large `--limit`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    thru journal show                          the last records\n  \
    thru journal show --kind hook -n 100       what hooks recorded last\n  \
    thru journal show --kind PostToolUse       of one event\n  \
    thru journal show --session 4f1c --json    one session's records, as JSON Lines")]
pub(crate) struct ShowArguments {
    /// Only records of this kind, or of this event of an agent
    #[arg(long, short)]
    kind: Option<String>,
    /// Only of the session whose id starts so
    #[arg(long, short)]
    session: Option<String>,
    /// Not before: `2026-03-01`, `yesterday`, `2 weeks ago`
    #[arg(long)]
    since: Option<String>,
    /// How many to show
    #[arg(long, short = 'n', default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
    limit: u32,
    /// Print one JSON object a line
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(command: &Command, environment: &Environment, plain: bool) -> Result<Outcome> {
    // The name of the host counts only for those who write.
    let journal = Journal::open(environment.layout.journal(), "reader")?;
    match command {
        Command::Show(arguments) => show(arguments, &journal, environment, plain),
        Command::Verify { json } => verify(*json, &journal, environment, plain),
        Command::Stats { json } => stats(*json, &journal, environment, plain),
    }
}

fn show(
    arguments: &ShowArguments,
    journal: &Journal,
    environment: &Environment,
    plain: bool,
) -> Result<Outcome> {
    let now = environment.clock.now();
    let date = |text: &String| parse_date(text, now, environment.zone());
    let since = arguments.since.as_ref().map(date).transpose()?;
    let wanted = |stored: &Stored| {
        since.is_none_or(|since| stored.at >= since)
            && arguments
                .kind
                .as_ref()
                .is_none_or(|kind| stored.kind == *kind || event(stored) == kind)
            && arguments.session.as_ref().is_none_or(|start| session(stored).starts_with(start))
    };
    let mut records = latest(journal, arguments.limit as usize, wanted)?;
    // They were cleaned when they were recorded; the rules may be newer.
    let intake = environment.intake()?;
    for record in &mut records {
        let body = std::mem::take(&mut record.body);
        record.body = intake.redactor().clean_value(body, &mut Report::default()).into_inner();
    }
    if arguments.json {
        let mut out = environment.streams.output();
        for record in &records {
            writeln!(out, "{}", record_json(record))?;
        }
    } else {
        let mut page = Page::new(environment, plain);
        if records.is_empty() {
            page.line("No records.");
        }
        let kind_width =
            records.iter().map(|record| width(what(record))).max().unwrap_or(0).min(24);
        for record in &records {
            let when = day_and_time(Some(record.at), environment.zone());
            let (kind, session) = (one_line(what(record), 24), start(session(record)));
            let padding = " ".repeat(kind_width.saturating_sub(width(&kind)));
            let room = page.columns().saturating_sub(16 + 2 + kind_width + 2 + 8 + 2).max(20);
            page.line(format!(
                "{}  {kind}{padding}  {}  {}",
                page.paint(Tone::Quiet, &when),
                page.paint(Tone::Id, &format!("{session:8}")),
                one_line(&gist(record), room)
            ));
        }
        page.print()?;
    }
    Ok(if records.is_empty() { Outcome::Nothing } else { Outcome::Done })
}

/// The records that were made last, in order. They do not lie in order: several segments grow at
/// once.
fn latest(
    journal: &Journal,
    limit: usize,
    wanted: impl Fn(&Stored) -> bool,
) -> Result<Vec<Stored>> {
    let mut records = Vec::new();
    let keep_latest = |records: &mut Vec<Stored>| {
        records.sort_by_key(|stored| stored.at);
        records.drain(..records.len().saturating_sub(limit));
    };
    for item in journal.stream(Cursor::default())? {
        if let Item::Entry(stored) = item?
            && wanted(&stored)
        {
            records.push(stored);
        }
        // The journal may be far larger than what is shown of it.
        if records.len() > 2 * limit + 1_000 {
            keep_latest(&mut records);
        }
    }
    keep_latest(&mut records);
    Ok(records)
}

fn record_json(record: &Stored) -> Value {
    json!({
        "version": 1,
        "kind": "journal-record",
        "segment": record.position.segment,
        "line": record.position.line,
        "record": {
            "key": record.key,
            "host": record.host,
            "at": record.at,
            "kind": record.kind,
            "body": record.body,
        },
    })
}

/// The agent's name of what a hook recorded.
fn event(record: &Stored) -> &str {
    record.body["event"].as_str().unwrap_or_default()
}

fn what(record: &Stored) -> &str {
    if event(record).is_empty() { &record.kind } else { event(record) }
}

fn session(record: &Stored) -> &str {
    let session = &record.body["session"];
    session.as_str().or_else(|| session["id"].as_str()).unwrap_or_default()
}

fn start(id: &str) -> String {
    id.chars().take(8).collect()
}

/// What a record says, in short.
fn gist(record: &Stored) -> String {
    if let Some(operation) = Operation::read(&record.kind, &record.body) {
        return log::sentence(Some(&operation));
    }
    let body = match &record.body["payload"] {
        Value::Null => &record.body,
        payload => payload,
    };
    let text = |value: &Value, keys: &[&str]| {
        keys.iter().find_map(|key| value[*key].as_str()).map(str::to_owned)
    };
    let said =
        ["prompt", "last_assistant_message", "text", "message", "reason", "trigger", "source"];
    match (body["tool_name"].as_str(), text(body, &said)) {
        (Some(tool), _) => {
            let target = ["command", "file_path", "path", "pattern", "query", "url", "description"];
            format!("{tool}  {}", text(&body["tool_input"], &target).unwrap_or_default())
        }
        (None, Some(said)) => said,
        (None, None) if body.is_null() => String::new(),
        (None, None) => body.to_string(),
    }
}

fn verify(
    as_json: bool,
    journal: &Journal,
    environment: &Environment,
    plain: bool,
) -> Result<Outcome> {
    let found = journal.verify()?;
    let damaged = |problem: &&JournalProblem| problem.kind.is_serious();
    let clean = !found.problems.iter().any(|problem| damaged(&problem));
    let mut page = Page::new(environment, plain);
    if as_json {
        let problems: Vec<Value> = found
            .problems
            .iter()
            .map(|problem| {
                json!({
                    "segment": problem.position.segment,
                    "line": problem.position.line,
                    "offset": problem.position.offset,
                    "message": problem.to_string(),
                    "advice": advice(problem),
                    "serious": damaged(&problem),
                })
            })
            .collect();
        page.json(&json!({
            "version": 1,
            "kind": "journal-verify",
            "clean": clean,
            "segments": found.segments,
            "records": found.entries,
            "repeated": found.duplicates,
            "problems": problems,
        }))?;
    } else {
        page.line(format!(
            "{} in {}",
            plural(found.entries, "record"),
            plural(found.segments as u64, "segment")
        ));
        if found.duplicates > 0 {
            page.line(format!(
                "{} more than once; the first of each counts",
                plural(found.duplicates, "record")
            ));
        }
        for problem in &found.problems {
            let tone = if damaged(&problem) { Tone::Bad } else { Tone::Quiet };
            page.line(page.paint(tone, &problem.to_string()));
            page.line(format!("  {}", advice(problem)));
        }
        if clean {
            page.line(page.paint(Tone::Good, "All is as it was written."));
        } else {
            let number = found.problems.iter().filter(damaged).count();
            page.line(format!("{} damaged.", plural(number as u64, "place")));
        }
    }
    page.print()?;
    Ok(if clean { Outcome::Done } else { Outcome::Wrong })
}

/// What can be done, or what it means.
fn advice(problem: &JournalProblem) -> &'static str {
    match problem.kind {
        ProblemKind::Damaged => {
            "The disk lost it: put the segment back from a backup. What stands around it can be read."
        }
        ProblemKind::CutShort => {
            "A writer was stopped before it acknowledged this; nothing that was acknowledged is \
             missing, unless the power failed."
        }
        ProblemKind::Unfinished => {
            "It is being written, or its writer was killed before it was acknowledged; the next \
             record closes it off."
        }
        ProblemKind::Newer(_) => "Update Throughline on this machine to read it; it is kept.",
        ProblemKind::Changed => "It is read again from its start.",
    }
}

fn stats(
    as_json: bool,
    journal: &Journal,
    environment: &Environment,
    plain: bool,
) -> Result<Outcome> {
    let stats = journal.stats()?;
    let alarm = environment.config.journal.alarm_mb.bytes();
    let exceeded = stats.bytes_on_disk > alarm;
    let mut page = Page::new(environment, plain);
    if as_json {
        let counted = |count: &Count| json!({ "records": count.records, "first": count.first, "last": count.last });
        let hosts: serde_json::Map<String, Value> =
            stats.hosts.iter().map(|(host, count)| (host.clone(), counted(count))).collect();
        page.json(&json!({
            "version": 1,
            "kind": "journal-stats",
            "segments": {
                "plain": stats.plain,
                "sealed": stats.sealed,
                "spills": stats.spills,
            },
            "bytes_on_disk": stats.bytes_on_disk,
            "bytes": stats.bytes,
            "alarm_bytes": alarm,
            "alarm": exceeded,
            "records": stats.records.records,
            "first": stats.records.first,
            "last": stats.records.last,
            "repeated": stats.duplicates,
            "problems": stats.problems,
            "kinds": stats.kinds,
            "hosts": hosts,
        }))?;
    } else {
        stats_page(&mut page, &stats, environment);
        if exceeded {
            page.gap();
            let over = format!("The journal is larger than {} (journal.alarm_mb).", size(alarm));
            page.line(page.paint(Tone::Bad, &over));
            page.line("Nothing is dropped. `thru journal show -n 1000` shows what was recorded.");
        }
    }
    page.print()?;
    Ok(Outcome::Done)
}

fn stats_page(page: &mut Page, stats: &Stats, environment: &App) {
    let Stats { plain, sealed, spills, records, .. } = stats;
    page.line(format!(
        "segments  {} ({plain} shared, {} of single writers, {sealed} sealed)",
        count(plain + sealed + spills),
        spills
    ));
    let (packed, unpacked) = (size(stats.bytes_on_disk), size(stats.bytes));
    page.line(format!("size      {packed} on disk, {unpacked} unpacked"));
    page.line(format!("records   {}", counted(records, environment)));
    if stats.problems > 0 {
        let problems = plural(stats.problems, "problem");
        page.line(page.paint(Tone::Bad, &format!("{problems}: `thru journal verify` names them")));
    }
    let names = stats.kinds.keys().chain(stats.hosts.keys());
    let name_width = names.map(|name| width(name)).max().unwrap_or(0);
    let mut row = |name: &str, said: &str| {
        page.line(format!(
            "  {name}{}  {said}",
            " ".repeat(name_width.saturating_sub(width(name)))
        ));
    };
    for (kind, number) in &stats.kinds {
        row(kind, &count(*number));
    }
    // Of one host everything was said above.
    if stats.hosts.len() > 1 {
        for (host, of_host) in &stats.hosts {
            row(host, &counted(of_host, environment));
        }
    }
}

fn counted(of: &Count, environment: &App) -> String {
    if of.records == 0 {
        return "none".to_owned();
    }
    let day = |at| day_and_time(at, environment.zone());
    format!("{} from {} to {}", count(of.records), day(of.first), day(of.last))
}
