//! `thru stats sessions`, and what `thru session show` says of where a session is.

use insta::assert_snapshot;
use serde_json::json;

use crate::home::Home;
use crate::hooking::{bash, hook, prompt, quiet, stop};
use crate::records::{ONE, TWO, file, orchard};

#[test]
fn sessions_are_counted_by_day_and_by_project() {
    let home = Home::imported();
    // No filters: what is computed here depends on no clock.
    assert_snapshot!(home.shown(&["stats", "sessions", "--since", "2026-01-01"]), @"
    DAY         SESSIONS  AT WORK  IDLE  PROMPTS  TOOLS
    2026-03-02         1       0s    0s        1      0
    2026-03-01         2      10s    0s        3      3

    PROJECT  SESSIONS  AT WORK  IDLE  PROMPTS  TOOLS
    rocket          2       8s    0s        3      2
    orchard         1       2s    0s        1      1

    3 sessions in all: 10s at work, 0s idle; the median session took 2s, the longest 8s.
    ");
    let orchard = ["stats", "sessions", "--since", "2026-01-01", "--project", "orchard"];
    assert_snapshot!(home.shown(&orchard), @"
    DAY         SESSIONS  AT WORK  IDLE  PROMPTS  TOOLS
    2026-03-01         1       2s    0s        1      1

    PROJECT  SESSIONS  AT WORK  IDLE  PROMPTS  TOOLS
    orchard         1       2s    0s        1      1

    1 session in all: 2s at work, 0s idle; the median session took 2s, the longest 2s.
    ");
    let answer = home.json(&["stats", "sessions", "--since", "2026-01-01", "--json"]);
    assert_eq!(
        answer["total"],
        json!({ "sessions": 3, "active_seconds": 10, "idle_seconds": 0, "prompts": 4, "tools": 3 })
    );
    assert_eq!((&answer["kind"], &answer["version"]), (&json!("session-stats"), &json!(1)));
    assert_eq!(answer["days"][0]["day"], "2026-03-02");
    assert_eq!(answer["projects"][1]["project"], "orchard");
}

#[test]
fn where_nothing_was_done_the_numbers_say_so() {
    let home = Home::imported();
    assert_snapshot!(home.shown(&["stats", "sessions", "--since", "2030-01-01"]), @"
    No session did anything in this time.
    -- exit 1 --
    ");
    assert_snapshot!(home.shown(&["stats", "sessions", "--project", "absent"]), @"
    -- stderr --
    error: there is no project `absent`.
    hint: `thru projects` lists them.
    -- exit 2 --
    ");
    let answer = home.thru(&["stats", "sessions", "--since", "2030-01-01", "--json"]).expect(1);
    assert!(answer.stdout.contains("\"days\": []"));
}

#[test]
fn a_session_says_where_it_is() {
    let home = Home::new();
    let mut author = orchard();
    author
        .calls(
            "toolu_2",
            "Edit",
            json!({
                "file_path": "/home/ada/orchard/plan.md",
                "old_string": "Pears\u{1b}[2J and more pears, twice a week",
                "new_string": "Apples",
                "replace_all": false,
            }),
        )
        .gets("toolu_2", "The file /home/ada/orchard/plan.md has been updated.")
        .runs("toolu_3", "git commit -am 'Plan the irrigation of the apples and of the pears'")
        .gets("toolu_3", "[main 4f0c2d1] Plan")
        .asks("continue");
    home.write(&file(TWO), author.text());
    home.thru(&["import"]).expect(0);
    let _settings = home.settings();
    let shown = home.shown(&["session", "show", "2222"]);
    let block = shown.split("Where it is\n").nth(1).unwrap().split("\n\n").next().unwrap();
    assert_snapshot!(block, @"
    Task     Plan the irrigation for the young pear trees
    Files    plan.md
    Tools    Bash, Edit, Write
    Lately   [age] Created plan.md (1 line)
             [age] Edited plan.md: 'Pears and more pears, twice a…' -> 'Apples'
             [age] Ran: git commit -am 'Plan the irrigation of the apples…
    Events   [age] prompt Plan the irrigation for the young pear trees
             [age] tool Write
             [age] tool Edit
             [age] tool Bash
             [age] prompt continue
    ");
    let context = &home.json(&["session", "show", "2222", "--json"])["context"];
    assert_eq!(context["task"], "Plan the irrigation for the young pear trees");
    assert_eq!(context["files"][0]["path"], "plan.md");
    assert_eq!(context["tools"], json!(["Bash", "Edit", "Write"]));
    assert_eq!(context["hot"][0]["summary"], "Created plan.md (1 line)");
    assert_eq!(context["events"].as_array().unwrap().len(), 5);
    assert_eq!(context["directory"], "/home/ada/orchard");
}

#[test]
fn events_are_those_that_hooks_recorded() {
    let home = quiet();
    hook(&home, ONE, "SessionStart", json!({ "source": "startup" }));
    prompt(&home, ONE, 1, "Why is `take_lock` bounded?");
    bash(&home, ONE, "toolu_1", "cargo test --workspace", "ok");
    stop(&home, ONE, "Because it would wait forever.");
    hook(&home, ONE, "SessionEnd", json!({ "reason": "logout" }));
    home.thru(&["intake"]).expect(0);
    let context = &home.json(&["session", "show", ONE, "--json"])["context"];
    let events: Vec<String> = context["events"]
        .as_array()
        .unwrap()
        .iter()
        .map(|event| format!("{} {} {}", event["event"], event["tool"], event["note"]))
        .collect();
    assert_snapshot!(events.join("\n"), @r#"
    "SessionStart" null "startup"
    "UserPromptSubmit" null "Why is `take_lock` bounded?"
    "PostToolUse" "Bash" "47 bytes of output"
    "Stop" null "Because it would wait forever."
    "SessionEnd" null "logout"
    "#);
    assert_eq!(context["task"], "Why is `take_lock` bounded?");
    assert_eq!(context["entities"], json!(["take_lock"]));
    assert_eq!(context["hot"][0]["summary"], "Ran: cargo test --workspace");
}
