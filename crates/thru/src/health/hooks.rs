//! Our hooks in the settings of agents: there or not, and which program they run.

use std::path::{Path, PathBuf};

use thru_agents::claude_code::install::{self, HookFile, Place};

use super::{Finding, Mend, Seen};
use crate::installing;
use crate::ui::plural;
use thru_app::App;

/// One hook of ours in a file of Claude Code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HookFound {
    /// The event that it is called for.
    pub(crate) event: String,
    /// The program that it runs.
    pub(crate) program: PathBuf,
    /// The file that it stands in.
    pub(crate) file: PathBuf,
    /// What file that is.
    pub(crate) place: Place,
    /// Whether it sees only a part of its event, by a matcher that somebody gave it.
    pub(crate) is_narrowed: bool,
    /// The seconds it is given, where the file says.
    pub(crate) timeout: Option<u64>,
}

fn hook_files(environment: &App) -> Vec<HookFile> {
    let project = installing::project_root(environment);
    install::hook_files(&environment.homes.claude_code, Some(&project), installing::PLATFORM)
}

/// The settings files of Claude Code that apply here, the one that wins first.
pub(crate) fn settings_files(environment: &App) -> Vec<PathBuf> {
    let order = [Place::Managed, Place::ProjectLocal, Place::Project, Place::User];
    let files = hook_files(environment);
    order
        .into_iter()
        .filter_map(|place| files.iter().find(|file| file.place == place))
        .map(|file| file.path.clone())
        .collect()
}

/// Every hook of ours, wherever it was put.
pub(crate) fn found(environment: &App) -> Vec<HookFound> {
    let mut found = Vec::new();
    for HookFile { place, path } in hook_files(environment) {
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        let hooks = install::installed(&text).unwrap_or_default();
        found.extend(hooks.into_iter().map(|hook| HookFound {
            event: hook.event,
            program: PathBuf::from(hook.program),
            file: path.clone(),
            place,
            is_narrowed: hook.matcher.is_some(),
            timeout: hook.timeout,
        }));
    }
    found
}

/// Events that our hooks are called for, and in which files.
pub(super) fn present(seen: &Seen<'_>) -> Finding {
    const CHECK: &str = "hooks";
    if seen.hooks.is_empty() {
        let remedy = "`thru install` connects Claude Code; until then only `thru import` reads";
        return match seen.environment.homes.claude_code.is_dir() {
            true => Finding::problem(CHECK, "Claude Code is not connected", remedy),
            false => Finding::note(CHECK, "there is no Claude Code here", remedy),
        };
    }
    let mut files: Vec<&Path> = seen.hooks.iter().map(|hook| hook.file.as_path()).collect();
    files.dedup();
    let shown: Vec<String> = files.iter().map(|file| seen.shown(file)).collect();
    let mut names: Vec<&str> = seen.hooks.iter().map(|hook| hook.event.as_str()).collect();
    names.sort_unstable();
    let all = names.len();
    names.dedup();
    let events = plural(names.len() as u64, "event");
    let line = format!("Claude Code: {events} in {}", shown.join(", "));
    // With an unknown version, those that every version takes.
    let version = installing::Client::find(seen.environment).version;
    let mut lacking = install::events(version);
    lacking
        .retain(|event| !seen.hooks.iter().any(|hook| hook.event == *event && !hook.is_narrowed));
    if !lacking.is_empty() {
        let line = format!("{line}; missing or narrowed by a matcher: {}", lacking.join(", "));
        return Finding::note(CHECK, line, "`thru install` writes the hooks again");
    }
    let wanted = seen.environment.config.hooks.hook_timeout.0;
    let given = seen.hooks.iter().filter_map(|hook| hook.timeout);
    if let Some(other) = given.into_iter().find(|given| *given != wanted) {
        let line = format!("{line}; given up after {}, not {wanted}", plural(other, "second"));
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

/// Whether the program that hooks run is there, and is this one.
pub(super) fn program(seen: &Seen<'_>) -> Finding {
    const CHECK: &str = "program";
    let again =
        "`thru doctor --fix` or `thru install` writes the hooks with the path of this program";
    let mut programs: Vec<&Path> = seen.hooks.iter().map(|hook| hook.program.as_path()).collect();
    programs.sort_unstable();
    programs.dedup();
    if programs.is_empty() {
        return Finding::ok(CHECK, "no hook runs one");
    }
    let has_folder = |program: &Path| program.components().count() > 1;
    if let Some(gone) = programs.iter().find(|program| has_folder(program) && !is_program(program))
    {
        let line = format!("{} is not there any more: hooks do nothing", seen.shown(gone));
        return Finding::problem(CHECK, line, again).mended_by(Mend::Hooks);
    }
    let own = seen.environment.machine.program.as_deref().and_then(|own| own.canonicalize().ok());
    let is_own = |program: &Path| program.canonicalize().ok() == own;
    if let Some(other) = programs.iter().find(|program| has_folder(program) && !is_own(program)) {
        let line = format!("hooks run {}, not this program", seen.shown(other));
        // They work, and somebody may want it so: that is not ours to mend.
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
