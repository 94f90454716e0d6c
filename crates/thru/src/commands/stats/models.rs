//! `thru stats models`: what models were asked, what came of it, and what it cost.

use thru_app::Result;
use thru_app::ask::stats::{AskModelUsage, ModelUsageRow, model_usage};
use thru_core::Spent;

use crate::environment::Environment;
use crate::ui::{Outcome, Page, Tone, count, one_line};

/// What models were asked, what came of it, and what it cost.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    thru stats models                        the last 30 days\n  \
    thru stats models --project rocket\n\n\
    A question whose answer was lost counts with the most that it may have cost.")]
pub(crate) struct StatsModelsArguments {
    /// Since: `2026-03-01`, `yesterday`, `2 weeks ago`
    #[arg(long, default_value = "30 days ago")]
    since: String,
    /// Only this project
    #[arg(long, short)]
    project: Option<String>,
}

pub(crate) fn run(
    arguments: &StatsModelsArguments,
    json: bool,
    environment: &Environment,
) -> Result<Outcome> {
    let request =
        AskModelUsage { since: arguments.since.clone(), project: arguments.project.clone() };
    let usage = model_usage(environment, &request, environment.progress().call())?;
    environment.answer(json, &usage, |page| {
        if usage.rows.is_empty() {
            page.line("No model was asked anything in this time.");
        } else {
            show(page, &usage.rows);
            page.gap();
            let number = count(usage.superseded_memories);
            page.line(format!("Memories replaced by those of a model: {number}. They are kept."));
        }
    })?;
    Ok(Outcome::found(!usage.rows.is_empty()))
}

fn show(page: &mut Page, rows: &[ModelUsageRow]) {
    let heading = format!(
        "{:11}  {:26}  {:8}  {:10}  {:>9}  {:>11}  {:>9}",
        "PROVIDER", "MODEL", "FOR", "CAME OF IT", "QUESTIONS", "TOKENS", "COST"
    );
    page.toned(Tone::Quiet, &heading);
    for row in rows {
        page.line(format!(
            "{:11}  {:26}  {:8}  {:10}  {:>9}  {:>11}  {:>9}",
            row.provider,
            one_line(&row.model, 26),
            row.purpose,
            row.outcome,
            count(row.questions),
            count(row.spent.tokens()),
            cost(row.spent),
        ));
    }
    let all = rows.iter().fold(Spent::default(), |sum, row| sum.plus(row.spent));
    let questions = rows.iter().map(|row| row.questions).sum::<u64>();
    page.line(format!(
        "{:61}  {:>9}  {:>11}  {:>9}",
        "in all",
        count(questions),
        count(all.tokens()),
        cost(all)
    ));
}

fn cost(spent: Spent) -> String {
    spent.cost.map_or_else(|| "-".to_owned(), |cost| cost.to_string())
}
