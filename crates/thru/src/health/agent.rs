//! What the agent's own settings mean for us: hooks that it holds back, transcripts that it deletes.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;
use thru_agents::agents;

use super::hooks::settings_files;
use super::{Finding, Mend, Seen};
use thru_agents::claude_code::install::Server;
use thru_core::{Agent, SourceKind};

use crate::installing;
use crate::ui::{count, plural};

/// More than any settings file, and more than any list of projects.
const LARGEST: u64 = 64 * 1024 * 1024;

/// Days that Claude Code keeps transcripts where nothing else is set.
const DAYS: u64 = 30;

/// A file of JSON; nothing where there is none that can be read.
pub(super) fn read_json(file: &Path) -> Option<Value> {
    let metadata = file.metadata().ok()?;
    if !metadata.is_file() || metadata.len() > LARGEST {
        return None;
    }
    serde_json::from_slice(&std::fs::read(file).ok()?).ok()
}

/// The agents without hooks: what they left on this machine, and how much of it is in memory.
pub(super) fn others(seen: &Seen<'_>) -> Finding {
    const CHECK: &str = "other agents";
    let homes = &seen.environment.homes;
    let known = match &seen.store {
        Ok(Some(store)) => store.sessions_by_agent().unwrap_or_default(),
        _ => BTreeMap::default(),
    };
    let mut told = Vec::new();
    let mut is_missing = false;
    for agent in Agent::ALL.into_iter().filter(|agent| *agent != Agent::ClaudeCode) {
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
        (true, _) => Finding::ok(CHECK, "no sessions of Codex or Copilot CLI on this machine"),
        (false, true) => Finding::note(CHECK, told.join("; "), "`thru import` brings them in"),
        (false, false) => Finding::ok(CHECK, told.join("; ")),
    }
}

/// A setting of Claude Code as it holds here, and the file that says so.
fn setting(seen: &Seen<'_>, key: &str) -> Option<(Value, String)> {
    settings_files(seen.environment).iter().find_map(|file| {
        let value = read_json(file)?.get(key)?.clone();
        Some((value, seen.shown(file)))
    })
}

/// Whether the agent runs our hooks in this folder.
pub(super) fn held_back(seen: &Seen<'_>) -> Finding {
    const CHECK: &str = "trust";
    if seen.hooks.is_empty() {
        return Finding::ok(CHECK, "no hook to hold back");
    }
    if let Some((Value::Bool(true), file)) = setting(seen, "disableAllHooks") {
        return Finding::problem(
            CHECK,
            format!("all hooks are switched off by `disableAllHooks` in {file}"),
            "take it out to record and be briefed again",
        );
    }
    let managed = settings_files(seen.environment).first().and_then(|file| read_json(file));
    if managed.is_some_and(|managed| managed.get("allowManagedHooksOnly") == Some(&true.into())) {
        return Finding::problem(
            CHECK,
            "your organisation allows its own hooks only (`allowManagedHooksOnly`)",
            "`thru import` still reads what Claude Code writes",
        );
    }
    match is_trusted(seen) {
        Some(true) => Finding::ok(CHECK, "this folder is trusted"),
        Some(false) => Finding::note(
            CHECK,
            "Claude Code holds hooks back in this folder until you trust it",
            "start `claude` here once and say that you trust it; `claude -p` does not ask",
        ),
        None => Finding::ok(CHECK, "nothing is held back as far as can be seen"),
    }
}

/// Whether the user said that this folder, or one above it, is trusted; nothing where Claude Code has
/// not said anything about folders yet.
fn is_trusted(seen: &Seen<'_>) -> Option<bool> {
    let environment = seen.environment;
    let file = installing::state_of_client(environment);
    let known = read_json(&file)?;
    let projects = known.get("projects")?.as_object()?;
    let accepted = |folder: &Path| {
        let project = projects.get(folder.to_str()?)?;
        project.get("hasTrustDialogAccepted")?.as_bool()
    };
    Some(environment.directory.ancestors().any(|folder| accepted(folder) == Some(true)))
}

/// Whether the agent can ask us, by our MCP server.
pub(super) fn server(seen: &Seen<'_>) -> Option<Finding> {
    const CHECK: &str = "mcp";
    if seen.hooks.is_empty() {
        return None;
    }
    let again = "`thru install` registers it with the path of this program";
    let servers = installing::servers(seen.environment);
    Some(match servers.first() {
        None => Finding::note(CHECK, "agents are not told of our MCP server", again),
        Some((file, Server::Foreign)) => Finding::note(
            CHECK,
            format!("a server called `throughline` in {} runs something else", seen.shown(file)),
            "rename it, then `thru install`",
        ),
        Some((file, Server::Ours(program))) if !Path::new(program).exists() => {
            let line = format!(
                "{} is not there any more: the MCP server in {} cannot start",
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

/// How long the agent keeps what it writes, and what of it is left here alone.
pub(super) fn cleanup(seen: &Seen<'_>) -> Finding {
    const CHECK: &str = "clean-up";
    let set = setting(seen, "cleanupPeriodDays");
    let days = set.as_ref().and_then(|(days, _)| days.as_u64()).unwrap_or(DAYS);
    let place = set.map_or_else(|| "its default".to_owned(), |(_, file)| format!("in {file}"));
    if days == 0 {
        return Finding::problem(
            CHECK,
            format!("Claude Code keeps no transcripts (`cleanupPeriodDays` is 0, {place})"),
            "what hooks record is all there is; set it to a number of days",
        );
    }
    let kept = match gone_at_the_source(seen) {
        Some((gone, of)) if gone > 0 => {
            format!("; {} of {} it no longer has are kept here", count(gone), plural(of, "file"))
        }
        _ => String::new(),
    };
    let line = format!(
        "Claude Code deletes transcripts after {} (`cleanupPeriodDays`, {place}){kept}",
        plural(days, "day")
    );
    match seen.hooks.is_empty() {
        true => {
            Finding::note(CHECK, line, "run `thru import` more often than that, or `thru install`")
        }
        false => Finding::ok(CHECK, line),
    }
}

/// How many archived files are copies of files that are gone, and how many there are.
fn gone_at_the_source(seen: &Seen<'_>) -> Option<(u64, u64)> {
    let store = seen.store.as_ref().ok()?.as_ref()?;
    let mut sources = store.sources().ok()?;
    // What hooks told lies in no file of the agent.
    sources.retain(|source| source.kind != SourceKind::Hooks);
    let gone = sources.iter().filter(|source| !Path::new(&source.path).exists()).count();
    Some((gone as u64, sources.len() as u64))
}
