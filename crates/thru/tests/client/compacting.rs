//! Compaction: the conversation is gone, what was recorded of it is not.

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
