//! Our hooks in the files of agents, and the program that they run.

use std::path::Path;

use thru_agents::setup::{HookFile, installed};

use super::finding::{Finding, Mend};
use super::seen::{AgentSeen, Seen};
use crate::setup::surroundings::PLATFORM;
use crate::words::plural;

const CHECK: &str = "hooks";

/// The events that our hooks are called for, of every agent on this machine.
pub(super) fn present(seen: &Seen<'_>) -> Vec<Finding> {
    let is_here = |agent: &&AgentSeen| !agent.hooks.is_empty() || agent.client.is_here();
    let here: Vec<_> = seen.agents.iter().filter(is_here).collect();
    match here.is_empty() {
        // The first agent stands for all.
        true => seen.agents.iter().take(1).map(|agent| unconnected(seen, agent)).collect(),
        false => here.into_iter().map(|agent| present_in(seen, agent)).collect(),
    }
}

/// A file of the agent that cannot be read as settings, with the place in it.
fn broken(seen: &Seen<'_>, agent: &AgentSeen) -> Option<Finding> {
    let files = agent.adapter.setup.hook_files(&agent.site(seen));
    let (path, refusal) = files.into_iter().find_map(|HookFile { path, .. }| {
        let text = std::fs::read_to_string(&path).ok()?;
        installed(&text, agent.adapter.agent).err().map(|refusal| (path, refusal))
    })?;
    let name = agent.adapter.agent.display_name();
    Some(Finding::problem(
        CHECK,
        format!("{}: {refusal}", seen.shown(&path)),
        format!("correct the file: {name} may ignore all of it, Throughline's hooks included"),
    ))
}

fn unconnected(seen: &Seen<'_>, agent: &AgentSeen) -> Finding {
    let name = agent.adapter.agent.display_name();
    let remedy =
        format!("`thru install` connects {name}; until then its sessions are not recorded");
    match agent.client.is_here() {
        true if seen.hooks.is_empty() => {
            Finding::problem(CHECK, format!("{name} is not connected"), remedy)
        }
        true => Finding::note(CHECK, format!("{name} is not connected"), remedy),
        false => Finding::note(
            CHECK,
            format!("{name} is not on this machine"),
            "once it is, `thru install` connects it",
        ),
    }
}

fn present_in(seen: &Seen<'_>, agent: &AgentSeen) -> Finding {
    let AgentSeen { adapter, hooks, client } = agent;
    if let Some(broken) = broken(seen, agent) {
        return broken;
    }
    if hooks.is_empty() {
        return unconnected(seen, agent);
    }
    let mut files: Vec<&Path> = hooks.iter().map(|hook| hook.file.as_path()).collect();
    files.dedup();
    let shown: Vec<String> = files.iter().map(|file| seen.shown(file)).collect();
    let mut names: Vec<&str> = hooks.iter().map(|hook| hook.event.as_str()).collect();
    names.sort_unstable();
    let all = names.len();
    names.dedup();
    let events = plural(names.len() as u64, "event");
    let line = format!("{}: {events} in {}", adapter.agent.display_name(), shown.join(", "));
    // For an unknown version, those that every version takes.
    let wanted = seen.app.config.hooks.hook_timeout.0;
    let registration = adapter.setup.registration("", client.version, PLATFORM, wanted);
    let mut lacking = registration.events.clone();
    lacking.retain(|event| !hooks.iter().any(|hook| hook.event == *event && !hook.is_narrowed));
    if !lacking.is_empty() {
        let line = format!("{line}; missing or narrowed by a matcher: {}", lacking.join(", "));
        return Finding::note(CHECK, line, "`thru install` writes the hooks again");
    }
    let other = hooks.iter().find_map(|hook| {
        hook.timeout.filter(|given| *given != registration.timeout_of(&hook.event))
    });
    if let Some(other) = other {
        let line = format!("{line}; times out after {}, not {wanted}", plural(other, "second"));
        return Finding::note(
            CHECK,
            line,
            "`thru install` writes what `hooks.hook_timeout` says into the hooks",
        );
    }
    match names.len() == all {
        true => Finding::ok(CHECK, line),
        false => Finding::note(
            CHECK,
            format!("{line}; some more than once"),
            "harmless, as each event is kept once; take the hooks out of one of the files",
        ),
    }
}

/// The program that hooks run: there, and this one.
pub(super) fn program(seen: &Seen<'_>) -> Finding {
    const CHECK: &str = "program";
    let again =
        "`thru doctor --fix` or `thru install` writes the hooks with the path of this program";
    let mut programs: Vec<&Path> = seen.hooks.iter().map(|hook| hook.program.as_path()).collect();
    programs.sort_unstable();
    programs.dedup();
    if programs.is_empty() {
        return Finding::ok(CHECK, "no hooks are installed");
    }
    let has_folder = |program: &Path| program.components().count() > 1;
    if let Some(gone) = programs.iter().find(|program| has_folder(program) && !is_program(program))
    {
        let line = format!("{} is gone: hooks do nothing", seen.shown(gone));
        return Finding::problem(CHECK, line, again).mended_by(Mend::Hooks);
    }
    let own = seen.app.machine.program.as_deref().and_then(|own| own.canonicalize().ok());
    let is_own = |program: &Path| program.canonicalize().ok() == own;
    if let Some(other) = programs.iter().find(|program| has_folder(program) && !is_own(program)) {
        let line = format!("hooks run {}, not this program", seen.shown(other));
        // Valid but unusual; leave it alone: the user may have chosen it.
        return Finding::note(CHECK, line, "`thru install` makes them run this program");
    }
    match programs.iter().find(|program| !has_folder(program)) {
        Some(name) => Finding::note(
            CHECK,
            format!("hooks run `{}`, wherever the agent's PATH finds it", name.display()),
            again,
        ),
        None => Finding::ok(CHECK, format!("hooks run {}", seen.shown(programs[0]))),
    }
}

fn is_program(path: &Path) -> bool {
    let Ok(metadata) = path.metadata() else { return false };
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        metadata.is_file() && metadata.permissions().mode() & 0o111 != 0
    }
    #[cfg(not(unix))]
    metadata.is_file()
}
