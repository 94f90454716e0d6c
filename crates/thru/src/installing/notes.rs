//! What somebody who installs should know beside what was changed.

use std::path::Path;
use std::process::{Command, Stdio};
use thru_app::App;

use serde_json::{Value, json};
use thru_agents::claude_code::install::{
    HookFile, Obstacle, PLUGIN, Place, Switches, hook_files, installed, obstacle, switches,
};

use super::files::read;
use super::plan::project_root;
use super::{Client, Form, PLATFORM, Plan};

/// Something to know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Note {
    /// Its name in answers for programs.
    kind: &'static str,
    /// A sentence or two.
    pub(crate) text: String,
    /// Whether nothing is recorded until it is mended.
    pub(crate) is_bad: bool,
}

impl Note {
    fn new(kind: &'static str, text: String) -> Self {
        Self { kind, text, is_bad: false }
    }

    pub(crate) fn as_json(&self) -> Value {
        json!({ "kind": self.kind, "text": self.text })
    }
}

/// What is to be known of an installation by this plan, once it is made.
pub(crate) fn notes(
    environment: &App,
    client: &Client,
    program: &str,
    plan: &Plan,
    form: Form,
) -> Vec<Note> {
    let mut notes = Vec::new();
    if client.version.is_none() {
        notes.push(Note::new(
            "version-unknown",
            "Which version of Claude Code will run the hooks is not known, so they are those that \
             every version takes. `thru install` adds the rest once `claude` is on your PATH."
                .to_owned(),
        ));
    }
    if is_in_build_folder(Path::new(program)) {
        notes.push(Note::new(
            "build-folder",
            format!(
                "The hooks run {program}, which cargo built and may remove. `cargo install` puts it \
                 where it stays; then `thru install` again."
            ),
        ));
    }
    if plan.lacks_commands {
        notes.push(Note::new(
            "no-commands",
            format!(
                "There are no slash commands: your shell does not find this program as `thru`, and \
                 {program} has characters that mean something to a shell. Put its folder first on \
                 your PATH, or move it; then `thru install` again."
            ),
        ));
    }
    if let Some(path) = &plan.other_server {
        notes.push(Note::new(
            "other-server",
            format!(
                "An MCP server called `{PLUGIN}` in {} runs something else and was left alone: agents cannot ask \
                 us. Rename it, then `thru install` again.",
                environment.shown(path)
            ),
        ));
    }
    notes.extend(elsewhere(environment, plan));
    notes.extend(hooks_off(environment, form));
    if let Some(path) = &plan.holds
        && is_ignored_by_git(&project_root(environment), path) == Some(false)
    {
        let shown = environment.shown(path);
        notes.push(Note::new(
            "not-ignored",
            format!("Git does not ignore {shown}. Keep it out of commits: these hooks are yours."),
        ));
    }
    notes
}

/// A note for each other file that has hooks of ours and keeps them.
pub(crate) fn elsewhere(environment: &App, plan: &Plan) -> Vec<Note> {
    files(environment)
        .into_iter()
        .filter(|(file, text)| {
            installed(text).is_ok_and(|hooks| !hooks.is_empty())
                && plan.holds.as_ref() != Some(&file.path)
                && !plan.changes.iter().any(|change| change.path == file.path)
        })
        .map(|(file, _)| {
            let shown = environment.shown(&file.path);
            let text = match plan.holds {
                Some(_) => {
                    format!(
                        "{shown} has our hooks as well. Both may run; every event is kept once."
                    )
                }
                None => format!("{shown} still has our hooks."),
            };
            Note::new("also-installed", text)
        })
        .collect()
}

/// A note if something keeps our hooks from running.
fn hooks_off(environment: &App, form: Form) -> Option<Note> {
    let files = files(environment);
    let found: Vec<(Place, Switches)> =
        files.iter().map(|(file, text)| (file.place, switches(text))).collect();
    let path = |place: Place| {
        let file = files.iter().find(|(file, _)| file.place == place);
        file.map(|(file, _)| environment.shown(&file.path)).unwrap_or_default()
    };
    let text = match obstacle(&found, form == Form::Plugin)? {
        Obstacle::AllHooksOff(place) => {
            format!(
                "`disableAllHooks` is set in {}: no hook runs, nothing is recorded.",
                path(place)
            )
        }
        Obstacle::PluginOff(place) => format!(
            "The plugin is turned off in {}: nothing is recorded. `claude plugin enable \
             throughline@skills-dir` turns it on.",
            path(place)
        ),
        Obstacle::ManagedHooksOnly => "Your organisation allows only its own hooks \
            (`allowManagedHooksOnly`): nothing is recorded. `thru import` still reads what Claude \
            Code leaves behind."
            .to_owned(),
    };
    Some(Note { kind: "hooks-off", text, is_bad: true })
}

/// The files there are that may hold hooks.
fn files(environment: &App) -> Vec<(HookFile, String)> {
    let root = project_root(environment);
    hook_files(&environment.homes.claude_code, Some(&root), PLATFORM)
        .into_iter()
        .filter_map(|file| {
            let text = read(&file.path).ok()??;
            Some((file, text))
        })
        .collect()
}

/// Whether cargo built the program here and would remove it with everything else.
fn is_in_build_folder(program: &Path) -> bool {
    program.parent().is_some_and(|folder| folder.join(".fingerprint").is_dir())
}

/// Whether git ignores a file of a working tree, where git can be asked.
fn is_ignored_by_git(root: &Path, path: &Path) -> Option<bool> {
    let is_in_tree = path.starts_with(root) && root.join(".git").exists();
    if !is_in_tree {
        return None;
    }
    let mut git = Command::new("git");
    git.args(["check-ignore", "--quiet"]).arg(path).current_dir(root);
    git.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    match git.status().ok()?.code() {
        Some(0) => Some(true),
        Some(1) => Some(false),
        _ => None,
    }
}
