//! What becomes of what hooks recorded.

use std::fs;

use serde_json::{Value, json};
use thru_real_client::{Script, calls, message, says};

use crate::stage::{Stage, WRITE, packing};

impl Stage {
    /// What `thru` shows of a session, without what only one of the two sources knows.
    fn shown(&self, session: &str) -> Value {
        let mut shown = self.json(&["session", "show", session, "--json"]);
        for turn in shown["turns"].as_array_mut().unwrap() {
            for part in ["prompt", "conclusion"] {
                if let Some(part) = turn[part].as_object_mut() {
                    part.retain(|name, _| name == "text");
                }
            }
        }
        json!({ "files": shown["files"], "turns": shown["turns"] })
    }
}

#[test]
fn hooks_alone_are_enough() {
    let Some(stage) = Stage::new(packing()) else { return };
    let session = stage.asks(WRITE, &[]);
    fs::remove_dir_all(stage.home.claude().join("projects")).unwrap();
    stage.thru(&["intake"]);
    let shown = stage.shown(&session);
    let turn = &shown["turns"][0];
    assert_eq!(turn["prompt"]["text"], WRITE, "{shown}");
    assert_eq!(turn["conclusion"]["text"], "The packing list is written.");
    assert_eq!(turn["tool_calls"], 2);
    assert_eq!(turn["commands"][0]["outcome"], "failed");
    assert_eq!(shown["files"].as_array().map(Vec::len), Some(1));
}

#[test]
fn what_hooks_and_transcript_both_tell_is_kept_once() {
    let Some(stage) = Stage::new(packing()) else { return };
    let session = stage.asks(WRITE, &[]);
    stage.thru(&["intake"]);
    let from_hooks = stage.shown(&session);
    stage.thru(&["import", "--yes"]);
    assert_eq!(stage.shown(&session), from_hooks);
    let sessions = stage.json(&["sessions", "--all", "--json"]);
    assert_eq!(sessions["sessions"].as_array().map(Vec::len), Some(1));
    // The prompt, two texts of the model, two calls.
    assert_eq!(sessions["sessions"][0]["passages"], 5);

    stage.thru(&["rebuild"]);
    assert_eq!(stage.shown(&session), from_hooks);
    stage.thru(&["verify"]);
}

#[test]
fn what_is_private_is_never_written() {
    let secret = drawn();
    let tell = calls("Bash", json!({ "command": format!("echo {secret}") }));
    let script =
        Script::new().on("diary", [message([tell]), message([says(&format!("It is {secret}."))])]);
    let Some(stage) = Stage::new(script) else { return };
    stage.asks(&format!("<private>My diary says {secret}</private>"), &[]);
    stage.asks(&format!("Good morning <private>{secret}</private> to you"), &[]);
    expect_nothing_of(&stage, &secret);
    stage.take_in();
    expect_nothing_of(&stage, &secret);
    let found = stage.json(&["search", "--all", "--json", "Good morning"]);
    assert_eq!(
        found["sessions"].as_array().map(Vec::len),
        Some(1),
        "the rest of the prompt is kept"
    );
}

#[test]
fn secrets_are_taken_out_before_anything_is_written() {
    let secret = format!("ghp_{}{}", drawn(), drawn());
    let show = calls("Bash", json!({ "command": format!("echo token={secret}") }));
    let script = Script::new().on("token", [message([show]), message([says("Shown.")])]);
    let Some(stage) = Stage::new(script) else { return };
    let session = stage.asks(&format!("Use the token {secret}"), &[]);
    expect_nothing_of(&stage, &secret);
    stage.take_in();
    expect_nothing_of(&stage, &secret);
    assert!(stage.thru(&["session", "show", &session]).contains("Use the token"));
}

#[test]
fn a_session_is_known_while_it_still_runs() {
    let thru = env!("CARGO_BIN_EXE_thru");
    let look = format!("{thru} intake && {thru} session show $CLAUDE_CODE_SESSION_ID");
    let look = calls("Bash", json!({ "command": look, "description": "Look at this session" }));
    let script = Script::new().on("Which session", [message([look]), message([says("This one.")])]);
    let Some(stage) = Stage::new(script) else { return };
    stage.asks("Which session is this?", &[]);
    let seen = stage.api.requests()[1].news();
    assert!(seen.contains("Which session is this?"), "{seen}");
}

#[test]
fn a_session_that_was_taken_in_grows() {
    let Some(stage) = Stage::new(Script::new()) else { return };
    let session = stage.asks("One", &[]);
    stage.thru(&["intake"]);
    stage.asks("Two", &["--resume", &session]);
    stage.thru(&["intake"]);
    let shown = stage.shown(&session);
    let prompts: Vec<_> =
        shown["turns"].as_array().unwrap().iter().map(|turn| &turn["prompt"]["text"]).collect();
    assert_eq!(prompts, ["One", "Two"]);
}

/// Fails if a word is in any file that `thru` keeps, or comes out of it.
#[track_caller]
fn expect_nothing_of(stage: &Stage, secret: &str) {
    for (path, bytes) in stage.kept() {
        let is_there = bytes.windows(secret.len()).any(|window| window == secret.as_bytes());
        assert!(!is_there, "{}", path.display());
    }
    // Archived files are compressed.
    let found = stage.try_thru(&["search", "--all", "--json", secret]).stdout;
    assert!(!found.replace(&format!("\"query\": \"{secret}\""), "").contains(secret), "{found}");
}

/// A word that was never seen before, so that none stands in the repository.
fn drawn() -> String {
    let state = std::hash::BuildHasher::hash_one(&std::hash::RandomState::new(), 0);
    format!("q{state:016x}Z7")
}
