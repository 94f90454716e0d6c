//! What somebody who installs should know beside what was changed.

use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use thru_agents::claude_code::install::{
    Obstacle, Place, Switches, hook_files, installed, obstacle, switches,
};

use super::files::read;
use super::plan::project_root;
use super::{Client, PLATFORM, Plan};
use crate::environment::Environment;

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
    environment: &Environment,
    client: &Client,
    program: &str,
    plan: &Plan,
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
    let root = project_root(environment);
    let mut found: Vec<(Place, Switches)> = Vec::new();
    for file in hook_files(&environment.claude_directory, Some(&root), PLATFORM) {
        let Ok(Some(text)) = read(&file.path) else { continue };
        found.push((file.place, switches(&text)));
        let shown = environment.shown(&file.path);
        let is_changed = plan.changes.iter().any(|change| change.path == file.path);
        let is_ours = installed(&text).is_ok_and(|hooks| !hooks.is_empty());
        if is_ours && !is_changed && plan.holds.as_ref() != Some(&file.path) {
            notes.push(Note::new(
                "also-installed",
                format!("{shown} has our hooks as well. Both may run; every event is kept once."),
            ));
        }
    }
    if let Some(obstacle) = obstacle(&found) {
        let text = match obstacle {
            Obstacle::AllHooksOff(place) => {
                let at = hook_files(&environment.claude_directory, Some(&root), PLATFORM)
                    .into_iter()
                    .find(|file| file.place == place)
                    .map(|file| environment.shown(&file.path))
                    .unwrap_or_default();
                format!("`disableAllHooks` is set in {at}: no hook runs, and nothing is recorded.")
            }
            Obstacle::ManagedHooksOnly => "Your organisation allows only its own hooks \
                (`allowManagedHooksOnly`): nothing is recorded. `thru import` still reads what \
                Claude Code leaves behind."
                .to_owned(),
        };
        notes.push(Note { kind: "hooks-off", text, is_bad: true });
    }
    let holds = plan.holds.as_deref().filter(|path| path.starts_with(&root));
    if let Some(path) = holds.filter(|path| !path.starts_with(&environment.claude_directory))
        && is_ignored(&root, path) == Some(false)
    {
        let shown = environment.shown(path);
        notes.push(Note::new(
            "not-ignored",
            format!("Git does not ignore {shown}. Keep it out of commits: these hooks are yours."),
        ));
    }
    notes
}

/// Whether cargo built the program here and would remove it with everything else.
fn is_in_build_folder(program: &Path) -> bool {
    program.parent().is_some_and(|folder| folder.join(".fingerprint").is_dir())
}

/// Whether git ignores a file, where git can be asked.
fn is_ignored(root: &Path, path: &Path) -> Option<bool> {
    if !root.join(".git").exists() {
        return None;
    }
    let status = Command::new("git")
        .args(["check-ignore", "--quiet"])
        .arg(path)
        .current_dir(root)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .ok()?;
    match status.code() {
        Some(0) => Some(true),
        Some(1) => Some(false),
        _ => None,
    }
}
