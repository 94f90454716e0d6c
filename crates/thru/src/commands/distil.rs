//! `thru distil`: having a model look at earlier turns and sessions, once somebody saw what that costs.

use std::collections::HashSet;
use std::sync::atomic::Ordering;
use thru_app::App;
use thru_app::ask::named;

use indicatif::{ProgressBar, ProgressDrawTarget};
use serde_json::{Value, json};
use thru_app::Result;
use thru_core::{Micros, SessionKey};
use thru_lifecycle::content::ContentHash;
use thru_models::Usage;
use thru_recall::parse_date;
use thru_refine::{Meter, RefineError, Report, Told};
use thru_store::{JobKind, Store, TurnFilter, TurnRow};

use super::{Outcome, shared};
use crate::environment::Environment;
use crate::failure::advised;
use crate::ui::{Page, Tone, count, one_line, plural, printable};
use thru_app::models::Models;

/// Tokens of a question beside what is told of the turn or the session.
const FRAME: u64 = 800;
/// What an answer comes to, as a rule.
const ANSWER: u64 = 350;
/// What is told of a session, as a rule.
const SESSION: u64 = 2_500;

/// Shows how many turns and sessions no model has looked at, and what it would cost to have one look.
/// Sends nothing without --run. What a model made of a turn before is not asked for again, unless --again.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    thru distil --since '2 weeks ago'            what it would cost\n  \
    thru distil --since '2 weeks ago' --run      do it, within the budget\n  \
    thru distil --session 4f2a --again --run     once more, with the model that is set now\n\n\
    Exit status: 1 there is nothing to do.")]
pub(crate) struct Arguments {
    /// Since: `2026-03-01`, `yesterday`, `2 weeks ago`
    #[arg(long, default_value = "7 days ago")]
    since: String,
    /// Until
    #[arg(long)]
    until: Option<String>,
    /// Only this project
    #[arg(long, short)]
    project: Option<String>,
    /// Only this session
    #[arg(long, conflicts_with_all = ["project", "until"])]
    session: Option<String>,
    /// Also what a model looked at before
    #[arg(long)]
    again: bool,
    /// Do it
    #[arg(long)]
    run: bool,
    /// Answer as JSON
    #[arg(long)]
    json: bool,
}

/// What is to be asked.
struct Work {
    turns: Vec<TurnRow>,
    sessions: Vec<(i64, SessionKey, ContentHash)>,
}

/// What that comes to, about.
#[derive(Clone, Copy)]
struct Estimate {
    usage: Usage,
    cost: Option<Micros>,
}

pub(crate) fn run(
    arguments: &Arguments,
    environment: &Environment,
    plain: bool,
) -> Result<Outcome> {
    let store = shared::open_store(environment)?;
    let work = look(arguments, environment, &store)?;
    let models = Models::of(environment)?;
    if arguments.run && models.is_none() {
        return Err(advised("no model is set", "`thru models` lists what can be set"));
    }
    let estimate = estimate(&work, models.as_ref());
    let meter = Meter::read(&store, environment.clock.now(), None)?;
    drop(store);
    let mut page = Page::new(environment, plain);
    let is_empty = work.turns.is_empty() && work.sessions.is_empty();
    let report = match models.as_ref().filter(|_| arguments.run && !is_empty) {
        Some(models) => Some(carry_out(&work, models, environment, arguments.json)?),
        None => None,
    };
    match (arguments.json, &report) {
        (true, report) => page.json(&as_json(&work, estimate, report.as_ref()))?,
        (false, Some(report)) => tell(&mut page, report),
        (false, None) => preview(&mut page, &work, estimate, models.as_ref(), &meter, environment),
    }
    page.print()?;
    Ok(match report {
        None if is_empty => Outcome::Nothing,
        Some(report) if report.trouble.is_some() => Outcome::Wrong,
        _ => Outcome::Done,
    })
}

fn look(arguments: &Arguments, environment: &App, store: &Store) -> Result<Work> {
    let (now, zone) = (environment.clock.now(), environment.zone());
    let session = match &arguments.session {
        Some(name) => Some(named::named_session(store, name)?.row),
        None => None,
    };
    let projects = match &arguments.project {
        Some(name) => Some(store.project_rows(named::named_project(store, name)?.row)?),
        None => None,
    };
    let until = arguments.until.as_deref().map(|until| parse_date(until, now, zone)).transpose()?;
    let filter = TurnFilter {
        projects,
        session,
        // A session that was named counts whole.
        since: match session {
            Some(_) => None,
            None => Some(parse_date(&arguments.since, now, zone)?),
        },
        until,
    };
    let mut turns = store.turns(&filter)?;
    turns.retain(|turn| turn.turn > 0 && turn.messages > 1);
    let mut rows: Vec<i64> = turns.iter().map(|turn| turn.session).collect();
    rows.sort_unstable();
    rows.dedup();
    let mut sessions = Vec::new();
    for row in rows {
        let Some(course) = store.course(row)? else { continue };
        let left = course.heard.left(now, &environment.limits()).is_some();
        let Some(content) = course.content.filter(|_| left) else { continue };
        let is_told = store.refinements(row)?;
        let is_told = is_told.iter().any(|one| one.is_whole && one.content == content.hash);
        if arguments.again || !is_told {
            sessions.push((row, course.key, content.hash));
        }
    }
    turns.retain(|turn| arguments.again || !turn.is_refined);
    Ok(Work { turns, sessions })
}

fn estimate(work: &Work, models: Option<&Models>) -> Estimate {
    let record = models.map_or(2_000, |models| models.settings().turn.record);
    let turns = work.turns.iter().map(|turn| FRAME + turn.tokens.min(record)).sum::<u64>();
    let sessions = work.sessions.len() as u64 * (FRAME + SESSION);
    let usage = Usage {
        input: turns + sessions,
        output: (work.turns.len() + work.sessions.len()) as u64 * ANSWER,
        cached_input: 0,
        estimated: true,
    };
    let cost = models.and_then(|models| {
        let link = models.first()?;
        match link.provider.is_local() {
            true => Some(Micros(0)),
            false => {
                let cost = models.chain().prices.cost(link.provider.model(), usage)?;
                Some(cost)
            }
        }
    });
    Estimate { usage, cost }
}

fn preview(
    page: &mut Page,
    work: &Work,
    estimate: Estimate,
    models: Option<&Models>,
    meter: &Meter,
    environment: &App,
) {
    if work.turns.is_empty() && work.sessions.is_empty() {
        page.line("There is nothing of that time that no model has looked at.");
        return;
    }
    page.line(format!(
        "{} and {}: about {} tokens to send and {} to come back.",
        plural(work.turns.len() as u64, "turn"),
        plural(work.sessions.len() as u64, "session"),
        count(estimate.usage.input),
        count(estimate.usage.output)
    ));
    let limits = environment.config.budget.limits();
    match models.and_then(Models::first) {
        None => page.line("No model is set. `thru models` lists what can be."),
        Some(link) => {
            let cost = match estimate.cost {
                Some(cost) => format!("about {cost}"),
                None => "its price is not known".to_owned(),
            };
            page.line(format!("With {} {}: {cost}.", link.name, printable(link.provider.model())));
            page.line(format!(
                "Left of the budget: {} tokens today, {} this month.",
                count(limits.daily.tokens.saturating_sub(meter.day.tokens())),
                count(limits.monthly.tokens.saturating_sub(meter.month.tokens())),
            ));
            page.line("Nothing was sent. --run does it; what does not fit into the budget waits.");
        }
    }
}

/// Puts it into the queue and asks.
fn carry_out(
    work: &Work,
    models: &Models,
    environment: &Environment,
    quiet: bool,
) -> Result<Report> {
    let cancelled = shared::cancellation()?;
    let intake = environment.intake()?;
    let turns =
        work.turns.iter().map(|turn| (JobKind::RefineTurn(turn.turn), turn.session, turn.content));
    let sessions =
        work.sessions.iter().map(|(row, _, content)| (JobKind::RefineSession, *row, *content));
    let jobs: Vec<(JobKind, i64, ContentHash)> = turns.chain(sessions).collect();
    intake.queue_questions(&shared::lock(&intake, environment)?, &jobs)?;
    let wanted: HashSet<(i64, Option<JobKind>)> =
        jobs.iter().map(|(kind, session, _)| (*session, Some(*kind))).collect();
    let numbers: HashSet<i64> = Store::open_to_read(&environment.layout)?
        .jobs()?
        .into_iter()
        .filter(|job| wanted.contains(&(job.session, job.kind)))
        .map(|job| job.number)
        .collect();
    let bar = match environment.terminal.errors && !quiet {
        true => ProgressBar::new(numbers.len() as u64)
            .with_style(shared::bar_style("{pos}/{len}"))
            .with_message("Asking"),
        false => ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden()),
    };
    let told = |told: &Told<'_>| match told {
        Told::Refined { .. } => bar.inc(1),
        Told::Failed { provider, error, next } => {
            let next = next.map_or_else(String::new, |next| format!("; asking {next} instead"));
            bar.println(format!("{provider}: {}{next}", printable(error)));
            bar.inc(1);
        }
        Told::Exhausted(_) => {}
    };
    let report = models.run(environment, Some(&numbers), &cancelled, &told);
    bar.finish_and_clear();
    let report = report.map_err(|error| match error {
        RefineError::Asking => {
            advised(error.to_string(), "it may be the daemon: try again when it is done")
        }
        other => other.into(),
    })?;
    if cancelled.load(Ordering::Relaxed) {
        thru_app::background::poke(environment);
    }
    Ok(report)
}

/// What was done, in words.
pub(super) fn tell(page: &mut Page, report: &Report) {
    page.line(format!(
        "{} and {} were looked at.",
        plural(report.turns, "turn"),
        plural(report.sessions, "session")
    ));
    let cost = report.spent.cost.map_or_else(String::new, |cost| format!(", {cost}"));
    page.line(format!("{} tokens{cost}.", count(report.spent.tokens())));
    for (label, number) in [
        ("Answered before, so that nothing was sent", report.reused),
        ("Statements dropped because the record does not hold what they name", report.dropped),
        ("Not worth a question, or not to be sent", report.skipped),
        ("Without an answer of use (`thru jobs` says why)", report.failed),
    ] {
        if number > 0 {
            page.line(page.paint(Tone::Quiet, &format!("{label}: {}.", count(number))));
        }
    }
    if let Some(exhausted) = report.exhausted {
        page.line(page.paint(
            Tone::Bad,
            &format!(
                "{} are spent: the rest waits until {} UTC.",
                exhausted.what,
                exhausted.until.strftime("%Y-%m-%d %H:%M")
            ),
        ));
    }
    if let Some(trouble) = &report.trouble {
        page.line(page.paint(Tone::Bad, &format!("It ended early: {}.", one_line(trouble, 200))));
        page.line("Memories stay as they were made without a model; the rest waits (`thru jobs`).");
    }
}

fn as_json(work: &Work, estimate: Estimate, report: Option<&Report>) -> Value {
    json!({
        "version": 1,
        "kind": "distil",
        "turns": work.turns.len(),
        "sessions": work.sessions.len(),
        "estimated": {
            "input_tokens": estimate.usage.input,
            "output_tokens": estimate.usage.output,
            "cost_micros": estimate.cost.map(|cost| cost.0),
        },
        "done": report.map(|report| json!({
            "turns": report.turns,
            "sessions": report.sessions,
            "reused": report.reused,
            "skipped": report.skipped,
            "failed": report.failed,
            "statements_dropped": report.dropped,
            "input_tokens": report.spent.input,
            "output_tokens": report.spent.output,
            "cost_micros": report.spent.cost.map(|cost| cost.0),
            "exhausted": report.exhausted.map(|exhausted| exhausted.what),
            "trouble": report.trouble,
        })),
    })
}
