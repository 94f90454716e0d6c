//! `thru timeline`.

use insta::assert_snapshot;

use crate::home::Home;
use crate::records::{Author, ONE, file};

/// A project with five memories in the order in which they were told.
fn five() -> (Home, Vec<String>) {
    let home = Home::new();
    let ids = [
        ("Ash grows by the river", "discovery"),
        ("Beech needs shade", "decision"),
        ("Cedar smells of pencils", "discovery"),
        ("Douglas fir is no fir", "change"),
        ("Elm has a disease", "bugfix"),
    ]
    .map(|(text, kind)| home.tell(&[text, "--type", kind]));
    (home, ids.to_vec())
}

fn settings(home: &Home, ids: &[String]) -> insta::internals::SettingsBindDropGuard {
    let names = ["ash", "beech", "cedar", "fir", "elm"];
    let ids: Vec<(&str, &str)> = names.into_iter().zip(ids.iter().map(String::as_str)).collect();
    home.settings_of_today(&ids)
}

#[test]
fn a_timeline_shows_what_happened_before_and_after_a_memory() {
    let (home, ids) = five();
    let _settings = settings(&home, &ids);
    assert_snapshot!(home.inside(&["timeline", &ids[2]]).shown(), @"
    [today]
      General
       [ash]  [time]  discovery  Ash grows by the river  [cost]
       [beech]  [time]  decision   Beech needs shade  [cost]
     > [cedar]  [time]  discovery  Cedar smells of pencils  [cost]
       [fir]  [time]  change     Douglas fir is no fir  [cost]
       [elm]  [time]  bugfix     Elm has a disease  [cost]

    `thru show ID…` shows them in full. ~Nt of M: about N tokens to read, made from M.
    ");
    assert_snapshot!(home.inside(&["timeline", &ids[2], "--before", "1", "--after", "0"]).shown(), @"
    [today]
      General
       [beech]  [time]  decision   Beech needs shade  [cost]
     > [cedar]  [time]  discovery  Cedar smells of pencils  [cost]

    `thru show ID…` shows them in full. ~Nt of M: about N tokens to read, made from M.
    ");
    assert_snapshot!(home.inside(&["timeline", &ids[0], "--before", "0", "--after", "1"]).shown(), @"
    [today]
      General
     > [ash]  [time]  discovery  Ash grows by the river  [cost]
       [beech]  [time]  decision   Beech needs shade  [cost]

    `thru show ID…` shows them in full. ~Nt of M: about N tokens to read, made from M.
    ");
    assert_snapshot!(home.inside(&["timeline", &ids[4], "--type", "discovery", "--type", "decision"]).shown(), @"
    [today]
      General
       [ash]  [time]  discovery  Ash grows by the river  [cost]
       [beech]  [time]  decision   Beech needs shade  [cost]
       [cedar]  [time]  discovery  Cedar smells of pencils  [cost]
     > [elm]  [time]  bugfix     Elm has a disease  [cost]

    `thru show ID…` shows them in full. ~Nt of M: about N tokens to read, made from M.
    ");
    assert_snapshot!(home.inside(&["timeline", &ids[4], "--after", "100", "--before", "0"]).shown(), @"
    [today]
      General
     > [elm]  [time]  bugfix     Elm has a disease  [cost]

    `thru show ID…` shows them in full. ~Nt of M: about N tokens to read, made from M.
    ");
}

#[test]
fn a_timeline_is_around_what_answers_a_question_best() {
    let (home, ids) = five();
    let _settings = settings(&home, &ids);
    assert_snapshot!(home.inside(&["timeline", "--query", "which smells of pencils", "--before", "1", "--after", "1"]).shown(), @"
    [today]
      General
       [beech]  [time]  decision   Beech needs shade  [cost]
     > [cedar]  [time]  discovery  Cedar smells of pencils  [cost]
       [fir]  [time]  change     Douglas fir is no fir  [cost]

    `thru show ID…` shows them in full. ~Nt of M: about N tokens to read, made from M.
    ");
    assert_snapshot!(home.inside(&["timeline", "--query", "wombats"]).shown(), @"
    Nothing found.
    -- exit 1 --
    ");
    home.thru(&["timeline", "--query", "pencils"]).expect(0);
    home.thru(&["timeline", "--query", "pencils", "--project", "rocket"]).expect(0);
    for query in ["", "\"", "\u{202e}\u{1b}[2J", "数据"] {
        home.inside(&["timeline", "--query", query]).expect(1);
    }
}

#[test]
fn a_timeline_is_around_a_passage() {
    let home = Home::imported();
    let _settings = home.settings_of_today(&[]);
    let id = home.id_of("E0502 borrow");
    assert_snapshot!(home.thru(&["timeline", &id]).shown(), @"
    2026-03-01
     > aa6pe  09:00  Bash  $ cargo test --workspace
      src/store.rs
       r28rx  09:00  change     “The lock is taken once now.”  [cost]
       z206b  09:00  summary    Why does the importer lock the database?  [cost]

    `thru show ID…` shows them in full. ~Nt of M: about N tokens to read, made from M.
    ");
    let told = home.thru(&["timeline", &id, "--json"]).stdout;
    assert!(told.contains(r#""excerpt": "“The lock is taken once now.”""#), "{told}");
    assert!(told.contains(r#""title": "","#), "{told}");
    // A session of which nothing was made.
    let id = home.id_of("pears ripen");
    let ran = home.thru(&["timeline", &id, "--before", "0", "--after", "0"]);
    assert_snapshot!(ran.shown(), @"Nothing was remembered around it.");
}

#[test]
fn a_timeline_answers_as_json() {
    let (home, ids) = five();
    let _settings = settings(&home, &ids);
    assert_snapshot!(home.inside(&["timeline", &ids[1], "--before", "0", "--after", "1", "--json"]).shown(), @r#"
    {
      "after": [
        {
          "at": "[now]",
          "edited": false,
          "full_id": "[cedar]",
          "id": "[cedar]",
          "kind": "observation",
          "of_person": true,
          "outcome": null,
          "project": "rocket",
          "raw_tokens": 0,
          "refined": false,
          "rule": false,
          "session": null,
          "superseded": false,
          "title": "Cedar smells of pencils",
          "tokens": 6,
          "told": true,
          "turn": 0,
          "type": "discovery",
          "uncertain": false
        }
      ],
      "anchor": {
        "at": "[now]",
        "edited": false,
        "full_id": "[beech]",
        "id": "[beech]",
        "kind": "observation",
        "of_person": true,
        "outcome": null,
        "project": "rocket",
        "raw_tokens": 0,
        "refined": false,
        "rule": false,
        "session": null,
        "superseded": false,
        "title": "Beech needs shade",
        "tokens": 5,
        "told": true,
        "turn": 0,
        "type": "decision",
        "uncertain": false
      },
      "before": [],
      "kind": "timeline",
      "preparation": {
        "indexed": 0,
        "left_out": [],
        "records_left_out": false
      },
      "version": 1
    }
    "#);
    assert_snapshot!(home.inside(&["timeline", "--query", "wombats", "--json"]).shown(), @r#"
    {
      "after": [],
      "anchor": null,
      "before": [],
      "kind": "timeline",
      "preparation": {
        "indexed": 0,
        "left_out": [],
        "records_left_out": false
      },
      "version": 1
    }
    -- exit 1 --
    "#);
}

#[test]
fn what_names_nothing_is_an_error_with_advice() {
    let (home, ids) = five();
    home.write(&file(ONE), Author::of(ONE).asks("Where is the lock?").text());
    home.thru(&["import"]).expect(0);
    let _settings = settings(&home, &ids);
    assert_snapshot!(home.inside(&["timeline", "00000000"]).shown(), @"
    -- stderr --
    error: there is no memory or passage `00000000`.
    hint: `thru search` shows ids.
    -- exit 2 --
    ");
    assert_snapshot!(home.inside(&["timeline", "no id"]).shown(), @"
    -- stderr --
    error: `no id` is not an id: ids are up to 16 digits and letters other than `u`.
    -- exit 2 --
    ");
    assert_snapshot!(home.inside(&["timeline", &ids[0], "--before", "101"]).shown(), @"
    -- stderr --
    error: invalid value '101' for '--before <BEFORE>': 101 is not in 0..=100

    For more information, try '--help'.
    -- exit 2 --
    ");
    assert_snapshot!(home.inside(&["timeline", "--query", "x", "--project", "rockat"]).shown(), @"
    -- stderr --
    error: there is no project `rockat`.
    hint: did you mean `rocket`? `thru projects` lists all.
    -- exit 2 --
    ");
    for arguments in [
        &["timeline"][..],
        &["timeline", &ids[0], "--query", "x"],
        &["timeline", &ids[0], "--before", "-1"],
        &["timeline", &ids[0], "--type", "rule"],
        &["timeline", ""],
    ] {
        home.inside(arguments).expect(2);
    }
}

#[test]
fn what_was_forgotten_is_in_no_timeline() {
    let (home, ids) = five();
    home.inside(&["forget", &ids[1], "--yes"]).expect(0);
    let _settings = settings(&home, &ids);
    assert_snapshot!(home.inside(&["timeline", &ids[2], "--after", "0"]).shown(), @"
    [today]
      General
       [ash]  [time]  discovery  Ash grows by the river  [cost]
     > [cedar]  [time]  discovery  Cedar smells of pencils  [cost]

    `thru show ID…` shows them in full. ~Nt of M: about N tokens to read, made from M.
    ");
}

#[test]
fn memories_are_searched_by_type_and_concept() {
    let (home, ids) = five();
    let mut author = Author::of(ONE).in_directory(home.project().to_str().unwrap());
    author.asks("Always plant the ash by the river.").says("I will.");
    home.write(&file(ONE), author.text());
    home.thru(&["import"]).expect(0);
    let _settings = settings(&home, &ids);
    assert_snapshot!(home.inside(&["search", "ash", "river", "--type", "discovery"]).shown(), @"
    [today]
      General
       [ash]  [time]  discovery  Ash grows by the river  [cost]

    `thru show ID…` shows them in full, `thru timeline ID` what happened around one.
    ");
    assert_snapshot!(home.inside(&["search", "ash", "river", "--type", "discovery", "--type", "decision"]).shown(), @"
    [today]
      General
       [ash]  [time]  discovery  Ash grows by the river  [cost]

    2026-03-01
      General
       sz5hk  09:00  decision   Always plant the ash by the river  [cost]

    `thru show ID…` shows them in full, `thru timeline ID` what happened around one.
    ");
    assert_snapshot!(home.inside(&["search", "ash", "river", "--concept", "pattern"]).shown(), @"
    2026-03-01
      General
       sz5hk  09:00  decision   Always plant the ash by the river  [cost]

    `thru show ID…` shows them in full, `thru timeline ID` what happened around one.
    ");
    assert_snapshot!(home.inside(&["search", "ash", "--type", "bugfix"]).shown(), @"
    Nothing found in project rocket.
    Add `--all` to look in every project.
    -- exit 1 --
    ");
    assert_snapshot!(home.inside(&["search", "ash", "--type", "rule"]).shown(), @"
    -- stderr --
    error: invalid value 'rule' for '--type <TYPE>': there is no type `rule`; there are: bugfix, feature, refactor, change, discovery, decision, summary

    For more information, try '--help'.
    -- exit 2 --
    ");
    assert_snapshot!(home.inside(&["search", "ash", "--concept", "luck"]).shown(), @"
    -- stderr --
    error: invalid value 'luck' for '--concept <CONCEPT>': there is no concept `luck`; there are: how-it-works, why-it-exists, what-changed, problem-solution, gotcha, pattern, trade-off

    For more information, try '--help'.
    -- exit 2 --
    ");
    let found = home.inside(&["search", "ash", "--type", "discovery", "--json"]).expect(0).stdout;
    let found: serde_json::Value = serde_json::from_str(&found).unwrap();
    assert_eq!(found["memories"].as_array().unwrap().len(), 1);
    assert_eq!(found["sessions"], serde_json::json!([]));
}
