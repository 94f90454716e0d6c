//! `thru stats sessions`: how long sessions took and what was done in them.

use std::time::Duration;

use thru_app::Result;
use thru_app::ask::stats::{AskWork, WorkFigures, WorkStats, work};
use thru_redact::Clean;

use crate::commands::of_agents::OfAgents;
use crate::environment::Environment;
use crate::ui::{Long, Outcome, Page, Table, Tone, count, one_line, plural};

/// How long sessions took and what was done in them, by day and by project.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    thru stats sessions                          the last 30 days, all projects\n  \
    thru stats sessions --project rocket --since 2026-01-01\n\n\
    A gap of more than 30 minutes in a session is idle time, any other is time at work. What was \
    copied from another session counts there only.")]
pub(crate) struct StatsSessionsArguments {
    /// Since: `2026-03-01`, `yesterday`, `2 weeks ago`
    #[arg(long, default_value = "30 days ago")]
    since: String,
    /// Only this project
    #[arg(long, short)]
    project: Option<String>,
    #[command(flatten)]
    of: OfAgents,
    /// How many days and projects to list
    #[arg(long, short = 'n', default_value_t = 10)]
    limit: usize,
}

pub(crate) fn run(
    arguments: &StatsSessionsArguments,
    json: bool,
    environment: &Environment,
) -> Result<Outcome> {
    let request = AskWork {
        since: arguments.since.clone(),
        project: arguments.project.clone(),
        agents: arguments.of.agents(),
    };
    let stats = work(environment, &request, environment.progress().call())?;
    let is_empty = stats.total.sessions == 0;
    environment.answer(json, &stats, |page| {
        if is_empty {
            page.line("No session did anything in this time.");
        } else {
            show(page, &stats, arguments.limit);
        }
    })?;
    Ok(Outcome::found(!is_empty))
}

fn show(page: &mut Page, stats: &WorkStats, limit: usize) {
    let days: Vec<(String, WorkFigures)> =
        stats.days.iter().map(|one| (one.day.clone(), one.work)).collect();
    table(page, "DAY", &days, limit, "more day");
    page.gap();
    let name =
        |name: &Option<Clean<String>>| one_line(name.as_ref().map_or("-", |name| name.get()), 24);
    let projects: Vec<(String, WorkFigures)> =
        stats.projects.iter().map(|one| (name(&one.project), one.work)).collect();
    table(page, "PROJECT", &projects, limit, "more project");
    page.gap();
    let total = stats.total;
    let line = format!(
        "{} in all: {} at work, {} idle; the median session took {}, the longest {}.",
        plural(total.sessions, "session"),
        time(total.active),
        time(total.idle),
        time(stats.median),
        time(stats.longest),
    );
    page.toned(Tone::Quiet, &line);
}

fn table(
    page: &mut Page,
    name: &'static str,
    rows: &[(String, WorkFigures)],
    limit: usize,
    more: &str,
) {
    let headings = [name, ">SESSIONS", ">AT WORK", ">IDLE", ">PROMPTS", ">TOOLS"];
    let mut table = Table::new(headings, Long::Cut);
    for (label, work) in rows.iter().take(limit) {
        let times = [count(work.sessions), time(work.active), time(work.idle)];
        let figures = times.into_iter().chain([count(work.prompts), count(work.tools)]);
        let cells = [label.clone()].into_iter().chain(figures);
        table.row(cells.map(|text| (Tone::Plain, text)).collect::<Vec<_>>());
    }
    page.table(&table);
    if let Some(hidden) = rows.len().checked_sub(limit).filter(|hidden| *hidden > 0) {
        let line = format!("… {}; `--limit` shows them", plural(hidden as u64, more));
        page.toned(Tone::Quiet, &line);
    }
}

/// `40s`, `12m`, `3h 05m`.
fn time(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3_600 => format!("{}m", seconds / 60),
        _ => format!("{}h {:02}m", count(seconds / 3_600), seconds / 60 % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_short() {
        for (seconds, shown) in [(0, "0s"), (59, "59s"), (3_599, "59m"), (11_100, "3h 05m")] {
            assert_eq!(time(Duration::from_secs(seconds)), shown);
        }
        assert_eq!(time(Duration::from_hours(1_234)), "1,234h 00m");
    }
}
