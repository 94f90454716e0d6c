//! Our slash commands and our skill, as the client lists and runs them.

use std::fs;

use serde_json::{Value, json};
use thru_real_client::{Script, calls, message, says};

use crate::stage::{Stage, WRITE, packing};

/// The names that a run lists under a field of its beginning.
fn listed(events: impl Iterator<Item = Value>, field: &str) -> Vec<String> {
    let mut begun = events.filter(|event| event["subtype"] == "init");
    let names = begun.next().unwrap()[field].as_array().cloned().unwrap_or_default();
    names.iter().filter_map(|name| name.as_str().map(str::to_owned)).collect()
}

#[test]
fn commands_and_skill_are_listed_in_either_form() {
    for (form, prefix) in [("settings", ""), ("plugin", "throughline:")] {
        let Some(stage) = Stage::bare(packing()) else { return };
        stage.thru(&["install", "--as", form]);
        let run = stage.ask("Good morning", &[]);
        let commands = listed(run.events(), "slash_commands");
        for name in ["load-session", "sessions", "recall", "remember", "session-manager"] {
            let name = format!("{prefix}{name}");
            assert!(commands.contains(&name), "{form}: {name}: {commands:?}");
        }
        // The model is told of the skill.
        let asked = stage.api.requests()[0].body().to_string();
        assert!(asked.contains("session-manager"), "{form}");
        stage.thru(&["uninstall"]);
        let run = stage.ask("Good morning", &[]);
        let commands = listed(run.events(), "slash_commands");
        assert!(!commands.iter().any(|name| name.ends_with("load-session")), "{commands:?}");
    }
}

#[test]
fn a_list_of_sessions_is_there_before_the_model_says_anything() {
    let Some(stage) = Stage::new(packing()) else { return };
    let session = stage.asks(WRITE, &[]);
    stage.take_in();
    stage.api.take_requests();
    stage.asks("/sessions", &[]);
    let told = stage.api.requests()[0].conversation();
    assert!(told.contains(&session[..8]) && told.contains("LAST USED"), "{told}");
}

#[test]
fn what_a_command_is_for_can_be_run() {
    let program = env!("CARGO_BIN_EXE_thru");
    let load = format!("{program} session load latest --plain");
    let search = format!("{program} search --plain -- 'packing'");
    let remember = format!("{program} remember --plain -- 'Ropes come from Bristol'");
    let runs =
        |command: &str| message([calls("Bash", json!({ "command": command, "description": "x" }))]);
    let script = packing()
        .on("Load what an earlier session", [runs(&load), message([says("Loaded.")])])
        .on("Search the memory", [runs(&search), message([says("Found.")])])
        .on("Remember this", [runs(&remember), message([says("Kept.")])]);
    let Some(stage) = Stage::new(script) else { return };
    stage.asks(WRITE, &[]);
    stage.take_in();
    for (typed, wanted) in [
        ("/load-session", "packing.txt"),
        ("/recall the packing list", "packing"),
        ("/remember Ropes come from Bristol", "Bristol"),
    ] {
        stage.api.take_requests();
        stage.asks(typed, &[]);
        let told = stage.api.requests().pop().unwrap().conversation();
        assert!(told.contains(wanted), "{typed}: {told}");
    }
}

#[test]
fn what_is_typed_behind_a_command_reaches_no_shell() {
    let Some(stage) = Stage::new(Script::new()) else { return };
    stage.asks("Good morning", &[]);
    for command in ["load-session", "recall", "remember", "sessions"] {
        for typed in [
            "\"; touch injected; \"",
            "$(touch injected)",
            "`touch injected`",
            "!`touch injected`",
            "'; touch injected; '",
        ] {
            // Whether the client says something of it or not.
            let _ = stage.home.ask(&stage.api, &format!("/{command} {typed}"), &[]).unwrap();
            let names: Vec<_> = fs::read_dir(stage.home.work())
                .unwrap()
                .flatten()
                .map(|entry| entry.file_name())
                .collect();
            assert!(!stage.home.work().join("injected").exists(), "/{command} {typed}: {names:?}");
        }
    }
}
