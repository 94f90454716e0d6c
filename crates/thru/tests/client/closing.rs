//! Sessions that close themselves, and the daemon that hooks start.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};
use thru_real_client::{Script, calls, message, says};

use crate::stage::{Stage, WRITE, packing};

/// What is known of a session.
fn known(stage: &Stage, session: &str) -> Value {
    let all = stage.json(&["sessions", "--all", "--json"]);
    let sessions = all["sessions"].as_array().unwrap();
    sessions.iter().find(|one| one["id"] == session).cloned().unwrap_or(Value::Null)
}

/// The processes of this home's daemon.
fn daemons(stage: &Stage) -> Vec<PathBuf> {
    let home = format!("HOME={}\0", stage.home.path().display()).into_bytes();
    let processes = fs::read_dir("/proc").unwrap().flatten().map(|process| process.path());
    let is_daemon = |process: &PathBuf| {
        let environment = fs::read(process.join("environ")).unwrap_or_default();
        let command = fs::read(process.join("cmdline")).unwrap_or_default();
        environment.windows(home.len()).any(|part| part == home)
            && command.windows(11).any(|part| part == b"daemon\0run\0")
    };
    processes.filter(is_daemon).collect()
}

#[test]
#[cfg(target_os = "linux")]
fn a_session_starts_the_daemon_which_indexes_it_when_it_ends() {
    let Some(stage) = Stage::with_daemon(packing()) else { return };
    stage.thru(&["daemon", "stop"]);
    assert_eq!(daemons(&stage), Vec::<PathBuf>::new());
    // The client ends although the daemon goes on: it holds nothing of the client's.
    let session = stage.asks(WRITE, &[]);
    let found = daemons(&stage);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(fs::read_link(found[0].join("cwd")).unwrap(), PathBuf::from("/"));
    let environment = fs::read(found[0].join("environ")).unwrap();
    let environment = String::from_utf8_lossy(&environment).into_owned();
    for foreign in ["ANTHROPIC", "CLAUDECODE", "CLAUDE_CODE_SESSION_ID", "CLAUDE_PROJECT_DIR"] {
        assert!(!environment.contains(foreign), "{environment}");
    }
    stage.wait_until("the session is indexed", |stage| {
        known(stage, &session)["indexing"] == "indexed"
    });
    let ended = known(&stage, &session);
    assert_eq!((&ended["state"], &ended["close_reason"]), (&json!("ended"), &json!("agent:other")));
    let episode = ended["episode_uuid"].clone();
    assert!(episode.is_string(), "{ended}");
    // It goes on: the same daemon, one session, another episode in the place of the first.
    stage.asks("And now?", &["--resume", &session]);
    assert_eq!(daemons(&stage), found);
    stage.wait_until("what was added is indexed", |stage| {
        let now = known(stage, &session);
        now["indexing"] == "indexed" && now["episode_uuid"] != episode
    });
    let closed: Value = stage.json(&["close", &session, "--json"]);
    assert!(closed["message"].as_str().unwrap().contains("unchanged"), "{closed}");
}

#[test]
fn an_agent_closes_the_session_that_it_runs_in() {
    let thru = env!("CARGO_BIN_EXE_thru");
    let close = format!("{thru} close --reason story_complete --json");
    let close = calls("Bash", json!({ "command": close, "description": "Close this session" }));
    let script = Script::new().on("Close it", [message([close]), message([says("Closed.")])]);
    let Some(stage) = Stage::new(script) else { return };
    // Another one seems to be at work at the same time.
    stage.asks("Something else", &[]);
    let session = stage.asks("Close it, please", &[]);
    let answer = stage.api.requests().last().unwrap().news();
    assert!(answer.contains(&session) && answer.contains("episode_uuid"), "{answer}");
    stage.thru(&["intake"]);
    // It went on for a word after that, and then the agent ended.
    let known = known(&stage, &session);
    assert_eq!(known["state"], "ended", "{known}");
}

#[test]
fn a_cleared_conversation_is_closed_and_the_next_one_goes_on() {
    let Some(stage) = Stage::with_daemon(packing()) else { return };
    let Some(terminal) = stage.terminal() else { return };
    terminal.enter(WRITE).unwrap();
    terminal.wait_for("● The packing list is written.").unwrap();
    terminal.enter("/clear").unwrap();
    terminal.wait_for("❯ /clear").unwrap();
    terminal.enter("Good morning").unwrap();
    terminal.wait_for("● ok").unwrap();
    let mut sessions: Vec<String> =
        stage.journal().into_iter().map(|recorded| recorded.session).collect();
    sessions.dedup();
    let [first, second] = &sessions[..] else { panic!("{sessions:?}") };
    stage.wait_until("the first one is indexed", |stage| {
        known(stage, first)["indexing"] == "indexed"
    });
    assert_eq!(known(&stage, first)["close_reason"], "agent:clear");
    stage.wait_until("the second one is known", |stage| known(stage, second)["state"] == "active");
    assert_eq!(known(&stage, second)["indexing"], "unindexed");
    terminal.enter("/exit").unwrap();
    terminal.wait_for_end().unwrap();
    stage.wait_until("the second one is indexed", |stage| {
        known(stage, second)["indexing"] == "indexed"
    });
    assert_eq!(known(&stage, second)["close_reason"], "agent:prompt_input_exit");
}
