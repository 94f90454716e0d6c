//! Passages from rollouts.

use thru_core::{Agent, PassageKind, ReadBatch, SourceKind};

use crate::common::show;
use crate::support::{cleaned, fixture, read};

fn of(name: &str, kind: SourceKind) -> ReadBatch {
    read(Agent::Codex, kind, &fixture(Agent::Codex, name))
}

#[test]
fn a_rollout_of_0_140() {
    let batch = of("v0_140.jsonl", SourceKind::Main);
    insta::assert_snapshot!(show(&batch), @r#"
    0 turn 1 human [7]
        why does the ephemeris test fail
    1 turn 1 assistant [10]
        I run it first.
    2 turn 1 tool [11, 13] Failed $ cargo test ephemeris
        exec_command
        cmd: cargo test ephemeris
        workdir: /home/ada/orrery
        Exit code: 101
        test ephemeris ... FAILED
        
    3 turn 1 tool [16, 18] Succeeded Modified src/ephemeris.rs Modified notes/leap.md
        apply_patch
        *** Begin Patch
        *** Update File: src/ephemeris.rs
        @@
        -let leap = 36;
        +let leap = 37;
        *** Add File: notes/leap.md
        +37 since 2017
        *** End Patch
        Success. Updated the following files:
        M src/ephemeris.rs
        
    4 turn 1 tool [20] Succeeded
        web_search
        type: search
        query: leap seconds since 1972
    5 turn 1 tool [23, 25] Failed
        mcp__wiki__ask_wiki
        question: when
        no such page
    6 turn 1 assistant [26]
        The table lacked the leap second of 2017.
    7 turn 2 human [28]
        commit it
    8 turn 2 tool [29] Pending $ git commit -am leap
        local_shell
        type: exec
        command: bash
        -lc
        git commit -am leap
    9 turn 3 human [31]
        commit it
    {"compacted": 1, "event_msg/agent_message": 1, "event_msg/context_compacted": 1, "event_msg/exec_command_end": 1, "event_msg/mcp_tool_call_end": 1, "event_msg/patch_apply_end": 1, "event_msg/task_started": 1, "event_msg/token_count": 2, "event_msg/turn_aborted": 1, "event_msg/user_message": 3, "event_msg/web_search_end": 1, "response_item/custom_tool_call": 1, "response_item/custom_tool_call_output": 1, "response_item/function_call": 2, "response_item/function_call_output": 2, "response_item/local_shell_call": 1, "response_item/message": 5, "response_item/reasoning": 1, "response_item/web_search_call": 1, "session_meta": 2, "turn_context": 1}
    "#);
    insta::assert_debug_snapshot!((&batch.facts, &batch.boundaries, &batch.compact_summaries), @r#"
    (
        SessionFacts {
            first: Some(
                2026-06-18T07:41:33.518Z,
            ),
            last: Some(
                2026-06-18T07:50:04Z,
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
                "0.141.0",
            ),
            models: {
                "gpt-5.5",
            },
            user_title: None,
            agent_title: None,
            first_prompt: Some(
                "why does the ephemeris test fail",
            ),
            first_prompt_at: None,
            forked_from: None,
            usage: Usage {
                input: 600,
                output: 50,
                cache_creation: 0,
                cache_read: 400,
            },
            compactions: 1,
            api_errors: 0,
            pull_requests: {},
        },
        [
            Boundary {
                record: RecordId(
                    "L21",
                ),
                ordinal: 5,
                at: Some(
                    2026-06-18T07:42:11Z,
                ),
                trigger: "unknown",
                before: None,
                after: None,
            },
        ],
        [
            CompactSummary {
                boundary: RecordId(
                    "L21",
                ),
                text: "So far: the table lacked a leap second.",
            },
        ],
    )
    "#);
    let calls: Vec<_> = batch.passages.iter().filter_map(|one| one.call.as_deref()).collect();
    assert_eq!(calls, ["call_1", "call_2", "call_3", "call_4"]);
}

#[test]
fn a_rollout_of_0_169_tells_prompts_in_items() {
    let batch = of("v0_169.jsonl", SourceKind::Main);
    insta::assert_snapshot!(show(&batch), @r#"
    0 turn 1 human [5]
        show the moons
    1 turn 1 assistant [7]
        I look.
    2 turn 1 tool [9, 11] Failed $ ls moons
        exec_command
        cmd: ls moons
        Exit code: 2
        no such folder
        
    3 turn 1 tool [13] Succeeded $ mkdir moons
        shell
        mkdir moons
    {"event_msg/item_completed": 4, "event_msg/task_started": 1, "event_msg/thread_name_updated": 1, "event_msg/token_count": 1, "response_item/function_call": 1, "response_item/function_call_output": 1, "response_item/message": 3, "session_meta": 1, "something_new": 1, "token_usage_record": 1, "world_state": 1}
    unknown-type x1 first 16
    "#);
    assert_eq!(batch.facts.user_title.as_deref(), Some("Moons"));
    assert_eq!(batch.facts.forked_from.unwrap().as_str(), "01a1ffbd-0000-7000-8000-000000000001");
    // What was counted before the fork was paid for there.
    assert_eq!((batch.facts.usage.input, batch.facts.usage.output), (10, 5));
}

#[test]
fn history_that_a_fork_took_over_is_not_read_again() {
    let batch = of("forked.jsonl", SourceKind::Main);
    let texts: Vec<&str> = batch.passages.iter().map(|passage| passage.text.as_str()).collect();
    assert_eq!(texts, ["what the fork was asked", "what the fork said"]);
}

#[test]
fn history_of_versions_without_times_in_ids_ends_when_the_session_goes_on() {
    let block = String::from_utf8(fixture(Agent::Codex, "forked.jsonl")).unwrap();
    let block =
        block.replace("01990000-0003-7000", "01990000-0003-4000").replace(":02.000Z", ":09.000Z");
    let batch = read(Agent::Codex, SourceKind::Main, block.as_bytes());
    let texts: Vec<&str> = batch.passages.iter().map(|passage| passage.text.as_str()).collect();
    assert_eq!(texts, ["what the fork said"]);
}

#[test]
fn a_subagent_is_told_by_its_parent() {
    let batch = of("subagent.jsonl", SourceKind::Subagent);
    insta::assert_snapshot!(show(&batch), @r#"
    0 turn 0 assistant @01990000-0005-7000-8000-000000000005 [2]
        count the moons of Jupiter
    1 turn 0 assistant @01990000-0005-7000-8000-000000000005 [3]
        Ninety-seven.
    {"event_msg/user_message": 1, "response_item/message": 1, "session_meta": 1}
    "#);
    assert!(batch.facts.first_prompt.is_none());
}

#[test]
fn a_prompt_told_by_both_kinds_of_records_counts_once() {
    let event = r#"{"timestamp":"2026-06-18T07:41:36Z","type":"event_msg","payload":{"type":"user_message","message":"hello"}}"#;
    let item = r#"{"timestamp":"2026-06-18T07:41:36Z","type":"event_msg","payload":{"type":"item_completed","item":{"type":"UserMessage","content":[{"type":"text","text":"hello"}]}}}"#;
    let prompts = |lines: &[&str]| {
        read(Agent::Codex, SourceKind::Main, lines.join("\n").as_bytes()).passages.len()
    };
    assert_eq!(prompts(&[event, item]), 1);
    assert_eq!(prompts(&[item, event]), 1);
    assert_eq!(prompts(&[item, event, item, event]), 2);
    assert_eq!(prompts(&[event, event]), 2);
}

#[test]
fn a_private_turn_leaves_ids_and_types() {
    let after = cleaned(Agent::Codex, SourceKind::Main, &fixture(Agent::Codex, "private.jsonl"));
    let text = String::from_utf8(after.clone()).unwrap();
    assert!(!text.contains("leaked"), "{text}");
    for line in text.lines() {
        assert!(serde_json::from_str::<serde_json::Value>(line).is_ok(), "{line}");
    }
    let batch = read(Agent::Codex, SourceKind::Main, &after);
    let passages: Vec<_> =
        batch.passages.iter().map(|one| (one.kind, one.turn, one.lines[0])).collect();
    assert_eq!(passages, [(PassageKind::Human, 1, 10), (PassageKind::Assistant, 1, 11)]);
    assert!(batch.amendments.is_empty() && batch.passages[0].text.starts_with("now in public"));
}

#[test]
fn a_secret_within_arguments_is_redacted_and_the_rest_is_read() {
    // Drawn when the test runs, so that no secret stands in the repository.
    let secret = format!("ghp_{}", "a1B2c3D4".repeat(5).chars().take(36).collect::<String>());
    let line = format!(
        r#"{{"timestamp":"2026-06-18T07:41:47Z","type":"response_item","payload":{{"type":"function_call","name":"exec_command","arguments":"{{\"cmd\":\"curl -H 'Authorization: Bearer {secret}' https://example.org\"}}","call_id":"call_1"}}}}"#
    );
    let after = cleaned(Agent::Codex, SourceKind::Main, line.as_bytes());
    assert!(!String::from_utf8(after.clone()).unwrap().contains(&secret));
    let batch = read(Agent::Codex, SourceKind::Main, &after);
    let command = batch.passages[0].command.as_deref().unwrap();
    assert!(command.starts_with("curl -H") && command.contains("example.org"), "{command}");
}

#[test]
fn huge_and_broken_lines_stop_nothing() {
    let huge = format!(
        r#"{{"type":"response_item","payload":{{"type":"function_call_output","call_id":"c","output":"{}"}}}}"#,
        "x".repeat(3_000_000)
    );
    let prompt = r#"{"type":"event_msg","payload":{"type":"user_message","message":"go on"}}"#;
    let block = [
        "{\"type\":",
        &huge,
        "[]",
        "null",
        "\u{fffd}",
        r#"{"type":"event_msg","payload":7}"#,
        prompt,
    ]
    .join("\n");
    let batch = read(Agent::Codex, SourceKind::Main, block.as_bytes());
    assert_eq!(batch.passages.len(), 2);
    assert!(batch.passages[0].text.len() <= thru_agents::RESULT_LIMIT);
    let kinds: Vec<_> = batch.diagnostics.iter().map(|one| (one.kind, one.count)).collect();
    assert_eq!(kinds, [("broken-json", 2), ("not-a-record", 2)]);
}
