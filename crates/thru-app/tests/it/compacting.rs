//! What a session is given after its context was compacted.

use serde_json::{Value, json};
use thru_core::SNAPSHOT_RECORD;
use thru_journal::journal::Journal;

use crate::home::Home;
use crate::records::ONE;

#[test]
fn after_a_compaction_a_session_is_given_what_it_held() {
    let home = Home::new();
    let file = home.project().join("src/retry.rs");
    home.prompt(ONE, 1, "Uploads fail with SQLITE_BUSY");
    let edit = json!({ "tool_name": "Edit", "tool_use_id": "t1",
        "tool_input": { "file_path": file, "old_string": "loop", "new_string": "for" },
        "tool_response": { "filePath": file } });
    home.hook(ONE, "PostToolUse", edit);
    home.stop(ONE, "Uploads are retried with a budget now.");
    home.hook(ONE, "PreCompact", json!({ "trigger": "auto" }));
    let start = json!({ "source": "compact", "model": "m" });
    let given = home.hook_in(&home.project(), ONE, "SessionStart", start);
    let given: Value = serde_json::from_str(&given).unwrap();
    let context = given["hookSpecificOutput"]["additionalContext"].as_str().unwrap();
    assert!(context.contains("SQLITE_BUSY") && context.contains("retry.rs"), "{context}");
    assert!(given["systemMessage"].as_str().unwrap().contains("what it held"), "{given}");
    let journal = Journal::open(home.layout().journal(), "test").unwrap().replay().unwrap();
    assert!(journal.entries.iter().any(|entry| entry.kind == SNAPSHOT_RECORD));
}
