//! The files in which Claude Code's hooks may stand, and the switches in them that turn hooks off.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::plugin::PLUGIN;
use crate::setup::{HookFile, HookOwner, Platform, Site};

/// Returns the file of the user's settings.
pub(super) fn user_settings(claude_directory: &Path) -> PathBuf {
    claude_directory.join("settings.json")
}

/// Returns the file of Claude Code's own state, with the user's MCP servers. `exists` tells if there is a file.
pub(super) fn state_file(site: &Site<'_>, exists: &dyn Fn(&Path) -> bool) -> PathBuf {
    const NAME: &str = ".claude.json";
    // Beside the folder, unless a variable names that.
    let inside = site.folder.join(NAME);
    match site.home {
        Some(home) if site.folder == home.join(".claude") && !site.is_named && !exists(&inside) => {
            home.join(NAME)
        }
        _ => inside,
    }
}

/// Returns the file of the user's own settings for a project, which no clone has.
pub(super) fn local_settings(project_root: &Path) -> PathBuf {
    project_root.join(".claude").join("settings.local.json")
}

/// Returns all files in which hooks for a session in this project may stand.
pub(super) fn hook_files(
    claude_directory: &Path,
    project_root: Option<&Path>,
    platform: Platform,
) -> Vec<HookFile> {
    let managed = match platform {
        Platform::Linux => "/etc/claude-code/managed-settings.json",
        Platform::MacOs => "/Library/Application Support/ClaudeCode/managed-settings.json",
        Platform::Windows => r"C:\Program Files\ClaudeCode\managed-settings.json",
    };
    let mut files = vec![
        HookFile { owner: HookOwner::Managed, path: PathBuf::from(managed) },
        HookFile { owner: HookOwner::User, path: user_settings(claude_directory) },
        HookFile {
            owner: HookOwner::Plugin,
            path: plugin_directory(claude_directory).join("hooks").join("hooks.json"),
        },
    ];
    if let Some(root) = project_root {
        let folder = root.join(".claude");
        // In the home directory they are one file, and the hooks in it one set.
        if folder != claude_directory {
            files.push(HookFile { owner: HookOwner::Project, path: folder.join("settings.json") });
        }
        files.push(HookFile { owner: HookOwner::ProjectLocal, path: local_settings(root) });
    }
    files
}

/// Returns the folder of our plugin. A folder here with a manifest in it is a plugin in every project,
/// without a marketplace.
pub(super) fn plugin_directory(claude_directory: &Path) -> PathBuf {
    claude_directory.join("skills").join(PLUGIN)
}

/// The switches of a settings file that keep hooks from running.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Switches {
    /// `disableAllHooks`.
    pub(super) disable_all_hooks: Option<bool>,
    /// `allowManagedHooksOnly`, which counts in the organisation's settings.
    pub(super) managed_hooks_only: Option<bool>,
    /// The entry of our plugin in `enabledPlugins`.
    pub(super) plugin_enabled: Option<bool>,
}

/// Returns the switches in a settings file; none if it cannot be read.
pub(super) fn switches(text: &str) -> Switches {
    let text = text.trim_start_matches('\u{feff}');
    let value: Value = serde_json::from_str(text).unwrap_or_default();
    let switch = |name: &str| value.get(name).and_then(Value::as_bool);
    let plugins = value.get("enabledPlugins");
    Switches {
        disable_all_hooks: switch("disableAllHooks"),
        managed_hooks_only: switch("allowManagedHooksOnly"),
        plugin_enabled: plugins
            .and_then(|plugins| plugins.get(format!("{PLUGIN}@skills-dir"))?.as_bool()),
    }
}

/// The reason why no hook of ours runs, whatever is installed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Obstacle {
    /// `disableAllHooks` is set here.
    AllHooksOff(HookOwner),
    /// The organisation allows only its own hooks.
    ManagedHooksOnly,
    /// Our plugin is turned off here.
    PluginOff(HookOwner),
}

/// Returns what keeps our hooks from running, by the switches of all settings files; `is_plugin` if they are
/// installed as a plugin.
pub(super) fn obstacle(files: &[(HookOwner, Switches)], is_plugin: bool) -> Option<Obstacle> {
    let of =
        |owner: HookOwner| files.iter().find(|(its, _)| *its == owner).map(|(_, found)| *found);
    // The nearest counts: a project's `false` beats the user's `true`.
    let nearest = |switch: fn(Switches) -> Option<bool>| {
        [HookOwner::Managed, HookOwner::ProjectLocal, HookOwner::Project, HookOwner::User]
            .into_iter()
            .find_map(|owner| Some((owner, switch(of(owner)?)?)))
    };
    if of(HookOwner::Managed).and_then(|found| found.managed_hooks_only) == Some(true) {
        return Some(Obstacle::ManagedHooksOnly);
    }
    if let Some((owner, true)) = nearest(|found| found.disable_all_hooks) {
        return Some(Obstacle::AllHooksOff(owner));
    }
    match nearest(|found| found.plugin_enabled) {
        Some((owner, false)) if is_plugin => Some(Obstacle::PluginOff(owner)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_files_are_named() {
        let files = hook_files(Path::new("/c"), Some(Path::new("/p")), Platform::Linux);
        let paths: Vec<_> = files.iter().map(|file| file.path.to_str().unwrap()).collect();
        assert_eq!(
            paths,
            [
                "/etc/claude-code/managed-settings.json",
                "/c/settings.json",
                "/c/skills/throughline/hooks/hooks.json",
                "/p/.claude/settings.json",
                "/p/.claude/settings.local.json",
            ]
        );
        assert_eq!(hook_files(Path::new("/c"), None, Platform::MacOs).len(), 3);
        let at_home = hook_files(Path::new("/p/.claude"), Some(Path::new("/p")), Platform::Linux);
        let places: Vec<_> = at_home.iter().map(|file| file.owner).collect();
        assert_eq!(
            places,
            [HookOwner::Managed, HookOwner::User, HookOwner::Plugin, HookOwner::ProjectLocal]
        );
    }

    #[test]
    fn the_nearest_switch_counts() {
        let off = switches(r#"{"disableAllHooks": true}"#);
        let on = switches("\u{feff}{\"disableAllHooks\": false}");
        let none = switches("not JSON");
        assert_eq!(obstacle(&[(HookOwner::User, none)], false), None);
        assert_eq!(
            obstacle(&[(HookOwner::User, off)], false),
            Some(Obstacle::AllHooksOff(HookOwner::User))
        );
        assert_eq!(obstacle(&[(HookOwner::User, off), (HookOwner::Project, on)], false), None);
        assert_eq!(
            obstacle(&[(HookOwner::ProjectLocal, off), (HookOwner::Project, on)], false),
            Some(Obstacle::AllHooksOff(HookOwner::ProjectLocal))
        );
        let only = switches(r#"{"allowManagedHooksOnly": true}"#);
        assert_eq!(obstacle(&[(HookOwner::User, only)], false), None);
        assert_eq!(
            obstacle(&[(HookOwner::Managed, only)], false),
            Some(Obstacle::ManagedHooksOnly)
        );
        let plugin = switches(r#"{"enabledPlugins": {"throughline@skills-dir": false}}"#);
        assert_eq!(obstacle(&[(HookOwner::User, plugin)], false), None);
        assert_eq!(
            obstacle(&[(HookOwner::User, plugin)], true),
            Some(Obstacle::PluginOff(HookOwner::User))
        );
    }
}
