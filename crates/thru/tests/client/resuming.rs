//! Sessions that go on, and sessions that branch off.

use thru_real_client::Script;

use crate::stage::{Stage, TURN_EVENTS as TURN};

#[test]
fn a_session_that_goes_on_is_one_session() {
    let Some(stage) = Stage::new(Script::new()) else { return };
    let session = stage.asks("One", &[]);
    assert_eq!(stage.asks("Two", &["--resume", &session]), session);
    assert_eq!(stage.asks("Three", &["--continue"]), session);
    stage.expect_events(&session, &[TURN; 3].concat());
    let sources: Vec<_> = stage
        .journal()
        .iter()
        .filter_map(|e| e.payload["source"].as_str().map(str::to_owned))
        .collect();
    assert_eq!(sources, ["startup", "resume", "resume"]);

    stage.take_in();
    let sessions = stage.json(&["sessions", "--all", "--json"]);
    assert_eq!(sessions["sessions"].as_array().map(Vec::len), Some(1), "{sessions}");
    assert_eq!(sessions["sessions"][0]["turns"], 3);
    // Three prompts and three answers.
    assert_eq!(sessions["sessions"][0]["passages"], 6);
}

#[test]
fn the_same_prompt_again_is_another_prompt() {
    let Some(stage) = Stage::new(Script::new()) else { return };
    let session = stage.asks("Go on", &[]);
    stage.asks("Go on", &["--resume", &session]);
    stage.expect_events(&session, &[TURN; 2].concat());
    stage.take_in();
    let sessions = stage.json(&["sessions", "--all", "--json"]);
    assert_eq!(sessions["sessions"][0]["passages"], 4, "{sessions}");
}

#[test]
fn a_fork_keeps_only_what_is_its_own() {
    // Copied records do not say where they come from, and ids are in no order of time.
    let ids = ["1b7e2c3d-0000-4000-8000-000000000001", "eb7e2c3d-0000-4000-8000-000000000002"];
    for [old, new] in [ids, [ids[1], ids[0]]] {
        let Some(stage) = Stage::new(Script::new()) else { return };
        assert_eq!(stage.asks("One", &["--session-id", old]), old);
        let fork = ["--resume", old, "--fork-session", "--session-id", new];
        assert_eq!(stage.asks("Two", &fork), new);
        // The client tells of the start under the name of the session that was forked.
        stage.expect_events(old, &[&TURN[..], &["SessionStart"]].concat());
        stage.expect_events(new, &TURN[1..]);

        stage.take_in();
        let sessions = stage.json(&["sessions", "--all", "--json"]);
        let sessions = sessions["sessions"].as_array().unwrap();
        let passages = |id: &str| {
            let session = sessions.iter().find(|session| session["id"] == id);
            session.map(|session| session["passages"].clone())
        };
        assert_eq!(passages(old), Some(2.into()), "{sessions:?}");
        assert_eq!(passages(new), Some(2.into()), "{sessions:?}");
    }
}
