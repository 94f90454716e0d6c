//! Questions that index first what was left, within their time; and lists of what is not indexed.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::home::Home;
use crate::hooking::{hook, prompt, stop};
use crate::records::{Author, ONE, TWO, file};

/// A session that its agent ended, and that is not indexed.
fn left(home: &Home, session: &str) {
    works(home, session);
    hook(home, session, "SessionEnd", json!({ "reason": "logout" }));
}

/// A session that goes on.
fn works(home: &Home, session: &str) {
    let project = home.project();
    let mut author = Author::of(session).in_directory(project.to_str().unwrap());
    author.asks("Why do uploads fail?").says("They are retried too often.");
    home.write(&file(session), author.text());
    hook(home, session, "SessionStart", json!({ "source": "startup" }));
    prompt(home, session, 1, "Why do uploads fail?");
    stop(home, session, "They are retried too often.");
}

fn configure(home: &Home, text: &str) {
    std::fs::create_dir_all(home.data()).unwrap();
    std::fs::write(home.data().join("config.toml"), text).unwrap();
}

/// A store in which there is something to ask for, and its id.
fn with_store(home: &Home) -> String {
    home.tell(&["Uploads are resumable", "--rule"])
}

/// A session that was left, which the store knows and that is not indexed; `deadline` is the time of a question.
fn left_behind(home: &Home, deadline: u32) {
    with_store(home);
    let by_itself = "session.auto_archive_on_end = false\n";
    configure(home, &format!("{by_itself}search.index_deadline_ms = {deadline}\n"));
    left(home, ONE);
    home.thru(&["intake"]).expect(0);
    assert_eq!(state(home, ONE), "unindexed");
}

fn asked(home: &Home, arguments: &[&str]) -> Value {
    let ran = home.inside(arguments);
    serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {}", ran.shown()))
}

fn state(home: &Home, session: &str) -> Value {
    home.json(&["session", "show", session, "--json"])["session"]["indexing"].clone()
}

/// `test_lazy_index_on_search`
#[test]
fn a_session_that_was_left_is_indexed_before_a_question_is_answered() {
    for question in [&["search", "retried"][..], &["context"], &["timeline"]] {
        let home = Home::new();
        let told = with_store(&home);
        left(&home, ONE);
        let named = if question == ["timeline"] { vec![told.as_str()] } else { Vec::new() };
        let ran = home.inside(&[question, &named, &["--json"]].concat());
        // Without a terminal there is no word about waiting.
        assert_eq!(ran.stderr, "", "{question:?}");
        let answer: Value = serde_json::from_str(&ran.stdout).unwrap();
        assert_eq!(
            answer["preparation"],
            json!({ "indexed": 1, "left_out": [], "records_left_out": false }),
            "{question:?}"
        );
        assert_eq!(state(&home, ONE), "indexed", "{question:?}");
        home.thru(&["verify"]).expect(0);
    }
}

#[test]
fn a_session_that_goes_on_is_found_and_not_indexed() {
    let home = Home::new();
    with_store(&home);
    works(&home, ONE);
    let answer = asked(&home, &["search", "--json", "retried"]);
    assert_eq!(answer["sessions"][0]["id"], ONE);
    assert_eq!(answer["preparation"]["left_out"], json!([]));
    assert_eq!(state(&home, ONE), "unindexed");
}

#[test]
fn without_any_time_what_was_not_done_is_named() {
    let home = Home::new();
    left_behind(&home, 0);
    let answer = asked(&home, &["search", "--json", "resumable"]);
    let left_out = json!([{ "session_id": ONE, "reason": "not in time" }]);
    assert_eq!(answer["preparation"]["left_out"], left_out);
    let shown = home.inside(&["search", "resumable"]).stdout;
    let named = shown.lines().last().unwrap();
    assert_snapshot!(named, @"This answer does not fully cover 1 recent session: 11111111 (not in time).");
    // Nothing of it is lost.
    configure(&home, "");
    let answer = asked(&home, &["search", "--json", "retried"]);
    assert_eq!(answer["preparation"]["left_out"], json!([]));
    assert_eq!(state(&home, ONE), "indexed");
}

#[test]
fn a_question_does_not_wait_for_a_writer() {
    let home = Home::new();
    left_behind(&home, 50);
    let path = home.data().join("run/intake.lock");
    let held = std::fs::File::options().read(true).write(true).open(path).unwrap();
    held.lock().unwrap();
    let answer = asked(&home, &["search", "--json", "resumable"]);
    let left_out = json!([{ "session_id": ONE, "reason": "not in time" }]);
    assert_eq!(
        answer["preparation"],
        json!({ "indexed": 0, "left_out": left_out, "records_left_out": false })
    );
    held.unlock().unwrap();
}

#[test]
fn a_session_that_waits_for_a_question_is_not_indexed_by_its_last_hook_either() {
    let home = Home::new();
    configure(&home, "session.auto_archive_on_end = false\nhooks.async_indexing = false\n");
    left(&home, ONE);
    home.thru(&["intake"]).expect(0);
    assert_eq!(asked(&home, &["sessions", "--unindexed", "--json"])["count"], 1);
}

#[test]
fn what_is_not_indexed_is_listed() {
    let home = Home::new();
    configure(&home, "session.auto_archive_on_end = false\n");
    left(&home, ONE);
    works(&home, TWO);
    home.thru(&["intake"]).expect(0);
    let mut settings = home.filters();
    settings.add_filter(r"\d{4}-\d\d-\d\dT[0-9:.]+Z", "[time]");
    let _settings = settings.bind_to_scope();
    let listed = asked(&home, &["sessions", "--unindexed", "--json"]);
    assert_snapshot!(serde_json::to_string_pretty(&listed).unwrap(), @r#"
    {
      "count": 1,
      "kind": "unindexed-sessions",
      "sessions": [
        {
          "agent": "claude-code",
          "conversation": "ended",
          "episode_uuid": null,
          "file_path": "[folder]/claude/projects/-home-ada-rocket/11111111-aaaa-4aaa-8aaa-000000000001.jsonl",
          "indexing": "unindexed",
          "last_activity": "[time]",
          "message_count": 2,
          "project_namespace": "rocket",
          "session_id": "11111111-aaaa-4aaa-8aaa-000000000001",
          "state": "inactive"
        }
      ],
      "status": "success",
      "version": 1
    }
    "#);
    let all = asked(&home, &["sessions", "--unindexed", "--include-active", "--json"]);
    assert_eq!(all["count"], 2);
    let states: Vec<&str> = all["sessions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|session| session["state"].as_str().unwrap())
        .collect();
    assert!(states.contains(&"active") && states.contains(&"inactive"), "{states:?}");
    let told = home.inside(&["sessions", "--unindexed", "--include-active"]).stdout;
    assert!(
        told.contains("1 session to be indexed. `thru close ID` does it now; so does"),
        "{told}"
    );
    assert!(told.contains("1 active session; it is indexed when it ends."), "{told}");
    assert_snapshot!(home.inside(&["sessions", "--unindexed"]).shown(), @"
    SESSION   LAST USED  STATE  INDEXING   TITLE
    11111111  now        ended  unindexed  Why do uploads fail?

    1 session to be indexed. `thru close ID` does it now; so does the next question.
    ");
    assert_eq!(home.json(&["status", "--json"])["unindexed_sessions"], 1);
    home.inside(&["close", ONE]).expect(0);
    assert_snapshot!(home.inside(&["sessions", "--unindexed"]).shown(), @"Every session is indexed.");
}
