//! `thru export`, and `thru import` of what it wrote.

use std::fs;

use insta::assert_snapshot;
use serde_json::Value;

use crate::home::Home;
use crate::records::ONE;

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn of_kind<'v>(lines: &'v [Value], kind: &str) -> Vec<&'v Value> {
    lines.iter().filter(|line| line["kind"] == kind).map(|line| &line["body"]).collect()
}

#[test]
fn an_export_holds_what_its_header_counts() {
    let home = Home::imported();
    home.tell(&["Use pnpm, not npm", "--rule"]);
    let exported = lines(&home.thru(&["export"]).expect(0).stdout);
    assert_eq!(exported[0]["kind"], "throughline-export");
    for (kind, counted) in [
        ("session", "sessions"),
        ("passage", "passages"),
        ("memory", "memories"),
        ("decision", "decisions"),
    ] {
        let found = of_kind(&exported, kind).len();
        assert!(found > 0, "{kind}");
        assert_eq!(exported[0]["counts"][counted], found, "{kind}");
    }
    // Ids are those that `thru show` knows.
    let id = home.id_of("importer lock");
    assert!(of_kind(&exported, "passage").iter().any(|passage| passage["id"] == id.as_str()));
}

#[test]
fn an_export_can_be_of_one_project_or_of_some_time() {
    let home = Home::imported();
    home.tell(&["Use pnpm, not npm"]);
    home.thru(&["remember", "--global", "The box is called heron"]).expect(0);
    let exported =
        lines(&home.thru(&["export", "--project", "dir:/home/ada/rocket"]).expect(0).stdout);
    let sessions = of_kind(&exported, "session");
    assert!(!sessions.is_empty() && sessions.iter().all(|session| session["project"] == "rocket"));
    assert!(!exported.iter().any(|line| line.to_string().contains("heron")));
    let exported = lines(&home.thru(&["export", "--since", "yesterday"]).expect(0).stdout);
    assert_eq!(of_kind(&exported, "session").len(), 0);
    assert_eq!(of_kind(&exported, "decision").len(), 2);
    home.thru(&["export", "--project", "nothing"]).expect(2);
}

#[test]
fn an_export_of_decisions_holds_nothing_that_was_recorded() {
    let home = Home::imported();
    home.tell(&["Use pnpm, not npm"]);
    let exported = lines(&home.thru(&["export", "--decisions"]).expect(0).stdout);
    let (header, decisions) = exported.split_first().unwrap();
    assert_eq!(header["counts"]["passages"], 0);
    assert!(decisions.iter().all(|line| line["kind"] == "decision"));
    assert!(decisions.iter().any(|line| line.to_string().contains("pnpm")));
}

#[test]
fn what_was_told_comes_in_once_under_the_same_ids() {
    let home = Home::imported();
    let _settings = home.settings();
    let told = home.tell(&["Use pnpm, not npm", "--rule"]);
    home.thru(&["remember", "--global", "The box is called heron"]).expect(0);
    home.thru(&["undo"]).expect(0);
    home.thru(&["redact", "add", "acme", "acme-[0-9]{8}"]).expect(0);
    home.thru(&["forget", "--session", ONE, "--yes"]).expect(0);
    let file = home.folder().join("work/memory.jsonl");
    home.thru(&["export", "--out", file.to_str().unwrap()]).expect(0);
    let other = Home::new();
    let _other = other.settings();
    let file = file.to_str().unwrap();
    assert_snapshot!(other.shown(&["import", "--dry-run", file]), @"
    5 decisions to import, unless they are here already.
    Not imported: 2 distilled memories, 4 passages, 2 sessions.
    They are made from transcripts; to move those, copy `archive/` and `journal/`.
    ");
    assert!(!other.data().join("memory.db").exists());
    assert_snapshot!(other.shown(&["import", file]), @"
    Imported 3 decisions (2 memories told, 1 operation undone). `thru log` lists them.
    Skipped what would remove something here: 1 rule added, 1 session forgotten. `thru redact add` and `thru forget` do that.
    Not imported: 2 distilled memories, 4 passages, 2 sessions.
    They are made from transcripts; to move those, copy `archive/` and `journal/`.
    ");
    assert_snapshot!(other.shown(&["import", file]), @"
    Nothing new.
    3 decisions known already.
    Skipped what would remove something here: 1 rule added, 1 session forgotten. `thru redact add` and `thru forget` do that.
    Not imported: 2 distilled memories, 4 passages, 2 sessions.
    They are made from transcripts; to move those, copy `archive/` and `journal/`.
    ");
    let shown = other.thru(&["show", &told]).expect(0).stdout;
    assert!(shown.contains("Use pnpm, not npm"), "{shown}");
    // What was taken back there is taken back here.
    assert!(!other.thru(&["search", "--all", "heron"]).stdout.contains("heron"));
    other.thru(&["rebuild"]).expect(0);
    other.thru(&["show", &told]).expect(0);
    other.thru(&["verify"]).expect(0);
}

#[test]
fn what_is_no_export_is_refused_and_nothing_is_overwritten() {
    let home = Home::imported();
    let _settings = home.settings();
    let file = home.folder().join("work/memory.jsonl");
    let write = |text: &str| fs::write(&file, text).unwrap();
    write("{\"kind\":\"throughline-export\",\"version\":99}\n");
    assert_snapshot!(home.shown(&["import", "memory.jsonl"]), @"
    -- stderr --
    error: [folder]/work/memory.jsonl was written by a newer version of Throughline.
    hint: upgrade `thru`; nothing was changed.
    -- exit 2 --
    ");
    write("{\"kind\":\"throughline-export\",\"version\":1}\n{\"kind\":\n");
    assert_snapshot!(home.shown(&["import", "memory.jsonl"]), @"
    -- stderr --
    error: line 2 of [folder]/work/memory.jsonl is not JSON of an export: EOF while parsing a value at line 2 column 0.
    -- exit 2 --
    ");
    assert_snapshot!(home.shown(&["import", "memory.jsonl", "."]), @"
    -- stderr --
    error: [folder]/work/memory.jsonl is an export of `thru`, not a transcript.
    hint: `thru import FILE` imports an export on its own.
    -- exit 2 --
    ");
    assert_snapshot!(home.shown(&["export", "--out", "memory.jsonl"]), @"
    -- stderr --
    error: [folder]/work/memory.jsonl exists already.
    hint: nothing was changed; choose another name or move the file away.
    -- exit 2 --
    ");
    // Lines of unknown kinds and invalid keys: counted, never recorded.
    write(
        "{\"kind\":\"throughline-export\",\"version\":1}\n[]\n{\"kind\":\"decision\",\"body\":{\"key\":\"../x\",\"at\":\"2026-01-01T00:00:00Z\",\"kind\":\"memory-told\",\"decision\":{}}}\n{\"kind\":\"decision\",\"body\":{\"key\":\"462sh0cktda7yydc\",\"at\":\"2026-01-01T00:00:00Z\",\"kind\":\"memory-told\",\"decision\":{}}}\n",
    );
    assert_snapshot!(home.shown(&["import", "memory.jsonl"]), @"
    Nothing new.
    1 decision in a form that this version does not know.
    Not imported: 2 unknown.
    They are made from transcripts; to move those, copy `archive/` and `journal/`.
    ");
}
