//! What our hooks rely on in the client, without any of ours: a recorder stands in their place. When
//! a new version of the client fails here, look at the hooks before the tests.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};
use thru_real_client::{Script, calls, fails, message, says};

use crate::stage::{Stage, WRITE, packing};

/// Keeps what it is told, in a file of its own each time; the names of the files are in order of time.
const RECORDER: &str = r#"#!/bin/sh
cat > "$HOME/told/$(date +%s%N)-$$"
"#;

const EVENTS: [&str; 12] = [
    "SessionStart",
    "UserPromptSubmit",
    "PreToolUse",
    "PostToolUse",
    "PostToolUseFailure",
    "Stop",
    "StopFailure",
    "SubagentStart",
    "SubagentStop",
    "PreCompact",
    "PostCompact",
    "SessionEnd",
];

impl Stage {
    /// The client with the recorder as its hook.
    fn recorded(script: Script) -> Option<Self> {
        let stage = Self::bare(script)?;
        fs::create_dir(stage.home.path().join("told")).unwrap();
        let recorder = stage.recorder();
        fs::write(&recorder, RECORDER).unwrap();
        fs::set_permissions(recorder, fs::Permissions::from_mode(0o755)).unwrap();
        fs::write(stage.settings(), stage.hooks().to_string()).unwrap();
        Some(stage)
    }

    fn recorder(&self) -> std::path::PathBuf {
        self.home.path().join("recorder")
    }

    fn hooks(&self) -> Value {
        let hook =
            json!([{ "hooks": [{ "type": "command", "command": self.recorder(), "args": [] }] }]);
        let hooks = EVENTS.map(|event| (event.to_owned(), hook.clone()));
        json!({ "hooks": serde_json::Map::from_iter(hooks) })
    }

    /// What the recorder was told, and forgets.
    fn told(&self) -> Vec<Value> {
        let folder = self.home.path().join("told");
        let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
        files.sort();
        let told = files.iter().map(|file| {
            let told = serde_json::from_slice(&fs::read(file).unwrap()).unwrap();
            fs::remove_file(file).unwrap();
            told
        });
        told.collect()
    }
}

/// The name of an event with what distinguishes it, and the session it belongs to.
fn names(told: &[Value]) -> Vec<String> {
    let name = |told: &Value| {
        let text = |name: &str| told[name].as_str().map(str::to_owned);
        let what = text("source").or_else(|| text("reason")).or_else(|| text("tool_name"));
        let name = text("hook_event_name").unwrap();
        what.map_or_else(|| name.clone(), |what| format!("{name} {what}"))
    };
    told.iter().map(name).collect()
}

#[test]
fn a_turn_is_told_from_start_to_end() {
    let Some(stage) = Stage::recorded(packing()) else { return };
    let session = stage.asks(WRITE, &[]);
    let told = stage.told();
    assert_eq!(
        names(&told),
        [
            "SessionStart startup",
            "UserPromptSubmit",
            "PreToolUse Write",
            "PostToolUse Write",
            "PreToolUse Bash",
            "PostToolUseFailure Bash",
            "Stop",
            "SessionEnd other",
        ]
    );
    assert!(told.iter().all(|told| told["session_id"] == session.as_str()));
    assert_eq!(told[1]["prompt"], WRITE);
    assert_eq!(told[3]["tool_response"]["content"], "rope\nlamp\n");
    assert_eq!(told[5]["error"], "Exit code 1\nrope\nlamp");
    assert_eq!(told[6]["last_assistant_message"], "The packing list is written.");
    let prompt = &told[1]["prompt_id"];
    assert!(prompt.is_string() && told[2..].iter().all(|told| &told["prompt_id"] == prompt));
}

#[test]
fn a_fork_starts_under_the_name_of_the_old_session() {
    let Some(stage) = Stage::recorded(Script::new()) else { return };
    let old = stage.asks("one", &[]);
    stage.told();
    let new = stage.asks("two", &["--resume", &old, "--fork-session"]);
    assert_ne!(old, new);
    let told = stage.told();
    assert_eq!(names(&told)[..2], ["SessionStart resume", "UserPromptSubmit"]);
    assert_eq!(told[0]["session_id"], old.as_str());
    assert!(told[1..].iter().all(|told| told["session_id"] == new.as_str()));
}

#[test]
fn compaction_starts_the_session_again_before_it_tells_the_summary() {
    let Some(stage) = Stage::recorded(packing()) else { return };
    let session = stage.asks(WRITE, &[]);
    stage.told();
    let after = stage.asks("/compact keep the lamp", &["--resume", &session]);
    assert_eq!(session, after);
    let told = stage.told();
    assert_eq!(
        names(&told),
        [
            "SessionStart resume",
            "PreCompact",
            "SubagentStop",
            "SessionStart compact",
            "PostCompact",
            "SessionEnd other",
        ]
    );
    assert_eq!(told[1]["custom_instructions"], "keep the lamp");
    assert_eq!(told[2]["agent_type"], "");
    assert_eq!(told[4]["compact_summary"], "<summary>A packing list was written.</summary>");
}

#[test]
fn hooks_of_settings_and_of_a_plugin_both_run() {
    let Some(stage) = Stage::recorded(Script::new()) else { return };
    let plugin = stage.home.claude().join("skills/recorder");
    for (name, content) in [
        (".claude-plugin/plugin.json", json!({ "name": "recorder", "version": "0.1.0" })),
        ("hooks/hooks.json", stage.hooks()),
    ] {
        let path = plugin.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content.to_string()).unwrap();
    }
    stage.asks("hello", &[]);
    let mut names = names(&stage.told());
    names.sort();
    let twice = ["SessionEnd other", "SessionStart startup", "Stop", "UserPromptSubmit"];
    assert_eq!(names, twice.map(|name| [name; 2]).concat());
}

#[test]
fn what_a_subagent_does_is_told_with_its_name() {
    let Some(stage) = Stage::recorded(delegating()) else { return };
    stage.asks("Please delegate", &[]);
    let told = stage.told();
    assert_eq!(
        names(&told)[2..9],
        [
            "PreToolUse Agent",
            "SubagentStart",
            "PreToolUse Bash",
            "PostToolUse Bash",
            "SubagentStop",
            "PostToolUse Agent",
            "Stop",
        ]
    );
    let name = &told[3]["agent_id"];
    assert!(name.is_string());
    assert!(told[4..7].iter().all(|told| &told["agent_id"] == name));
    assert!(told[2].get("agent_id").is_none() && told[7].get("agent_id").is_none());
    assert_eq!(told[6]["last_assistant_message"], "There are two lamps.");
}

#[test]
fn a_failure_of_the_model_is_told_instead_of_its_end() {
    let Some(stage) = Stage::recorded(Script::new().on("fail", [fails(500)])) else { return };
    let run = stage.ask("Please fail", &[]);
    assert_eq!(run.code, Some(1));
    let mut told = stage.told();
    // The client does not wait for `StopFailure`, so that it and the end come in any order.
    told.sort_by_key(|told| told["hook_event_name"] != "StopFailure");
    assert_eq!(told[0]["error"], "server_error");
    let all = ["StopFailure", "SessionStart startup", "UserPromptSubmit", "SessionEnd other"];
    assert_eq!(names(&told), all);
}

#[test]
fn clearing_ends_one_session_and_starts_another() {
    let Some(stage) = Stage::recorded(Script::new()) else { return };
    let Some(terminal) = stage.terminal() else { return };
    terminal.enter("hello there").unwrap();
    terminal.wait_for("● ok").unwrap();
    terminal.enter("/clear").unwrap();
    terminal.wait_for("❯ /clear").unwrap();
    terminal.enter("/exit").unwrap();
    terminal.wait_for_end().unwrap();
    let told = stage.told();
    assert_eq!(
        names(&told),
        [
            "SessionStart startup",
            "UserPromptSubmit",
            "Stop",
            "SessionEnd clear",
            "SessionStart clear",
            "SessionEnd prompt_input_exit",
        ]
    );
    let session = |at: usize| told[at]["session_id"].as_str().unwrap();
    assert!(session(0) == session(3) && session(3) != session(4) && session(4) == session(5));
}

/// A model that has a subagent count the lamps.
pub(crate) fn delegating() -> Script {
    let task = json!({
        "description": "Count lamps",
        "prompt": "Find all lamps",
        "subagent_type": "general-purpose",
    });
    let count = json!({ "command": "echo two", "description": "Count" });
    Script::new()
        .on(
            "Find all lamps",
            [message([calls("Bash", count)]), message([says("There are two lamps.")])],
        )
        .on("Please delegate", [message([calls("Agent", task)]), message([says("Two, I hear.")])])
}
