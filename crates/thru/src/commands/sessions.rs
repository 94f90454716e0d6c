//! `thru sessions`: the sessions there are.

use thru_app::Result;
use thru_app::ask::session::SessionEntry;
use thru_app::ask::sessions::{ListSessions, list};
use thru_app::ask::unindexed::{self, ListUnindexed, UnindexedSession};

use super::entries::title;
use super::of_agents::{OfAgents, tell_apart};
use super::shared;
use crate::environment::Environment;
use crate::ui::{Outcome, Page, Tone, age, one_line, plural};

/// Columns of an agent's name, where sessions of several are listed.
const AGENT: usize = 11;
/// Columns of a session's state …
const STATE: usize = 9;
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
    /// Begun before: as --since
    #[arg(long)]
    until: Option<String>,
    /// Only those that are not indexed as they are
    #[arg(long, conflicts_with_all = ["since", "until"])]
    unindexed: bool,
    /// With --unindexed: also those that go on
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
    let heading =
        format!("{:8}  {:9}  {:9}  {:10}  TITLE", "SESSION", "LAST USED", "STATE", "INDEXING");
    page.toned(Tone::Quiet, &heading);
    for session in sessions {
        let id = session.session_id.short();
        let room = page.columns().saturating_sub(44).max(20);
        let title = session.title.as_ref().map_or("untitled", |title| title.get());
        page.line(format!(
            "{}  {:9}  {:9}  {:10}  {}",
            page.paint(Tone::Id, &format!("{id:8}")),
            age(session.last_activity, environment.clock.now()),
            session.conversation,
            session.indexing,
            one_line(title, room),
        ));
    }
    page.gap();
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
            "{} at work, to be indexed once left. `thru close ID` does it now.",
            plural(at_work as u64, "session")
        );
        page.toned(Tone::Quiet, &line);
    }
}

fn table(page: &mut Page, sessions: &[SessionEntry], environment: &Environment) {
    let now = environment.clock.now();
    let names: Vec<String> = sessions
        .iter()
        .map(|session| one_line(session.project.as_ref().map_or("-", |name| name.get()), 24))
        .collect();
    let name_width = names.iter().map(|name| crate::ui::width(name)).max().unwrap_or(0).max(7);
    // Titles matter more than states where there is little room.
    let by_agent = tell_apart(sessions.iter().map(|session| session.agent));
    let agent = |name: &str| match by_agent {
        true => format!("{name:AGENT$}  "),
        false => String::new(),
    };
    let fixed = 8 + 2 + 9 + 2 + agent("").len() + name_width + 2 + 5 + 2;
    let has_states = page.columns().saturating_sub(fixed + STATE + 2) >= TITLE;
    let room = page.columns().saturating_sub(fixed + if has_states { STATE + 2 } else { 0 });
    let state = |state: &str| match has_states {
        true => format!("{state:STATE$}  "),
        false => String::new(),
    };
    let heading = format!(
        "{:8}  {:9}  {}{}{:name_width$}  {:>5}  TITLE",
        "SESSION",
        "LAST USED",
        agent("AGENT"),
        state("STATE"),
        "PROJECT",
        "TURNS"
    );
    page.toned(Tone::Quiet, &heading);
    for (session, name) in sessions.iter().zip(&names) {
        let id = session.id.short();
        let padding = " ".repeat(name_width.saturating_sub(crate::ui::width(name)));
        let title = one_line(title(session), room.max(12));
        page.line(format!(
            "{}  {:9}  {}{}{name}{padding}  {:>5}  {title}",
            page.paint(Tone::Id, &format!("{id:8}")),
            age(session.ended, now),
            agent(session.agent.as_str()),
            state(session.state.unwrap_or("-")),
            session.turns,
        ));
    }
}
