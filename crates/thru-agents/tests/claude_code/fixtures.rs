//! Passages from transcripts of the versions of Claude Code. The fixtures are invented.

use std::collections::BTreeSet;

use thru_agents::claude_code::{HistoryReader, Reader};
use thru_agents::{CALL_LIMIT, RESULT_LIMIT};
use thru_core::{Outcome, SessionId, SourceKind, Usage};

use crate::support::{SESSION, clean, fixture, read, reader, show};

#[test]
fn version_1_0() {
    let batch = read(SourceKind::Main, &fixture("v1_0.jsonl"));
    insta::assert_snapshot!(show(&batch), @r###"
    0 turn 1 human [2]
        /clear
    1 turn 2 human [5]
        ! ls gears
    2 turn 3 human [7]
        Why does the Saturn gear slip?
    3 turn 3 assistant [8]
        I will ask a helper to look.
    4 turn 3 tool [9, 14] Succeeded
        Task
        description: Look at gear
        prompt: Read saturn.rs and report teeth
        The gear has 59 teeth.
    5 turn 3 assistant @sidechain [10]
        Read saturn.rs and report teeth
    6 turn 3 tool @sidechain [11, 12] Succeeded Read /home/ada/orrery/gears/saturn.rs
        Read
        file_path: /home/ada/orrery/gears/saturn.rs
        1	const TEETH: u8 = 59;
    7 turn 3 assistant @sidechain [13]
        59 teeth.
    8 turn 3 assistant [15]
        It needs 60 teeth.
    9 turn 4 human [17] from b2b2b2b2
        An old prompt that was copied on resume
    {"assistant": 5, "summary": 1, "user": 11}
    "###);
    insta::assert_debug_snapshot!(batch.facts, @r#"
    SessionFacts {
        first: Some(
            2026-03-01T09:00:01Z,
        ),
        last: Some(
            2026-03-01T09:00:16Z,
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
            "1.0.98",
        ),
        models: {
            "claude-test-1",
        },
        user_title: None,
        agent_title: None,
        first_prompt: Some(
            "Why does the Saturn gear slip?",
        ),
        first_prompt_at: None,
        forked_from: None,
        usage: Usage {
            input: 40,
            output: 50,
            cache_creation: 20,
            cache_read: 400,
        },
        compactions: 0,
        api_errors: 0,
        pull_requests: {},
    }
    "#);
}

#[test]
fn version_2_0() {
    let batch = read(SourceKind::Main, &fixture("v2_0.jsonl"));
    insta::assert_snapshot!(show(&batch), @r###"
    0 turn 1 human [2]
        Make the moon wax
    1 turn 1 tool [5, 8] Succeeded Modified /home/ada/orrery/moon.rs
        Edit
        file_path: /home/ada/orrery/moon.rs
        old_string: wane()
        new_string: wax()
        The file has been updated.
    2 turn 1 tool [6, 7] Failed $ cargo test moon
        Bash
        command: cargo test moon
        description: Test
        timeout: 5000
        1 test failed
    3 turn 1 tool [10, 15] Succeeded
        Task
        description: count phases
        prompt: Count the phases
        Eight phases.
        [image]
    4 turn 1 assistant @a77 [11]
        Count the phases
    5 turn 1 tool @a77 [12, 14] Succeeded
        Grep
        pattern: Phase::
        8 matches
    6 turn 1 assistant [17]
        API Error: 529 overloaded
    {"assistant": 6, "file-history-snapshot": 1, "progress": 5, "system": 1, "user": 5}
    "###);
    insta::assert_debug_snapshot!(batch.facts, @r###"
    SessionFacts {
        first: Some(
            2026-03-01T09:00:01Z,
        ),
        last: Some(
            2026-03-01T09:00:17Z,
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
            "2.0.77",
        ),
        models: {
            "claude-test-1",
        },
        user_title: None,
        agent_title: None,
        first_prompt: Some(
            "Make the moon wax",
        ),
        first_prompt_at: None,
        forked_from: None,
        usage: Usage {
            input: 20,
            output: 100,
            cache_creation: 10,
            cache_read: 200,
        },
        compactions: 0,
        api_errors: 2,
        pull_requests: {},
    }
    "###);
}

#[test]
fn version_2_1() {
    let batch = read(SourceKind::Main, &fixture("v2_1.jsonl"));
    insta::assert_snapshot!(show(&batch), @r###"
    0 turn 1 human [2] from c3c3c3c3
        How many moons has Jupiter?
    1 turn 1 assistant [3] from c3c3c3c3
        Four that matter.
    2 turn 2 human [6]
        Add Callisto
    3 turn 2 tool [8, 9] Succeeded
        AskUserQuestion
        questions: question: Which colour?
        header: Colour
        options: label: grey
        description: dull
        multiSelect: false
        Which colour?: ochre
    4 turn 2 tool [10, 13] Succeeded
        ExitPlanMode
        planFilePath: /home/ada/.claude/plans/p.md
        User has approved your plan.
        # Plan
        1. cast Callisto in ochre
    5 turn 3 human [11]
        also add Io
    6 turn 3 tool [14, 15] Succeeded Modified /home/ada/orrery/callisto.rs
        Write
        file_path: /home/ada/orrery/callisto.rs
        content: pub struct Callisto;
        
        written
    7 turn 3 tool [19] Succeeded Read /home/ada/orrery/io.rs
        a result whose call is not here
    {"ai-title": 1, "assistant": 4, "attachment": 3, "custom-title": 1, "last-prompt": 1, "permission-mode": 1, "pr-link": 1, "system": 1, "user": 9}
    "###);
    insta::assert_debug_snapshot!(batch.facts, @r###"
    SessionFacts {
        first: Some(
            2026-03-01T09:00:01Z,
        ),
        last: Some(
            2026-03-01T10:00:00Z,
        ),
        directory: Some(
            "/home/ada/orrery",
        ),
        directory_at: None,
        first_branch: Some(
            "waxing",
        ),
        project: None,
        branch: Some(
            "waxing",
        ),
        version: Some(
            "2.1.150",
        ),
        models: {
            "claude-test-1",
        },
        user_title: Some(
            "Moons, cast",
        ),
        agent_title: Some(
            "Jupiter moons",
        ),
        first_prompt: Some(
            "How many moons has Jupiter?",
        ),
        first_prompt_at: None,
        forked_from: Some(
            SessionId(
                "c3c3c3c3-0000-4000-8000-000000000003",
            ),
        ),
        usage: Usage {
            input: 30,
            output: 45,
            cache_creation: 15,
            cache_read: 300,
        },
        compactions: 1,
        api_errors: 0,
        pull_requests: {
            "https://forge.example/ada/orrery/pull/7",
        },
    }
    "###);
}

#[test]
fn a_subagents_own_file() {
    let batch = read(SourceKind::Subagent, &fixture("agent-a9f.jsonl"));
    insta::assert_snapshot!(show(&batch), @r###"
    0 turn 0 assistant @a9f [1]
        Find every crater
    1 turn 0 tool @a9f [2, 3] Succeeded
        Grep
        pattern: crater
        moon.rs:4
    2 turn 0 assistant @a9f [4]
        One crater.
    {"assistant": 2, "user": 2}
    "###);
}

#[test]
fn damage_costs_only_what_is_damaged() {
    let batch = read(SourceKind::Main, &fixture("odd.jsonl"));
    insta::assert_snapshot!(show(&batch), @r###"
    0 turn 1 human [1]
        First, with a mark before and returns after
    1 turn 2 human [10]
        Wrong types elsewhere
    2 turn 3 human [11]
        Said twice
    3 turn 4 human [12]
        Half a face �
    4 turn 5 human [13]
        Latin �
    5 turn 6 human [14]
        No uuid at all
    6 turn 6 assistant [15]
        plain string answer
    7 turn 6 tool [16] Pending
        bare
    8 turn 6 assistant [16]
        loose
    {"(none)": 2, "assistant": 3, "brand-new-thing": 1, "user": 6}
    broken-json x3 first 4
    not-a-record x2 first 6
    unknown-type x1 first 9
    bad-timestamp x1 first 10
    not-utf8 x1 first 13
    "###);
}

#[test]
fn prompt_history() {
    let mut reader = HistoryReader::new();
    let batch = reader.read(&clean(&fixture("history.jsonl")), 1).into_inner();
    let shown: String =
        batch.sessions.iter().map(|(id, batch)| format!("== {id}\n{}", show(batch))).collect();
    insta::assert_snapshot!(shown, @r###"
    == a1a1a1a1-0000-4000-8000-000000000001
    0 turn 1 human [1]
        Why does Saturn slip? [Pasted text #1 +2 lines]
        gear log
        slip at 59
    1 turn 2 human [5]
        second prompt
    {"prompt": 2}
    == history-2026-03-01-6smk6pye
    0 turn 1 human [2]
        /clear
    1 turn 2 human [3]
        old style prompt
    {"prompt": 2}
    "###);
    assert_eq!(batch.diagnostics.len(), 1);

    // Read again, the prompts are the same; read on, the turns go on.
    let again = HistoryReader::new().read(&clean(&fixture("history.jsonl")), 100).into_inner();
    let ids = |batch: &thru_agents::claude_code::HistoryBatch| -> BTreeSet<_> {
        batch.sessions.values().flat_map(|batch| &batch.passages).map(|p| p.id).collect()
    };
    assert_eq!(ids(&batch), ids(&again));
    let mut resumed = HistoryReader::resume(&reader.state()).unwrap();
    let line = format!("{{\"display\":\"third\",\"timestamp\":9,\"sessionId\":\"{SESSION}\"}}\n");
    let later = resumed.read(&clean(line.as_bytes()), 6).into_inner();
    assert_eq!(later.sessions[&SessionId::new(SESSION)].passages[0].turn, 3);
}

#[test]
fn a_copied_record_is_the_same_passage() {
    let block = fixture("v2_1.jsonl");
    let here = read(SourceKind::Main, &block);
    let elsewhere =
        Reader::new(SourceKind::Main, SessionId::new("another")).read(&clean(&block), 1);
    let ids = |passages: &[thru_core::Passage]| passages.iter().map(|p| p.id).collect::<Vec<_>>();
    assert_eq!(ids(&here.passages), ids(&elsewhere.get().passages));
    assert!(elsewhere.get().passages.iter().all(|passage| passage.copied_from.is_some()));
    // A copy was paid for elsewhere.
    assert_eq!(elsewhere.get().facts.usage, Usage::default());
    assert_eq!(ids(&here.passages).iter().collect::<BTreeSet<_>>().len(), here.passages.len());
}

#[test]
fn a_result_of_a_later_read_is_an_amendment() {
    let block = fixture("v2_0.jsonl");
    let cut = block.windows(8).position(|w| w == b"toolu_2\"").unwrap();
    let cut = cut + block[cut..].iter().position(|&b| b == b'\n').unwrap() + 1;
    let mut reader = reader(SourceKind::Main);
    let before = reader.read(&clean(&block[..cut]), 1).into_inner();
    assert_eq!(before.passages.last().unwrap().outcome, Some(Outcome::Pending));
    let after = reader.read(&clean(&block[cut..]), 7).into_inner();
    assert_eq!(after.amendments.len(), 2);
    let failed = &after.amendments[0];
    assert_eq!(failed.passage, before.passages.last().unwrap().id);
    assert_eq!(
        (failed.outcome, failed.line, failed.text.as_str()),
        (Outcome::Failed, 7, "1 test failed")
    );
}

#[test]
fn long_calls_and_results_keep_both_ends() {
    let (input, result) = ("i".repeat(100_000), "r".repeat(100_000));
    let block = format!(
        "{}\n{}\n",
        serde_json::json!({"type": "assistant", "message": {"content": [
            {"type": "tool_use", "id": "t", "name": "Write", "input": {"file_path": "/a", "content": input}}]}}),
        serde_json::json!({"type": "user", "message": {"content": [
            {"type": "tool_result", "tool_use_id": "t", "content": result}]}}),
    );
    let batch = read(SourceKind::Main, block.as_bytes());
    let text = &batch.passages[0].text;
    assert!(text.len() <= CALL_LIMIT + 1 + RESULT_LIMIT && text.len() > 60_000);
    assert!(text.contains("[... 100000 bytes in all ...]") && text.ends_with("rrr"));
}
