//! One prompt and out (`claude -p`): what is recorded of it.

use serde_json::json;
use thru_real_client::{Script, calls, message, says};

use crate::facts::delegating;
use crate::stage::{PACKING_EVENTS, Stage, TURN_EVENTS, WRITE, packing};

#[test]
fn a_turn_is_recorded_event_by_event() {
    let Some(stage) = Stage::new(packing()) else { return };
    let run = stage.ask(WRITE, &[]);
    assert_eq!(run.code, Some(0));
    assert_eq!(run.result()["result"], "The packing list is written.");
    let session = run.session();
    stage.expect_events(&session, &PACKING_EVENTS);

    let journal = stage.journal();
    assert_eq!(journal.len(), PACKING_EVENTS.len(), "nothing of another session");
    let payload = |at: usize| &journal[at].payload;
    assert_eq!(payload(0)["source"], "startup");
    assert_eq!(payload(1)["prompt"], WRITE);
    assert_eq!(payload(2)["tool_name"], "Write");
    assert_eq!(payload(2)["tool_response"]["content"], "rope\nlamp\n");
    assert_eq!(payload(3)["tool_name"], "Bash");
    assert_eq!(payload(3)["error"], "Exit code 1\nrope\nlamp");
    assert_eq!(payload(4)["last_assistant_message"], "The packing list is written.");
    assert_eq!(payload(5)["reason"], "other");
}

#[test]
fn tools_that_run_at_once_are_recorded_once_each() {
    let count = |word: &str| calls("Bash", json!({ "command": format!("echo {word}") }));
    let words = ["one", "two", "three", "four", "five", "six"];
    let script =
        Script::new().on("Count", [message(words.map(count)), message([says("That is all.")])]);
    let Some(stage) = Stage::new(script) else { return };
    let session = stage.asks("Count to six", &[]);
    let uses = ["PostToolUse"; 6];
    let wanted =
        [&["SessionStart", "UserPromptSubmit"], &uses[..], &["Stop", "SessionEnd"]].concat();
    stage.expect_events(&session, &wanted);
    let journal = stage.journal();
    let mut said: Vec<_> = journal
        .iter()
        .filter_map(|entry| entry.payload["tool_response"]["stdout"].as_str())
        .collect();
    said.sort_unstable();
    assert_eq!(said, ["five", "four", "one", "six", "three", "two"]);
}

#[test]
fn what_a_subagent_does_is_recorded_as_its_own() {
    let Some(stage) = Stage::new(delegating()) else { return };
    let session = stage.asks("Please delegate", &[]);
    stage.expect_events(
        &session,
        &[
            "SessionStart",
            "UserPromptSubmit",
            "PostToolUse",
            "SubagentStop",
            "PostToolUse",
            "Stop",
            "SessionEnd",
        ],
    );
    let journal = stage.journal();
    let agent = &journal[2].payload["agent_id"];
    assert!(agent.is_string());
    assert_eq!(journal[2].payload["tool_response"]["stdout"], "two");
    assert_eq!(&journal[3].payload["agent_id"], agent);
    assert_eq!(journal[4].payload["tool_name"], "Agent");
    assert!(journal[4].payload.get("agent_id").is_none());
}

#[test]
fn a_command_is_recorded_as_it_was_typed() {
    let script = Script::new().on("all about ducks", [message([says("They swim.")])]);
    let Some(stage) = Stage::new(script) else { return };
    let commands = stage.home.claude().join("commands");
    std::fs::create_dir_all(&commands).unwrap();
    std::fs::write(commands.join("tell.md"), "Tell me all about $ARGUMENTS\n").unwrap();
    let run = stage.ask("/tell ducks", &[]);
    assert_eq!(run.result()["result"], "They swim.");
    stage.expect_events(&run.session(), &TURN_EVENTS);
    assert_eq!(stage.journal()[1].payload["prompt"], "/tell ducks");
}
