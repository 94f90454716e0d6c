//! `thru sync-history`: which sessions are not remembered as they are, and bringing them in.

use thru_app::Result;
use thru_app::ingest::sync_history::{self, HistoryGap, MissingSession, SyncHistory};
use thru_intake::{ImportReport, Indexed};

use super::import;
use super::of_agents::{OfAgents, tell_apart};
use super::shared;
use crate::environment::Environment;
use crate::ui::{Outcome, Page, Tone, age, one_line, plural, short_ids, size};

/// Shows which sessions are not remembered, or not as they are now: transcripts that were not read to
/// their end, and sessions that were left and are not indexed. Changes nothing without --run.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    thru sync-history                     what is missing of the last 7 days\n  \
    thru sync-history --run               bring it in\n  \
    thru sync-history --days 0 -p rocket  all that is missing of one project")]
pub(crate) struct SyncHistoryArguments {
    /// Only this project
    #[arg(long, short)]
    project: Option<String>,
    #[command(flatten)]
    of: OfAgents,
    /// Only sessions used in the last DAYS days; 0 means all
    #[arg(long, default_value_t = 7)]
    days: u32,
    /// At most N sessions, the latest
    #[arg(long, value_name = "N")]
    max_sessions: Option<usize>,
    /// Import them
    #[arg(long)]
    run: bool,
    /// Answer as JSON
    #[arg(long)]
    json: bool,
}

impl SyncHistoryArguments {
    fn request(&self) -> SyncHistory {
        SyncHistory {
            project: self.project.clone(),
            agents: self.of.filter().unwrap_or_default(),
            days: self.days,
            max_sessions: self.max_sessions,
        }
    }
}

pub(crate) fn run(arguments: &SyncHistoryArguments, environment: &Environment) -> Result<Outcome> {
    let (app, shown) = (&environment.app, environment.progress_unless(arguments.json));
    let request = arguments.request();
    let gap = match arguments.run {
        true => {
            let cancelled = shared::cancellation()?;
            let call = shown.call_until(&cancelled);
            sync_history::sync(app, &request, call, &mut |report| {
                import::show_progress(&shown, 0, report);
            })?
        }
        false => sync_history::preview(app, &request, shown.call())?,
    };
    let mut page = environment.page();
    match (arguments.json, &gap.import) {
        (true, _) => page.json(&gap)?,
        (false, Some(import)) => tell(&mut page, &import.report, environment),
        (false, None) => preview(&mut page, arguments, &gap, environment),
    }
    page.print()?;
    Ok(match gap.import {
        Some(import) if import.report.interrupted => Outcome::Interrupted,
        _ => Outcome::Done,
    })
}

/// Says what was done.
fn tell(page: &mut Page, report: &ImportReport, environment: &Environment) {
    import::tell(page, report, environment);
    let indexed = report.indexed.changed() as u64;
    page.line(match indexed {
        0 => "No session had to be indexed; one in progress is indexed when it is left.".to_owned(),
        indexed => format!("Indexed {}.", plural(indexed, "session")),
    });
    let all = report.indexed.iter();
    let failed = all.filter(|(_, one)| matches!(one, Indexed::Failed(_))).count() as u64;
    if failed > 0 {
        let line = format!(
            "{} could not be indexed and will be tried again: `thru jobs` lists what failed.",
            plural(failed, "session")
        );
        page.toned(Tone::Bad, &line);
    }
}

fn preview(
    page: &mut Page,
    arguments: &SyncHistoryArguments,
    gap: &HistoryGap,
    environment: &Environment,
) {
    let time = match arguments.days {
        0 => String::new(),
        1 => " of the last day".to_owned(),
        days => format!(" of the last {days} days"),
    };
    let place =
        arguments.project.as_ref().map_or_else(String::new, |name| format!(" in project {name}"));
    if gap.sessions.is_empty() {
        page.line(format!("Every session{time}{place} is imported."));
    } else {
        table(page, &gap.sessions, environment);
        page.gap();
        page.line(format!(
            "{}{time}{place}, {} to read.",
            plural(gap.count as u64, "session"),
            size(gap.unread_bytes)
        ));
        page.line(plan(gap));
        page.line("`thru sync-history --run` imports them; the same filters apply.");
    }
    if gap.not_listed > 0 {
        let others = plural(gap.not_listed as u64, "other session");
        let line = format!("{others} not listed; `--days 0` without `--max-sessions` lists all.");
        page.toned(Tone::Quiet, &line);
    }
}

/// The plan of asking a model, in a line.
fn plan(gap: &HistoryGap) -> String {
    let tokens = plural(gap.estimated_tokens, "token");
    let Some(provider) = &gap.provider else {
        return format!(
            "No model is set: nothing would be sent; with one, about {tokens} of input."
        );
    };
    let model = gap.model.as_deref().unwrap_or("its usual model");
    let asked = match gap.asked {
        0 => {
            return format!(
                "{provider} ({model}) would be asked about none of them: all are older than `models.since`."
            );
        }
        asked if asked == gap.count => "them".to_owned(),
        asked => format!("{asked} of them, those since `models.since`"),
    };
    let cost = match gap.cost {
        Some(cost) => format!("about {cost}"),
        None => "its price is not known".to_owned(),
    };
    format!("{provider} ({model}) would be asked about {asked}: about {tokens} of input, {cost}.")
}

fn table(page: &mut Page, sessions: &[MissingSession], environment: &Environment) {
    let now = environment.clock.now();
    let names: Vec<String> = sessions
        .iter()
        .map(|session| one_line(session.project_namespace.as_deref().unwrap_or("-"), 20))
        .collect();
    let width = names.iter().map(|name| crate::ui::width(name)).max().unwrap_or(0).max(7);
    let by_agent = tell_apart(sessions.iter().map(|session| session.agent));
    let agent = |name: &str| match by_agent {
        true => format!("{name:11}  "),
        false => String::new(),
    };
    let ids = short_ids(sessions.iter().map(|session| session.session_id.as_str()));
    let wide = ids.first().map_or(8, String::len);
    let heading = format!(
        "{:wide$}  {:9}  {}{:9}  {:>8}  {:width$}  TITLE",
        "SESSION",
        "LAST USED",
        agent("AGENT"),
        "LACKS",
        "SIZE",
        "PROJECT"
    );
    page.toned(Tone::Quiet, &heading);
    for ((session, name), id) in sessions.iter().zip(&names).zip(&ids) {
        let padding = " ".repeat(width.saturating_sub(crate::ui::width(name)));
        let taken = wide + 2 + 9 + 2 + agent("").len() + 9 + 2 + 8 + 2 + width + 2;
        let room = page.columns().saturating_sub(taken);
        let title = one_line(session.title.as_deref().unwrap_or("untitled"), room.max(20));
        page.line(format!(
            "{}  {:9}  {}{:9}  {:>8}  {name}{padding}  {title}",
            page.paint(Tone::Id, id),
            age(session.last_activity, now),
            agent(session.agent.as_str()),
            session.state.as_str(),
            size(session.bytes),
        ));
    }
}
