//! `thru jobs`: work that failed, and what people do about it.

use std::path::PathBuf;

use insta::assert_snapshot;
use serde_json::json;

use crate::home::Home;
use crate::records::{Author, ONE, file};

/// Where a subagent of the session is archived.
fn obstacle(home: &Home) -> PathBuf {
    let entry = format!("archive/claude-code/-home-ada-rocket/{ONE}/subagents/agent-a1.jsonl.zst");
    home.data().join(entry)
}

/// A session of which a part cannot be read: something lies where it is to be archived.
fn failing() -> Home {
    let home = Home::new();
    home.write(&file(ONE), crate::records::conversation(ONE).text());
    let part = format!("projects/-home-ada-rocket/{ONE}/subagents/agent-a1.jsonl");
    let mut author = Author::of(ONE).starting_at_record(100);
    author.asks("Look for the lock").says("It is in the store.");
    home.write(&part, author.text());
    std::fs::create_dir_all(obstacle(&home)).unwrap();
    home.thru(&["import"]);
    home
}

fn settings(home: &Home) -> insta::internals::SettingsBindDropGuard {
    let mut settings = home.filters();
    settings.add_filter(r"\d{4}-\d\d-\d\dT[0-9:.]+Z", "[time]");
    settings.add_filter(r"in (a moment|\d+ min) *", "[due] ");
    settings.bind_to_scope()
}

#[test]
fn where_nothing_failed_there_is_nothing_to_do() {
    let home = Home::imported();
    assert_snapshot!(home.shown(&["jobs"]), @"Nothing is waiting, and nothing has failed.");
    assert_snapshot!(home.shown(&["jobs", "retry", "--all"]), @"Nothing to retry.");
    assert_snapshot!(home.shown(&["jobs", "cancel", "7"]), @"
    -- stderr --
    error: there is no job 7; it may be done by now.
    hint: `thru jobs` lists them.
    -- exit 2 --
    ");
    assert_eq!(home.json(&["jobs", "--json"])["jobs"], json!([]));
}

#[test]
fn what_failed_is_listed_and_tried_again() {
    let home = failing();
    let _settings = settings(&home);
    assert_snapshot!(home.shown(&["jobs"]), @"
     JOB  WHAT          SESSION   FAILED    TRIED AGAIN       REASON
       1  index         11111111  once      [due] inactivity_timeout
         [folder]/home/archive/claude-code/-home-ada-rocket/11111111-aaaa-4aaa-8aaa-000000000001…

    1 job.
    ");
    let listed = home.json(&["jobs", "--json"]);
    assert_snapshot!(serde_json::to_string_pretty(&listed).unwrap(), @r#"
    {
      "dead": 0,
      "jobs": [
        {
          "attempts": 1,
          "created": "[time]",
          "due": "[time]",
          "error": "[folder]/home/archive/claude-code/-home-ada-rocket/11111111-aaaa-4aaa-8aaa-000000000001/subagents/agent-a1.jsonl.zst: Is a directory (os error 21)",
          "number": 1,
          "reason": "inactivity_timeout",
          "session_id": "11111111-aaaa-4aaa-8aaa-000000000001",
          "state": "waiting",
          "turn": null,
          "what": "index"
        }
      ],
      "kind": "jobs",
      "version": 1
    }
    "#);
    let status = home.json(&["status", "--json"]);
    assert_eq!(status["jobs"], json!({ "waiting": 1, "dead": 0 }));
    std::fs::remove_dir(obstacle(&home)).unwrap();
    assert_snapshot!(home.shown(&["jobs", "retry", "1"]), @"1 job will be retried: now by the daemon, else before the next question.");
    home.thru(&["search", "--all", "lock"]).expect(0);
    assert_eq!(home.json(&["jobs", "--json"])["jobs"], json!([]));
    let session = &home.json(&["session", "show", ONE, "--json"])["session"];
    assert_eq!(session["indexing"], "indexed");
}

#[test]
fn a_job_that_was_given_up_is_shown_until_a_decision() {
    let home = failing();
    let database = rusqlite::Connection::open(home.data().join("memory.db")).unwrap();
    database.execute("UPDATE jobs SET dead = 1, attempts = 5", []).unwrap();
    drop(database);
    let _settings = settings(&home);
    assert_snapshot!(home.shown(&["jobs"]).lines().last().unwrap(), @"1 job, 1 of them given up: `thru jobs retry` tries again.");
    let shown = home.shown(&["status"]);
    assert_snapshot!(shown.lines().find(|line| line.starts_with("jobs")).unwrap(), @"jobs         1 job given up after too many failures; `thru jobs` lists them");
    let doctor = home.json(&["doctor", "--json"]);
    let finding = doctor["findings"]
        .as_array()
        .unwrap()
        .iter()
        .find(|finding| finding["check"] == "jobs")
        .unwrap()
        .clone();
    assert_eq!(finding["level"], "problem");
    assert_snapshot!(finding["remedy"].as_str().unwrap(), @"`thru jobs` lists them, `thru jobs retry --all` tries them again");
    assert_eq!(home.json(&["jobs", "retry", "--all", "--json"])["retried"], json!([1]));
    let job = &home.json(&["jobs", "--json"])["jobs"][0];
    assert_eq!((&job["state"], &job["attempts"]), (&json!("waiting"), &json!(0)));
    assert_snapshot!(home.shown(&["jobs", "cancel", "1", "--yes"]), @"1 job removed from the queue. A session that is not indexed yet will be when a question needs it.");
}
