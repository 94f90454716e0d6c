//! Client configuration: the text that each client needs to find this server, and the file it belongs
//! in.

use serde_json::{Value, json};

use crate::profile::Profile;

/// The name under which clients know the server. Tool names in the hook's skip list begin with it.
pub const NAME: &str = "throughline";

/// A client that can start the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Client {
    /// Claude Code.
    ClaudeCode,
    /// Claude Desktop.
    ClaudeDesktop,
    /// OpenAI's Codex.
    Codex,
    /// Gemini CLI.
    Gemini,
    /// Cursor.
    Cursor,
    /// VS Code.
    VsCode,
    /// Windsurf.
    Windsurf,
    /// Zed.
    Zed,
    /// OpenCode.
    OpenCode,
    /// Cline.
    Cline,
    /// Copilot CLI.
    Copilot,
    /// Qwen Code.
    Qwen,
    /// Kilo.
    Kilo,
    /// Goose.
    Goose,
    /// Amp.
    Amp,
    /// Factory's droid.
    Factory,
    /// Kiro.
    Kiro,
}

/// The name of an unknown client.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no client `{0}`; known are {known}", known = Client::names())]
pub struct UnknownClient(pub String);

impl Client {
    /// All clients.
    pub const ALL: [Self; 17] = [
        Self::ClaudeCode,
        Self::ClaudeDesktop,
        Self::Codex,
        Self::Gemini,
        Self::Cursor,
        Self::VsCode,
        Self::Windsurf,
        Self::Zed,
        Self::OpenCode,
        Self::Cline,
        Self::Copilot,
        Self::Qwen,
        Self::Kilo,
        Self::Goose,
        Self::Amp,
        Self::Factory,
        Self::Kiro,
    ];

    /// Returns its name on the command line.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::ClaudeDesktop => "claude-desktop",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
            Self::Cursor => "cursor",
            Self::VsCode => "vscode",
            Self::Windsurf => "windsurf",
            Self::Zed => "zed",
            Self::OpenCode => "opencode",
            Self::Cline => "cline",
            Self::Copilot => "copilot",
            Self::Qwen => "qwen",
            Self::Kilo => "kilo",
            Self::Goose => "goose",
            Self::Amp => "amp",
            Self::Factory => "factory",
            Self::Kiro => "kiro",
        }
    }

    fn names() -> String {
        Self::ALL.map(Self::as_str).join(", ")
    }

    /// Returns the file that the text belongs in.
    pub const fn place(self) -> &'static str {
        match self {
            Self::ClaudeCode => {
                "~/.claude.json, or .mcp.json in a project (`thru install` adds the server by itself, as `thru mcp`)"
            }
            Self::ClaudeDesktop => {
                "claude_desktop_config.json (Settings > Developer > Edit Config)"
            }
            Self::Codex => "~/.codex/config.toml",
            Self::Gemini => "~/.gemini/settings.json",
            Self::Cursor => "~/.cursor/mcp.json, or .cursor/mcp.json in a project",
            Self::VsCode => ".vscode/mcp.json, or the user's mcp.json",
            Self::Windsurf => "~/.codeium/windsurf/mcp_config.json",
            Self::Zed => "settings.json of Zed",
            Self::OpenCode => "opencode.json, or ~/.config/opencode/opencode.json",
            Self::Cline => "cline_mcp_settings.json (MCP Servers > Configure)",
            Self::Copilot => "~/.copilot/mcp-config.json",
            Self::Qwen => "~/.qwen/settings.json",
            Self::Kilo => "~/.config/kilo/kilo.jsonc",
            Self::Goose => "~/.config/goose/config.yaml",
            Self::Amp => "~/.config/amp/settings.json",
            Self::Factory => "~/.factory/mcp.json",
            Self::Kiro => "~/.kiro/settings/mcp.json, or .kiro/settings/mcp.json in a project",
        }
    }

    /// Returns the text that makes the client start this program with the tools of a profile.
    pub fn text(self, program: &str, profile: Profile) -> String {
        let (name, arguments) = match profile {
            Profile::Throughline => (NAME.to_owned(), vec!["mcp"]),
            other => {
                (format!("{NAME}-{}", other.as_str()), vec!["mcp", "--profile", other.as_str()])
            }
        };
        let command = [&[program][..], &arguments].concat();
        let server = json!({ "command": program, "args": arguments });
        let typed = json!({ "type": "stdio", "command": program, "args": arguments });
        let whole = |key: &str, server: Value| pretty(&json!({ key: { name.as_str(): server } }));
        match self {
            Self::ClaudeCode | Self::Factory => whole("mcpServers", typed),
            Self::ClaudeDesktop
            | Self::Gemini
            | Self::Cursor
            | Self::Windsurf
            | Self::Cline
            | Self::Qwen
            | Self::Kiro => whole("mcpServers", server),
            Self::Copilot => {
                let server = json!({ "type": "local", "command": program, "args": arguments, "tools": ["*"] });
                whole("mcpServers", server)
            }
            Self::Amp => whole("amp.mcpServers", server),
            Self::Codex => {
                // Basic strings of TOML use the same escapes as JSON.
                let program = Value::from(program);
                let arguments = json!(arguments);
                format!("[mcp_servers.{name}]\ncommand = {program}\nargs = {arguments}\n")
            }
            Self::VsCode => whole("servers", typed),
            Self::Zed => whole("context_servers", server),
            Self::Goose => {
                // Double-quoted scalars of YAML use the same escapes as JSON.
                let program = Value::from(program);
                let arguments = arguments.join(", ");
                format!(
                    "extensions:\n  {name}:\n    type: stdio\n    name: {name}\n    enabled: true\n    \
                     cmd: {program}\n    args: [{arguments}]\n    timeout: 300\n"
                )
            }
            Self::OpenCode | Self::Kilo => {
                whole("mcp", json!({ "type": "local", "command": command, "enabled": true }))
            }
        }
    }
}

impl Client {
    /// Returns the text that makes the client ask the server at `url`, with a token of its own; `None` for a client that
    /// only starts programs.
    pub fn http_text(self, url: &str, token: &str) -> Option<String> {
        let bearer = format!("Bearer {token}");
        let server = |key: &str, mut more: Value| {
            more[key] = url.into();
            more["headers"] = json!({ "Authorization": bearer });
            more
        };
        let whole = |key: &str, server: Value| Some(pretty(&json!({ key: { NAME: server } })));
        match self {
            Self::ClaudeDesktop => None,
            Self::ClaudeCode | Self::Factory => {
                whole("mcpServers", server("url", json!({ "type": "http" })))
            }
            Self::Cursor | Self::Kiro => whole("mcpServers", server("url", json!({}))),
            Self::Gemini | Self::Qwen => whole("mcpServers", server("httpUrl", json!({}))),
            Self::Windsurf => whole("mcpServers", server("serverUrl", json!({}))),
            Self::Cline => whole("mcpServers", server("url", json!({ "type": "streamableHttp" }))),
            Self::Copilot => {
                whole("mcpServers", server("url", json!({ "type": "http", "tools": ["*"] })))
            }
            Self::VsCode => whole("servers", server("url", json!({ "type": "http" }))),
            Self::Zed => whole("context_servers", server("url", json!({}))),
            Self::Amp => whole("amp.mcpServers", server("url", json!({}))),
            Self::OpenCode | Self::Kilo => {
                whole("mcp", server("url", json!({ "type": "remote", "enabled": true })))
            }
            Self::Codex => Some(format!(
                "[mcp_servers.{NAME}]\nurl = \"{url}\"\nhttp_headers = {{ Authorization = \"{bearer}\" }}\n"
            )),
            Self::Goose => Some(format!(
                "extensions:\n  {NAME}:\n    type: streamable_http\n    name: {NAME}\n    enabled: true\n    \
                 uri: \"{url}\"\n    headers:\n      Authorization: \"{bearer}\"\n    timeout: 300\n"
            )),
        }
    }
}

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default() + "\n"
}

impl std::str::FromStr for Client {
    type Err = UnknownClient;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let name = name.to_lowercase();
        let found = Self::ALL.into_iter().find(|client| client.as_str() == name);
        found.ok_or(UnknownClient(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_client_is_told_in_its_own_form() {
        let all: Vec<String> = Client::ALL
            .iter()
            .map(|client| {
                format!(
                    "# {client:?}: {}\n{}",
                    client.place(),
                    client.text("/opt/b \"in/thru", Profile::Throughline)
                )
            })
            .collect();
        insta::assert_snapshot!(all.join("\n"), @r#"
        # ClaudeCode: ~/.claude.json, or .mcp.json in a project (`thru install` adds the server by itself, as `thru mcp`)
        {
          "mcpServers": {
            "throughline": {
              "args": [
                "mcp"
              ],
              "command": "/opt/b \"in/thru",
              "type": "stdio"
            }
          }
        }

        # ClaudeDesktop: claude_desktop_config.json (Settings > Developer > Edit Config)
        {
          "mcpServers": {
            "throughline": {
              "args": [
                "mcp"
              ],
              "command": "/opt/b \"in/thru"
            }
          }
        }

        # Codex: ~/.codex/config.toml
        [mcp_servers.throughline]
        command = "/opt/b \"in/thru"
        args = ["mcp"]

        # Gemini: ~/.gemini/settings.json
        {
          "mcpServers": {
            "throughline": {
              "args": [
                "mcp"
              ],
              "command": "/opt/b \"in/thru"
            }
          }
        }

        # Cursor: ~/.cursor/mcp.json, or .cursor/mcp.json in a project
        {
          "mcpServers": {
            "throughline": {
              "args": [
                "mcp"
              ],
              "command": "/opt/b \"in/thru"
            }
          }
        }

        # VsCode: .vscode/mcp.json, or the user's mcp.json
        {
          "servers": {
            "throughline": {
              "args": [
                "mcp"
              ],
              "command": "/opt/b \"in/thru",
              "type": "stdio"
            }
          }
        }

        # Windsurf: ~/.codeium/windsurf/mcp_config.json
        {
          "mcpServers": {
            "throughline": {
              "args": [
                "mcp"
              ],
              "command": "/opt/b \"in/thru"
            }
          }
        }

        # Zed: settings.json of Zed
        {
          "context_servers": {
            "throughline": {
              "args": [
                "mcp"
              ],
              "command": "/opt/b \"in/thru"
            }
          }
        }

        # OpenCode: opencode.json, or ~/.config/opencode/opencode.json
        {
          "mcp": {
            "throughline": {
              "command": [
                "/opt/b \"in/thru",
                "mcp"
              ],
              "enabled": true,
              "type": "local"
            }
          }
        }

        # Cline: cline_mcp_settings.json (MCP Servers > Configure)
        {
          "mcpServers": {
            "throughline": {
              "args": [
                "mcp"
              ],
              "command": "/opt/b \"in/thru"
            }
          }
        }

        # Copilot: ~/.copilot/mcp-config.json
        {
          "mcpServers": {
            "throughline": {
              "args": [
                "mcp"
              ],
              "command": "/opt/b \"in/thru",
              "tools": [
                "*"
              ],
              "type": "local"
            }
          }
        }

        # Qwen: ~/.qwen/settings.json
        {
          "mcpServers": {
            "throughline": {
              "args": [
                "mcp"
              ],
              "command": "/opt/b \"in/thru"
            }
          }
        }

        # Kilo: ~/.config/kilo/kilo.jsonc
        {
          "mcp": {
            "throughline": {
              "command": [
                "/opt/b \"in/thru",
                "mcp"
              ],
              "enabled": true,
              "type": "local"
            }
          }
        }

        # Goose: ~/.config/goose/config.yaml
        extensions:
          throughline:
            type: stdio
            name: throughline
            enabled: true
            cmd: "/opt/b \"in/thru"
            args: [mcp]
            timeout: 300

        # Amp: ~/.config/amp/settings.json
        {
          "amp.mcpServers": {
            "throughline": {
              "args": [
                "mcp"
              ],
              "command": "/opt/b \"in/thru"
            }
          }
        }

        # Factory: ~/.factory/mcp.json
        {
          "mcpServers": {
            "throughline": {
              "args": [
                "mcp"
              ],
              "command": "/opt/b \"in/thru",
              "type": "stdio"
            }
          }
        }

        # Kiro: ~/.kiro/settings/mcp.json, or .kiro/settings/mcp.json in a project
        {
          "mcpServers": {
            "throughline": {
              "args": [
                "mcp"
              ],
              "command": "/opt/b \"in/thru"
            }
          }
        }
        "#);
        for client in Client::ALL {
            assert_eq!(client.as_str().parse(), Ok(client));
        }
    }

    #[test]
    fn an_unknown_client_is_told_the_known_ones() {
        let error = "emacs".parse::<Client>().unwrap_err();
        insta::assert_snapshot!(error, @"there is no client `emacs`; known are claude-code, claude-desktop, codex, gemini, cursor, vscode, windsurf, zed, opencode, cline, copilot, qwen, kilo, goose, amp, factory, kiro");
    }

    #[test]
    fn every_client_that_can_is_told_of_the_address_and_its_token() {
        let told = |client: Client| client.http_text("http://127.0.0.1:37777/mcp", "thru_mcp_x");
        let cannot: Vec<Client> =
            Client::ALL.into_iter().filter(|client| told(*client).is_none()).collect();
        assert_eq!(cannot, [Client::ClaudeDesktop]);
        for text in Client::ALL.into_iter().filter_map(told) {
            assert!(text.contains("http://127.0.0.1:37777/mcp"), "{text}");
            assert!(text.contains("Bearer thru_mcp_x") && text.contains(NAME), "{text}");
        }
    }
}
