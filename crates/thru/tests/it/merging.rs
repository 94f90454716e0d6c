//! Hooks and transcripts tell of the same sessions: one thing that happened is there once, whichever way
//! it came.

use serde_json::json;
use thru_store::Store;

use crate::dump;
use crate::home::Home;
use crate::hooking::{bash, events, everything, hook, layout, prompt, quiet, stop};
use crate::records::{Author, ONE, TWO, file};

/// What the agent wrote of the session that [`tell`] tells of.
fn written(home: &Home) -> Author {
    let mut author = Author::of(ONE).in_directory(home.project().to_str().unwrap());
    author
        .asks("Uploads fail with SQLITE_BUSY")
        .runs("toolu_1", "cargo test")
        .gets("toolu_1", "2 passed")
        .says("Uploads are retried with a budget now.");
    author
}

/// The same session, by hooks.
fn tell(home: &Home) {
    hook(home, ONE, "SessionStart", json!({ "source": "startup" }));
    prompt(home, ONE, 1, "Uploads fail with SQLITE_BUSY");
    bash(home, ONE, "toolu_1", "cargo test", "2 passed");
    stop(home, ONE, "Uploads are retried with a budget now.");
    hook(home, ONE, "SessionEnd", json!({ "reason": "other" }));
}

fn passages(home: &Home) -> Vec<String> {
    let all = dump::store(&layout(home));
    all.into_iter().filter(|line| line.starts_with("passage ")).collect()
}

#[test]
fn what_came_both_ways_is_there_once() {
    let home = quiet();
    home.write(&file(ONE), written(&home).text());
    home.thru(&["import"]).expect(0);
    let alone = passages(&home);
    assert_eq!(alone.len(), 3, "{alone:#?}");
    tell(&home);
    home.thru(&["intake"]).expect(0);
    assert_eq!(passages(&home), alone);
    assert_eq!(events(&home, ONE).len(), 5);
    let whole = dump::dump(&layout(&home));
    home.thru(&["rebuild"]).expect(0);
    assert_eq!(dump::dump(&layout(&home)), whole);
    home.thru(&["verify"]).expect(0);
}

#[test]
fn what_hooks_told_is_no_file_to_put_back() {
    let home = quiet();
    tell(&home);
    home.thru(&["intake"]).expect(0);
    let refused = home.thru(&["restore", ONE]).expect(2);
    assert!(refused.stderr.contains("no transcript of session"), "{}", refused.shown());
    let path = home.write(&file(ONE), written(&home).text());
    home.thru(&["import"]).expect(0);
    std::fs::remove_file(&path).unwrap();
    home.thru(&["restore", ONE]).expect(0);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), written(&home).text());
}

#[test]
fn a_session_without_transcript_is_remembered_all_the_same() {
    let home = quiet();
    tell(&home);
    home.thru(&["intake"]).expect(0);
    assert_eq!(passages(&home).len(), 3);
    for words in ["SQLITE_BUSY", "cargo test", "budget"] {
        let found = home.json(&["search", "--all", "--json", words]);
        assert_eq!(found["sessions"].as_array().unwrap().len(), 1, "{words}: {found}");
    }
    let context = home.inside(&["context"]).stdout;
    assert!(context.contains("SQLITE_BUSY"), "{context}");
    // What it was made from is in the journal.
    let source = home.thru(&["show", "--source", &home.id_of("budget")]).expect(0).stdout;
    assert!(source.contains("last_assistant_message"), "{source}");
    let whole = dump::dump(&layout(&home));
    assert!(whole.iter().any(|line| line.starts_with("memory ")), "{whole:#?}");
    home.thru(&["rebuild"]).expect(0);
    assert_eq!(dump::dump(&layout(&home)), whole);
    // The transcript comes after all, and tells the same.
    home.write(&file(ONE), written(&home).text());
    home.thru(&["import"]).expect(0);
    let merged = passages(&home);
    assert!(merged.len() == 3 && merged.iter().all(|p| !p.contains("entry hooks/")), "{merged:#?}");
}

#[test]
fn a_fork_is_a_session_though_its_start_names_another() {
    let home = quiet();
    tell(&home);
    // What the client sends: the start has the old id, all else the new one. Its first prompt is
    // private; where it is, is not.
    hook(&home, ONE, "SessionStart", json!({ "source": "resume" }));
    prompt(&home, TWO, 1, "<private>zebrafish</private>");
    stop(&home, TWO, "zebrafish");
    prompt(&home, TWO, 2, "And in public?");
    stop(&home, TWO, "Yes.");
    home.thru(&["intake"]).expect(0);
    let sessions: Vec<String> = dump::store(&layout(&home))
        .into_iter()
        .filter(|line| line.starts_with("session "))
        .map(|line| line.split(", title").next().unwrap().to_owned())
        .collect();
    assert_eq!(
        sessions,
        [
            format!("session {ONE}: project Some(\"rocket\")"),
            format!("session {TWO}: project Some(\"rocket\")"),
        ]
    );
    assert!(!everything(&home).contains("zebrafish"));
}

#[test]
fn a_session_that_was_only_opened_is_nothing_to_list() {
    let home = quiet();
    tell(&home);
    hook(&home, TWO, "SessionStart", json!({ "source": "startup" }));
    hook(&home, TWO, "SessionEnd", json!({ "reason": "other" }));
    home.thru(&["intake"]).expect(0);
    let listed = home.thru(&["sessions", "--all"]).expect(0).stdout;
    assert!(listed.contains(&ONE[..8]) && !listed.contains(&TWO[..8]), "{listed}");
}

#[test]
fn subagents_work_side_by_side() {
    let home = quiet();
    prompt(&home, ONE, 1, "Look at everything");
    for (agent, call) in [("a1", "t1"), ("a2", "t2"), ("a1", "t3")] {
        let more = json!({ "prompt_id": "p1", "agent_id": agent, "agent_type": "Explore",
            "tool_name": "Bash", "tool_use_id": call, "tool_input": { "command": "ls" },
            "tool_response": { "stdout": format!("files of {call}") } });
        hook(&home, ONE, "PostToolUse", more);
    }
    for agent in ["a1", "a2"] {
        let more = json!({ "prompt_id": "p1", "agent_id": agent, "agent_type": "Explore",
            "last_assistant_message": "Seen." });
        hook(&home, ONE, "SubagentStop", more);
    }
    stop(&home, ONE, "All is well.");
    home.thru(&["intake"]).expect(0);
    assert_eq!(events(&home, ONE).len(), 7);
    let told = passages(&home);
    assert_eq!(told.len(), 5, "{told:#?}");
    assert_eq!(told.iter().filter(|line| line.contains("subagent Some(\"a1\")")).count(), 2);
}

#[test]
fn a_forgotten_session_leaves_no_row() {
    let home = quiet();
    home.tell(&["Always use a retry budget", "--rule"]);
    tell(&home);
    home.thru(&["intake"]).expect(0);
    let injections =
        |home: &Home| Store::open_to_read(&layout(home)).unwrap().injections(None).unwrap().len();
    assert_eq!(injections(&home), 1);
    home.thru(&["forget", "--session", ONE, "--yes"]).expect(0);
    assert!(events(&home, ONE).is_empty() && passages(&home).is_empty());
    assert_eq!(injections(&home), 0);
    // It goes on, and stays forgotten.
    prompt(&home, ONE, 2, "Uploads fail again");
    home.thru(&["intake"]).expect(0);
    assert!(events(&home, ONE).is_empty() && passages(&home).is_empty());
    home.thru(&["rebuild"]).expect(0);
    assert!(events(&home, ONE).is_empty() && passages(&home).is_empty());
}
