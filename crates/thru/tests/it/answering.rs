//! First screens of questions as people ask them: what was decided, what is left, how something is run.

use insta::assert_snapshot;
use serde_json::json;

use crate::home::Home;
use crate::records::{Author, ONE, TWO, file};

/// Two sessions about one project: the second does some of what the first left, and overrules it.
fn home() -> Home {
    let home = Home::new();
    let mut first = Author::of(ONE);
    first
        .asks("Where shall the session cache live?")
        .says("Redis: the session cache then survives a restart of the server.")
        .asks("Fine. Now list the todos.")
        .says(
            "**Pending todos (3):**\n\n| # | Title | Age |\n|---|-------|-----|\n\
             | 1 | Limit the size of uploads | 3d |\n| 2 | Rename the import lock | 1d |\n\
             | 3 | Sign the release archives | 0d |\n\nName one to begin with it.",
        )
        .runs("toolu_1", "pnpm --filter web build 2>&1 | tail -5")
        .gets("toolu_1", "built in 2.1 s")
        .runs("toolu_2", "pnpm --filter api dev | tail -5")
        .gets("toolu_2", "sh: pnpm: command not found")
        .says("The web part builds.");
    let mut second = Author::of(TWO).starting_at_record(4000);
    second
        .asks("Redis is too much to run. The session cache goes into SQLite.")
        .says("Agreed: the session cache moves to SQLite instead of Redis, one server less to run.")
        .runs("toolu_3", "npx turbo dev --filter api")
        .gets("toolu_3", "listening on 4100")
        .runs("toolu_4", "mv .planning/todos/pending/2026-03-01-rename-import-lock.md .planning/todos/done/")
        .gets("toolu_4", "")
        .calls(
            "toolu_5",
            "Write",
            json!({
                "file_path": "/home/ada/rocket/.planning/todos/pending/2026-03-02-cache-limit.md",
                "content": "---\ntitle: \"Session cache: deferred limits (M1)\"\narea: cache\n---\nLater.\n",
            }),
        )
        .gets("toolu_5", "File created successfully")
        .says("The lock is renamed.");
    home.write(&file(ONE), first.text());
    home.write(&file(TWO), second.text());
    home.thru(&["import"]).expect(0);
    home
}

#[test]
fn what_is_left_is_told_from_lists_and_files_of_todos() {
    let home = home();
    let asked = |query: &str| home.shown(&["search", "--all", query]);
    assert_snapshot!(asked("what are the open todos in rocket"), @"
    2026-03-01
      22222222  rocket · Redis is too much to run  1 turn
        open: Session cache: deferred limits (M1)
      11111111  rocket · Where shall the session cache live?  2 turns
        open: Limit the size of uploads
        open: Sign the release archives

    `thru session show ID` shows what a session did.
    ");
    assert_snapshot!(asked("what's left on the cache"), @"
    2026-03-01
      22222222  rocket · Redis is too much to run  1 turn
        open: Session cache: deferred limits (M1)

    `thru session show ID` shows what a session did.
    ");
    assert_eq!(asked("was ist noch offen bei rocket"), asked("what is still open in rocket"));
    let found = home.json(&["search", "--all", "--json", "open todos"]);
    assert_eq!(found["work"]["sessions"][1]["steps"][0], "Limit the size of uploads");
}

#[test]
fn what_came_of_a_prompt_stands_below_it() {
    let home = Home::new();
    let mut author = Author::of(ONE);
    author
        .asks("Please see to the flaky carousel.")
        .runs("toolu_1", "pnpm test")
        .gets("toolu_1", "ok")
        .says("The timer was read before it was set. It waits now.");
    home.write(&file(ONE), author.text());
    home.thru(&["import"]).expect(0);
    let search = ["search", "--all", "-n", "1", "flaky carousel"];
    let shown = home.shown(&search);
    assert!(shown.contains("→ agent   The timer was read before it was set."), "{shown}");
    let found = home.json(&[&search[..], &["--json"]].concat());
    assert!(found["sessions"][0]["passages"][0].get("result").is_none(), "{found}");
}

#[test]
fn a_later_change_stands_second_where_it_is_asked_how_something_stands() {
    let home = Home::new();
    let (mut first, mut second) = (Author::of(ONE), Author::of(TWO).starting_at_record(4000));
    first.asks("How is the carousel timer kept?").says(
        "The carousel timer is a worker: the carousel timer then runs on, and the page stays quick.",
    );
    second.asks("Go on.").says("I removed the worker of the carousel timer.");
    home.write(&file(ONE), first.text());
    home.write(&file(TWO), second.text());
    home.thru(&["import"]).expect(0);
    let found = home.json(&["search", "--all", "--json", "why is the carousel timer a worker"]);
    let told: Vec<&str> = found["sessions"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|one| one["passages"][0]["text"].as_str())
        .collect();
    assert!(
        told[0].starts_with("The carousel timer is") && told[1].starts_with("I removed"),
        "{told:?}"
    );
}

#[test]
fn the_last_word_leads_where_it_is_asked_how_something_stands() {
    let home = Home::new();
    let mut author = Author::of(ONE);
    author
        .asks("The carousel forgets its speed.")
        .says("Done: the speed of the carousel is kept in a cookie, so the carousel speed stays.")
        .asks("No cookie for the carousel, please. Ask the server for it.")
        .says("I took that out. The server sends it with the page now.");
    home.write(&file(ONE), author.text());
    home.thru(&["import"]).expect(0);
    let first = |query: &str| {
        let found = home.json(&["search", "--all", "--json", query]);
        found["sessions"][0]["passages"][0]["text"].as_str().unwrap().to_owned()
    };
    assert!(first("do we keep the carousel speed in a cookie").starts_with("No cookie"));
    assert!(first("why do we keep the carousel speed in a cookie").starts_with("Done"));
}

#[test]
fn a_later_session_leads_where_it_is_asked_how_something_stands() {
    let home = Home::new();
    let (mut first, mut second) = (Author::of(ONE), Author::of(TWO).starting_at_record(4000));
    first.asks("Which timer drives the carousel?").says("The carousel timer is a worker thread.");
    second
        .asks("Which timer drives the carousel?")
        .says("The carousel timer is now a plain interval of a second.");
    home.write(&file(ONE), first.text());
    home.write(&file(TWO), second.text());
    home.thru(&["import"]).expect(0);
    let found = home.json(&["search", "--all", "--json", "what is the carousel timer"]);
    let told = |at: usize| found["sessions"][at]["passages"][0]["text"].as_str().unwrap();
    assert_eq!(told(0), "The carousel timer is now a plain interval of a second.");
    assert_eq!(told(1), "The carousel timer is a worker thread.");
}

#[test]
fn a_later_decision_leads() {
    let home = home();
    let _settings = home.settings();
    let asked = |query: &str| home.shown(&["search", "--all", "-n", "4", query]);
    assert_snapshot!(asked("what did we decide about the session cache"), @"
    In short
      qcq7s  summary   Redis is too much to run  [age] 
      z206b  summary   Where shall the session cache live?  [age] 

    rocket · Redis is too much to run   2026-03-01  22222222
      1t5mk  agent     Agreed: the session cache moves to SQLite instead of Redis, one server less to
                       run.
      r8ys5  you       Redis is too much to run. The session cache goes into SQLite.
             → agent   The lock is renamed.

    rocket · Where shall the session cache live?   2026-03-01  11111111
      6w19x  agent     Redis: the session cache then survives a restart of the server.
      wd5xb  you       Where shall the session cache live?

    4 passages of 2 sessions. `thru show ID` shows one in full.
    ");
    assert_eq!(
        asked("was haben wir zu session cache entschieden"),
        asked("what did we decide about session cache")
    );
}

#[test]
fn a_command_that_worked_leads_where_it_is_asked_for() {
    let home = home();
    let first = |query: &str| {
        let shown = home.shown(&["search", "--all", "-n", "2", query]);
        shown.lines().find(|line| line.contains("command: ")).unwrap_or_default().to_owned()
    };
    assert_snapshot!(first("how do I start the backend"), @"  b35pj  Bash      command: npx turbo dev --filter api");
    assert_snapshot!(first("how do I build the frontend"), @"  857h1  Bash      command: pnpm --filter web build 2>&1 | tail -5");
}
