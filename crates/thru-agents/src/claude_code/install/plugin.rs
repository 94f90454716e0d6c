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

    const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

    /// The plugin in `plugin/`, which is installed from a repository: nothing in it names a path of this machine.
    #[test]
    fn the_shared_plugin_is_what_this_version_writes() {
        const LAUNCHER: &str = "${CLAUDE_PLUGIN_ROOT}/bin/thru";
        let registration =
            crate::claude_code::HOOKS.setup.registration(LAUNCHER, None, Platform::Linux, 10);
        let files =
            plugin_files(&registration, env!("CARGO_PKG_VERSION"), env!("CARGO_PKG_REPOSITORY"));
        let files = files.into_iter().map(|file| {
            // The client puts the folder in; single quotes would keep a shell from doing so.
            let content =
                file.content.replace(&format!("'{LAUNCHER}'"), &format!("\\\"{LAUNCHER}\\\""));
            (file.path, content)
        });
        let commands = super::super::commands::command_files("thru");
        let commands = commands.into_iter().map(|file| (file.path, file.content));
        for (path, content) in files.chain(commands) {
            let at = std::path::Path::new(ROOT).join("plugin").join(path);
            if std::env::var_os("UPDATE_PLUGIN").is_some() {
                std::fs::create_dir_all(at.parent().unwrap()).unwrap();
                std::fs::write(&at, &content).unwrap();
            }
            let kept = std::fs::read_to_string(&at).unwrap_or_default();
            assert_eq!(kept, content, "UPDATE_PLUGIN=1 writes plugin/{path} anew");
            assert!(!content.contains("/home/"), "{path}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn the_launcher_of_the_shared_plugin_finds_the_program() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let launcher = format!("{ROOT}/plugin/bin/thru");
        let run = |program: &str, path: &str| {
            let program = folder.path().join(program);
            std::fs::create_dir_all(program.parent().unwrap()).unwrap();
            std::fs::write(&program, "#!/bin/sh\necho \"$@\"\n").unwrap();
            std::fs::set_permissions(&program, PermissionsExt::from_mode(0o700)).unwrap();
            let mut command = std::process::Command::new("/bin/sh");
            command.env_clear().env("HOME", folder.path()).env("PATH", path);
            let ran = command.args([&launcher, "hook", "claude-code", "Stop"]).output().unwrap();
            String::from_utf8(ran.stdout).unwrap()
        };
        assert_eq!(run(".cargo/bin/thru", "/nowhere"), "hook claude-code Stop\n");
        let path = folder.path().join("own").to_string_lossy().into_owned();
        assert_eq!(run("own/thru", &path), "hook claude-code Stop\n");
    }

    #[test]
    fn the_hooks_in_the_documents_are_those_that_are_written() {
        let registration = crate::claude_code::HOOKS.setup.registration(
            "/home/ada/.cargo/bin/thru",
            None,
            Platform::Linux,
            10,
        );
        let hooks = install(None, &registration).unwrap();
        let page = std::fs::read_to_string(format!("{ROOT}/docs/install.md")).unwrap();
        assert!(page.contains(hooks.trim_end()), "docs/install.md lacks:\n{hooks}");
    }
}
