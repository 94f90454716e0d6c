//! `thru sessions`: the sessions there are.

use serde_json::{Value, json};
use thru_app::App;
use thru_app::Result;
use thru_app::ask::named;
use thru_lifecycle::conversation::Said;
use thru_recall::parse_date;
use thru_store::{SessionFilter, SessionRow};

use super::of_agents::{OfAgents, tell_apart};
use super::unindexed::{self, Wanted};
use super::{Outcome, shared};
use crate::environment::Environment;
use crate::ui::{Page, Tone, age, one_line, plural};

/// Columns of an agent's name, where sessions of several are listed.
const AGENT: usize = 11;
/// Columns of a session's state …
const STATE: usize = 9;
/// … and those that its title has to have beside it.
const TITLE: usize = 30;

/// Lists the project you stand in, or everything where you stand in none.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Only this project
    #[arg(long, short, conflicts_with = "all")]
    project: Option<String>,
    /// In all projects
    #[arg(long, short)]
    all: bool,
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

pub(crate) fn run(
    arguments: &Arguments,
    environment: &Environment,
    plain: bool,
) -> Result<Outcome> {
    if arguments.unindexed {
        return list_unindexed(arguments, environment, plain);
    }
    let store = shared::open_store(environment)?;
    let project = match (&arguments.project, arguments.all) {
        (Some(name), _) => Some(named::named_project(&store, name)?),
        (None, true) => None,
        (None, false) => named::current_project(environment, &store)?,
    };
    let now = environment.clock.now();
    let date = |text: &Option<String>| {
        text.as_deref().map(|text| parse_date(text, now, environment.zone())).transpose()
    };
    let filter = SessionFilter {
        projects: project.as_ref().map(|project| store.project_rows(project.row)).transpose()?,
        since: date(&arguments.since)?,
        until: date(&arguments.until)?,
        agents: arguments.of.filter(),
        limit: Some(arguments.limit + 1),
        ..SessionFilter::default()
    };
    let mut sessions = store.sessions(&filter)?;
    let more = sessions.len() > arguments.limit;
    sessions.truncate(arguments.limit);
    let mut page = Page::new(environment, plain);
    if arguments.json {
        let listed: Vec<Value> =
            sessions.iter().map(|session| session_json(session, environment)).collect();
        page.json(&json!({ "version": 1, "kind": "sessions", "more": more, "sessions": listed }))?;
    } else if sessions.is_empty() {
        page.line("No sessions.");
    } else {
        table(&mut page, &sessions, environment);
        let place =
            project.as_ref().map_or_else(String::new, |p| format!(" in project {}", p.name));
        let shown = plural(sessions.len() as u64, "session");
        let rest = if more { "; `--limit` shows more" } else { "" };
        page.gap();
        page.line(page.paint(
            Tone::Quiet,
            &format!("{shown}{place}{rest}. `thru session show ID` opens one."),
        ));
    }
    page.print()?;
    Ok(if sessions.is_empty() { Outcome::Nothing } else { Outcome::Done })
}

fn list_unindexed(
    arguments: &Arguments,
    environment: &Environment,
    plain: bool,
) -> Result<Outcome> {
    let here = match (&arguments.project, arguments.all) {
        (None, false) => {
            let store = shared::open_store(environment)?;
            named::current_project(environment, &store)?.map(|project| project.key.to_string())
        }
        _ => None,
    };
    let project = arguments.project.as_deref().or(here.as_deref());
    let active = arguments.include_active;
    let wanted = Wanted { project, of: &arguments.of, active, inactive: true };
    let sessions = unindexed::list(environment, &wanted)?;
    let mut page = Page::new(environment, plain);
    if arguments.json {
        let mut answer = unindexed::as_json(&sessions);
        answer["version"] = json!(1);
        answer["kind"] = json!("unindexed-sessions");
        page.json(&answer)?;
    } else {
        unindexed::show(&mut page, &sessions, environment);
    }
    page.print()?;
    Ok(if sessions.is_empty() { Outcome::Nothing } else { Outcome::Done })
}

fn table(page: &mut Page, sessions: &[SessionRow], environment: &App) {
    let now = environment.clock.now();
    let names: Vec<String> = sessions
        .iter()
        .map(|session| one_line(session.project_name.as_deref().unwrap_or("-"), 24))
        .collect();
    let name_width = names.iter().map(|name| crate::ui::width(name)).max().unwrap_or(0).max(7);
    // Titles matter more than states where there is little room.
    let by_agent = tell_apart(sessions.iter().map(|session| session.key.agent));
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
    page.line(page.paint(Tone::Quiet, &heading));
    for (session, name) in sessions.iter().zip(&names) {
        let id = session.key.id.short();
        let padding = " ".repeat(name_width.saturating_sub(crate::ui::width(name)));
        let title = one_line(session.title.as_deref().unwrap_or("untitled"), room.max(20));
        let conversation = session.heard.at(now, &environment.limits());
        page.line(format!(
            "{}  {:9}  {}{}{name}{padding}  {:>5}  {title}",
            page.paint(Tone::Id, &format!("{id:8}")),
            age(session.ended, now),
            agent(session.key.agent.as_str()),
            state(conversation.as_ref().map_or("-", |one| one.phase().as_str())),
            session.turns,
        ));
    }
}

/// A session as JSON, in every answer alike.
pub(crate) fn session_json(session: &SessionRow, environment: &App) -> Value {
    let conversation = session.heard.at(environment.clock.now(), &environment.limits());
    let close = conversation.as_ref().and_then(|one| match one.said() {
        Said::Closed(close) => Some(close),
        Said::New | Said::Nothing => one.ended(),
    });
    json!({
        "agent": session.key.agent,
        "id": session.key.id,
        "project": session.project_name,
        "title": session.title,
        "started": session.started,
        "ended": session.ended,
        "state": conversation.as_ref().map(|one| one.phase().as_str()),
        "closed": close.map(|close| close.at),
        "close_reason": close.map(|close| close.reason.to_string()),
        "indexing": session.indexing.as_str(),
        "episode_uuid": session.episode,
        "turns": session.turns,
        "passages": session.passages,
        "directory": session.facts.directory,
        "branch": session.facts.branch,
        "models": session.facts.models,
        "tokens": session.facts.usage,
        "compactions": session.facts.compactions,
        "forked_from": session.facts.forked_from,
    })
}
