//! Throughline as a plugin of Claude Code: a folder with a manifest, our hooks and our MCP server.

use serde_json::{Value, json};

use thru_core::Agent;

use super::commands::{CommandState, command_paths, command_state};
use crate::setup::{
    Registration, SERVER_NAME, Server, add_server, install, installed, remove_server, server,
    uninstall,
};

/// The name of the plugin and of its folder.
pub(super) const PLUGIN: &str = SERVER_NAME;

const MANIFEST: &str = ".claude-plugin/plugin.json";
const HOOKS: &str = "hooks/hooks.json";
/// The list of the plugin's MCP servers.
pub(super) const SERVERS_FILE: &str = ".mcp.json";

/// A file of the plugin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PluginFile {
    /// Its path in the plugin's folder, with `/` between names.
    pub(super) path: &'static str,
    /// Its content.
    pub(super) content: String,
}

/// Returns all files of the plugin, as this version of Throughline writes them.
pub(super) fn plugin_files(
    registration: &Registration,
    version: &str,
    repository: &str,
) -> Vec<PluginFile> {
    let description =
        "Memory of your coding sessions: recorded, distilled, handed to the next one.";
    let manifest = json!({
        "name": PLUGIN,
        "version": version,
        "description": description,
        "author": { "name": "Throughline" },
        "repository": repository,
        "license": "MIT OR Apache-2.0",
    });
    // A new text is an object, and takes hooks.
    let hooks = install(None, registration).unwrap_or_default();
    let servers = add_server(None, &registration.program).unwrap_or_default();
    vec![
        PluginFile { path: MANIFEST, content: format!("{manifest:#}\n") },
        PluginFile { path: HOOKS, content: hooks },
        PluginFile { path: SERVERS_FILE, content: servers },
    ]
}

/// True if any version of ours wrote a file in the plugin's folder, so that it can be removed with the plugin.
/// `path` has `/` between names.
pub(super) fn belongs_to_plugin(path: &str, content: &str) -> bool {
    match path {
        MANIFEST => serde_json::from_str(content).is_ok_and(|manifest: Value| {
            manifest.get("name").and_then(Value::as_str) == Some(PLUGIN)
        }),
        // Ours alone: nothing is left of it without our hooks.
        HOOKS => {
            installed(content, Agent::ClaudeCode).is_ok_and(|hooks| !hooks.is_empty())
                && uninstall(content, Agent::ClaudeCode).is_ok_and(|rest| rest.is_none())
        }
        SERVERS_FILE => {
            matches!(server(content), Ok(Some(Server::Ours(_))))
                && remove_server(content).is_ok_and(|rest| rest.is_none())
        }
        path if command_paths().any(|ours| ours == path) => {
            command_state(content) == CommandState::Ours
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::*;
    use crate::setup::Platform;

    fn files() -> Vec<PluginFile> {
        let mut registration =
            crate::claude_code::HOOKS.setup.registration("/bin/thru", None, Platform::Linux, 10);
        registration.events = vec!["SessionStart", "Stop"];
        plugin_files(&registration, "1.2.3", "https://example.org/throughline")
    }

    #[test]
    fn a_plugin_is_a_manifest_hooks_and_a_server() {
        let shown: String =
            files().iter().map(|file| format!("== {}\n{}", file.path, file.content)).collect();
        assert_snapshot!(shown, @r#"
        == .claude-plugin/plugin.json
        {
          "author": {
            "name": "Throughline"
          },
          "description": "Memory of your coding sessions: recorded, distilled, handed to the next one.",
          "license": "MIT OR Apache-2.0",
          "name": "throughline",
          "repository": "https://example.org/throughline",
          "version": "1.2.3"
        }
        == hooks/hooks.json
        {
          "hooks": {
            "SessionStart": [{ "hooks": [{ "type": "command", "command": "/bin/thru hook claude-code SessionStart", "timeout": 10 }] }],
            "Stop": [{ "hooks": [{ "type": "command", "command": "/bin/thru hook claude-code Stop", "timeout": 10 }] }]
          }
        }
        == .mcp.json
        {
          "mcpServers": {
            "throughline": { "type": "stdio", "command": "/bin/thru", "args": ["mcp"] }
          }
        }
        "#);
    }

    #[test]
    fn our_files_are_known_and_others_are_not() {
        for file in files() {
            assert!(belongs_to_plugin(file.path, &file.content), "{}", file.path);
        }
        let [_, hooks, _] = files().try_into().unwrap();
        let extended = hooks.content.replacen("{ \"hooks\"", "{ \"hooks\": [] }, { \"hooks\"", 1);
        assert!(!belongs_to_plugin(HOOKS, &extended), "{extended}");
        assert!(!belongs_to_plugin(MANIFEST, "{\"name\": \"other\"}"));
        assert!(!belongs_to_plugin(HOOKS, "{\"hooks\": {}}"));
        assert!(!belongs_to_plugin("skills/mine/SKILL.md", ""));
    }
}
