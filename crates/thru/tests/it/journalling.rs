//! `thru journal`.

use std::fs;

use insta::assert_snapshot;
use serde_json::{Value, json};
use thru_core::Timestamp;
use thru_journal::journal::{Durability, Entry, Journal};
use thru_redact::{Redactor, Report};

use crate::home::Home;
use crate::records::{ONE, TWO};

/// A home in which hooks recorded two sessions, and the user decided something.
fn recorded() -> Home {
    let home = Home::new();
    let journal = Journal::open(home.data().join("journal"), "vm").unwrap();
    let hook = |second: i64, session: &str, event: &str, payload: Value| {
        let body = json!({
            "agent": "claude-code", "event": event, "session": session, "payload": payload,
        });
        let entry = Entry {
            key: format!("hook/{second}"),
            at: Timestamp::from_second(1_772_400_000 + second).unwrap(),
            kind: "hook".to_owned(),
            body: Redactor::builtin().clean_value(body, &mut Report::default()),
        };
        journal.append(&entry, Durability::Buffered).unwrap();
    };
    hook(0, ONE, "SessionStart", json!({ "source": "startup" }));
    hook(60, ONE, "UserPromptSubmit", json!({ "prompt": "Why does the importer\nhold the lock?" }));
    let call = json!({ "tool_name": "Bash", "tool_input": { "command": "cargo test" } });
    hook(120, ONE, "PostToolUse", call);
    hook(90, TWO, "SessionStart", json!({ "source": "resume" }));
    hook(180, ONE, "Stop", json!({ "stop_hook_active": false }));
    home
}

#[test]
fn records_are_shown_the_newest_last() {
    let home = recorded();
    let _settings = home.settings();
    assert_snapshot!(home.shown(&["journal", "show"]), @r#"
    2026-03-01 21:20  SessionStart      11111111  startup
    2026-03-01 21:21  UserPromptSubmit  11111111  Why does the importer hold the lock?
    2026-03-01 21:21  SessionStart      22222222  resume
    2026-03-01 21:22  PostToolUse       11111111  Bash cargo test
    2026-03-01 21:23  Stop              11111111  {"stop_hook_active":false}
    "#);
    assert_snapshot!(home.shown(&["journal", "show", "--kind", "PostToolUse"]), @"2026-03-01 21:22  PostToolUse  11111111  Bash cargo test");
    assert_snapshot!(home.shown(&["journal", "show", "--session", &TWO[..4], "-n", "1"]), @"2026-03-01 21:21  SessionStart  22222222  resume");
    assert_snapshot!(home.shown(&["journal", "show", "--kind", "injected"]), @"
    No records.
    -- exit 1 --
    ");
    assert_snapshot!(home.shown(&["journal", "show", "--since", "2026-03-01T21:22"]), @r#"
    2026-03-01 21:22  PostToolUse  11111111  Bash cargo test
    2026-03-01 21:23  Stop         11111111  {"stop_hook_active":false}
    "#);
    assert_snapshot!(home.shown(&["journal", "show", "--since", "never"]), @"
    -- stderr --
    error: `never` is not a date: write `2026-03-01`, `yesterday`, `[age] ago` or `3d`.
    -- exit 2 --
    ");
}

#[test]
fn records_are_printed_as_json_lines() {
    let home = recorded();
    let printed = home.thru(&["journal", "show", "--json", "-n", "2"]).expect(0).stdout;
    let records: Vec<Value> =
        printed.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(records.len(), 2);
    assert_eq!(records[0]["kind"], "journal-record");
    assert_eq!(records[0]["record"]["body"]["payload"]["tool_name"], "Bash");
    assert_eq!(records[1]["segment"], "vm-00000001.jsonl");
    assert_eq!(records[1]["line"], 5);
}

#[test]
fn decisions_are_shown_in_words() {
    let home = Home::new();
    let told = home.tell(&["Use pnpm, not npm"]);
    let _settings = home.settings_of_today(&[("told", &told)]);
    let shown = home.thru(&["journal", "show", "--kind", "memory-told"]).expect(0).stdout;
    assert!(shown.ends_with("remembered \"Use pnpm, not npm\"\n"), "{shown}");
}

#[test]
fn a_session_that_does_not_exist_is_an_error_and_one_without_records_is_not() {
    let home = Home::imported();
    home.thru(&["journal", "show", "--session", "ffff"]).expect(2);
    home.thru(&["journal", "show", "--session", "1111"]).expect(1);
    let elsewhere = home.thru(&["journal", "show", "--session", "latest"]).expect(2);
    assert!(
        elsewhere.stderr.contains("no earlier session in this project"),
        "{}",
        elsewhere.stderr
    );
}

#[test]
fn damage_is_named_with_advice() {
    let home = recorded();
    let _settings = home.settings();
    assert_snapshot!(home.shown(&["journal", "verify"]), @"
    5 records in 1 segment
    Everything is as it was written.
    ");
    let path = home.data().join("journal/vm-00000001.jsonl");
    let mut bytes = fs::read(&path).unwrap();
    bytes[30] ^= 1;
    bytes.extend_from_slice(b"cut sh");
    fs::write(&path, bytes).unwrap();
    assert_snapshot!(home.shown(&["journal", "verify"]), @"
    4 records in 1 segment
    vm-00000001.jsonl:1: the record is damaged
      The disk lost it: put the segment back from a backup. What stands around it can be read.
    vm-00000001.jsonl:6: the record is not finished
      It is being written, or its writer was killed before it was acknowledged; the next record closes it off.
    1 place damaged.
    -- exit 2 --
    ");
    let found = home.json(&["journal", "verify", "--json"]);
    assert_eq!((&found["clean"], &found["problems"][0]["line"]), (&json!(false), &json!(1)));
}

#[test]
fn stats_say_how_much_there_is() {
    let home = recorded();
    let _settings = home.settings();
    assert_snapshot!(home.shown(&["journal", "stats"]), @"
    segments  1 (1 shared, 0 of single writers, 0 sealed)
    size      [size] on disk, [size] unpacked
    records   5 from 2026-03-01 21:20 to 2026-03-01 21:23
      hook  5
    ");
    let stats = home.json(&["journal", "stats", "--json"]);
    assert_eq!((&stats["records"], &stats["alarm"]), (&json!(5), &json!(false)));
    assert_eq!(stats["kinds"], json!({ "hook": 5 }));
}

#[test]
fn a_journal_that_is_too_large_raises_an_alarm() {
    let home = recorded();
    let _settings = home.settings();
    home.thru(&["config", "set", "journal.alarm_mb", "1"]).expect(0);
    let large = vec![b'x'; 1_100_000];
    fs::write(home.data().join("journal/other-00000001.jsonl"), large).unwrap();
    assert_snapshot!(home.shown(&["journal", "stats"]), @"
    segments  2 (2 shared, 0 of single writers, 0 sealed)
    size      [size] on disk, [size] unpacked
    records   5 from 2026-03-01 21:20 to 2026-03-01 21:23
      hook  5

    The journal is larger than [size] (journal.alarm_mb).
    Nothing is dropped. `thru journal show -n 1000` shows what was recorded.
    ");
}

#[test]
fn there_may_be_no_journal() {
    let home = Home::new();
    assert_snapshot!(home.shown(&["journal", "show"]), @"
    No records.
    -- exit 1 --
    ");
    assert_snapshot!(home.shown(&["journal", "verify"]), @"
    0 records in 0 segments
    Everything is as it was written.
    ");
    assert_snapshot!(home.shown(&["journal", "stats"]), @"
    segments  0 (0 shared, 0 of single writers, 0 sealed)
    size      0 B on disk, 0 B unpacked
    records   none
    ");
}
