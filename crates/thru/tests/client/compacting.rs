//! Compaction: the conversation is gone, what was recorded of it is not.

use std::fs;

use serde_json::{Value, json};
use thru_real_client::{Script, calls, message, reads, says};

use crate::stage::{PACKING_EVENTS, Stage, WRITE, packing, packs};

const COMPACT_EVENTS: [&str; 6] =
    ["SessionStart", "PreCompact", "SubagentStop", "SessionStart", "PostCompact", "SessionEnd"];

#[test]
fn after_compaction_the_session_is_told_of_itself() {
    let Some(stage) = Stage::new(packing()) else { return };
    let session = stage.asks(WRITE, &[]);
    stage.asks("/compact keep the lamp", &["--resume", &session]);
    stage.expect_events(&session, &[&PACKING_EVENTS[..], &COMPACT_EVENTS].concat());
    let journal = stage.journal();
    assert_eq!(journal[7].payload["custom_instructions"], "keep the lamp");
    assert_eq!(journal[9].payload["source"], "compact");
    let summary = journal[10].payload["compact_summary"].as_str().unwrap();
    assert!(summary.contains("A packing list was written."), "{summary}");

    stage.api.take_requests();
    stage.asks("And now?", &["--resume", &session]);
    let told = stage.api.requests()[0].conversation();
    // Resuming may have told something as well: `-p /compact` is a run of its own.
    let of_itself = |pack: &&str| pack.contains("packing.txt") && pack.contains(WRITE);
    assert_eq!(packs(&told).into_iter().filter(of_itself).count(), 1, "{told}");
}

#[test]
fn compaction_costs_no_turn_and_leaves_no_subagent() {
    let Some(stage) = Stage::new(packing()) else { return };
    let session = stage.asks(WRITE, &[]);
    stage.thru(&["intake"]);
    stage.asks("/compact", &["--resume", &session]);
    stage.take_in();
    let sessions = stage.json(&["sessions", "--all", "--json"]);
    assert_eq!(sessions["sessions"].as_array().map(Vec::len), Some(1), "{sessions}");
    assert_eq!(sessions["sessions"][0]["compactions"], 1);
    // Everything from before the compaction is still there.
    let shown = stage.json(&["session", "show", &session, "--json"]);
    assert_eq!(shown["turns"][0]["prompt"]["text"], WRITE);
    assert_eq!(shown["turns"][0]["conclusion"]["text"], "The packing list is written.");
}

#[test]
fn two_compactions_leave_two_summaries_in_the_project() {
    let Some(stage) = Stage::new(packing()) else { return };
    let session = stage.asks(WRITE, &[]);
    stage.asks("/compact keep the lamp", &["--resume", &session]);
    stage.asks("And the rope?", &["--resume", &session]);
    stage.asks("/compact", &["--resume", &session]);
    stage.take_in();
    let folder = stage.home.work().join(".claude/summaries");
    let index = fs::read_to_string(folder.join("index.json")).unwrap();
    let index: Value = serde_json::from_str(&index).unwrap();
    let listed = index["summaries"].as_array().unwrap();
    assert_eq!(listed.len(), 2, "{index}");
    for one in listed {
        let text = fs::read_to_string(folder.join(one["summary_path"].as_str().unwrap())).unwrap();
        assert!(text.contains("packing.txt"), "{text}");
    }
    let first = fs::read_to_string(folder.join(listed[1]["summary_path"].as_str().unwrap()));
    assert!(first.unwrap().contains("The user asked to keep: keep the lamp"));
    // One compaction is one, whichever way it came.
    let compactions = stage.json(&["compaction", &session, "--json"]);
    let compactions = compactions["compactions"].as_array().unwrap();
    assert_eq!(compactions.len(), 2, "{compactions:?}");
    assert_eq!(compactions[0]["custom_instructions"], "keep the lamp");
    for one in compactions {
        assert_eq!(one["trigger"], "manual");
        assert!(one["tokens_before"].is_u64(), "{one}");
        assert!(one["summary"].as_str().unwrap().contains("A packing list was written."), "{one}");
    }
    assert_eq!(stage.records("snapshot").len(), 2);
}

#[test]
fn a_context_that_is_full_is_compacted_and_goes_on_knowing() {
    let write = calls("Write", json!({ "file_path": "packing.txt", "content": "rope\nlamp\n" }));
    let script = Script::new()
        .on(WRITE, [message([write]), message([reads(190_000), says("Written.")])])
        .summary("A packing list was written.");
    let Some(stage) = Stage::bare(script) else { return };
    let settings = json!({ "env": { "CLAUDE_CODE_AUTO_COMPACT_WINDOW": "100000" } });
    fs::write(stage.settings(), settings.to_string()).unwrap();
    stage.thru(&["up", "--yes"]);
    // A model with a window of 200,000 tokens, whatever others have by now.
    let model = ["--model", "claude-haiku-4-5"];
    let session = stage.asks(WRITE, &model);
    stage.asks("And now?", &[&model[..], &["--resume", &session]].concat());
    let journal = stage.journal();
    let compacted = journal.iter().find(|entry| entry.event == "PreCompact").unwrap();
    assert_eq!(compacted.payload["trigger"], "auto");
    // The first request behind the summary has the pack.
    let told: Vec<String> =
        stage.api.requests().iter().map(|request| request.conversation()).collect();
    let after = told.iter().find(|told| told.contains("This session is being continued")).unwrap();
    assert!(packs(after).iter().any(|pack| pack.contains("packing.txt")), "{after}");
    stage.take_in();
    let compactions = stage.json(&["compaction", &session, "--json"]);
    assert_eq!(compactions["compactions"][0]["trigger"], "auto", "{compactions}");
    assert!(stage.home.work().join(".claude/summaries/latest/summary.md").exists());
}
