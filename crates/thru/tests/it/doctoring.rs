//! `thru doctor`, `thru status`, `thru capture`.

use std::fs::{self, File};
use std::path::Path;

use insta::assert_snapshot;
use serde_json::{Value, json};
use thru_agents::hooks;
use thru_agents::setup::Platform;

use crate::home::Home;
use crate::hooking::{prompt, stop};
use crate::records::ONE;

/// Settings of Claude Code with hooks of ours that run this program, beside a hook of another tool.
fn connect(home: &Home, program: &str) {
    let hook = |event: &str| json!([{ "hooks": [{ "type": "command", "command": format!("{program} hook claude-code {event}") }] }]);
    let mut settings = json!({ "hooks": {
        "Notification": [{ "hooks": [{ "type": "command", "command": "say done" }] }],
    } });
    for event in hooks::ADAPTERS[0].setup.registration("thru", None, Platform::Linux, 10).events {
        settings["hooks"][event] = hook(event);
    }
    home.write("settings.json", settings.to_string());
}

fn connected() -> Home {
    let home = Home::imported();
    connect(&home, env!("CARGO_BIN_EXE_thru"));
    home
}

/// Notes as hooks leave them.
fn note(home: &Home, name: &str, lines: &[String]) {
    fs::create_dir_all(home.data().join("run")).unwrap();
    fs::write(home.data().join("run").join(name), lines.join("\n") + "\n").unwrap();
}

fn failure(at: &str) -> String {
    json!({
        "at": at,
        "event": "claude-code PostToolUse",
        "reason": "the input is not JSON",
        "shape": "5 bytes, not JSON",
        "version": "0.1.0",
    })
    .to_string()
}

fn now() -> i64 {
    i64::try_from(std::time::UNIX_EPOCH.elapsed().unwrap().as_millis()).unwrap()
}

/// What a check found: its level and its line.
fn found(answer: &Value, check: &str) -> (String, String) {
    let findings = answer["findings"].as_array().unwrap();
    let finding = findings.iter().find(|finding| finding["check"] == check).unwrap();
    let text = |key: &str| finding[key].as_str().unwrap().to_owned();
    (text("level"), text("line"))
}

fn with_versions(home: &Home) -> insta::internals::SettingsBindDropGuard {
    let mut settings = home.filters();
    settings.add_filter(r"thru \d+\.\d+\.\d+", "thru [version]");
    settings.add_filter(r"/\S*/thru\b", "[thru]");
    settings.add_filter(r"\b\d+\.\d ms", "[time]");
    settings.add_filter(r"\d{4}-\d\d-\d\d \d\d:\d\d", "[moment]");
    settings.bind_to_scope()
}

#[test]
fn a_doctor_finds_all_well_where_all_is_well() {
    let home = connected();
    let _settings = with_versions(&home);
    home.thru(&["embed"]).expect(0);
    assert_snapshot!(home.shown(&["doctor"]), @"
    ok       hooks         Claude Code: 7 events in [folder]/claude/settings.json
    ok       program       hooks run [thru]
    ok       trust         no setting keeps the hooks from running
    ok       recording     on
    ok       failures      no hook failed
    ok       latency       no hook has run yet
    note     mcp           agents do not know Throughline's MCP server
                           `thru install` registers it with the path of this program
    ok       settings      all defaults
    ok       journal       2 records, all whole
    ok       journal size  [size]; an alarm comes at [size]
    ok       archive       14 lines in 3 files, all whole
    ok       store         11 passages of 3 sessions
    ok       index         11 passages and 4 memories
    ok       redaction     everything was cleaned by the current rules
    ok       waiting       everything in the journal is in the store
    ok       meaning       all 12 texts have vectors (bundled minilm-l6-v2-int8, [size])
    ok       daemon        does not run, because of `THROUGHLINE_DAEMON`; nothing needs it
    ok       transcripts   recent ones are read before a question, all by `thru import`
    ok       unindexed     every session that was left is indexed
    ok       jobs          no work failed
    ok       models        none is set: memories are made without a model
    ok       clean-up      Claude Code deletes transcripts after [age] (`cleanupPeriodDays`, its default)
    ok       other agents  no sessions of Codex or Copilot CLI on this machine
    ok       permissions   only you can read the files
    ok       leftovers     none
    ok       disk          [size] in [folder]/home (archive [size], store [size], index [size], journal [size]), [size] free
    ok       versions      thru [version], schema 15

    No problem; 1 thing worth knowing.
    ");
}

#[test]
fn a_doctor_says_what_is_missing() {
    let home = Home::with_history();
    let _settings = with_versions(&home);
    assert_snapshot!(home.shown(&["doctor"]), @"
    problem  hooks         Claude Code is not connected
                           `thru install` connects Claude Code; until then its sessions are not recorded
    ok       program       no hooks are installed
    ok       trust         no hooks are installed
    ok       recording     nothing is recorded until an agent is connected
    ok       failures      no hook failed
    ok       latency       no hook has run yet
    ok       settings      all defaults
    ok       journal       0 records, all whole
    ok       journal size  [size]; an alarm comes at [size]
    ok       archive       0 lines in 0 files, all whole
    note     store         nothing imported yet
                           `thru import` reads what is there
    ok       index         0 passages and 0 memories
    ok       redaction     nothing is stored yet
    ok       waiting       everything in the journal is in the store
    ok       meaning       nothing to embed yet (bundled minilm-l6-v2-int8)
    ok       daemon        does not run, because of `THROUGHLINE_DAEMON`; nothing needs it
    ok       transcripts   none are read before the first `thru import`
    ok       unindexed     there is no session
    ok       jobs          there is no work
    ok       models        none is set: memories are made without a model
    note     clean-up      Claude Code deletes transcripts after [age] (`cleanupPeriodDays`, its default)
                           run `thru import` more often than that, or `thru install`
    ok       other agents  no sessions of Codex or Copilot CLI on this machine
    ok       permissions   only you can read the files
    ok       leftovers     none
    ok       disk          [size] in [folder]/home (archive [size], store [size], index [size], journal [size]), [size] free
    ok       versions      thru [version], schema 15

    1 problem.
    -- exit 2 --
    ");
    assert!(!home.data().exists(), "looking makes nothing");
}

#[test]
fn hooks_are_looked_at_as_the_agent_runs_them() {
    let home = connected();
    let answer = home.json(&["doctor", "--json"]);
    assert_eq!(answer["kind"], "doctor");
    assert_eq!(found(&answer, "program").0, "ok");
    connect(&home, "/nowhere/thru");
    let answer = home.json(&["doctor", "--json"]);
    let (level, line) = found(&answer, "program");
    assert_eq!(level, "problem");
    assert!(line.contains("/nowhere/thru is gone"), "{line}");
    // A folder that is not trusted yet, and one that is.
    let here = fs::canonicalize(home.folder().join("work")).unwrap();
    let trusted = |is_trusted: bool| {
        let projects = json!({ here.to_str().unwrap(): { "hasTrustDialogAccepted": is_trusted } });
        home.write(".claude.json", json!({ "projects": projects }).to_string());
        found(&home.json(&["doctor", "--json"]), "trust").0
    };
    assert_eq!(trusted(false), "note");
    assert_eq!(trusted(true), "ok");
    let mut settings: Value =
        serde_json::from_slice(&fs::read(home.claude().join("settings.json")).unwrap()).unwrap();
    settings["disableAllHooks"] = json!(true);
    settings["cleanupPeriodDays"] = json!(7);
    home.write("settings.json", settings.to_string());
    let answer = home.json(&["doctor", "--json"]);
    assert_eq!(found(&answer, "trust").0, "problem");
    assert!(found(&answer, "clean-up").1.contains("after 7 days"));
}

#[test]
fn hooks_that_are_missing_or_see_a_part_are_noted() {
    let home = connected();
    let file = home.claude().join("settings.json");
    let mut settings: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    settings["hooks"].as_object_mut().unwrap().remove("Stop");
    settings["hooks"]["PostToolUse"][0]["matcher"] = json!("Bash");
    home.write("settings.json", settings.to_string());
    let (level, line) = found(&home.json(&["doctor", "--json"]), "hooks");
    assert_eq!(level, "note");
    assert!(line.ends_with("missing or narrowed by a matcher: PostToolUse, Stop"), "{line}");
}

#[test]
fn hooks_that_run_another_program_stay_as_they_are() {
    let home = connected();
    let other = home.folder().join("thru");
    fs::copy(env!("CARGO_BIN_EXE_thru"), &other).unwrap();
    connect(&home, other.to_str().unwrap());
    let before = fs::read(home.claude().join("settings.json")).unwrap();
    let answer = home.json(&["doctor", "--json", "--fix"]);
    assert_eq!(found(&answer, "program").0, "note");
    assert_eq!(fs::read(home.claude().join("settings.json")).unwrap(), before);
}

#[test]
fn a_record_that_was_cut_short_is_no_alarm() {
    let home = connected();
    let segment = fs::read_dir(home.data().join("journal")).unwrap().flatten().next().unwrap();
    let mut bytes = fs::read(segment.path()).unwrap();
    let half = bytes[..60].to_vec();
    bytes.extend_from_slice(&half);
    bytes.push(b'\n');
    fs::write(segment.path(), bytes).unwrap();
    let answer = home.json(&["doctor", "--json"]);
    let (level, line) = found(&answer, "journal");
    assert_eq!(level, "note");
    assert!(line.ends_with("the record was cut short"), "{line}");
    home.thru(&["verify"]).expect(0);
    home.thru(&["journal", "verify"]).expect(0);
    assert_eq!(home.json(&["journal", "stats", "--json"])["problems"], 0);
    home.thru(&["redact", "--apply"]).expect(0);
}

#[test]
fn failures_and_times_of_hooks_are_told() {
    let home = connected();
    note(&home, "hook-failures.jsonl", &[failure("2026-01-01T00:00:00Z")]);
    assert_eq!(found(&home.json(&["doctor", "--json"]), "failures").0, "note");
    let recent = jiff_now();
    note(&home, "hook-failures.jsonl", &[failure("2026-01-01T00:00:00Z"), failure(&recent)]);
    let times: Vec<String> =
        (1..=100).map(|n| format!("{} {} PostToolUse", now(), n * 1000)).collect();
    note(&home, "hook-times", &times);
    let answer = home.json(&["doctor", "--json"]);
    let (level, line) = found(&answer, "failures");
    assert_eq!(level, "problem");
    assert!(line.ends_with("the input is not JSON (2)"), "{line}");
    let (level, line) = found(&answer, "latency");
    assert_eq!(level, "ok");
    assert_eq!(
        line,
        "the last 100 hooks: half within 50.0 ms, 99 % within 99.0 ms, longest 100.0 ms (PostToolUse)"
    );
    let status = home.json(&["status", "--json"]);
    assert_eq!(status["failures_last_day"], 1);
    assert_eq!(status["last_event"]["event"], "PostToolUse");
}

fn jiff_now() -> String {
    thru_core::Timestamp::from_millisecond(now()).unwrap().to_string()
}

#[cfg(unix)]
#[test]
fn fix_takes_the_permissions_of_others_away_and_removes_leftovers() {
    use std::os::unix::fs::PermissionsExt;
    let home = connected();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let set =
        |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    let (data, database) = (home.data(), home.data().join("memory.db"));
    set(&data, 0o755);
    set(&database, 0o644);
    let leftover = home.data().join("journal/vm-00000001.jsonl.tmp-1-0");
    fs::write(&leftover, "half").unwrap();
    let old = std::time::SystemTime::now() - std::time::Duration::from_hours(2);
    fs::File::options().append(true).open(&leftover).unwrap().set_modified(old).unwrap();
    let answer = home.json(&["doctor", "--json"]);
    assert_eq!(found(&answer, "permissions").0, "problem");
    assert_eq!(found(&answer, "leftovers").0, "note");
    let fixed = home.thru(&["doctor", "--fix"]).expect(0);
    assert!(
        fixed.stdout.starts_with("fixed: removed the permissions of other users"),
        "{}",
        fixed.stdout
    );
    assert_eq!((mode(&data), mode(&database)), (0o700, 0o600));
    assert!(!leftover.exists());
}

#[test]
fn damage_is_a_problem_with_what_to_do() {
    let home = connected();
    for segment in fs::read_dir(home.data().join("journal")).unwrap().flatten() {
        let mut bytes = fs::read(segment.path()).unwrap();
        bytes[30] ^= 1;
        fs::write(segment.path(), bytes).unwrap();
    }
    fs::write(home.data().join("memory.db"), "no database").unwrap();
    let answer: Value =
        serde_json::from_str(&home.thru(&["doctor", "--json"]).expect(2).stdout).unwrap();
    assert_eq!(found(&answer, "journal").0, "problem");
    assert_eq!(found(&answer, "store").0, "problem");
    // The configuration may be broken, too.
    fs::write(home.data().join("config.toml"), "capture.of = true").unwrap();
    let shown = home.thru(&["doctor"]).expect(2).stdout;
    assert!(shown.contains("did you mean `capture.off`?"), "{shown}");
    assert!(shown.contains("`thru rebuild`"), "{shown}");
}

#[test]
fn a_report_holds_no_names() {
    let home = Home::imported();
    connect(&home, &home.folder().join("user/projects/acme/thru").display().to_string());
    note(&home, "hook-failures.jsonl", &[failure("2026-01-01T00:00:00Z")]);
    home.thru(&["config", "set", "capture.ignore", "acme/**"]).expect(0);
    home.thru(&["config", "set", "search.limit", "20"]).expect(0);
    let report = home.thru(&["doctor", "--report"]).expect(2).stdout;
    assert!(report.starts_with("## Throughline report"), "{report}");
    assert!(report.contains("- `search.limit` = 20\n"), "{report}");
    assert!(report.contains("- `capture.ignore` = (set)\n"), "{report}");
    assert!(report.contains("input: 5 bytes, not JSON"), "{report}");
    for name in [home.folder().to_str().unwrap(), "acme", "rocket", "orchard", "pears"] {
        assert!(!report.contains(name), "{name} in {report}");
    }
}

#[test]
fn status_fits_a_screen() {
    let home = connected();
    let _settings = with_versions(&home);
    note(&home, "hook-times", &[format!("{} 1500 SessionStart", now())]);
    assert_snapshot!(home.shown(&["status"]), @"
    recording    on
    agents       Claude Code, 3 sessions (7 hooks)
    memory       3 sessions in 2 projects, 11 passages, 4 memories
    meaning      0 of 12 texts have vectors (bundled minilm-l6-v2-int8, [size])
    last event   session started at [moment], just now
    last intake  [moment], just now
    data         [size] in [folder]/home
                 archive [size], store [size], index [size], vectors [size], journal [size]
    daemon       does not run, because of `THROUGHLINE_DAEMON`; nothing needs it
    transcripts  recent ones are read before a question, all by `thru import`
    ");
    home.thru(&["config", "set", "journal.alarm_mb", "16"]).expect(0);
    fs::write(home.data().join("journal/padding"), vec![0; 17_000_000]).unwrap();
    note(&home, "hook-failures.jsonl", &[failure(&jiff_now())]);
    home.thru(&["capture", "pause"]).expect(0);
    assert_snapshot!(home.shown(&["status"]), @"
    recording    paused until you resume it (`thru capture resume`)
    alarm        the journal is beyond its cap of [size]; nothing is dropped. `thru doctor` says more
    failures     1 in hooks in the last day; `thru doctor` says more
    agents       Claude Code, 3 sessions (7 hooks)
    memory       3 sessions in 2 projects, 11 passages, 4 memories
    meaning      0 of 12 texts have vectors (bundled minilm-l6-v2-int8, [size])
    last event   session started at [moment], just now
    last intake  [moment], just now
    data         [size] in [folder]/home
                 archive [size], store [size], index [size], vectors [size], journal [size]
    daemon       does not run, because of `THROUGHLINE_DAEMON`; nothing needs it
    transcripts  not read while recording is paused
    ");
}

#[test]
fn status_says_what_is_recorded_and_no_more() {
    let home = connected();
    prompt(&home, ONE, 1, "Why does the lamp blink?");
    let last = || home.json(&["status", "--json"])["last_event"]["event"].clone();
    assert_eq!(last(), "UserPromptSubmit");
    home.thru(&["capture", "pause"]).expect(0);
    stop(&home, ONE, "It is loose.");
    assert_eq!(last(), "UserPromptSubmit");
    home.thru(&["capture", "resume"]).expect(0);
    stop(&home, ONE, "It is loose.");
    assert_eq!(last(), "Stop");
    fs::write(home.project().join(".throughline.toml"), "capture.off = \"no\"\n").unwrap();
    for command in ["status", "doctor"] {
        let shown = home.inside(&[command]).stdout;
        let line = shown.lines().find(|line| line.contains("recording")).unwrap();
        assert!(line.contains("off in this folder"), "{line}");
    }
}

#[test]
fn status_says_how_to_begin() {
    let home = Home::new();
    let _settings = with_versions(&home);
    assert_snapshot!(home.shown(&["status"]), @"
    recording    no; `thru install` connects your agents
    memory       0 sessions in 0 projects, 0 passages, 0 memories
    meaning      nothing to embed yet (bundled minilm-l6-v2-int8)
    last intake  nothing imported yet; `thru import` reads what is there
    data         [size] in [folder]/home
                 archive [size], store [size], index [size], vectors [size], journal [size]
    daemon       does not run, because of `THROUGHLINE_DAEMON`; nothing needs it
    transcripts  none are read before the first `thru import`
    ");
}

#[test]
fn recording_is_paused_for_a_time_or_until_told() {
    let home = connected();
    let _settings = with_versions(&home);
    assert_eq!(home.json(&["status", "--json"])["recording"], "on");
    assert_snapshot!(home.shown(&["capture", "pause", "--for", "1h30m"]), @"
    Recording is paused until [moment].
    Agents still write their transcripts, which are read as a whole once you resume. Put what must never be read into `capture.ignore` or between <private> tags.
    ");
    let status = home.json(&["status", "--json"]);
    assert_eq!(status["recording"], "paused");
    let until: thru_core::Timestamp = status["paused_until"].as_str().unwrap().parse().unwrap();
    let minutes = (until.as_millisecond() - now()) / 60_000;
    assert!((85..=90).contains(&minutes), "{minutes}");
    assert_eq!(found(&home.json(&["doctor", "--json"]), "recording").0, "note");
    assert_snapshot!(home.shown(&["capture", "resume"]), @"Recording continues.");
    assert_snapshot!(home.shown(&["capture", "resume"]), @"Recording was not paused.");
    assert_snapshot!(home.shown(&["capture", "pause"]), @"
    Recording is paused until you resume it (`thru capture resume`).
    Agents still write their transcripts, which are read as a whole once you resume. Put what must never be read into `capture.ignore` or between <private> tags.
    ");
    for wrong in ["2", "soon", "-2h", "0m", "900000000d"] {
        home.thru(&["capture", "pause", &format!("--for={wrong}")]).expect(2);
    }
    assert_snapshot!(home.shown(&["capture", "pause", "--for", "2x"]), @"
    -- stderr --
    error: `2x` is no length of time.
    hint: write a number and its unit, such as `30m`, `2h` or `1d`.
    -- exit 2 --
    ");
}

#[test]
fn a_settings_file_that_is_broken_is_named_with_its_place() {
    let home = Home::new();
    home.write("settings.json", "{\n  \"hooks\": {\n}\n");
    let (level, line) = found(&home.json(&["doctor", "--json"]), "hooks");
    assert_eq!(level, "problem");
    assert!(line.contains("settings.json: not valid JSON") && line.contains("line 4"), "{line}");
}

#[test]
fn a_hanging_daemon_is_named_and_not_waited_for() {
    let home = connected();
    fs::create_dir_all(home.data().join("run")).unwrap();
    // It holds its lock, as long as it lives, and says nothing.
    let lock = home.data().join("run/daemon.lock");
    let held = File::create(&lock).unwrap();
    held.lock().unwrap();
    assert_eq!(home.json(&["status", "--json"])["daemon"]["state"], "hung");
    let shown = home.shown(&["status"]);
    assert!(shown.contains("daemon       does not answer"), "{shown}");
    let answer = home.json(&["doctor", "--json"]);
    let (level, _) = found(&answer, "daemon");
    assert_eq!(level, "problem");
    drop(held);
    assert_eq!(home.json(&["status", "--json"])["daemon"]["state"], "not-running");
}
