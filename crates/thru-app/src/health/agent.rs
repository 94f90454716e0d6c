//! The agents' own settings as far as they matter to us: hooks held back, servers, transcripts deleted.

use std::collections::BTreeMap;
use std::path::Path;

use thru_agents::agents;
use thru_agents::hooks::ADAPTERS;
use thru_agents::setup::{SERVER_NAME, Server, TrustState};
use thru_core::{Agent, SourceKind};

use super::finding::{Finding, Mend};
use super::seen::{AgentSeen, Seen};
use crate::words::{count, plural};

/// Agents without hooks of ours: their transcripts on this machine, and their sessions in memory.
pub(super) fn others(seen: &Seen<'_>) -> Finding {
    const CHECK: &str = "other agents";
    let homes = &seen.app.homes;
    let known = match &seen.store {
        Ok(Some(store)) => store.sessions_by_agent().unwrap_or_default(),
        _ => BTreeMap::default(),
    };
    // Missing hooks of the first agent are a finding of their own.
    let has_hooks = |agent: Agent| {
        seen.agents.iter().any(|one| one.adapter.agent == agent && !one.hooks.is_empty())
    };
    let is_other = |agent: &Agent| *agent != ADAPTERS[0].agent && !has_hooks(*agent);
    let mut told = Vec::new();
    let mut is_missing = false;
    for agent in Agent::ALL.into_iter().filter(is_other) {
        let found = agents::discover(agent, homes, &|_| false);
        let files = found.sources.iter().filter(|source| source.kind == SourceKind::Main).count();
        let sessions = known.get(&agent).copied().unwrap_or_default();
        if files > 0 || sessions > 0 {
            is_missing |= files > 0 && sessions == 0;
            told.push(format!(
                "{}: {} in {}, {} in memory",
                agent.display_name(),
                plural(files as u64, "transcript"),
                seen.shown(&homes.transcripts(agent)),
                plural(sessions, "session"),
            ));
        }
    }
    match (told.is_empty(), is_missing) {
        (true, _) => {
            let names: Vec<_> =
                Agent::ALL.into_iter().filter(is_other).map(Agent::display_name).collect();
            Finding::ok(CHECK, format!("no sessions of {} on this machine", names.join(" or ")))
        }
        (false, true) => Finding::note(CHECK, told.join("; "), "`thru import` imports them"),
        (false, false) => Finding::ok(CHECK, told.join("; ")),
    }
}

/// Agents with our hooks.
fn connected<'s>(seen: &'s Seen<'_>) -> impl Iterator<Item = &'s AgentSeen> {
    seen.agents.iter().filter(|agent| !agent.hooks.is_empty())
}

/// The trust of agents in our hooks, in this folder.
pub(super) fn held_back(seen: &Seen<'_>) -> Vec<Finding> {
    const CHECK: &str = "trust";
    if seen.hooks.is_empty() {
        return vec![Finding::ok(CHECK, "no hooks are installed")];
    }
    connected(seen)
        .map(|agent| {
            let trust = agent.adapter.setup.trust(&agent.site(seen));
            let remedy = trust.remedy.unwrap_or_default();
            match trust.state {
                TrustState::Given | TrustState::Unknown => Finding::ok(CHECK, trust.line),
                TrustState::Asked => Finding::note(CHECK, trust.line, remedy),
                TrustState::Missing => Finding::problem(CHECK, trust.line, remedy),
            }
        })
        .collect()
}

/// Our MCP server in the files of agents.
pub(super) fn server(seen: &Seen<'_>) -> Vec<Finding> {
    connected(seen).filter_map(|agent| server_of(seen, agent)).collect()
}

fn server_of(seen: &Seen<'_>, agent: &AgentSeen) -> Option<Finding> {
    const CHECK: &str = "mcp";
    let again = "`thru install` registers it with the path of this program";
    let setup = agent.adapter.setup;
    let site = agent.site(seen);
    let Some(servers) = setup.servers(&site) else {
        let name = agent.adapter.agent.display_name();
        let program = agent.hooks.first().map(|hook| hook.program.display().to_string());
        let command = setup.server_by_hand(&site, &program.unwrap_or_default())?;
        let line = format!("{name} does not know Throughline's MCP server");
        return Some(Finding::note(CHECK, line, format!("`{command}` registers it")));
    };
    Some(match servers.first() {
        None => Finding::note(CHECK, "agents do not know Throughline's MCP server", again),
        Some((file, Server::Foreign)) => Finding::note(
            CHECK,
            format!("a server called `{SERVER_NAME}` in {} runs something else", seen.shown(file)),
            "rename it, then run `thru install`",
        ),
        Some((file, Server::Ours(program))) if !Path::new(program).exists() => {
            let line = format!(
                "{} is gone: the MCP server in {} cannot start",
                seen.shown(Path::new(program)),
                seen.shown(file)
            );
            Finding::problem(CHECK, line, again).mended_by(Mend::Hooks)
        }
        Some((file, Server::Ours(_))) => {
            Finding::ok(CHECK, format!("the MCP server is registered in {}", seen.shown(file)))
        }
    })
}

/// The time for which agents keep transcripts, and the number of files that are left here alone.
pub(super) fn cleanup(seen: &Seen<'_>) -> Vec<Finding> {
    seen.agents.iter().filter_map(|agent| cleanup_of(seen, agent)).collect()
}

fn cleanup_of(seen: &Seen<'_>, agent: &AgentSeen) -> Option<Finding> {
    const CHECK: &str = "clean-up";
    let retention = agent.adapter.setup.retention(&agent.site(seen))?;
    let (name, setting) = (agent.adapter.agent.display_name(), retention.setting);
    let place = match &retention.set_in {
        Some(file) => format!("in {}", seen.shown(file)),
        None => "its default".to_owned(),
    };
    if retention.days == 0 {
        return Some(Finding::problem(
            CHECK,
            format!("{name} keeps no transcripts (`{setting}` is 0, {place})"),
            "what hooks record is all there is; set it to a number of days",
        ));
    }
    let kept = match gone_at_the_source(seen) {
        Some((gone, of)) if gone > 0 => {
            format!("; {} of {} it no longer has are kept here", count(gone), plural(of, "file"))
        }
        _ => String::new(),
    };
    let line = format!(
        "{name} deletes transcripts after {} (`{setting}`, {place}){kept}",
        plural(retention.days, "day")
    );
    Some(match agent.hooks.is_empty() {
        true => {
            Finding::note(CHECK, line, "run `thru import` more often than that, or `thru install`")
        }
        false => Finding::ok(CHECK, line),
    })
}

/// Returns the number of archived files whose originals are gone, and of all archived files.
fn gone_at_the_source(seen: &Seen<'_>) -> Option<(u64, u64)> {
    let store = seen.store.as_ref().ok()?.as_ref()?;
    let mut sources = store.sources().ok()?;
    // Events of hooks lie in no file of the agent.
    sources.retain(|source| source.kind != SourceKind::Hooks);
    let gone = sources.iter().filter(|source| !Path::new(&source.path).exists()).count();
    Some((gone as u64, sources.len() as u64))
}
