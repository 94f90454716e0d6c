//! Which files change, decided before any of them does.

use std::path::{Path, PathBuf};
use thru_app::App;
use thru_app::Trouble;

use clap::ValueEnum;
use thru_agents::claude_code::install::{
    CommandState, PLUGIN, Refusal, Registration, SERVERS_FILE, Server, add_server,
    belongs_to_plugin, command_files, command_paths, command_state, install, local_settings,
    plugin_directory, plugin_files, remove_server, server, state_file, uninstall, user_settings,
};
use thru_app::Result;

use super::files::{Backup, Change, read};
use crate::failure::advised;

/// For which sessions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Scope {
    /// All of the user's
    User,
    /// Those of the project one stands in, for the user alone
    Project,
}

/// In what form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Form {
    /// Hooks in a settings file
    Settings,
    /// A plugin in Claude Code's folder
    Plugin,
}

impl Scope {
    /// Its name on the command line and in answers for programs.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Project => "project",
        }
    }
}

impl Form {
    /// Its name on the command line and in answers for programs.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Settings => "settings",
            Self::Plugin => "plugin",
        }
    }

    /// The form that is installed for the user, or the usual one.
    pub(crate) fn present(environment: &App) -> Self {
        match plugin_directory(&environment.homes.claude_code).join("hooks/hooks.json").is_file() {
            true => Self::Plugin,
            false => Self::Settings,
        }
    }
}

/// What is to happen.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    /// The files that change; empty if everything is as it should be.
    pub(crate) changes: Vec<Change>,
    /// The file that our hooks are in afterwards.
    pub(crate) holds: Option<PathBuf>,
    /// Files of others in our folder, which stay.
    pub(crate) foreign: Vec<PathBuf>,
    /// Commands were wanted, and none can call our program where it lies.
    pub(crate) lacks_commands: bool,
    /// The file in which a server of somebody else has our name.
    pub(crate) other_server: Option<PathBuf>,
    /// Folders that are removed when they are empty afterwards, the inner ones first.
    folders: Vec<PathBuf>,
}

impl Plan {
    /// Makes all changes.
    pub(crate) fn apply(&self) -> Result<Vec<(&Change, Option<Backup>)>> {
        if self.changes.is_empty() {
            return Ok(Vec::new());
        }
        let made = self
            .changes
            .iter()
            .map(|change| Ok((change, change.apply()?)))
            .collect::<Result<Vec<_>>>()?;
        for folder in &self.folders {
            // Not empty, or not there: both are fine.
            let _ = std::fs::remove_dir(folder);
        }
        Ok(made)
    }

    fn add(&mut self, path: PathBuf, before: Option<String>, after: Option<String>, shared: bool) {
        if before != after {
            self.changes.push(Change { path, before, after, is_shared: shared });
        }
    }

    /// Takes our hooks out of a settings file.
    fn clear_settings(&mut self, path: PathBuf, environment: &App) -> Result<()> {
        let Some(before) = read(&path)? else { return Ok(()) };
        match uninstall(&before) {
            Ok(after) => self.add(path, Some(before), after, true),
            // What cannot be read and does not name us is not ours to complain of.
            Err(_) if !before.contains("claude-code") => {}
            Err(refusal) => return Err(refused(&path, &refusal, environment)),
        }
        Ok(())
    }

    /// Tells Claude Code of our MCP server, or no longer.
    fn server(&mut self, environment: &App, program: Option<&str>) -> Result<()> {
        let path = state_of_client(environment);
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
                    self.other_server = Some(path.clone());
                }
                self.add(path, before, after, true);
                Ok(())
            }
            // What cannot be read and does not name us is not ours to complain of.
            Err(_) if program.is_none() => Ok(()),
            Err(refusal) => Err(refused(&path, &refusal, environment)),
        }
    }

    /// Writes our commands and our skill below a folder, or takes them out. What somebody changed, or
    /// wrote himself, stays as it is.
    fn commands(&mut self, folder: &Path, wanted: Option<&str>) {
        let files = wanted.map(command_files).unwrap_or_default();
        for name in command_paths() {
            let path = folder.join(name);
            let before = match read(&path) {
                Ok(before) => before,
                // Not UTF-8, or not to be read: somebody else's.
                Err(_) => {
                    self.foreign.push(path);
                    continue;
                }
            };
            let is_ours = before.as_deref().is_none_or(|before| {
                !path.is_symlink() && command_state(before) == CommandState::Ours
            });
            let after = files.iter().find(|file| file.path == name);
            match (is_ours, after) {
                (true, after) => {
                    let goes = before.is_some() && after.is_none();
                    self.add(path.clone(), before, after.map(|file| file.content.clone()), false);
                    if goes {
                        self.folders.extend(path.parent().map(Path::to_owned));
                    }
                }
                // Somebody has a command of this name; where we never had one, that is nothing to say.
                (false, None)
                    if before.as_deref().map(command_state) == Some(CommandState::Foreign) => {}
                (false, _) => self.foreign.push(path),
            }
        }
        if wanted.is_none() && self.folders.iter().any(|gone| gone.starts_with(folder)) {
            self.folders.push(folder.join("skills"));
        }
    }

    /// Removes our plugin, but for what others put into its folder.
    fn clear_plugin(&mut self, environment: &App) {
        let folder = plugin_directory(&environment.homes.claude_code);
        let files = files_below(&folder);
        if files.is_empty() {
            return;
        }
        for (path, name) in files {
            match read(&path) {
                Ok(Some(content)) if belongs_to_plugin(&name, &content) => {
                    self.add(path, Some(content), None, false);
                }
                _ => self.foreign.push(path),
            }
        }
        let claude = &environment.homes.claude_code;
        self.folders.extend([
            folder.join(".claude-plugin"),
            folder.join("hooks"),
            folder.join("commands"),
            folder.join("skills/session-manager"),
            folder.join("skills/mem-search"),
            folder.join("skills"),
            folder,
            claude.join("skills"),
            // Claude Code makes it for every plugin; we keep nothing there.
            claude.join("plugins/data").join(format!("{PLUGIN}-skills-dir")),
        ]);
    }
}

/// What is wanted beside hooks, for all of the user's sessions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted {
    /// Slash commands and skills.
    pub(crate) commands: bool,
    /// The MCP server.
    pub(crate) server: bool,
}

/// What an installation changes. The other form in the same scope goes: both together would run
/// everything twice.
pub(crate) fn to_install(
    environment: &App,
    scope: Scope,
    form: Form,
    registration: &Registration,
    Wanted { commands, server }: Wanted,
) -> Result<Plan> {
    let mut plan = Plan::default();
    let claude = environment.homes.claude_code.as_path();
    let program = callable(environment, &registration.program);
    let wanted = program.as_deref().filter(|_| commands);
    plan.lacks_commands = commands && scope == Scope::User && wanted.is_none();
    if (scope, form) == (Scope::Project, Form::Plugin) {
        return Err(advised(
            "a plugin in a project's folder would run for everybody who clones it",
            "use `thru install --scope project`, which writes your own settings for the project",
        ));
    }
    if form == Form::Plugin {
        let folder = plugin_directory(&environment.homes.claude_code);
        let version = env!("CARGO_PKG_VERSION");
        for file in plugin_files(registration, version, env!("CARGO_PKG_REPOSITORY")) {
            let path = folder.join(file.path);
            let before = read(&path)?;
            if file.path == SERVERS_FILE && !server {
                let is_ours = |before: &String| belongs_to_plugin(file.path, before);
                if before.as_ref().is_some_and(is_ours) {
                    plan.add(path, before, None, false);
                }
                continue;
            }
            if before.as_deref().is_some_and(|before| !belongs_to_plugin(file.path, before)) {
                return Err(advised(
                    format!("{} is not ours", environment.shown(&path)),
                    "move that plugin away, or use `thru install --as settings`",
                ));
            }
            // Whoever looks at it may have laid it out anew.
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
                plan.add(path.clone(), before, Some(file.content), false);
            }
            if is_hooks {
                plan.holds = Some(path);
            }
        }
        plan.server(environment, None)?;
        plan.commands(&folder, wanted);
        plan.commands(claude, None);
        plan.clear_settings(settings_file(environment, scope), environment)?;
        return Ok(plan);
    }
    let path = settings_file(environment, scope);
    let before = read(&path)?;
    let after = install(before.as_deref(), registration)
        .map_err(|refusal| refused(&path, &refusal, environment))?;
    plan.add(path.clone(), before, Some(after), true);
    plan.holds = Some(path);
    // Those of a project would be there for everybody who clones it.
    if scope == Scope::User {
        plan.server(environment, Some(registration.program.as_str()).filter(|_| server))?;
        plan.commands(claude, wanted);
        plan.clear_plugin(environment);
    }
    Ok(plan)
}

/// What taking everything out changes.
pub(crate) fn to_uninstall(environment: &App, scopes: &[Scope]) -> Result<Plan> {
    let mut plan = Plan::default();
    for &scope in scopes {
        plan.clear_settings(settings_file(environment, scope), environment)?;
        match scope {
            Scope::User => {
                plan.server(environment, None)?;
                plan.commands(&environment.homes.claude_code, None);
                plan.clear_plugin(environment);
            }
            // It may have been made for that one file.
            Scope::Project => {
                let path = settings_file(environment, scope);
                let goes = |change: &Change| change.path == path && change.after.is_none();
                if plan.changes.iter().any(goes) {
                    plan.folders.push(project_root(environment).join(".claude"));
                }
            }
        }
    }
    Ok(plan)
}

/// How commands call our program: by its name where the user's shell finds it by that, else by its path.
/// Nothing where neither is possible: by the name alone, they would run whatever else is called so.
fn callable(environment: &App, program: &str) -> Option<String> {
    let found = environment.machine.search_path().into_iter().map(|folder| folder.join("thru"));
    let is_it = |found: &Path| {
        found
            .canonicalize()
            .ok()
            .is_some_and(|found| Path::new(program).canonicalize().ok() == Some(found))
    };
    let first = found.into_iter().find(|path| path.is_file());
    // Whatever stands in a path, it must not mean anything to a shell or in a list of permissions.
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-".contains(c);
    match first.is_some_and(|first| is_it(&first)) {
        true => Some("thru".to_owned()),
        false => Some(program.to_owned()).filter(|program| program.chars().all(is_plain)),
    }
}

/// Whether any of our commands is installed for the user.
pub(crate) fn has_commands(environment: &App) -> bool {
    commands_in_place(environment).iter().any(|(_, state)| *state != CommandState::Foreign)
}

/// Commands of ours that somebody changed.
pub(crate) fn changed_commands(environment: &App) -> Vec<PathBuf> {
    let mut found = commands_in_place(environment);
    found.retain(|(_, state)| *state == CommandState::Changed);
    found.into_iter().map(|(path, _)| path).collect()
}

fn commands_in_place(environment: &App) -> Vec<(PathBuf, CommandState)> {
    let claude = &environment.homes.claude_code;
    let folders = [claude.clone(), plugin_directory(claude)];
    let paths = folders.iter().flat_map(|folder| command_paths().map(|name| folder.join(name)));
    let state = |path: PathBuf| {
        let state = command_state(&read(&path).ok()??);
        Some((path, state))
    };
    paths.filter_map(state).collect()
}

/// The servers that stand under our name where Claude Code looks for all of the user's sessions, each with its
/// file.
pub(crate) fn servers(environment: &App) -> Vec<(PathBuf, Server)> {
    let plugin = plugin_directory(&environment.homes.claude_code).join(SERVERS_FILE);
    let files = [state_of_client(environment), plugin];
    let found = files.into_iter().filter_map(|path| {
        let known = server(&read(&path).ok()??).ok()??;
        Some((path, known))
    });
    found.collect()
}

/// Where Claude Code keeps its own state.
pub(crate) fn state_of_client(environment: &App) -> PathBuf {
    let home = environment.home.as_deref();
    state_file(&environment.homes.claude_code, home, &|path| path.exists())
}

/// The top of the working tree that one stands in, else the directory.
pub(crate) fn project_root(environment: &App) -> PathBuf {
    environment
        .directory
        .ancestors()
        .find(|directory| directory.join(".git").exists())
        .unwrap_or(&environment.directory)
        .to_owned()
}

/// The settings file that a scope writes.
fn settings_file(environment: &App, scope: Scope) -> PathBuf {
    match scope {
        Scope::User => user_settings(&environment.homes.claude_code),
        Scope::Project => local_settings(&project_root(environment)),
    }
}

fn refused(path: &Path, refusal: &Refusal, environment: &App) -> Trouble {
    advised(
        format!("{} is left alone: {refusal}", environment.shown(path)),
        "correct the file, then run this again; nothing was changed",
    )
}

/// Every file below a folder, with its name there.
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
