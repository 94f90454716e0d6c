//! Claude Code's settings as far as hooks and transcripts depend on them.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::places::{Obstacle, Switches, hook_files, obstacle as obstacle_of, switches};
use super::plan::state_of_client;
use crate::setup::{
    Form, HookFile, HookOwner, Retention, Site, Trust, TrustState, read, read_json,
};

/// Days that Claude Code keeps transcripts by default.
const DAYS: u64 = 30;

/// Returns the reason why no hook runs whatever is installed.
pub(super) fn obstacle(site: &Site<'_>, form: Form) -> Option<String> {
    let files: Vec<(HookFile, String)> = hook_files(site.folder, Some(site.project), site.platform)
        .into_iter()
        .filter_map(|file| {
            let text = read(&file.path).ok()??;
            Some((file, text))
        })
        .collect();
    let found: Vec<(HookOwner, Switches)> =
        files.iter().map(|(file, text)| (file.owner, switches(text))).collect();
    let path = |owner: HookOwner| {
        let file = files.iter().find(|(file, _)| file.owner == owner);
        file.map(|(file, _)| site.shown(&file.path)).unwrap_or_default()
    };
    Some(match obstacle_of(&found, form == Form::Plugin)? {
        Obstacle::AllHooksOff(owner) => format!(
            "`disableAllHooks` is set in {}: no hook runs, nothing is recorded.",
            path(owner)
        ),
        Obstacle::PluginOff(owner) => format!(
            "The plugin is turned off in {}: nothing is recorded. `claude plugin enable \
             throughline@skills-dir` turns it on.",
            path(owner)
        ),
        Obstacle::ManagedHooksOnly => "Your organisation allows only its own hooks \
            (`allowManagedHooksOnly`): nothing is recorded. `thru import` still reads what Claude \
            Code leaves behind."
            .to_owned(),
    })
}

/// Returns the trust in our hooks.
pub(super) fn trust(site: &Site<'_>) -> Trust {
    if let Some((Value::Bool(true), file)) = setting(site, "disableAllHooks") {
        return Trust::lacking(
            TrustState::Missing,
            format!("all hooks are switched off by `disableAllHooks` in {}", site.shown(&file)),
            "take it out to record and be briefed again",
        );
    }
    let managed = settings_files(site).first().and_then(|file| read_json(file));
    if managed.is_some_and(|managed| managed.get("allowManagedHooksOnly") == Some(&true.into())) {
        return Trust::lacking(
            TrustState::Missing,
            "your organisation allows its own hooks only (`allowManagedHooksOnly`)",
            "`thru import` still reads what Claude Code writes",
        );
    }
    match is_trusted(site) {
        Some(true) => Trust::given("this folder is trusted"),
        Some(false) => Trust::lacking(
            TrustState::Asked,
            "Claude Code holds hooks back in this folder until you trust it",
            "start `claude` here once and say that you trust it; `claude -p` does not ask",
        ),
        None => Trust::unknown("no setting keeps the hooks from running"),
    }
}

/// Returns the time after which Claude Code deletes transcripts.
pub(super) fn retention(site: &Site<'_>) -> Retention {
    const SETTING: &str = "cleanupPeriodDays";
    let set = setting(site, SETTING);
    let days = set.as_ref().and_then(|(days, _)| days.as_u64()).unwrap_or(DAYS);
    Retention { days, setting: SETTING, set_in: set.map(|(_, file)| file) }
}

/// Returns the settings files that apply here, the one that wins first.
fn settings_files(site: &Site<'_>) -> Vec<PathBuf> {
    let order = [HookOwner::Managed, HookOwner::ProjectLocal, HookOwner::Project, HookOwner::User];
    let files = hook_files(site.folder, Some(site.project), site.platform);
    order
        .into_iter()
        .filter_map(|owner| files.iter().find(|file| file.owner == owner))
        .map(|file| file.path.clone())
        .collect()
}

/// Returns a setting as it holds here, and the file that sets it.
fn setting(site: &Site<'_>, key: &str) -> Option<(Value, PathBuf)> {
    settings_files(site).into_iter().find_map(|file| {
        let value = read_json(&file)?.get(key)?.clone();
        Some((value, file))
    })
}

/// True if the user trusts this folder, or one above it; `None` if Claude Code knows no folders yet.
fn is_trusted(site: &Site<'_>) -> Option<bool> {
    let known = read_json(&state_of_client(site))?;
    let projects = known.get("projects")?.as_object()?;
    let accepted = |folder: &Path| {
        let project = projects.get(folder.to_str()?)?;
        project.get("hasTrustDialogAccepted")?.as_bool()
    };
    Some(site.directory.ancestors().any(|folder| accepted(folder) == Some(true)))
}
