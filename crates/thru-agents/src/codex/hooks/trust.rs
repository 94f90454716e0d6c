//! The trust that the user gives Codex to run hooks: a hash of each definition, in `config.toml`.
//!
//! Codex skips a hook without a word until the user trusted exactly its definition. The hash is computed
//! as Codex (0.169) does it, so that nothing has to be started to know the state.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use thru_core::Agent;

use super::install::hooks_file;
use crate::setup::{InstalledHook, Site, Trust, TrustState, read, read_json};

/// The user's next step.
const REMEDY: &str = "start `codex` and choose \"Trust all and continue\", or review them there with `/hooks`; each change of a hook needs your trust again";

/// Returns the user's `config.toml`; empty if it cannot be read.
pub(super) fn config(folder: &Path) -> toml::Table {
    let text = read(&folder.join("config.toml")).ok().flatten();
    text.and_then(|text| text.parse().ok()).unwrap_or_default()
}

/// Returns the reason why Codex runs no hooks at all.
pub(super) fn obstacle(site: &Site<'_>) -> Option<String> {
    let is_off = config(site.folder)
        .get("features")
        .and_then(|features| features.get("hooks"))
        .is_some_and(|hooks| hooks.as_bool() == Some(false));
    is_off.then(|| {
        let file = site.shown(&site.folder.join("config.toml"));
        format!("Hooks are turned off by `features.hooks` in {file}: nothing of Codex is recorded.")
    })
}

/// Returns the trust in our hooks.
pub(super) fn trust(site: &Site<'_>) -> Trust {
    if let Some(line) = obstacle(site) {
        return Trust::lacking(TrustState::Missing, line, "remove the setting to record Codex");
    }
    let file = hooks_file(site.folder);
    let states = state_of_hooks(site, &file);
    let count = |wanted| states.iter().filter(|state| **state == wanted).count();
    let (new, changed, off) =
        (count(State::Untrusted), count(State::Modified), count(State::Disabled));
    let mut lacking = Vec::new();
    for (number, words) in [(new, "not trusted"), (changed, "changed since"), (off, "turned off")] {
        if number > 0 {
            lacking.push(format!("{number} {words}"));
        }
    }
    if lacking.is_empty() {
        return Trust::given(format!("Codex runs all {} hooks", states.len()));
    }
    let line = format!("Codex skips hooks until you trust them ({})", lacking.join(", "));
    Trust::lacking(TrustState::Missing, line, REMEDY)
}

/// The state of one hook in Codex.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Trusted,
    Untrusted,
    Modified,
    Disabled,
}

/// Returns the state of each hook of ours in a file.
fn state_of_hooks(site: &Site<'_>, file: &Path) -> Vec<State> {
    let config = config(site.folder);
    let known = config.get("hooks").and_then(|hooks| hooks.get("state"));
    // Codex resolves links in the path of its home, unless it is the usual one.
    let names = [Some(file.to_owned()), file.canonicalize().ok()];
    let names: Vec<String> =
        names.into_iter().flatten().map(|path| path.display().to_string()).collect();
    let text = read_json(file).unwrap_or_default();
    definitions(&text)
        .into_iter()
        .map(|definition| {
            let state =
                names.iter().find_map(|name| known?.get(format!("{name}:{}", definition.position)));
            let field = |name| state.and_then(|state| state.get(name));
            let is_off = field("enabled").is_some_and(|enabled| enabled.as_bool() == Some(false));
            match field("trusted_hash").and_then(toml::Value::as_str) {
                _ if is_off => State::Disabled,
                Some(hash) if hash == definition.hash => State::Trusted,
                Some(_) => State::Modified,
                None => State::Untrusted,
            }
        })
        .collect()
}

/// A hook of ours, as Codex identifies it.
#[derive(Debug, PartialEq, Eq)]
struct Definition {
    /// Event, group and handler: the end of its key.
    position: String,
    hash: String,
}

/// Returns our hooks in a `hooks.json`.
fn definitions(file: &Value) -> Vec<Definition> {
    let mut found = Vec::new();
    let events = file.get("hooks").and_then(Value::as_object);
    for (event, groups) in events.into_iter().flatten() {
        for (group_index, group) in items(Some(groups)).enumerate() {
            let matcher = group.get("matcher").and_then(Value::as_str);
            for (index, handler) in items(group.get("hooks")).enumerate() {
                if InstalledHook::parse(Agent::Codex, event, matcher, handler).is_some() {
                    let event = snake_case(event);
                    let position = format!("{event}:{group_index}:{index}");
                    found.push(Definition { hash: hash(&event, matcher, handler), position });
                }
            }
        }
    }
    found
}

fn items(list: Option<&Value>) -> impl Iterator<Item = &Value> {
    list.and_then(Value::as_array).into_iter().flatten()
}

/// Returns the hash of a definition: of its JSON with sorted keys.
fn hash(event: &str, matcher: Option<&str>, handler: &Value) -> String {
    /// Seconds that Codex waits if the file does not say.
    const TIMEOUT: u64 = 600;
    let longest = if matches!(event, "session_end" | "interrupt") { 3 } else { u64::MAX };
    let timeout = handler.get("timeout").and_then(Value::as_u64).unwrap_or(TIMEOUT);
    let mut normal = Map::new();
    normal.insert("type".to_owned(), json!("command"));
    normal.insert("command".to_owned(), handler.get("command").cloned().unwrap_or_default());
    normal.insert("timeout".to_owned(), json!(timeout.clamp(1, longest)));
    normal.insert("async".to_owned(), json!(handler.get("async") == Some(&json!(true))));
    if let Some(message) = handler.get("statusMessage").filter(|message| message.is_string()) {
        normal.insert("statusMessage".to_owned(), message.clone());
    }
    let mut identity = json!({ "event_name": event, "hooks": [normal] });
    // Codex reads no matcher where there is nothing to match.
    if let Some(matcher) = matcher.filter(|_| !matches!(event, "user_prompt_submit" | "stop")) {
        identity["matcher"] = json!(matcher);
    }
    let mut written = "sha256:".to_owned();
    for byte in Sha256::digest(identity.to_string()) {
        // Writing to a string cannot fail.
        let _ = write!(written, "{byte:02x}");
    }
    written
}

fn snake_case(event: &str) -> String {
    let mut name = String::new();
    for letter in event.chars() {
        if letter.is_ascii_uppercase() && !name.is_empty() {
            name.push('_');
        }
        name.push(letter.to_ascii_lowercase());
    }
    name
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::codex::HOOKS;
    use crate::setup::{Platform, install};

    #[test]
    fn hashes_are_those_of_the_client() {
        // As `codex app-server` (0.169.0) lists them.
        for (event, timeout, expected) in [
            (
                "pre_tool_use",
                10,
                "fda06b8c3c0ee9a5c5c79ccb5011d84892ad3cb13c8e2e5492bb56c92ff60b15",
            ),
            ("session_end", 10, "6767cfc670e5bb6e868f025b6b82f3e4bce66c7104b9d0119c5fa88a76416492"),
        ] {
            let name = if event == "session_end" { "SessionEnd" } else { "PreToolUse" };
            let command = format!("/tmp/codexc/home/rec {name}");
            let handler = json!({ "type": "command", "command": command, "timeout": timeout });
            assert_eq!(hash(event, None, &handler), format!("sha256:{expected}"));
        }
        assert_eq!(snake_case("UserPromptSubmit"), "user_prompt_submit");
    }

    #[test]
    fn trust_is_given_for_each_definition() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join(".codex");
        fs::create_dir(&folder).unwrap();
        let site = Site {
            folder: &folder,
            is_named: false,
            home: Some(home.path()),
            directory: home.path(),
            project: home.path(),
            platform: Platform::Linux,
            search_path: &[],
        };
        let mut registration = HOOKS.setup.registration("/bin/thru", None, Platform::Linux, 10);
        registration.events = vec!["SessionStart", "Stop", "SessionEnd"];
        let text = install(None, &registration).unwrap();
        fs::write(hooks_file(&folder), &text).unwrap();
        let line = || trust(&site).line;
        assert_eq!(line(), "Codex skips hooks until you trust them (3 not trusted)");

        let file = hooks_file(&folder);
        let entry = |definition: &Definition, fields: &str| {
            format!("[hooks.state.\"{}:{}\"]\n{fields}\n", file.display(), definition.position)
        };
        let definitions = definitions(&serde_json::from_str(&text).unwrap());
        let trusted = |definition: &Definition| {
            entry(definition, &format!("trusted_hash = \"{}\"", definition.hash))
        };
        let config: String = definitions.iter().map(trusted).collect();
        fs::write(folder.join("config.toml"), config).unwrap();
        assert_eq!(trust(&site), Trust::given("Codex runs all 3 hooks"));

        let config = [
            trusted(&definitions[0]),
            entry(&definitions[1], "trusted_hash = \"sha256:other\""),
            entry(&definitions[2], "enabled = false"),
        ];
        fs::write(folder.join("config.toml"), config.concat()).unwrap();
        assert_eq!(
            line(),
            "Codex skips hooks until you trust them (1 changed since, 1 turned off)"
        );
        fs::write(folder.join("config.toml"), "[features]\nhooks = false\n").unwrap();
        assert!(line().contains("`features.hooks` in ~/.codex/config.toml"));
    }
}
