//! The client in a terminal, as people use it.

use std::time::Duration;

use serde_json::json;
use thru_real_client::{Script, calls, message, pauses, says};

use crate::stage::{Stage, TURN_EVENTS, WRITE, packing, packs};

#[test]
fn a_conversation_in_a_terminal_is_recorded() {
    let Some(stage) = Stage::new(packing()) else { return };
    let Some(terminal) = stage.terminal() else { return };
    terminal.enter(WRITE).unwrap();
    terminal.wait_for("● The packing list is written.").unwrap();
    terminal.enter("/compact").unwrap();
    terminal.wait_for("Compacted").unwrap();
    stage.api.take_requests();
    terminal.enter("And now?").unwrap();
    terminal.wait_for("● ok").unwrap();
    let told = stage.api.requests()[0].conversation();
    assert_eq!(packs(&told).len(), 1, "{told}");
    terminal.enter("/clear").unwrap();
    terminal.wait_for("❯ /clear").unwrap();
    terminal.enter("Good morning").unwrap();
    let screen = terminal.wait_for("● ok").unwrap();
    assert!(!screen.contains("hook error"), "{screen}");
    terminal.enter("/exit").unwrap();
    terminal.wait_for_end().unwrap();

    let journal = stage.journal();
    let first = journal[0].session.clone();
    let last = journal.last().unwrap().session.clone();
    assert_ne!(first, last);
    stage.expect_events(
        &first,
        &[
            "SessionStart",
            "UserPromptSubmit",
            "PostToolUse",
            "PostToolUseFailure",
            "Stop",
            "PreCompact",
            "SubagentStop",
            "SessionStart",
            "PostCompact",
            "UserPromptSubmit",
            "Stop",
            "SessionEnd",
        ],
    );
    stage.expect_events(&last, &TURN_EVENTS);
    let end = |session: &str| {
        let mut of_session = journal.iter().filter(|entry| entry.session == session);
        of_session.next_back().unwrap().payload["reason"].clone()
    };
    assert_eq!((end(&first), end(&last)), ("clear".into(), "prompt_input_exit".into()));
}

#[test]
fn an_answer_that_is_interrupted_leaves_its_prompt() {
    let slow = Duration::from_secs(20);
    let script = Script::new()
        .on("Tell a story", [message([says("Once upon a time"), pauses(slow), says("the end.")])])
        .on("Sleep", [message([calls("Bash", json!({ "command": "sleep 20" }))])]);
    let Some(stage) = Stage::new(script) else { return };
    let Some(terminal) = stage.terminal() else { return };
    terminal.enter("Tell a story").unwrap();
    terminal.wait_for("● Once upon a time").unwrap();
    terminal.press("Escape").unwrap();
    terminal.wait_for("Interrupted").unwrap();
    terminal.enter("Good night").unwrap();
    terminal.wait_for("● ok").unwrap();
    terminal.enter("Sleep a little").unwrap();
    terminal.wait_for("● Bash(sleep 20)").unwrap();
    terminal.press("C-c").unwrap();
    terminal.wait_for("Interrupted · What should Claude do instead?").unwrap();
    terminal.enter("/exit").unwrap();
    terminal.wait_for_end().unwrap();

    let session = stage.journal()[0].session.clone();
    stage.expect_events(
        &session,
        &[
            "SessionStart",
            "UserPromptSubmit",
            "UserPromptSubmit",
            "Stop",
            "UserPromptSubmit",
            "SessionEnd",
        ],
    );
    assert_eq!(prompts(&stage, &session), ["Tell a story", "Good night", "Sleep a little"]);
}

#[test]
fn what_is_typed_while_the_model_works_is_kept_although_no_hook_tells() {
    let work = calls("Bash", json!({ "command": "sleep 3; echo done", "description": "Work" }));
    let script = Script::new().on("Take your time", [message([work])]);
    let Some(stage) = Stage::new(script) else { return };
    let Some(terminal) = stage.terminal() else { return };
    terminal.enter("Take your time").unwrap();
    terminal.wait_for("● Bash(sleep 3; echo done)").unwrap();
    terminal.enter("And count the lamps").unwrap();
    terminal.wait_for("● ok").unwrap();
    terminal.enter("/exit").unwrap();
    terminal.wait_for_end().unwrap();

    let session = stage.journal()[0].session.clone();
    stage.expect_events(
        &session,
        &["SessionStart", "UserPromptSubmit", "PostToolUse", "Stop", "SessionEnd"],
    );
    assert_eq!(prompts(&stage, &session), ["Take your time", "And count the lamps"]);
}

#[test]
fn what_a_background_task_reports_is_no_prompt() {
    let task = json!({ "command": "sleep 1", "description": "Rest", "run_in_background": true });
    let script = Script::new()
        .on("Rest a little", [message([calls("Bash", task)]), message([says("It rests.")])])
        .on("task-notification", [message([says("It has rested.")])]);
    let Some(stage) = Stage::new(script) else { return };
    let Some(terminal) = stage.terminal() else { return };
    terminal.enter("Rest a little").unwrap();
    terminal.wait_for("● It has rested.").unwrap();
    terminal.enter("/exit").unwrap();
    terminal.wait_for_end().unwrap();

    let session = stage.journal()[0].session.clone();
    assert_eq!(prompts(&stage, &session), ["Rest a little"]);
}

/// What a person said in a session, once everything is in the store; commands of the client left out.
fn prompts(stage: &Stage, session: &str) -> Vec<String> {
    stage.take_in();
    let shown = stage.json(&["session", "show", session, "--json"]);
    let turns = shown["turns"].as_array().unwrap().iter();
    let prompts = turns.filter_map(|turn| turn["prompt"]["text"].as_str());
    prompts.filter(|prompt| !prompt.starts_with('/')).map(str::to_owned).collect()
}
