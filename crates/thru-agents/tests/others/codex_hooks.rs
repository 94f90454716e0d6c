//! Payloads as Codex 0.169 sends them, and what becomes of them.

use insta::assert_snapshot;
use serde_json::{Value, json};
use thru_agents::hooks::{self, Adapter, Event, HookInput, HookReply};
use thru_core::{Agent, Passage, Timestamp};
use thru_redact::{Redactor, Report};

fn codex() -> &'static Adapter {
    hooks::adapter(Agent::Codex).unwrap()
}

/// A payload with the fields that every event has.
fn payload(event: &str, fields: &Value) -> Value {
    let mut payload = json!({
        "session_id": "01a201f2-3e8e-7151-a15c-92fcf6b6e734",
        "turn_id": "01a201f2-3f43-7a30-b7e2-fd722c259eec",
        "transcript_path": "/h/.codex/sessions/2026/11/22/rollout-2026-11-22T06-29-42-01a201f2-3e8e-7151-a15c-92fcf6b6e734.jsonl",
        "cwd": "/w",
        "hook_event_name": event,
        "model": "gpt-5.5-codex",
        "permission_mode": "default",
    });
    let known = payload.as_object_mut().unwrap();
    known.extend(fields.as_object().unwrap().clone());
    payload
}

fn input(event: &str, fields: &Value) -> HookInput {
    let raw = payload(event, fields).to_string();
    HookInput::parse(codex(), event, raw.as_bytes()).unwrap()
}

fn passage(event: &str, fields: &Value) -> Option<Passage> {
    let input = input(event, fields);
    let payload = Redactor::builtin().clean_value(input.value, &mut Report::default());
    let at = Timestamp::UNIX_EPOCH;
    hooks::passage(Agent::Codex, &input.event, &input.session, "key", at, &payload)
        .map(|passage| passage.into_inner())
}

fn shell(command: &str, response: &str) -> Value {
    json!({
        "tool_name": "Bash",
        "tool_input": { "command": command },
        "tool_response": response,
        "tool_use_id": "call_2",
    })
}

#[test]
fn a_call_of_a_shell_is_a_passage_without_an_outcome() {
    let passage = passage("PostToolUse", &shell("cargo test", "1 failed\n")).unwrap();
    assert_snapshot!(format!("{passage:#?}"));
}

#[test]
fn a_patch_names_its_files() {
    let patch =
        "*** Begin Patch\n*** Add File: c.txt\n+hello\n*** Update File: a.rs\n*** End Patch\n";
    let fields = json!({
        "tool_name": "apply_patch",
        "tool_input": { "command": patch },
        "tool_response": "Exit code: 0\nWall time: 0 seconds\nOutput:\nSuccess. Updated the following files:\nA c.txt\n",
        "tool_use_id": "call_4",
    });
    let passage = passage("PostToolUse", &fields).unwrap();
    let files: Vec<&str> = passage.files.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(files, ["c.txt", "a.rs"]);
    assert_eq!(passage.outcome, Some(thru_core::Outcome::Succeeded));
    assert!(passage.text.ends_with("\nA c.txt\n"), "{}", passage.text);
}

#[test]
fn prompts_and_last_words_are_passages_and_other_events_none() {
    let context = "# Context from my IDE setup:\n- a.rs\n\n## My request for Codex:\nfix it\n";
    let texts = [
        ("UserPromptSubmit", json!({ "prompt": " fix it \n" })),
        ("UserPromptSubmit", json!({ "prompt": context })),
        ("UserPromptSubmit", json!({ "prompt": " " })),
        ("Stop", json!({ "last_assistant_message": "Done.", "stop_hook_active": false })),
        ("Stop", json!({ "last_assistant_message": null })),
        ("Interrupt", json!({})),
        ("PreCompact", json!({ "trigger": "manual" })),
        ("SessionEnd", json!({ "reason": "other" })),
        ("PostToolUse", json!({ "tool_name": "Bash" })),
        ("PostToolUse", json!({ "tool_name": 7, "tool_input": [] })),
    ]
    .map(|(event, fields)| passage(event, &fields).map(|passage| passage.text));
    let expected = [Some("fix it"), Some("fix it"), None, Some("Done.")];
    let expected = expected.into_iter().chain([None; 6]).map(|text| text.map(str::to_owned));
    assert!(texts.iter().cloned().eq(expected), "{texts:?}");
}

#[test]
fn an_event_is_known_by_its_turn_or_call() {
    let turn = "01a201f2-3f43-7a30-b7e2-fd722c259eec";
    assert_eq!(input("UserPromptSubmit", &json!({ "prompt": "x" })).identity(), Some(turn));
    assert_eq!(input("PostToolUse", &shell("ls", "")).identity(), Some("call_2"));
    assert_eq!(input("Stop", &json!({})).identity(), None);
    let prompt = input("UserPromptSubmit", &json!({ "prompt": "secret" }));
    assert!(!prompt.is_of_machine() && !prompt.is_of_another_host());
    assert_eq!(prompt.without_words()["turn_id"], turn);
    assert!(!prompt.without_words().to_string().contains("secret"));
}

#[test]
fn what_is_kept_of_an_event_for_good() {
    let start = input("SessionStart", &json!({ "source": "compact" }));
    assert_eq!(
        start.payload().details(),
        r#"{"model":"gpt-5.5-codex","permission_mode":"default","prompt_id":"01a201f2-3f43-7a30-b7e2-fd722c259eec","source":"compact"}"#
    );
    let compacted = input("PreCompact", &json!({ "trigger": "auto" }));
    assert_eq!(compacted.payload().compaction(), r#"{"trigger":"auto"}"#);
}

#[test]
fn answers_hold_only_what_codex_reads() {
    let reply = |context: &str| HookReply {
        context: Some(context.to_owned()),
        message: Some("One memory.".to_owned()),
    };
    let answer = |event: Event, context: &str| codex().capture.answer(&event, &reply(context));
    assert_eq!(
        answer(Event::UserPromptSubmit, "known"),
        r#"{"hookSpecificOutput":{"additionalContext":"known","hookEventName":"UserPromptSubmit"},"systemMessage":"One memory."}"#
    );
    for event in [Event::Interrupt, Event::PreCompact, Event::SessionEnd] {
        assert_eq!(answer(event, "known"), "");
    }
    for event in [Event::Stop, Event::PostToolUse] {
        assert_eq!(answer(event, "known"), r#"{"systemMessage":"One memory."}"#);
    }
    // Longer ones lose their middle.
    let long = "é".repeat(6_000);
    assert_eq!(answer(Event::SessionStart, &long), r#"{"systemMessage":"One memory."}"#);
}
