//! `thru sync-history`: what is not remembered, and bringing it in.

use std::fs::File;
use std::time::{Duration, SystemTime};

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::home::Home;
use crate::records::{ONE, TWO, file, orchard};

const PREVIEW: &[&str] = &["sync-history", "--json"];

fn listed(answer: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let sessions = answer["sessions"].as_array().unwrap();
    let mut listed: Vec<_> = sessions
        .iter()
        .map(|session| (text(&session["session_id"]), text(&session["state"])))
        .collect();
    listed.sort_unstable();
    listed
}

fn lacks(sessions: &[(&str, &str)]) -> Vec<(String, String)> {
    sessions.iter().map(|(id, state)| ((*id).to_owned(), (*state).to_owned())).collect()
}

/// The session was used so many days ago.
fn age(home: &Home, session: &str, days: u64) {
    let file = File::options().write(true).open(home.claude().join(file(session))).unwrap();
    file.set_modified(SystemTime::now() - Duration::from_hours(24 * days)).unwrap();
}

#[test]
fn a_preview_lists_what_is_missing_and_changes_nothing() {
    let home = Home::with_history();
    age(&home, TWO, 2);
    let mut settings = home.filters();
    settings.add_filter(r"about \d+ tokens", "about [tokens] tokens");
    let _settings = settings.bind_to_scope();
    assert_snapshot!(home.shown(&["sync-history"]), @"
    SESSION   LAST USED  LACKS          SIZE  PROJECT  TITLE
    11111111  now        new          [size]  rocket   Why does the importer lock the database?
    22222222  [age] new          [size]  orchard  Plan the irrigation for the young pear trees

    2 sessions of the last [age] , [size] to read.
    No model is set: nothing would be sent; with one, about 9,930 tokens of input.
    `thru sync-history --run` imports them; the same filters apply.
    ");
    let answer = home.json(PREVIEW);
    assert_eq!(listed(&answer), lacks(&[(ONE, "new"), (TWO, "new")]));
    // Nothing is sent anywhere, and pending work is not denied.
    assert_eq!(
        (&answer["model"], &answer["cost"], &answer["run"]),
        (&Value::Null, &json!(0), &json!(false))
    );
    assert!(answer["estimated_tokens"].as_u64().unwrap() > 100);
    assert_eq!(answer["sessions"][0]["title"], "Why does the importer lock the database?");
    assert!(!home.data().join("memory.db").exists());
}

#[test]
fn what_is_missing_is_brought_in_once() {
    let home = Home::with_history();
    let _settings = home.settings();
    assert_snapshot!(home.shown(&["sync-history", "--run"]), @"
    Read 2 sessions ([size]) in [time]: 10 new passages.
    Distilled 2 sessions: 4 memories (observations and summaries).
    Indexed 2 sessions.
    ");
    assert_snapshot!(home.shown(&["sync-history"]), @"Every session of the last [age] is imported.");
    assert_eq!(home.json(&["sync-history", "--run", "--json"])["count"], 0);
    home.thru(&["search", "--all", "irrigation"]).expect(0);
    home.thru(&["verify"]).expect(0);
    // It went on.
    let mut author = orchard();
    author.asks("And the apples?").says("Once a week.");
    home.write(&file(TWO), author.text());
    let answer = home.json(PREVIEW);
    assert_eq!(listed(&answer), lacks(&[(TWO, "grown")]));
    let session = &answer["sessions"][0];
    assert!(session["unread_bytes"].as_u64() < session["bytes"].as_u64());
    assert_eq!(session["title"], "Plan the irrigation for the young pear trees");
    let before = home.json(&["session", "show", TWO, "--json"])["session"]["episode_uuid"].clone();
    let report = home.json(&["sync-history", "--run", "--json"]);
    assert_eq!((&report["indexed"], &report["run"]), (&json!(1), &json!(true)));
    assert_ne!(report["sessions"][0]["episode_uuid"], before);
}

#[test]
fn only_what_was_asked_for_is_brought_in() {
    let home = Home::with_history();
    age(&home, TWO, 30);
    let answer = home.json(PREVIEW);
    assert_eq!(listed(&answer), lacks(&[(ONE, "new")]));
    assert_eq!(answer["not_listed"], 1);
    assert_eq!(listed(&home.json(&["sync-history", "--json", "--days", "0"])).len(), 2);
    let newest = home.json(&["sync-history", "--json", "--days", "0", "--max-sessions", "1"]);
    assert_eq!(listed(&newest), lacks(&[(ONE, "new")]));
    let project = ["sync-history", "--json", "--days", "0", "--project", "Orchard"];
    assert_eq!(listed(&home.json(&project)), lacks(&[(TWO, "new")]));
    let run = [&project[..], &["--run"]].concat();
    assert_eq!(home.json(&run)["indexed"], 1);
    let known = home.json(&["sessions", "--all", "--json"]);
    let known: Vec<&Value> =
        known["sessions"].as_array().unwrap().iter().map(|session| &session["id"]).collect();
    assert_eq!(known, [TWO]);
    let _settings = home.settings();
    assert_snapshot!(home.shown(&["sync-history", "--project", "orchad"]), @"
    -- stderr --
    error: there is no project `orchad`.
    hint: did you mean `orchard`? `thru projects` lists all.
    -- exit 2 --
    ");
    // None is left of that project; of the others there is.
    assert_snapshot!(home.shown(&["sync-history", "--project", "orchard", "--days", "1"]), @"Every session of the last day in project orchard is imported.");
}
