//! The turn of a wholly private prompt is kept neither in the archive nor as a passage.

use thru_agents::Cleaner;
use thru_agents::claude_code::HistoryReader;
use thru_core::{Agent, SourceKind};
use thru_redact::{Redactor, Report};

use crate::support::{clean, fixture, read};

/// Cleans line by line, each line by a cleaner that resumes the one before.
fn cleaned(kind: SourceKind, block: &[u8]) -> Vec<u8> {
    let (redactor, mut report) = (Redactor::builtin(), Report::default());
    let (mut carry, mut out) = (None::<String>, Vec::new());
    for line in block.split_inclusive(|&byte| byte == b'\n') {
        let mut cleaner = Cleaner::resume(Agent::ClaudeCode, kind, carry.as_deref());
        out.extend(cleaner.clean(&redactor, line, &mut report).into_inner());
        carry = cleaner.carry();
    }
    out
}

#[test]
fn a_private_turn_leaves_ids_and_types() {
    let before = fixture("private.jsonl");
    let after = cleaned(SourceKind::Main, &before);
    let text = String::from_utf8(after.clone()).unwrap();
    assert!(!text.contains("leaked") && !text.contains("safe") && !text.contains("not this"));
    assert_eq!(text.lines().count(), 9);
    for (old, new) in String::from_utf8(before).unwrap().lines().zip(text.lines()) {
        let [old, new] =
            [old, new].map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
        assert_eq!([&old["type"], &old["uuid"]], [&new["type"], &new["uuid"]]);
    }

    let batch = read(SourceKind::Main, &after);
    let lines: Vec<_> = batch.passages.iter().map(|passage| passage.lines[0]).collect();
    assert_eq!(lines, [1, 2, 8, 9]);
    assert!(batch.passages[2].text.starts_with("Open again") && batch.amendments.is_empty());
    assert!(batch.facts.agent_title.is_none() && batch.diagnostics.is_empty());
}

#[test]
fn a_result_that_arrives_after_its_private_turn_finds_no_call() {
    let line = |uuid: u8, rest: &str| {
        format!("{{\"uuid\":\"0f8fad5b-d9cb-469f-a165-7086772895{uuid:02}\",{rest}}}\n")
    };
    let block = [
        line(1, r#""type":"user","message":{"content":"<PRIVATE>hush</PRIVATE>"}"#),
        line(2, r#""type":"assistant","message":{"content":[{"type":"tool_use","id":"toolu_1","name":"Bash","input":{"command":"hush"}}]}"#),
        line(3, r#""type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"hush"}]}"#),
        line(4, r#""type":"user","message":{"content":"and now in public"}"#),
    ]
    .concat();
    let after = cleaned(SourceKind::Main, block.as_bytes());
    let batch = read(SourceKind::Main, &after);
    assert!(!String::from_utf8(after).unwrap().contains("hush"));
    assert_eq!(batch.passages.len(), 1);
    assert_eq!((batch.passages[0].turn, batch.passages[0].text.as_str()), (1, "and now in public"));
}

#[test]
fn a_private_entry_of_the_prompt_history_stands_for_itself() {
    let block = b"{\"display\":\"<private>hush</private>\",\"timestamp\":1,\"project\":\"/p\"}\n\
        {\"display\":\"aloud\",\"timestamp\":2,\"project\":\"/p\"}\n";
    let after = cleaned(SourceKind::PromptHistory, block);
    assert!(!String::from_utf8(after.clone()).unwrap().contains("hush"));
    let batch = HistoryReader::new().read(&clean(&after), 1).into_inner();
    let texts: Vec<_> = batch
        .sessions
        .values()
        .flat_map(|batch| &batch.passages)
        .map(|p| p.text.as_str())
        .collect();
    assert_eq!(texts, ["aloud"]);
}

#[test]
fn a_private_subagent_says_nothing() {
    let block = b"{\"type\":\"user\",\"isSidechain\":true,\"message\":{\"content\":\"<private>hush</private>\"}}\n\
        {\"type\":\"assistant\",\"isSidechain\":true,\"message\":{\"content\":\"hush\"}}\n";
    let after = cleaned(SourceKind::Subagent, block);
    assert!(!String::from_utf8(after.clone()).unwrap().contains("hush"));
    assert!(read(SourceKind::Subagent, &after).passages.is_empty());
}
