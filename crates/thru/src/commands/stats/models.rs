//! `thru stats models`: what models were asked, what came of it, and what it cost.

use thru_app::Result;
use thru_app::ask::stats::{AskModelUsage, ModelUsageRow, model_usage};
use thru_core::Spent;

use crate::environment::Environment;
use crate::ui::{Long, Outcome, Page, Table, Tone, count, one_line};

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
    let headings = ["PROVIDER", "MODEL", "FOR", "CAME OF IT", ">QUESTIONS", ">TOKENS", ">COST"];
    let mut table = Table::new(headings, Long::Cut);
    let mut add = |words: [&str; 4], questions, spent: Spent| {
        let figures = [count(questions), count(spent.tokens()), cost(spent)];
        let cells = words.map(|word| one_line(word, 26)).into_iter().chain(figures);
        table.row(cells.map(|text| (Tone::Plain, text)).collect::<Vec<_>>());
    };
    for row in rows {
        let words = [&*row.provider, &*row.model, &*row.purpose, row.outcome];
        add(words, row.questions, row.spent);
    }
    let all = rows.iter().fold(Spent::default(), |sum, row| sum.plus(row.spent));
    add(["in all", "", "", ""], rows.iter().map(|row| row.questions).sum(), all);
    page.table(&table);
}

fn cost(spent: Spent) -> String {
    spent.cost.map_or_else(|| "-".to_owned(), |cost| cost.to_string())
}
