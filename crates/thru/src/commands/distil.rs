//! `thru distil`: asking a model about earlier turns and sessions, once a person saw the price.

use thru_app::Result;
use thru_app::models::distil::{self, Distil, Distilled, Refined};

use super::shared;
use crate::environment::Environment;
use crate::ui::{Outcome, Page, Tone, count, one_line, plural};

/// Shows how many turns and sessions no model has looked at, and what it would cost to have one look.
/// Sends nothing without --run. What a model made of a turn before is not asked for again, unless --again.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    thru distil --since '2 weeks ago'            what it would cost\n  \
    thru distil --since '2 weeks ago' --run      do it, within the budget\n  \
    thru distil --session 4f2a --again --run     once more, with the model that is set now\n\n\
    Exit status: 1 there is nothing to do.")]
pub(crate) struct DistilArguments {
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

pub(crate) fn run(arguments: DistilArguments, environment: &Environment) -> Result<Outcome> {
    let DistilArguments { since, until, project, session, again, run, json } = arguments;
    let request = Distil { since, until, project, session, again, run };
    let cancelled = shared::cancellation()?;
    let shown = environment.progress_unless(json);
    let distilled = distil::distil(environment, &request, shown.call_until(&cancelled))?;
    drop(shown);
    let mut page = environment.page();
    match (json, &distilled.done) {
        (true, _) => page.json(&distilled)?,
        (false, Some(refined)) => tell(&mut page, refined),
        (false, None) => preview(&mut page, &distilled),
    }
    page.print()?;
    Ok(match &distilled.done {
        None if distilled.is_empty() => Outcome::Nothing,
        Some(refined) if refined.trouble.is_some() => Outcome::Wrong,
        _ => Outcome::Done,
    })
}

fn preview(page: &mut Page, distilled: &Distilled) {
    if distilled.is_empty() {
        return page.line("Nothing from that time is left for a model to look at.");
    }
    let estimated = distilled.estimated;
    page.line(format!(
        "{} and {}: about {} tokens to send and {} to come back.",
        plural(distilled.turns as u64, "turn"),
        plural(distilled.sessions as u64, "session"),
        count(estimated.input_tokens),
        count(estimated.output_tokens)
    ));
    let Some((provider, model)) = &distilled.asked else {
        return page.line("No model is set. `thru models` lists what can be.");
    };
    let cost = match estimated.cost {
        Some(cost) => format!("about {cost}"),
        None => "its price is not known".to_owned(),
    };
    page.line(format!("With {provider} {model}: {cost}."));
    let (today, this_month) = distilled.left;
    page.line(format!(
        "Remaining budget: {} tokens today, {} this month.",
        count(today),
        count(this_month),
    ));
    page.line("Nothing was sent. --run sends it; what exceeds the budget waits.");
}

/// Says what came of asking.
pub(super) fn tell(page: &mut Page, report: &Refined) {
    if report.is_idle() {
        return page.line("There is nothing to do.");
    }
    page.line(format!(
        "{} and {} were looked at.",
        plural(report.turns, "turn"),
        plural(report.sessions, "session")
    ));
    let cost = report.cost.map_or_else(String::new, |cost| format!(", {cost}"));
    page.line(format!("{} tokens{cost}.", count(report.input_tokens + report.output_tokens)));
    for (label, number) in [
        ("Answered before, so that nothing was sent", report.reused),
        ("Statements dropped because the record does not hold what they name", report.dropped),
        ("Not worth a question, or not to be sent", report.skipped),
        ("Without a usable answer (`thru jobs` says why)", report.failed),
    ] {
        if number > 0 {
            page.toned(Tone::Quiet, &format!("{label}: {}.", count(number)));
        }
    }
    if let Some((limit, until)) = report.exhausted.zip(report.exhausted_until) {
        let until = until.strftime("%Y-%m-%d %H:%M");
        let text = format!("{limit} are spent: the rest waits until {until} UTC.");
        page.toned(Tone::Bad, &text);
    }
    if let Some(trouble) = &report.trouble {
        page.toned(Tone::Bad, &format!("It ended early: {}.", one_line(trouble, 200)));
        page.line("Memories stay as they were made without a model; the rest waits (`thru jobs`).");
    }
}
