//! Passages from the events of Copilot CLI.

use thru_core::{Agent, SourceKind};

use crate::common::show;
use crate::support::{cleaned, fixture, read};

#[test]
fn a_session_of_1_0() {
    let block = cleaned(Agent::Copilot, SourceKind::Main, &fixture(Agent::Copilot, "v1_0.jsonl"));
    assert!(!String::from_utf8(block.clone()).unwrap().contains("leaked"));
    let batch = read(Agent::Copilot, SourceKind::Main, &block);
    insta::assert_snapshot!(show(&batch), @r#"
    0 turn 1 human [4]
        draw Saturn
    1 turn 1 tool [7, 10] Succeeded $ ls rings
        bash
        command: ls rings
        description: List the rings
        a b c
        <exited with exit code 0>
    2 turn 1 tool [8, 9] Failed Read /home/ada/orrery/saturn.svg
        view
        path: /home/ada/orrery/saturn.svg
        Path does not exist
    3 turn 1 tool [11, 12] Succeeded Modified /home/ada/orrery/saturn.svg
        create
        path: /home/ada/orrery/saturn.svg
        file_text: <svg/>
        
        Created file
    4 turn 1 assistant @t4 [15]
        Titan is the largest moon.
    5 turn 1 assistant [17]
        Saturn has its rings.
    6 turn 2 human [23]
        and Neptune
    {"assistant.message": 4, "assistant.turn_start": 1, "hook.start": 1, "orbit.changed": 1, "session.compaction_complete": 1, "session.shutdown": 1, "session.start": 1, "subagent.started": 1, "system.message": 1, "tool.execution_complete": 4, "tool.execution_start": 4, "user.message": 4}
    unknown-type x1 first 24
    "#);
    insta::assert_debug_snapshot!((&batch.facts, &batch.boundaries, &batch.compact_summaries), @r#"
    (
        SessionFacts {
            first: Some(
                2026-06-25T01:50:34.403Z,
            ),
            last: Some(
                2026-06-25T02:01:01Z,
            ),
            directory: Some(
                "/home/ada/orrery",
            ),
            directory_at: None,
            first_branch: Some(
                "main",
            ),
            project: None,
            branch: Some(
                "main",
            ),
            version: Some(
                "1.0.64",
            ),
            models: {
                "claude-sonnet-4.6",
            },
            user_title: None,
            agent_title: None,
            first_prompt: Some(
                "draw Saturn",
            ),
            first_prompt_at: None,
            forked_from: None,
            usage: Usage {
                input: 500,
                output: 50,
                cache_creation: 100,
                cache_read: 400,
            },
            compactions: 1,
            api_errors: 0,
            pull_requests: {},
        },
        [
            Boundary {
                record: RecordId(
                    "e0000000-0000-4000-8000-000000000013",
                ),
                ordinal: 4,
                at: Some(
                    2026-06-25T01:51:00Z,
                ),
                trigger: "unknown",
                before: Some(
                    90000,
                ),
                after: Some(
                    9000,
                ),
            },
        ],
        [
            CompactSummary {
                boundary: RecordId(
                    "e0000000-0000-4000-8000-000000000013",
                ),
                text: "Saturn is drawn.",
            },
        ],
    )
    "#);
    let records: Vec<&str> =
        batch.passages[1].records.iter().map(|record| &record.as_str()[34..]).collect();
    assert_eq!(records, ["07", "10"]);
}

#[test]
fn a_created_file_is_known_whole() {
    let batch = read(Agent::Copilot, SourceKind::Main, &fixture(Agent::Copilot, "v1_0.jsonl"));
    let written: Vec<_> = batch.passages.iter().filter_map(|passage| passage.written).collect();
    assert_eq!(written, [thru_core::content_hash(b"<svg/>\n")]);
}
