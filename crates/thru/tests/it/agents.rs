//! Agents beside Claude Code: what they leave is found, searched, put back and forgotten like its files.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use insta::assert_snapshot;

use crate::home::Home;

const ROLLOUT: &str =
    "sessions/2026/06/18/rollout-2026-06-18T07-41-33-019ed99c-0000-7000-8000-000000000001.jsonl";
const SUBAGENT: &str =
    "sessions/2026/09/01/rollout-2026-09-01T10-00-00-01990000-0005-7000-8000-000000000005.jsonl";
const EVENTS: &str = "session-state/10fb0000-0000-4000-8000-000000000001/events.jsonl";

fn fixture(name: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../thru-agents/tests/fixtures");
    fs::read(folder.join(name)).unwrap()
}

fn put(home: &Home, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
    let path = home.folder().join("user").join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, content).unwrap();
    path
}

/// A home in which all three agents worked.
fn three() -> Home {
    let home = Home::with_history();
    put(&home, &format!(".codex/{ROLLOUT}"), fixture("codex/v0_140.jsonl"));
    put(&home, &format!(".codex/{SUBAGENT}"), fixture("codex/subagent.jsonl"));
    put(&home, &format!(".copilot/{EVENTS}"), fixture("copilot/v1_0.jsonl"));
    home
}

#[test]
fn an_import_reads_what_every_agent_left() {
    let home = three();
    let _settings = home.settings();
    assert_snapshot!(home.shown(&["import"]), @"
    Claude Code history in [folder]/claude: 2 sessions in 3 files, [size] to read.
    Codex history in ~/.codex: 1 session in 2 files, [size] to read.
    Copilot CLI history in ~/.copilot: 1 session in 1 file, [size] to read.
    Read 4 sessions ([size]) in [time]: 30 new passages.
    Distilled 5 sessions: 8 memories (observations and summaries).
    Left out 4 private texts.
    1 line could not be read as records and were kept as they are (unknown-type 1).
    Memory: 30 passages of 5 sessions in 3 projects.
    26 texts not embedded yet; found by words only until `thru embed` does it.
    Try `thru search WORDS`, or `thru context` in a project to see what a session there would get.
    ");
    assert_snapshot!(home.shown(&["sessions", "--all"]), @"
    SESSION        LAST USED  AGENT        STATE  PROJECT  TURNS  TITLE
    019ed99c-0000  [age] codex        ended  orrery       3  Why does the ephemeris test fail
    10fb0000       [age] copilot      ended  orrery       2  Draw Saturn
    33333333       [age] claude-code  ended  rocket       1  Which pears ripen in September?
    11111111       [age] claude-code  ended  rocket       2  Why does the importer lock the databa…
    22222222       [age] claude-code  ended  orchard      1  Plan the irrigation for the young pea…

    5 sessions. `thru session show ID` opens one.
    ");
    assert_snapshot!(home.shown(&["projects"]), @"
    PROJECT  LAST USED  SESSIONS  PASSAGES  KEY
    orrery   [age] 2        19  dir:/home/ada/orrery
    rocket   [age] 2         8  dir:/home/ada/rocket
    orchard  [age] 1         3  dir:/home/ada/orchard
    ");
    assert_snapshot!(home.shown(&["import"]), @"
    6 files have not changed since the last import.
    Nothing new to read.
    Memory: 30 passages of 5 sessions in 3 projects.
    26 texts not embedded yet; found by words only until `thru embed` does it.
    ");
    home.thru(&["verify"]).expect(0);
    let doctor = home.json(&["doctor", "--json"]);
    let others =
        doctor["findings"].as_array().unwrap().iter().find(|one| one["check"] == "other agents");
    assert_snapshot!(others.unwrap()["line"], @r#""Codex: 2 transcripts in ~/.codex/sessions, 1 session in memory; Copilot CLI: 1 transcript in ~/.copilot/session-state, 1 session in memory""#);
    let status = home.json(&["status", "--json"]);
    assert_snapshot!(status["sessions_by_agent"], @r#"{"claude-code":3,"codex":1,"copilot":1}"#);
}

#[test]
fn every_listing_can_be_of_one_agent() {
    let home = three();
    home.thru(&["import"]).expect(0);
    let _settings = home.settings();
    assert_snapshot!(home.shown(&["sessions", "--all", "--agent", "copilot"]), @"
    SESSION   LAST USED  STATE  PROJECT  TURNS  TITLE
    10fb0000  [age] ended  orrery       2  Draw Saturn

    1 session. `thru session show ID` opens one.
    ");
    assert_snapshot!(home.shown(&["projects", "--agent", "claude-code"]), @"
    PROJECT  LAST USED  SESSIONS  PASSAGES  KEY
    rocket   [age] 2         8  dir:/home/ada/rocket
    orchard  [age] 1         3  dir:/home/ada/orchard
    ");
    assert_snapshot!(home.shown(&["search", "--all", "leap second"]), @"
    In short
      p513j  summary   Why does the ephemeris test fail  [age] 

    orrery · Why does the ephemeris test fail   2026-09-01  Codex  019ed99c-0000
      h10rj  agent        The table lacked the leap second of 2017.
      jsq4f  web_search   type: search
                          query: leap seconds since 1972
      bes24  you          commit it
      3x2s3  apply_patch  *** Begin Patch
                          *** Update File: src/ephemeris.rs
                          @@
                          -let leap = 36;
                          +let leap = 37;
                          *** Add File: notes/leap.md
                          +37 since 2017 …
      845x7  local_she… … type: exec
                          command: bash
                          -lc
                          git commit -am leap

    5 passages of 1 session. `thru show ID` shows one in full.
    ");
    assert_eq!(home.thru(&["search", "--all", "--agent", "copilot", "leap second"]).code, 1);
    let found =
        |arguments: &[&str]| home.thru(&[&["search", "--all", "Saturn"], arguments].concat()).code;
    assert_eq!((found(&[]), found(&["--agent", "codex"])), (0, 1));
    assert_eq!(found(&["--agent", "codex", "--agent", "copilot"]), 0);
    assert_snapshot!(home.shown(&["search", "x", "--agent", "abacus"]), @"
    -- stderr --
    error: invalid value 'abacus' for '--agent <AGENT>': it is none of claude-code, codex, copilot

    For more information, try '--help'.
    -- exit 2 --
    ");
    let stats = |agent: &str| {
        home.json(&["stats", "sessions", "--since", "2020-01-01", "--json", "--agent", agent])
    };
    assert_eq!(stats("codex")["total"]["sessions"], 1);
}

#[test]
fn one_agent_can_be_imported_by_itself() {
    let home = three();
    let _settings = home.settings();
    assert_snapshot!(home.shown(&["import", "--agent", "codex", "--dry-run"]), @"Codex history in ~/.codex: 1 session in 2 files, [size] to read.");
    home.thru(&["import", "--agent", "codex"]).expect(0);
    let listed = home.json(&["sync-history", "--days", "0", "--json"]);
    let agents: Vec<&str> = listed["sessions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["agent"].as_str().unwrap())
        .collect();
    assert!(agents.contains(&"copilot") && !agents.contains(&"codex"), "{agents:?}");
    let of_copilot = home.json(&["sync-history", "--days", "0", "--json", "--agent", "copilot"]);
    assert_eq!(of_copilot["count"], 1);
}

#[test]
fn a_subagents_thread_is_brought_in_with_the_session_that_it_worked_for() {
    let home = three();
    let listed = home.json(&["sync-history", "--days", "0", "--json", "--agent", "codex"]);
    assert_eq!(listed["count"], 1, "{listed}");
    home.thru(&["sync-history", "--days", "0", "--agent", "codex", "--run"]).expect(0);
    let found = home.json(&["search", "--all", "--json", "--agent", "codex", "Jupiter"]);
    assert_eq!(found["sessions"][0]["id"], "019ed99c-0000-7000-8000-000000000001", "{found}");
}

#[test]
fn transcripts_are_known_by_what_they_hold() {
    let home = Home::new();
    let folder = home.folder().join("work");
    fs::write(folder.join("first.jsonl"), fixture("codex/v0_140.jsonl")).unwrap();
    fs::write(folder.join("second.txt"), fixture("copilot/v1_0.jsonl")).unwrap();
    let _settings = home.settings();
    assert_snapshot!(home.shown(&["import", "first.jsonl", "second.txt"]), @"
    Codex history in 2 paths: 1 session in 1 file, [size] to read.
    Copilot CLI history in 2 paths: 1 session in 1 file, [size] to read.
    Read 2 sessions ([size]) in [time]: 17 new passages.
    Distilled 2 sessions: 4 memories (observations and summaries).
    Left out 4 private texts.
    1 line could not be read as records and were kept as they are (unknown-type 1).
    Memory: 17 passages of 2 sessions in 1 project.
    12 texts not embedded yet; found by words only until `thru embed` does it.
    Try `thru search WORDS`, or `thru context` in a project to see what a session there would get.
    ");
    let archived = home.data().join("archive").join("codex").join(ROLLOUT);
    assert!(archived.with_extension("jsonl.zst").is_file());
}

#[test]
fn sessions_are_put_back_where_their_agents_look_for_them() {
    let home = three();
    home.thru(&["import"]).expect(0);
    let user = home.folder().join("user");
    let (rollout, events) = (user.join(".codex").join(ROLLOUT), user.join(".copilot").join(EVENTS));
    let before = fs::read(&rollout).unwrap();
    for file in [&rollout, &events] {
        fs::remove_file(file).unwrap();
    }
    let _settings = home.settings();
    assert_snapshot!(home.shown(&["restore", "019ed99c"]), @"
    Restored 1 file ([size]):
      ~/.codex/sessions/2026/06/18/rollout-2026-06-18T07-41-33-019ed99c-0000-7000-8000-000000000001.jsonl
    Left alone because it already exists: 1 file.
    Resume it in /home/ada/orrery with `codex resume 019ed99c-0000-7000-8000-000000000001`.
    ");
    assert_snapshot!(home.shown(&["restore", "10fb0000"]), @"
    Restored 1 file ([size]):
      ~/.copilot/session-state/10fb0000-0000-4000-8000-000000000001/events.jsonl
    Resume it in /home/ada/orrery with `copilot --resume 10fb0000-0000-4000-8000-000000000001`.
    ");
    assert_eq!(fs::read(&rollout).unwrap(), before);
    // What the agent adds is read, and nothing twice.
    let mut grown = before.clone();
    grown.extend_from_slice(
        br#"{"timestamp":"2026-06-18T08:00:00.000Z","type":"event_msg","payload":{"type":"user_message","message":"and the perihelion"}}"#,
    );
    grown.push(b'\n');
    fs::write(&rollout, grown).unwrap();
    let report = home.json(&["import", "--json"]);
    assert_eq!(report["passages"], 1);
    let found = home.json(&["search", "--all", "--json", "perihelion"]);
    assert_eq!(found["sessions"][0]["passages"][0]["turn"], 4);
}

#[test]
fn a_rollout_that_was_put_away_stays_the_same_session() {
    let home = three();
    home.thru(&["import"]).expect(0);
    let codex = home.folder().join("user/.codex");
    let away = codex.join("archived_sessions").join(Path::new(ROLLOUT).file_name().unwrap());
    fs::create_dir_all(away.parent().unwrap()).unwrap();
    fs::rename(codex.join(ROLLOUT), &away).unwrap();
    let report = home.json(&["import", "--json"]);
    assert_eq!((&report["passages"], &report["bytes"]), (&0.into(), &0.into()), "{report}");
    home.thru(&["verify"]).expect(0);
    assert_eq!(home.json(&["import", "--dry-run", "--json"])["files"], 0);
    // It comes back to where it can be resumed.
    fs::remove_file(away).unwrap();
    home.thru(&["restore", "019ed99c"]).expect(0);
    assert!(codex.join(ROLLOUT).is_file());
}

#[test]
fn an_excluded_directory_is_excluded_for_every_agent() {
    let home = three();
    home.thru(&["config", "set", "capture.ignore", "/home/ada/orrery/**"]).expect(0);
    home.thru(&["import"]).expect(0);
    let agents = home.json(&["status", "--json"])["sessions_by_agent"].clone();
    assert_eq!(agents.as_object().unwrap().keys().collect::<Vec<_>>(), ["claude-code"], "{agents}");
}

#[test]
fn a_hook_of_an_agent_without_hooks_records_and_stops_nothing() {
    let home = Home::new();
    let mut command = home.command();
    command.args(["hook", "copilot", "SessionStart"]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let input = br#"{"session_id":"019ed99c-0000-7000-8000-000000000001","cwd":"/home/ada/orrery","source":"startup"}"#;
    child.stdin.take().unwrap().write_all(input).unwrap();
    assert_eq!(child.wait_with_output().unwrap().status.code(), Some(0));
    let status = home.json(&["status", "--json"]);
    assert_eq!(
        (&status["pending_records"], &status["sessions"]),
        (&0.into(), &0.into()),
        "{status}"
    );
}

#[test]
fn a_rebuild_gives_the_same_ids_and_forgetting_takes_everything() {
    let home = three();
    home.thru(&["import"]).expect(0);
    let ids = || [home.id_of("leap second"), home.id_of("Saturn rings")];
    let before = ids();
    home.thru(&["rebuild"]).expect(0);
    assert_eq!(ids(), before);
    home.thru(&["forget", "--session", "019ed99c", "--yes"]).expect(0);
    assert_eq!(home.thru(&["search", "--all", "leap second"]).code, 1);
    // A subagent's thread goes with the session that it worked for.
    assert_eq!(home.thru(&["search", "--all", "Jupiter"]).code, 1);
    home.thru(&["import"]).expect(0);
    assert_eq!(home.thru(&["search", "--all", "leap second"]).code, 1);
    home.thru(&["verify"]).expect(0);
}

#[test]
fn what_grew_is_brought_in_before_a_question_is_answered() {
    let home = three();
    home.thru(&["import"]).expect(0);
    for (name, line, word) in [
        (
            format!(".codex/{ROLLOUT}"),
            r#"{"timestamp":"2026-06-18T08:00:00.000Z","type":"event_msg","payload":{"type":"user_message","message":"mark the aphelion"}}"#,
            "aphelion",
        ),
        (
            format!(".copilot/{EVENTS}"),
            r#"{"type":"user.message","data":{"content":"show the apogee"},"id":"e0000000-0000-4000-8000-000000000030","timestamp":"2026-06-25T03:00:00.000Z"}"#,
            "apogee",
        ),
    ] {
        let path = home.folder().join("user").join(&name);
        let mut content = fs::read_to_string(&path).unwrap();
        content.push_str(line);
        content.push('\n');
        fs::write(&path, content).unwrap();
        home.thru(&["search", "--all", word]).expect(0);
    }
}

#[test]
fn a_secret_and_a_private_turn_are_kept_nowhere() {
    let home = Home::new();
    // Drawn when the test runs, so that no secret stands in the repository.
    let secret = format!("ghp_{}", "Zx9Qw7Er".repeat(5).chars().take(36).collect::<String>());
    let mut rollout = fixture("codex/private.jsonl");
    rollout.extend_from_slice(
        format!(
            "{{\"timestamp\":\"2026-06-18T08:00:00Z\",\"type\":\"event_msg\",\"payload\":{{\"type\":\"user_message\",\"message\":\"the token is {secret}\"}}}}\n"
        )
        .as_bytes(),
    );
    put(&home, &format!(".codex/{ROLLOUT}"), rollout);
    put(&home, &format!(".copilot/{EVENTS}"), fixture("copilot/v1_0.jsonl"));
    let report = home.json(&["import", "--json"]);
    assert_eq!(report["redacted"].as_object().unwrap().len(), 1, "{report}");
    for id in ["019ed99c", "10fb0000"] {
        let shown = home.shown(&["session", "show", id]);
        assert!(!shown.contains("leaked") && !shown.contains(&secret), "{shown}");
    }
    // Restored, they hold what the archive holds.
    for (name, id) in
        [(format!(".codex/{ROLLOUT}"), "019ed99c"), (format!(".copilot/{EVENTS}"), "10fb0000")]
    {
        let path = home.folder().join("user").join(name);
        fs::remove_file(&path).unwrap();
        home.thru(&["restore", id]).expect(0);
        let text = fs::read_to_string(&path).unwrap();
        assert!(!text.contains("leaked") && !text.contains(&secret));
        for line in text.lines() {
            assert!(serde_json::from_str::<serde_json::Value>(line).is_ok(), "{line}");
        }
    }
}
