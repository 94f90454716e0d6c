//! `thru import`.

use insta::assert_snapshot;
use serde_json::json;

use crate::home::Home;
use crate::records::{Author, ONE, TWO, conversation, file};

#[test]
fn an_import_says_what_it_did_and_a_second_one_that_there_is_nothing_to_do() {
    let home = Home::with_history();
    let _settings = home.settings();
    assert_snapshot!(home.shown(&["import"]), @"
    Claude Code history in [folder]/claude: 2 sessions in 3 files, [size] to read.
    Read 2 sessions ([size]) in [time]: 11 new passages.
    Distilled 3 sessions: 4 memories (observations and summaries).
    Memory: 11 passages of 3 sessions in 2 projects.
    12 texts not embedded yet; found by words only until `thru embed` does it.
    Try `thru search WORDS`, or `thru context` in a project to see what a session there would get.
    ");
    assert_snapshot!(home.shown(&["import"]), @"
    3 files have not changed since the last import.
    Nothing new to read.
    Memory: 11 passages of 3 sessions in 2 projects.
    12 texts not embedded yet; found by words only until `thru embed` does it.
    ");
    home.thru(&["verify"]).expect(0);
}

#[test]
fn a_dry_run_changes_nothing() {
    let home = Home::with_history();
    let _settings = home.settings();
    assert_snapshot!(home.shown(&["import", "--dry-run"]), @"Claude Code history in [folder]/claude: 2 sessions in 3 files, [size] to read.");
    assert!(!home.data().exists());
    assert_snapshot!(home.shown(&["import", "--dry-run", "--json"]), @r#"
    {
      "bytes": 7097,
      "files": 3,
      "kind": "import-plan",
      "left_out": 0,
      "problems": [],
      "sessions": 2,
      "unchanged": 0,
      "version": 1
    }
    "#);
    assert!(!home.data().exists());
}

#[test]
fn an_import_reports_as_json() {
    let home = Home::with_history();
    let _settings = home.settings();
    assert_snapshot!(home.shown(&["import", "--json"]), @r#"
    {
      "amended": 0,
      "broken_lines": {},
      "bytes": 7097,
      "copies": 0,
      "distilled_sessions": 3,
      "files": 3,
      "interrupted": false,
      "kind": "import",
      "memories": 4,
      "not_distilled": 0,
      "passages": 11,
      "private": 0,
      "problems": [],
      "redacted": {},
      "seconds": "[time]",
      "sessions": 2,
      "stage_seconds": {
        "archive": "[time]",
        "distil": "[time]",
        "index": "[time]",
        "parse": "[time]",
        "read": "[time]",
        "redact": "[time]",
        "store": "[time]"
      },
      "version": 1
    }
    "#);
    let again = home.json(&["import", "--json"]);
    assert_eq!((&again["passages"], &again["files"]), (&json!(0), &json!(0)));
}

#[test]
fn where_there_is_no_history_it_says_what_to_do() {
    let home = Home::new();
    let _settings = home.settings();
    assert_snapshot!(home.shown(&["import"]), @"
    There is no history of Claude Code, Codex or Copilot CLI in [folder]/claude, ~/.codex or ~/.copilot.
    `thru demo` shows what it would look like; `thru import PATH` reads other places.
    -- exit 1 --
    ");
}

#[test]
fn other_places_can_be_named() {
    let home = Home::new();
    let _settings = home.settings();
    let folder = home.folder().join("backup");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("old.jsonl"), conversation(ONE).text()).unwrap();
    std::fs::write(folder.join("letter.txt"), "Dear Ada").unwrap();
    assert_snapshot!(home.shown(&["import", "../backup"]), @"
    Claude Code history in ../backup: 1 session in 1 file, [size] to read.
    Read 1 session ([size]) in [time]: 7 new passages.
    Distilled 1 session: 2 memories (observations and summaries).
    Memory: 7 passages of 1 session in 1 project.
    7 texts not embedded yet; found by words only until `thru embed` does it.
    Try `thru search WORDS`, or `thru context` in a project to see what a session there would get.
    ");
    let ran = home.thru(&["import", "../backup/letter.txt"]);
    assert_eq!(ran.stdout.matches("not a transcript of Claude Code").count(), 1, "{}", ran.shown());
    assert_snapshot!(home.shown(&["import", "../nowhere"]), @r"
    -- stderr --
    error: there is nothing at [folder]/work/../nowhere.
    hint: name a transcript (`.jsonl`) or a folder with transcripts in it.
    -- exit 2 --
    ");
}

#[test]
fn what_could_not_be_read_is_named_and_the_rest_is_there() {
    let home = Home::with_history();
    let _settings = home.settings();
    home.write(&file("44444444-dddd-4ddd-8ddd-000000000004"), "{ broken\n\u{0}\u{1}\n");
    home.thru(&["import"]).expect(0);
    home.thru(&["verify"]).expect(0);
    assert!(home.thru(&["search", "--all", "irrigation"]).expect(0).stdout.contains("pear"));
}

#[test]
fn ignored_files_and_directories_are_never_read() {
    for pattern in ["/home/ada/orchard", "**/22222222-*.jsonl", "/home/ada/orch*"] {
        let home = Home::with_history();
        home.thru(&["config", "set", "capture.ignore", pattern]).expect(0);
        home.thru(&["import"]).expect(0);
        home.thru(&["search", "--all", "irrigation"]).expect(1);
        assert!(
            !home
                .data()
                .join(format!("archive/claude-code/-home-ada-rocket/{TWO}.jsonl.zst"))
                .exists()
        );
    }
}

#[test]
fn ignored_files_stay_unread_when_they_are_named() {
    let home = Home::with_history();
    home.thru(&["config", "set", "capture.ignore", "**/22222222-*.jsonl"]).expect(0);
    home.thru(&["import", home.claude().to_str().unwrap()]).expect(0);
    home.thru(&["search", "--all", "irrigation"]).expect(1);
}

#[test]
fn a_bad_pattern_is_an_error_that_names_the_setting() {
    let home = Home::with_history();
    let _settings = home.settings();
    home.thru(&["config", "set", "capture.ignore", "a[b"]).expect(0);
    assert_snapshot!(home.shown(&["import"]), @r"
    -- stderr --
    error: `capture.ignore` has a pattern that cannot be used: error parsing glob 'a[b': unclosed character class; missing ']'.
    hint: correct it with `thru config set capture.ignore`.
    -- exit 2 --
    ");
}

#[test]
fn a_project_can_keep_itself_out() {
    let home = Home::new();
    let project = home.folder().join("work/secret");
    std::fs::create_dir(&project).unwrap();
    let inside = project.join("deep");
    home.write(
        &file(ONE),
        Author::of(ONE).in_directory(inside.to_str().unwrap()).asks("Nothing to see").text(),
    );
    let _settings = home.settings();
    // Also where the file is damaged.
    for text in ["[capture]\noff = true\n", "[capture]\noff = true\n[x"] {
        std::fs::write(project.join(".throughline.toml"), text).unwrap();
        let shown = home.shown(&["import"]);
        assert!(shown.starts_with("1 file left out by your settings"), "{shown}");
    }
    home.thru(&["sessions", "--all"]).expect(1);
}

#[cfg(unix)]
#[test]
fn only_the_owner_may_read_what_is_kept() {
    use std::os::unix::fs::PermissionsExt;
    let home = Home::imported();
    home.thru(&["redact", "add", "acme", "acme-[0-9]{8}"]).expect(0);
    home.thru(&["config", "set", "search.limit", "5"]).expect(0);
    home.thru(&["rebuild"]).expect(0);
    let mut pending = vec![home.data()];
    while let Some(directory) = pending.pop() {
        let mode =
            |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&directory), 0o700, "{}", directory.display());
        for entry in std::fs::read_dir(&directory).unwrap().flatten() {
            match entry.file_type().unwrap().is_dir() {
                true => pending.push(entry.path()),
                false => assert_eq!(mode(&entry.path()), 0o600, "{}", entry.path().display()),
            }
        }
    }
}

#[test]
fn nothing_outside_the_home_is_written() {
    let home = Home::imported();
    home.thru(&["rebuild"]).expect(0);
    home.thru(&["verify"]).expect(0);
    let left = |name| std::fs::read_dir(home.folder().join(name)).unwrap().count();
    assert_eq!([left("tmp"), left("user"), left("work")], [0; 3]);
    let folder = std::fs::read_dir(home.claude()).unwrap().count();
    assert_eq!(folder, 2);
}

/// Made by claude-mem itself.
const CLAUDE_MEM: &str = include_str!("../../../thru-foreign/tests/it/claude-mem-13.25.3.sql");

#[test]
fn memories_of_claude_mem_are_imported_and_marked() {
    let home = Home::new();
    let database = home.folder().join("claude-mem.db");
    rusqlite::Connection::open(&database).unwrap().execute_batch(CLAUDE_MEM).unwrap();
    let import = ["import", "--from", "claude-mem", database.to_str().unwrap()];
    let _settings = home.settings();
    assert_snapshot!(home.shown(&[&import[..], &["--dry-run"]].concat()), @"
    claude-mem in [folder]/claude-mem.db: 6 observations, 1 summary, 5 prompts of 3 sessions.
    10 memories to import.
    2 projects not known here yet: harbor, lantern. `thru import` first reads the agents' history and so places them; `thru projects merge` joins them later.
    ");
    assert_snapshot!(home.shown(&import), @r#"
    claude-mem in [folder]/claude-mem.db: 6 observations, 1 summary, 5 prompts of 3 sessions.
    10 memories to import.
    2 projects not known here yet: harbor, lantern. `thru import` first reads the agents' history and so places them; `thru projects merge` joins them later.
    Imported 10 memories, which searches mark "from claude-mem". New sessions are given only what you agree to (`thru edit ID --agree`).
    "#);
    assert_snapshot!(home.shown(&import), @"
    claude-mem in [folder]/claude-mem.db: 6 observations, 1 summary, 5 prompts of 3 sessions.
    Nothing new, 10 here already.
    2 projects not known here yet: harbor, lantern. `thru import` first reads the agents' history and so places them; `thru projects merge` joins them later.
    ");
    assert_snapshot!(home.shown(&["show", "claude-mem:3"]), @"
    lantern · claude-mem:3
    9fg03  feature · 2025-08-19 10:42 · from claude-mem · ~49t

    Full-text index added for notes
    FTS5, external content
    Search goes through notes_fts now; the page answers in [time] instead of 900 ms.
    Facts
      - Migration 14 creates notes_fts
      - Triggers keep it up to date
    Changed  src/search.py, migrations/014_fts.sql
    Read  src/search.py
    Concepts  what-changed, trade-off
    ");
    assert_snapshot!(home.shown(&["search", "--all", "full-text", "index", "for", "notes"]), @"
    In short
      9fg03  feature   from claude-mem: Full-text index added for notes  [age] 
                       FTS5, external content Search goes through notes_fts now; the page answers in 12
                       ms instead of 900 ms.
      z68sy  change    from claude-mem: Make the search fast  [age] 
      61m8p  discovery from claude-mem: Search scans every row  [age] 
                       No index on notes.body The search page runs LIKE '%word%' over notes.body. SQLite
                       has to read each row.
    ");
    assert_snapshot!(home.thru(&["log", "--agents"]).expect(1).stdout, @"No note of an agent is waiting for you.");
    assert_snapshot!(home.thru(&["show", "claude-mem:99"]).expect(2).shown(), @"
    -- stderr --
    error: there is no memory `claude-mem:99`.
    hint: `thru search` and `thru context` show ids.
    -- exit 2 --
    ");
    assert_snapshot!(home.thru(&["import", "--from", "basic-memory"]).expect(2).shown(), @"
    -- stderr --
    error: no basic-memory data found at [folder]/user/basic-memory.
    hint: `thru import --from basic-memory PATH` names the place.
    -- exit 2 --
    ");
    assert_snapshot!(home.thru(&["import", "--from", "markdown"]).expect(2).shown(), @"
    -- stderr --
    error: no folder of notes is named.
    hint: `thru import --from markdown docs/decisions` names one.
    -- exit 2 --
    ");
}
