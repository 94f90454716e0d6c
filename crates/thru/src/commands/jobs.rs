//! `thru jobs`: work that waits, and work that failed.

use thru_app::ingest::jobs::{self, JobEntry, JobSelection, JobState, Jobs, JobsRun};
use thru_app::{Result, Trouble};
use thru_store::JobKind;

use super::distil;
use super::shared;
use crate::environment::Environment;
use crate::ui::{Outcome, Page, Tone, age, count, day_and_time, one_line, plural, short_ids};

/// Jobs that are listed.
const SHOWN: usize = 40;

/// Lists what is to be done, and what was given up after it failed too often. Work is done by itself: by
/// the daemon, or before the next question.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    thru jobs                what waits and what failed\n  \
    thru jobs retry --all    try everything again now\n  \
    thru jobs run            ask models and deliver what is due, where no daemon does\n  \
    thru jobs cancel 3       let it be; the session is indexed when something asks for it")]
pub(crate) struct JobsArguments {
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
        numbers: Vec<i64>,
        /// All that there are
        #[arg(long, conflicts_with = "numbers")]
        all: bool,
    },
    /// Ask models, and deliver, what is due now; the daemon does this by itself
    Run,
    /// Remove jobs from the queue
    Cancel {
        /// Their numbers
        #[arg(required = true)]
        numbers: Vec<i64>,
        /// Do not ask
        #[arg(long, short)]
        yes: bool,
    },
}

pub(crate) fn run(arguments: JobsArguments, environment: &Environment) -> Result<Outcome> {
    let json = arguments.json;
    let mut page = environment.page();
    let shown = environment.progress();
    let call = shown.call();
    let outcome = match arguments.command {
        None | Some(Command::List) => {
            let queue = jobs::list(environment, call)?;
            page.put(json, &queue, |page| show(page, &queue, environment))?;
            Outcome::Done
        }
        Some(Command::Retry { numbers, all: false }) if numbers.is_empty() => {
            return Err(Trouble::invalid("no job is named")
                .advise("name jobs by their numbers in `thru jobs`, or add `--all`"));
        }
        Some(Command::Retry { numbers, all }) => {
            let selection = if all { JobSelection::All } else { JobSelection::Numbers(numbers) };
            let answer = jobs::retry(environment, &selection, call)?;
            match (json, answer.retried.len()) {
                (true, _) => page.json(&answer)?,
                (false, 0) => page.line("Nothing to retry."),
                (false, number) => page.line(format!(
                    "{} will be retried: now by the daemon, else before the next question.",
                    plural(number as u64, "job")
                )),
            }
            // A queue with nothing to do is good news.
            Outcome::Done
        }
        Some(Command::Run) => {
            let cancelled = shared::cancellation()?;
            let ran = jobs::run(environment, shown.call_until(&cancelled))?;
            page.put(json, &ran, |page| tell(page, &ran, environment))?;
            if ran.trouble.is_none() { Outcome::Done } else { Outcome::Wrong }
        }
        Some(Command::Cancel { numbers, yes }) => {
            if !yes && !json && environment.terminal.interactive {
                jobs::list(environment, call)?.check(&numbers)?;
                let number = plural(numbers.len() as u64, "job");
                let question = format!("Remove {number} from the queue?");
                if !shared::ask(environment, &question, false)? {
                    page.line("Nothing was changed.");
                    return page.end(Outcome::Nothing);
                }
            }
            let answer = jobs::cancel(environment, &numbers, call)?;
            page.put(json, &answer, |page| {
                page.line(format!(
                    "{} removed from the queue. A session that is not indexed yet will be when a question needs it.",
                    plural(answer.cancelled.len() as u64, "job")
                ));
            })?;
            Outcome::Done
        }
    };
    page.end(outcome)
}

fn tell(page: &mut Page, ran: &JobsRun, environment: &Environment) {
    distil::tell(page, &ran.refined);
    if environment.config.sinks.mcp().is_some() {
        page.line(format!("Delivered: {}.", count(ran.delivered as u64)));
    }
    if let Some(trouble) = &ran.delivery_trouble {
        let text = format!("sinks.mcp: {}.", one_line(trouble, 200));
        page.toned(Tone::Bad, &text);
    }
}

fn show(page: &mut Page, queue: &Jobs, environment: &Environment) {
    let jobs = &queue.jobs;
    if jobs.is_empty() {
        page.line("Nothing is waiting, and nothing has failed.");
        return;
    }
    let ids = short_ids(jobs.iter().take(SHOWN).map(|job| job.session_id.as_str()));
    let wide = ids.first().map_or(8, String::len);
    let heading = format!(
        "{:>4}  {:12}  {:wide$}  {:8}  {:16}  {:20}",
        "JOB", "WHAT", "SESSION", "FAILED", "TRIED AGAIN", "REASON"
    );
    page.toned(Tone::Quiet, heading.trim_end());
    for (job, session) in jobs.iter().zip(&ids) {
        page.line(format!(
            "{:>4}  {:12}  {}  {:8}  {:16}  {}",
            job.number,
            what(job),
            page.paint(Tone::Id, session),
            failures(job),
            when(job, environment),
            one_line(&job.reason, 40),
        ));
        if let Some(error) = &job.error {
            let room = page.columns().saturating_sub(5);
            page.toned(Tone::Bad, &format!("     {}", one_line(error, room)));
        }
    }
    if jobs.len() > SHOWN {
        page.line(format!("     … and {} more; --json lists all", jobs.len() - SHOWN));
    }
    page.gap();
    let given_up = match queue.dead {
        0 => String::new(),
        dead => format!(", {dead} of them given up: `thru jobs retry` tries again"),
    };
    let line = format!("{}{given_up}.", plural(jobs.len() as u64, "job"));
    page.toned(Tone::Quiet, &line);
}

fn what(job: &JobEntry) -> String {
    match job.kind {
        Some(JobKind::RefineTurn(turn)) => format!("ask turn {turn}"),
        Some(JobKind::RefineSession) => "ask whole".to_owned(),
        _ => job.name.to_owned(),
    }
}

fn failures(job: &JobEntry) -> String {
    match job.attempts {
        0 => "never".to_owned(),
        1 => "once".to_owned(),
        attempts => format!("{attempts} ×"),
    }
}

/// The time of the next attempt, in words.
fn when(job: &JobEntry, environment: &Environment) -> String {
    let now = environment.clock.now();
    match job.due {
        _ if job.state == JobState::Dead => "given up".to_owned(),
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
