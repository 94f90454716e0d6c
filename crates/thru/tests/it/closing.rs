//! `thru close`, and the fate of sessions that are never closed. The names of the tests of the
//! specification (§12) stand beside those that hold them.

use std::path::PathBuf;

use insta::assert_snapshot;
use serde_json::{Value, json};
use thru_core::SessionId;
use thru_store::{Episode, Store};

use crate::home::{Home, Ran};
use crate::hooking::{hook, layout, prompt, stop};
use crate::records::{Author, ONE, TWO, file};

/// What a session says at first.
const QUESTION: &str = "Why do uploads fail?";

/// A conversation in the project of the home.
fn author(home: &Home, session: &str) -> Author {
    let project = home.project();
    let mut author = Author::of(session).in_directory(project.to_str().unwrap());
    author.asks(QUESTION).says("They are retried too often; the budget is spent.");
    author
}

/// Writes what an author wrote to where the agent keeps it.
fn write(home: &Home, session: &str, author: &Author) -> PathBuf {
    home.write(&file(session), author.text())
}

/// A session that is at work: it was told something, and answered.
fn at_work(home: &Home, session: &str) -> Author {
    let author = author(home, session);
    write(home, session, &author);
    hook(home, session, "SessionStart", json!({ "source": "startup" }));
    prompt(home, session, 1, QUESTION);
    stop(home, session, "They are retried too often; the budget is spent.");
    author
}

/// The session goes on.
fn goes_on(home: &Home, session: &str, author: &mut Author) {
    author.asks("And what now?").says("A budget of three tries.");
    write(home, session, author);
    prompt(home, session, 2, "And what now?");
    stop(home, session, "A budget of three tries.");
}

fn close(home: &Home, arguments: &[&str]) -> Value {
    let ran = home.inside(&[&["close", "--json"], arguments].concat());
    serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {}", ran.shown()))
}

/// What is known of a session.
fn session(home: &Home, id: &str) -> Value {
    home.json(&["session", "show", id, "--json"])
}

fn episodes(home: &Home, id: &str) -> Vec<Episode> {
    let store = Store::open_to_read(&layout(home)).unwrap();
    let key = thru_core::SessionKey { agent: thru_core::Agent::ClaudeCode, id: SessionId::new(id) };
    store.episodes(store.session_by_key(&key).unwrap().unwrap()).unwrap()
}

/// Replaces what is made of content and time.
fn settings(home: &Home) -> insta::internals::SettingsBindDropGuard {
    let mut settings = home.filters();
    settings.add_filter(r#""[0-9a-z]{16}""#, r#""[episode]""#);
    settings.add_filter(r"hash: [0-9a-f]+", "hash: [hash]");
    settings.add_filter(r"as [0-9a-z]{8}\b", "as [episode]");
    settings.add_filter(r"\d{4}-\d\d-\d\dT[0-9:.]+Z", "[time]");
    settings.add_filter(r"\d{4}-\d\d-\d\d \d\d:\d\d", "[time]");
    settings.bind_to_scope()
}

/// `test_explicit_close_indexes`
#[test]
fn a_close_indexes_at_once_and_keeps_the_reason() {
    let home = Home::new();
    at_work(&home, ONE);
    let _settings = settings(&home);
    let answer = close(&home, &[ONE, "--reason", "story_complete"]);
    assert_snapshot!(serde_json::to_string_pretty(&answer).unwrap(), @r#"
    {
      "episode_uuid": "[episode]",
      "kind": "close",
      "message": "Session 11111111 is closed and indexed.",
      "session_id": "11111111-aaaa-4aaa-8aaa-000000000001",
      "status": "success",
      "version": 1
    }
    "#);
    let known = session(&home, ONE);
    assert_eq!(known["session"]["state"], "ended");
    assert_eq!(known["session"]["close_reason"], "asked:story_complete");
    assert_eq!(known["session"]["indexing"], "indexed");
    assert_eq!(known["session"]["episode_uuid"], answer["episode_uuid"]);
    let shown = home.shown(&["session", "show", ONE]);
    let standing = shown.lines().find(|line| line.contains("closed on")).unwrap();
    assert_snapshot!(standing, @"ended [time] · closed on request (story_complete) · indexed");
    home.thru(&["verify"]).expect(0);
}

#[test]
fn without_an_id_the_only_session_at_work_here_is_meant() {
    let home = Home::new();
    at_work(&home, ONE);
    let _settings = settings(&home);
    assert_snapshot!(home.inside(&["close"]).shown(), @"Session 11111111 is closed and indexed.");
    // It is over: now there is none.
    assert_snapshot!(home.inside(&["close"]).shown(), @"
    -- stderr --
    error: no session is at work in project rocket.
    hint: name one: 11111111 (ended: Why do uploads fail?).
    -- exit 2 --
    ");
}

#[test]
fn an_agent_tells_its_commands_which_session_they_run_in() {
    let home = Home::new();
    at_work(&home, ONE);
    at_work(&home, TWO);
    let mut command = home.command();
    command.current_dir(home.project()).env("CLAUDE_CODE_SESSION_ID", TWO);
    let closed = Ran::from(command.args(["close", "--json"]).output().unwrap()).expect(0);
    let closed: Value = serde_json::from_str(&closed.stdout).unwrap();
    assert_eq!(closed["session_id"], TWO);
    // For an unknown session, no other one is closed instead.
    let mut command = home.command();
    command.current_dir(home.project()).env("CLAUDE_CODE_SESSION_ID", "0f8fad5b-0000");
    let closed = Ran::from(command.args(["close", "--json"]).output().unwrap()).expect(2);
    assert!(closed.stdout.contains("nothing has been recorded yet"), "{}", closed.shown());
    assert_eq!(session(&home, ONE)["session"]["state"], "active");
}

#[test]
fn of_several_at_work_one_has_to_be_named() {
    let home = Home::new();
    at_work(&home, ONE);
    at_work(&home, TWO);
    let _settings = settings(&home);
    let refused = home.inside(&["close"]).expect(2);
    assert!(refused.stderr.contains("11111111") && refused.stderr.contains("22222222"));
    let refused = refused.stderr.replace("11111111", "[id]").replace("22222222", "[id]");
    assert_snapshot!(refused, @"
    error: 2 sessions are at work in project rocket.
    hint: name one: [id] (active: Why do uploads fail?), [id] (active: Why do uploads fail?).
    ");
    let answer = home.inside(&["close", "--json"]).expect(2);
    let answer: Value = serde_json::from_str(&answer.stdout).unwrap();
    assert_eq!((&answer["status"], &answer["session_id"]), (&json!("error"), &Value::Null));
    assert_eq!((&answer["episode_uuid"], &answer["kind"]), (&Value::Null, &json!("close")));
    assert!(answer["message"].as_str().unwrap().contains("2 sessions are at work in project"));
    let answer = close(&home, &["3333"]);
    assert_snapshot!(serde_json::to_string_pretty(&answer).unwrap(), @r#"
    {
      "episode_uuid": null,
      "kind": "close",
      "message": "there is no session `3333`. `thru sessions` lists them.",
      "session_id": "3333",
      "status": "error",
      "version": 1
    }
    "#);
}

/// `test_explicit_close_skips_unchanged`, `test_cross_restart_state`: every command is a process of its
/// own.
#[test]
fn what_has_not_changed_is_not_indexed_again() {
    let home = Home::new();
    at_work(&home, ONE);
    let first = close(&home, &[ONE]);
    let _settings = settings(&home);
    let again = close(&home, &[ONE]);
    assert_eq!(again["episode_uuid"], first["episode_uuid"]);
    assert_snapshot!(again["message"].as_str().unwrap(), @"Session 11111111 is unchanged (hash: [hash]): it is indexed already.");
    // Asked for it once more, and told more that does not count.
    hook(&home, ONE, "SessionEnd", json!({ "reason": "clear" }));
    let again = close(&home, &[ONE, "--reason", "handoff"]);
    assert_eq!(again["episode_uuid"], first["episode_uuid"]);
    assert_eq!(episodes(&home, ONE).len(), 1);
}

/// `test_explicit_close_replaces_changed`, `test_session_resume_replace`
#[test]
fn what_has_changed_is_replaced_and_what_was_is_kept() {
    let home = Home::new();
    let mut author = at_work(&home, ONE);
    let first = close(&home, &[ONE, "--reason", "first"]);
    goes_on(&home, ONE, &mut author);
    assert_eq!(session(&home, ONE)["session"]["state"], "active");
    let second = close(&home, &[ONE, "--reason", "second"]);
    assert_ne!(second["episode_uuid"], first["episode_uuid"]);
    let _settings = settings(&home);
    assert_snapshot!(second["message"].as_str().unwrap(), @"Session 11111111 is closed and reindexed; the previous version is kept but no longer used.");
    let standing = &session(&home, ONE)["standing"];
    assert_eq!(standing["retired_episodes"][0]["episode_uuid"], first["episode_uuid"]);
    assert_eq!(standing["retired_episodes"].as_array().unwrap().len(), 1);
    let shown = home.shown(&["session", "show", ONE]);
    let line = shown.lines().find(|line| line.contains("closed on")).unwrap();
    assert_snapshot!(line, @"ended [time] · closed on request (second) · indexed · 1 earlier version");
    // What was indexed before is still known by its id, also when everything is made anew.
    let before = episodes(&home, ONE);
    let uuids = |episodes: &[Episode]| episodes.iter().map(|one| one.uuid).collect::<Vec<_>>();
    home.thru(&["rebuild"]).expect(0);
    assert_eq!(uuids(&episodes(&home, ONE)), uuids(&before));
    home.thru(&["verify"]).expect(0);
}

/// `test_full_hybrid_flow`: explicit close, then a question that indexes what was left, then time.
#[test]
fn whichever_layer_comes_first_a_session_is_indexed_once() {
    let home = Home::new();
    at_work(&home, ONE);
    let closed = close(&home, &[ONE]);
    at_work(&home, TWO);
    hook(&home, TWO, "SessionEnd", json!({ "reason": "clear" }));
    let found: Value =
        serde_json::from_str(&home.inside(&["search", "--json", "budget"]).stdout).unwrap();
    assert_eq!(found["preparation"]["indexed"], 1, "{}", found["preparation"]);
    assert_eq!(session(&home, TWO)["session"]["close_reason"], "agent:clear");
    home.thru(&["intake"]).expect(0);
    home.thru(&["import"]).expect(0);
    for id in [ONE, TWO] {
        assert_eq!(episodes(&home, id).len(), 1);
    }
    assert_eq!(session(&home, ONE)["session"]["episode_uuid"], closed["episode_uuid"]);
}

#[test]
fn the_list_of_sessions_says_where_they_stand_where_there_is_room() {
    let home = Home::new();
    at_work(&home, ONE);
    at_work(&home, TWO);
    close(&home, &[TWO]);
    let _settings = settings(&home);
    assert_snapshot!(home.inside(&["sessions"]).shown(), @"
    SESSION   LAST USED  STATE   PROJECT  TURNS  TITLE
    22222222  now        ended   rocket       1  Why do uploads fail?
    11111111  now        active  rocket       1  Why do uploads fail?

    2 sessions in project rocket. `thru session show ID` opens one.
    ");
}
