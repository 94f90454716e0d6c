//! `thru journal`: a look into the journal.

use std::io::Write;

use serde_json::Value;
use thru_app::Result;
use thru_app::ask::log::sentence;
use thru_app::ingest::journal::{
    self, JournalCheck, JournalRecord, JournalStats, RecordContent, RecordCount, SegmentCounts,
    ShowRecords,
};
use thru_intake::Operation;

use crate::environment::Environment;
use crate::ui::{
    Outcome, Page, Tone, count, day_and_time, one_line, plural, short_ids, size, width,
};

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

pub(crate) fn run(command: Command, environment: &Environment) -> Result<Outcome> {
    let mut page = environment.page();
    let outcome = match command {
        Command::Show(arguments) => return show(arguments, environment, page),
        Command::Verify { json } => {
            let check = journal::check(environment)?;
            page.put(json, &check, |page| show_check(page, &check))?;
            if check.clean { Outcome::Done } else { Outcome::Wrong }
        }
        Command::Stats { json } => {
            let stats = journal::stats(environment)?;
            page.put(json, &stats, |page| show_stats(page, &stats, environment))?;
            Outcome::Done
        }
    };
    page.end(outcome)
}

fn show(arguments: ShowArguments, environment: &Environment, mut page: Page) -> Result<Outcome> {
    let ShowArguments { kind, session, since, limit, json } = arguments;
    let request = ShowRecords { kind, session, since, limit: limit as usize };
    let records = journal::records(environment, &request, environment.progress().call())?;
    if json {
        let mut out = environment.streams.output();
        for record in &records {
            // With its keys in order, as every other answer.
            writeln!(out, "{}", serde_json::to_value(record)?)?;
        }
    } else {
        show_records(&mut page, &records, environment);
        page.print()?;
    }
    Ok(Outcome::found(!records.is_empty()))
}

fn show_records(page: &mut Page, records: &[JournalRecord], environment: &Environment) {
    if records.is_empty() {
        page.line("No records.");
    }
    let names = records.iter().map(|record| width(record.record.name()));
    let name_width = names.max().unwrap_or(0).min(24);
    let ids = short_ids(records.iter().map(|record| record.record.session()));
    for (JournalRecord { record, .. }, session) in records.iter().zip(&ids) {
        let when = day_and_time(Some(record.at), environment.zone());
        let name = one_line(record.name(), 24);
        let padding = " ".repeat(name_width.saturating_sub(width(&name)));
        let room =
            page.columns().saturating_sub(16 + 2 + name_width + 2 + session.len() + 2).max(20);
        page.line(format!(
            "{}  {name}{padding}  {}  {}",
            page.paint(Tone::Quiet, &when),
            page.paint(Tone::Id, session),
            one_line(&gist(record), room)
        ));
    }
}

/// The content of a record in short.
fn gist(record: &RecordContent) -> String {
    let body = record.body.get();
    if let Some(operation) = Operation::read(&record.kind, body) {
        return sentence(Some(&operation));
    }
    let body = match &body["payload"] {
        Value::Null => body,
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

fn show_check(page: &mut Page, check: &JournalCheck) {
    page.line(format!(
        "{} in {}",
        plural(check.records, "record"),
        plural(check.segments as u64, "segment")
    ));
    if check.repeated > 0 {
        page.line(format!(
            "{} more than once; the first of each counts",
            plural(check.repeated, "record")
        ));
    }
    for problem in &check.problems {
        let tone = if problem.serious { Tone::Bad } else { Tone::Quiet };
        page.toned(tone, &problem.message);
        page.line(format!("  {}", problem.advice));
    }
    if check.clean {
        let line = match check.problems.is_empty() {
            true => "Everything is as it was written.",
            false => "All else is as it was written.",
        };
        page.toned(Tone::Good, line);
    } else {
        let number = check.problems.iter().filter(|problem| problem.serious).count();
        page.line(format!("{} damaged.", plural(number as u64, "place")));
    }
}

fn show_stats(page: &mut Page, stats: &JournalStats, environment: &Environment) {
    let SegmentCounts { plain, sealed, spills } = stats.segments;
    page.line(format!(
        "segments  {} ({plain} shared, {spills} of single writers, {sealed} sealed)",
        count(plain + sealed + spills),
    ));
    let (packed, unpacked) = (size(stats.bytes_on_disk), size(stats.bytes));
    page.line(format!("size      {packed} on disk, {unpacked} unpacked"));
    page.line(format!("records   {}", counted(&stats.records, environment)));
    if stats.problems > 0 {
        let problems = plural(stats.problems, "problem");
        page.toned(Tone::Bad, &format!("{problems}: `thru journal verify` names them"));
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
        for (host, records) in &stats.hosts {
            row(host, &counted(records, environment));
        }
    }
    if stats.alarm {
        page.gap();
        let alarm = size(stats.alarm_bytes);
        let over = format!("The journal is larger than {alarm} (journal.alarm_mb).");
        page.toned(Tone::Bad, &over);
        page.line("Nothing is dropped. `thru journal show -n 1000` shows what was recorded.");
    }
}

fn counted(records: &RecordCount, environment: &Environment) -> String {
    if records.records == 0 {
        return "none".to_owned();
    }
    let day = |at| day_and_time(at, environment.zone());
    format!("{} from {} to {}", count(records.records), day(records.first), day(records.last))
}
