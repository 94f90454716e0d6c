//! `thru jobs`: work that waits, and work that failed.

use serde_json::{Value, json};
use thru_app::App;
use thru_app::Result;
use thru_core::Timestamp;
use thru_refine::Report;
use thru_store::{JobKind, JobRow};

use super::{Outcome, distil, shared};
use crate::environment::Environment;
use crate::failure::advised;
use crate::ui::{Page, Tone, age, count, day_and_time, one_line, plural, printable};
use thru_app::background;
use thru_app::deliver;
use thru_app::models::Models;

/// Jobs that are listed.
const SHOWN: usize = 40;

/// Lists what is to be done, and what was given up after it failed too often. Work is done by itself: by
/// the daemon, or before the next question.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    thru jobs                what waits and what failed\n  \
    thru jobs retry --all    try everything again now\n  \
    thru jobs run            ask models and deliver what is due, where no daemon does\n  \
    thru jobs cancel 3       let it be; the session is indexed when something asks for it\n\n\
    Exit status: 1 there is none.")]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
    /// Answer as JSON
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// List jobs, those that are due first (the default)
    List,
    /// Have jobs tried again now, as if they had never failed
    Retry {
        /// Their numbers
        #[arg(required_unless_present = "all")]
        numbers: Vec<i64>,
        /// All that there are
        #[arg(long, conflicts_with = "numbers")]
        all: bool,
    },
    /// Ask models, and deliver, what is due now; the daemon does this by itself
    Run,
    /// Take jobs out of the queue
    Cancel {
        /// Their numbers
        #[arg(required = true)]
        numbers: Vec<i64>,
        /// Do not ask
        #[arg(long, short)]
        yes: bool,
    },
}

pub(crate) fn run(arguments: Arguments, environment: &Environment, plain: bool) -> Result<Outcome> {
    let mut page = Page::new(environment, plain);
    let jobs = shared::open_store_as_it_is(environment)?.jobs()?;
    let outcome = match arguments.command {
        None | Some(Command::List) => {
            match arguments.json {
                true => page.json(&answer(&jobs))?,
                false => list(&mut page, &jobs, environment),
            }
            if jobs.is_empty() { Outcome::Nothing } else { Outcome::Done }
        }
        Some(Command::Retry { numbers, all }) => {
            let numbers = match all {
                true => jobs.iter().map(|job| job.number).collect(),
                false => known(&jobs, numbers)?,
            };
            let intake = environment.intake()?;
            let lock = shared::lock(&intake, environment)?;
            let retried = intake.retry_jobs(&lock, &numbers)?;
            drop(lock);
            background::poke(environment);
            let number = plural(retried.len() as u64, "job");
            match (arguments.json, retried.is_empty()) {
                (true, _) => page.json(&changed("retried", &retried))?,
                (false, true) => page.line("There is nothing to try again."),
                (false, false) => page.line(format!(
                    "{number} will be tried again: by the daemon now, else before the next question."
                )),
            }
            if retried.is_empty() { Outcome::Nothing } else { Outcome::Done }
        }
        Some(Command::Run) => run_now(&mut page, environment, arguments.json)?,
        Some(Command::Cancel { numbers, yes }) => {
            let numbers = known(&jobs, numbers)?;
            let number = plural(numbers.len() as u64, "job");
            if !yes && !arguments.json && environment.terminal.interactive {
                let question = format!("Take {number} out of the queue?");
                if !shared::ask(environment, &question, false)? {
                    page.line("Nothing was changed.");
                    page.print()?;
                    return Ok(Outcome::Nothing);
                }
            }
            let intake = environment.intake()?;
            let lock = shared::lock(&intake, environment)?;
            let cancelled = intake.cancel_jobs(&lock, &numbers)?;
            match arguments.json {
                true => page.json(&changed("cancelled", &cancelled))?,
                false => page.line(format!(
                    "{} taken out of the queue. What was not indexed is when something asks for it.",
                    plural(cancelled.len() as u64, "job")
                )),
            }
            Outcome::Done
        }
    };
    page.print()?;
    Ok(outcome)
}

/// Asks what is due, and delivers it.
fn run_now(page: &mut Page, environment: &App, json: bool) -> Result<Outcome> {
    let stop = shared::cancellation()?;
    let report = match Models::of(environment)? {
        Some(models) => models.run(environment, None, &stop, &|_| {})?,
        None => Report::default(),
    };
    let delivered = deliver::deliver(environment, &stop)?;
    let is_well = report.trouble.is_none() && delivered.trouble.is_none();
    if json {
        page.json(&json!({
            "version": 1,
            "kind": "jobs",
            "turns": report.turns,
            "sessions": report.sessions,
            "delivered": delivered.things,
            "exhausted": report.exhausted.map(|exhausted| exhausted.what),
            "trouble": report.trouble.or(delivered.trouble),
        }))?;
    } else {
        distil::tell(page, &report);
        if environment.config.sinks.mcp().is_some() {
            page.line(format!("Delivered: {}.", count(delivered.things as u64)));
        }
        if let Some(trouble) = &delivered.trouble {
            let text = format!("sinks.mcp: {}.", one_line(trouble, 200));
            page.line(page.paint(Tone::Bad, &text));
        }
    }
    Ok(if is_well { Outcome::Done } else { Outcome::Wrong })
}

/// The numbers, if there are such jobs.
fn known(jobs: &[JobRow], numbers: Vec<i64>) -> Result<Vec<i64>> {
    match numbers.iter().find(|number| jobs.iter().all(|job| job.number != **number)) {
        Some(number) => Err(advised(
            format!("there is no job {number}"),
            "it may be done by now; `thru jobs` lists those that there are",
        )),
        None => Ok(numbers),
    }
}

fn list(page: &mut Page, jobs: &[JobRow], environment: &App) {
    if jobs.is_empty() {
        page.line("Nothing waits, and nothing failed.");
        return;
    }
    let heading = format!(
        "{:>4}  {:12}  {:8}  {:8}  {:16}  {:20}",
        "JOB", "WHAT", "SESSION", "FAILED", "TRIED AGAIN", "REASON"
    );
    page.line(page.paint(Tone::Quiet, heading.trim_end()));
    for job in jobs.iter().take(SHOWN) {
        let session = job.key.id.short();
        page.line(format!(
            "{:>4}  {:12}  {}  {:8}  {:16}  {}",
            job.number,
            what(job),
            page.paint(Tone::Id, &format!("{session:8}")),
            failures(job),
            when(job, environment),
            one_line(&job.reason, 40),
        ));
        if let Some(error) = &job.error {
            let room = page.columns().saturating_sub(5);
            page.line(page.paint(Tone::Bad, &format!("     {}", one_line(error, room))));
        }
    }
    if jobs.len() > SHOWN {
        page.line(format!("     … and {} more; --json lists all", jobs.len() - SHOWN));
    }
    page.gap();
    let dead = jobs.iter().filter(|job| job.is_dead).count() as u64;
    let given_up = match dead {
        0 => String::new(),
        dead => format!(", {dead} of them given up: `thru jobs retry` tries again"),
    };
    let line = format!("{}{given_up}.", plural(jobs.len() as u64, "job"));
    page.line(page.paint(Tone::Quiet, &line));
}

fn what(job: &JobRow) -> String {
    match job.kind {
        Some(JobKind::RefineTurn(turn)) => format!("ask turn {turn}"),
        Some(JobKind::RefineSession) => "ask whole".to_owned(),
        Some(kind) => kind.as_str().to_owned(),
        None => "other".to_owned(),
    }
}

fn failures(job: &JobRow) -> String {
    match job.attempts {
        0 => "never".to_owned(),
        1 => "once".to_owned(),
        attempts => format!("{attempts} ×"),
    }
}

/// When a job is tried, in words.
fn when(job: &JobRow, environment: &App) -> String {
    let now = environment.clock.now();
    match job.due {
        _ if job.is_dead => "given up".to_owned(),
        Some(due) if due > now => match due.duration_since(now).as_secs() < 24 * 3_600 {
            // The distance forwards, as one that lies back is said.
            true => match age(Some(now), due).as_str() {
                "now" => "in a moment".to_owned(),
                age => format!("in {age}"),
            },
            false => day_and_time(Some(due), environment.zone()),
        },
        _ => "now".to_owned(),
    }
}

fn answer(jobs: &[JobRow]) -> Value {
    let dead = jobs.iter().filter(|job| job.is_dead).count();
    json!({
        "version": 1,
        "kind": "jobs",
        "dead": dead,
        "jobs": jobs.iter().map(as_json).collect::<Vec<_>>(),
    })
}

/// A job as programs are told.
fn as_json(job: &JobRow) -> Value {
    let due: Option<Timestamp> = job.due.filter(|_| !job.is_dead);
    json!({
        "number": job.number,
        "what": job.kind.map_or("other", JobKind::as_str),
        "turn": job.kind.map(JobKind::turn).filter(|turn| *turn > 0),
        "session_id": job.key.id,
        "reason": job.reason,
        "state": if job.is_dead { "dead" } else { "waiting" },
        "attempts": job.attempts,
        "created": job.created,
        "due": due,
        "error": job.error.as_deref().map(printable),
    })
}

fn changed(how: &str, jobs: &[JobRow]) -> Value {
    let numbers: Vec<i64> = jobs.iter().map(|job| job.number).collect();
    json!({ "version": 1, "kind": "jobs", how: numbers })
}
