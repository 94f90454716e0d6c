//! The files that change when Throughline goes into Claude Code, or out of it.

use std::path::{Path, PathBuf};

use thru_core::Agent;

use super::commands::{CommandState, command_files, command_paths, command_state};
use super::places::{local_settings, plugin_directory, state_file, user_settings};
use super::plugin::{PLUGIN, SERVERS_FILE, belongs_to_plugin, plugin_files};
use crate::setup::{
    Form, Plan, Registration, Scope, Server, SetupError, Site, Wanted, add_server, allow_reading,
    forbid_reading, install, read, remove_server, server, uninstall,
};

const AGENT: Agent = Agent::ClaudeCode;

type Result<T, E = SetupError> = std::result::Result<T, E>;

/// A plan that is being made.
struct Planner<'a> {
    site: &'a Site<'a>,
    plan: Plan,
}

impl Planner<'_> {
    fn add(&mut self, path: PathBuf, before: Option<String>, after: Option<String>, shared: bool) {
        self.plan.add(AGENT, path, before, after, shared);
    }

    /// Takes our hooks out of a settings file.
    fn clear_settings(&mut self, scope: Scope) -> Result<()> {
        let path = settings_file(self.site, scope);
        let Some(before) = read(&path)? else { return Ok(()) };
        let rest = uninstall(&before, AGENT).and_then(|rest| match rest {
            Some(rest) => forbid_reading(&rest),
            None => Ok(None),
        });
        match rest {
            Ok(after) => self.add(path, Some(before), after, true),
            // A file that cannot be parsed and does not name us is of no concern.
            Err(_) if !before.contains(AGENT.as_str()) => {}
            Err(refusal) => return Err(SetupError::refused(&path, refusal, self.site)),
        }
        Ok(())
    }

    /// Registers our MCP server, or takes it out.
    fn server(&mut self, program: Option<&str>) -> Result<()> {
        let path = state_of_client(self.site);
        let before = read(&path)?;
        let after = match (program, &before) {
            (Some(program), _) => add_server(before.as_deref(), program).map(Some),
            (None, Some(before)) => remove_server(before),
            (None, None) => Ok(None),
        };
        match after {
            Ok(after) => {
                if let Some(Ok(Some(Server::Foreign))) = after.as_deref().map(server)
                    && program.is_some()
                {
                    self.plan.other_server = Some(path.clone());
                }
                self.add(path, before, after, true);
                Ok(())
            }
            // A file that cannot be parsed is of no concern where nothing is to be put in.
            Err(_) if program.is_none() => Ok(()),
            Err(refusal) => Err(SetupError::refused(&path, refusal, self.site)),
        }
    }

    /// Writes our commands and skills below a folder, or takes them out. Those that the user changed or wrote
    /// stay as they are.
    fn commands(&mut self, folder: &Path, wanted: Option<&str>) {
        let files = wanted.map(command_files).unwrap_or_default();
        for name in command_paths() {
            let path = folder.join(name);
            let before = match read(&path) {
                Ok(before) => before,
                // Not UTF-8, or not readable: not ours.
                Err(_) => {
                    self.plan.foreign.push(path);
                    continue;
                }
            };
            let state = before.as_deref().map(command_state);
            let is_ours =
                state.is_none_or(|state| !path.is_symlink() && state == CommandState::Ours);
            let after = files.iter().find(|file| file.path == name);
            match (is_ours, after) {
                (true, after) => {
                    let goes = before.is_some() && after.is_none();
                    self.add(path.clone(), before, after.map(|file| file.content.clone()), false);
                    if let Some(folder) = path.parent().filter(|_| goes) {
                        self.leave(folder);
                    }
                }
                // The user has a command of this name; of no concern if we never had one.
                (false, None) if state == Some(CommandState::Foreign) => {}
                (false, _) if state == Some(CommandState::Changed) => self.plan.edited.push(path),
                (false, _) => self.plan.foreign.push(path),
            }
        }
        if wanted.is_none() && self.plan.folders.iter().any(|gone| gone.starts_with(folder)) {
            self.leave(&folder.join("skills"));
        }
    }

    /// Notes a folder that a file of ours leaves. Those of all commands and of all skills are not ours.
    fn leave(&mut self, folder: &Path) {
        let is_shared = folder.parent() == Some(self.site.folder);
        let folders = match is_shared {
            true => &mut self.plan.shared_folders,
            false => &mut self.plan.folders,
        };
        folders.push(folder.to_owned());
    }

    /// Removes our plugin, except for files that are not ours.
    fn clear_plugin(&mut self) {
        let folder = plugin_directory(self.site.folder);
        let files = files_below(&folder);
        if files.is_empty() {
            return;
        }
        for (path, name) in files {
            match read(&path) {
                Ok(Some(content)) if belongs_to_plugin(&name, &content) => {
                    self.add(path, Some(content), None, false);
                }
                Ok(Some(content)) if command_state(&content) == CommandState::Changed => {
                    self.plan.edited.push(path);
                }
                _ => self.plan.foreign.push(path),
            }
        }
        let claude = self.site.folder;
        self.plan.folders.extend([
            folder.join(".claude-plugin"),
            folder.join("hooks"),
            folder.join("commands"),
            folder.join("skills/session-manager"),
            folder.join("skills/mem-search"),
            folder.join("skills"),
            folder,
            // Claude Code makes it for every plugin; we keep nothing there.
            claude.join("plugins/data").join(format!("{PLUGIN}-skills-dir")),
        ]);
        self.leave(&claude.join("skills"));
    }
}

/// Returns the changes of an installation. The other form in the same scope goes: both together would run
/// every hook twice.
pub(super) fn to_install(
    site: &Site<'_>,
    scope: Scope,
    form: Form,
    registration: &Registration,
    Wanted { commands, server, reading }: Wanted,
) -> Result<Plan> {
    let mut planner = Planner { site, plan: Plan::default() };
    let claude = site.folder;
    let program = callable(site, &registration.program);
    let wanted = program.as_deref().filter(|_| commands);
    planner.plan.lacks_commands = commands && scope == Scope::User && wanted.is_none();
    if (scope, form) == (Scope::Project, Form::Plugin) {
        return Err(SetupError::PluginInProject);
    }
    if form == Form::Plugin {
        let folder = plugin_directory(site.folder);
        let version = env!("CARGO_PKG_VERSION");
        for file in plugin_files(registration, version, env!("CARGO_PKG_REPOSITORY")) {
            let path = folder.join(file.path);
            let before = read(&path)?;
            if file.path == SERVERS_FILE && !server {
                let is_ours = |before: &String| belongs_to_plugin(file.path, before);
                if before.as_ref().is_some_and(is_ours) {
                    planner.add(path, before, None, false);
                }
                continue;
            }
            if before.as_deref().is_some_and(|before| !belongs_to_plugin(file.path, before)) {
                return Err(SetupError::NotOurs(site.shown(&path)));
            }
            // A formatter may have laid it out anew.
            let is_hooks = file.path.ends_with("hooks.json");
            let is_in_place = before.as_deref().is_some_and(|before| match is_hooks {
                true => install(Some(before), registration).is_ok_and(|after| after == before),
                false => {
                    file.path == SERVERS_FILE
                        && add_server(Some(before), &registration.program)
                            .is_ok_and(|after| after == before)
                }
            });
            if !is_in_place {
                planner.add(path.clone(), before, Some(file.content), false);
            }
            if is_hooks {
                planner.plan.holds = Some(path);
            }
        }
        planner.server(None)?;
        planner.commands(&folder, wanted);
        planner.commands(claude, None);
        planner.clear_settings(scope)?;
        return Ok(planner.plan);
    }
    let path = settings_file(site, scope);
    let before = read(&path)?;
    let after = install(before.as_deref(), registration)
        .and_then(|after| match reading && server {
            true => allow_reading(Some(&after)),
            false => Ok(after),
        })
        .map_err(|refusal| SetupError::refused(&path, refusal, site))?;
    planner.add(path.clone(), before, Some(after), true);
    planner.plan.holds = Some(path);
    // Those of a project would be in every clone of it.
    if scope == Scope::User {
        planner.server(Some(registration.program.as_str()).filter(|_| server))?;
        planner.commands(claude, wanted);
        planner.clear_plugin();
    }
    Ok(planner.plan)
}

/// Returns the changes that take everything out.
pub(super) fn to_uninstall(site: &Site<'_>, scopes: &[Scope]) -> Result<Plan> {
    let mut planner = Planner { site, plan: Plan::default() };
    for &scope in scopes {
        planner.clear_settings(scope)?;
        match scope {
            Scope::User => {
                planner.server(None)?;
                planner.commands(site.folder, None);
                planner.clear_plugin();
                // It may have been made for files that go.
                planner.plan.shared_folders.push(site.folder.to_owned());
            }
            // The same holds for that one file.
            Scope::Project => planner.plan.shared_folders.push(site.project.join(".claude")),
        }
    }
    Ok(planner.plan)
}

/// Returns the word by which commands call our program: its name if the user's shell finds it by that, else
/// its path. `None` if neither is possible: by the name alone, they would run another program.
fn callable(site: &Site<'_>, program: &str) -> Option<String> {
    let found = site.search_path.iter().map(|folder| folder.join("thru"));
    let is_it = |found: &Path| {
        found
            .canonicalize()
            .ok()
            .is_some_and(|found| Path::new(program).canonicalize().ok() == Some(found))
    };
    let first = found.into_iter().find(|path| path.is_file());
    // No character of the path may mean anything to a shell or in a list of permissions.
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-".contains(c);
    match first.is_some_and(|first| is_it(&first)) {
        true => Some("thru".to_owned()),
        false => Some(program.to_owned()).filter(|program| program.chars().all(is_plain)),
    }
}

/// True if any of our commands is installed for the user.
pub(super) fn has_commands(site: &Site<'_>) -> bool {
    commands_in_place(site).iter().any(|(_, state)| *state != CommandState::Foreign)
}

/// Returns our commands that the user changed.
pub(super) fn changed_commands(site: &Site<'_>) -> Vec<PathBuf> {
    let mut found = commands_in_place(site);
    found.retain(|(_, state)| *state == CommandState::Changed);
    found.into_iter().map(|(path, _)| path).collect()
}

fn commands_in_place(site: &Site<'_>) -> Vec<(PathBuf, CommandState)> {
    let folders = [site.folder.to_owned(), plugin_directory(site.folder)];
    let paths = folders.iter().flat_map(|folder| command_paths().map(|name| folder.join(name)));
    let state = |path: PathBuf| {
        let state = command_state(&read(&path).ok()??);
        Some((path, state))
    };
    paths.filter_map(state).collect()
}

/// Returns the servers that stand under our name where Claude Code looks for all of the user's sessions, each
/// with its file.
pub(super) fn servers(site: &Site<'_>) -> Vec<(PathBuf, Server)> {
    let plugin = plugin_directory(site.folder).join(SERVERS_FILE);
    let files = [state_of_client(site), plugin];
    let found = files.into_iter().filter_map(|path| {
        let known = server(&read(&path).ok()??).ok()??;
        Some((path, known))
    });
    found.collect()
}

/// Returns the file of Claude Code's own state.
pub(super) fn state_of_client(site: &Site<'_>) -> PathBuf {
    state_file(site, &|path| path.exists())
}

/// Returns the settings file that a scope writes.
fn settings_file(site: &Site<'_>, scope: Scope) -> PathBuf {
    match scope {
        Scope::User => user_settings(site.folder),
        Scope::Project => local_settings(site.project),
    }
}

/// Returns every file below a folder, with its name there.
fn files_below(folder: &Path) -> Vec<(PathBuf, String)> {
    let mut files = Vec::new();
    let mut pending = vec![folder.to_owned()];
    while let Some(directory) = pending.pop() {
        for entry in std::fs::read_dir(&directory).into_iter().flatten().flatten() {
            let path = entry.path();
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                pending.push(path);
            } else if let Ok(below) = path.strip_prefix(folder) {
                let names: Vec<_> = below.iter().map(|name| name.to_string_lossy()).collect();
                let name = names.join("/");
                files.push((path, name));
            }
        }
    }
    files.sort();
    files
}
