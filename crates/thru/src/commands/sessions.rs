//! `thru sessions`: the sessions there are.

use thru_app::Result;
use thru_app::ask::session::SessionEntry;
use thru_app::ask::sessions::{ListSessions, list};
use thru_app::ask::unindexed::{self, ListUnindexed, UnindexedSession};

use super::entries::title;
use super::of_agents::{OfAgents, tell_apart};
use super::shared;
use crate::environment::Environment;
use crate::ui::{Long, Outcome, Page, Table, Tone, age, one_line, plural, width};

/// Columns of ids, ages and turns, with those between them.
const OTHERS: usize = 8 + 2 + 9 + 2 + 2 + 5 + 2;
/// Columns of an agent's name, where sessions of several are listed.
const AGENT: usize = 13;
/// Columns of a session's state …
const STATE: usize = 11;
/// … and those that its title has to have beside it.
const TITLE: usize = 30;

/// Lists the current project, or everything outside of one.
#[derive(Debug, clap::Args)]
pub(crate) struct SessionsArguments {
    #[command(flatten)]
    within: shared::InProjects,
    #[command(flatten)]
    of: OfAgents,
    /// With activity since: `2026-03-01`, `yesterday`, `2 weeks ago`
    #[arg(long)]
    since: Option<String>,
    /// Begun before this date, as --since
    #[arg(long)]
    until: Option<String>,
    /// Only sessions that changed since they were indexed
    #[arg(long, conflicts_with_all = ["since", "until"])]
    unindexed: bool,
    /// With --unindexed: include sessions in progress
    #[arg(long, requires = "unindexed")]
    include_active: bool,
    /// How many to list
    #[arg(long, short = 'n', default_value_t = 30)]
    limit: usize,
    /// Answer as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &SessionsArguments, environment: &Environment) -> Result<Outcome> {
    if arguments.unindexed {
        return list_unindexed(arguments, environment);
    }
    let request = ListSessions {
        project: arguments.within.scope(),
        agents: arguments.of.agents(),
        since: arguments.since.clone(),
        until: arguments.until.clone(),
        cursor: None,
        limit: arguments.limit,
    };
    let found = list(environment, &request, environment.progress().call())?;
    environment.answer(arguments.json, &found, |page| {
        if found.sessions.is_empty() {
            page.line("No sessions.");
        } else {
            table(page, &found.sessions, environment);
            let place = found
                .project
                .as_ref()
                .map_or_else(String::new, |name| format!(" in project {}", name.get()));
            let shown = plural(found.sessions.len() as u64, "session");
            let rest = if found.more { "; `--limit` shows more" } else { "" };
            page.gap();
            let line = format!("{shown}{place}{rest}. `thru session show ID` opens one.");
            page.toned(Tone::Quiet, &line);
        }
    })?;
    Ok(Outcome::found(!found.sessions.is_empty()))
}

fn list_unindexed(arguments: &SessionsArguments, environment: &Environment) -> Result<Outcome> {
    let request = ListUnindexed {
        project: arguments.within.scope(),
        agents: arguments.of.agents(),
        active: arguments.include_active,
        inactive: true,
    };
    let found = unindexed::list(environment, &request, environment.progress().call())?;
    environment.answer(arguments.json, &found, |page| {
        show_unindexed(page, &found.sessions, environment)
    })?;
    // That every session is indexed is good news.
    Ok(Outcome::Done)
}

fn show_unindexed(page: &mut Page, sessions: &[UnindexedSession], environment: &Environment) {
    if sessions.is_empty() {
        page.line("Every session is indexed.");
        return;
    }
    let mut table = Table::new(["SESSION", "LAST USED", "STATE", "INDEXING", "TITLE"], Long::Cut);
    for session in sessions {
        let title = session.title.as_ref().map_or("untitled", |title| title.get());
        table.row([
            (Tone::Id, session.session_id.short()),
            (Tone::Plain, age(session.last_activity, environment.clock.now())),
            (Tone::Plain, session.conversation.to_string()),
            (Tone::Plain, session.indexing.to_string()),
            (Tone::Plain, one_line(title, page.columns())),
        ]);
    }
    page.table(&table);
    page.gap();
    if !environment.config.distil.enabled {
        page.toned(Tone::Quiet, "None is indexed while `distil.enabled` is off.");
        return;
    }
    let at_work = sessions.iter().filter(|session| session.state == "active").count();
    let left = sessions.len() - at_work;
    if left > 0 {
        let line = format!(
            "{} to be indexed. `thru close ID` does it now; so does the next question.",
            plural(left as u64, "session")
        );
        page.toned(Tone::Quiet, &line);
    }
    if at_work > 0 {
        let line = format!(
            "{}; {} `thru close ID` does it now.",
            plural(at_work as u64, "active session"),
            if at_work == 1 {
                "it is indexed when it ends."
            } else {
                "they are indexed when they end."
            }
        );
        page.toned(Tone::Quiet, &line);
    }
}

fn table(page: &mut Page, sessions: &[SessionEntry], environment: &Environment) {
    let now = environment.clock.now();
    let name = |session: &SessionEntry| {
        one_line(session.project.as_ref().map_or("-", |name| name.get()), 24)
    };
    let by_agent = tell_apart(sessions.iter().map(|session| session.agent));
    // Titles matter more than states where there is little room.
    let names = sessions.iter().map(|session| width(&name(session))).max().unwrap_or(0).max(7);
    let taken = OTHERS + names + if by_agent { AGENT } else { 0 };
    let has_states = page.columns().saturating_sub(taken + STATE) >= TITLE;
    let mut headings = vec!["SESSION", "LAST USED"];
    headings.extend(by_agent.then_some("AGENT"));
    headings.extend(has_states.then_some("STATE"));
    headings.extend(["PROJECT", ">TURNS", "TITLE"]);
    let mut table = Table::new(headings, Long::Cut);
    for session in sessions {
        let plain = |text: &str| (Tone::Plain, text.to_owned());
        let mut row = vec![(Tone::Id, session.id.short()), plain(&age(session.ended, now))];
        row.extend(by_agent.then(|| plain(session.agent.as_str())));
        row.extend(has_states.then(|| plain(session.state.unwrap_or("-"))));
        row.extend([name(session), session.turns.to_string()].map(|text| (Tone::Plain, text)));
        row.push((Tone::Plain, one_line(title(session), page.columns())));
        table.row(row);
    }
    page.table(&table);
}
