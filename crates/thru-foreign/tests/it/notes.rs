//! Notes in Markdown.

use std::fs;

use proptest::prelude::*;
use tempfile::TempDir;
use thru_core::{ForeignSource, ObservationType};
use thru_foreign::markdown::memories;
use thru_foreign::{basic_memory_folders, read_markdown};

const BASIC: &str = "---
title: Retry budget
type: note
permalink: specs/retry-budget
tags:
- queue
created: 2026-02-03
---

# Retry budget

Retries share one budget for each caller.

## Observations
- [decision] Five retries at most #queue (agreed with ops)
- [x] a task that is done
- [gotcha] The budget is not reset at midnight

## Relations
- part_of [[Queue]]
";

#[test]
fn a_note_of_basic_memory_becomes_one_memory_with_its_observations_as_facts() {
    let [note] = &memories(ForeignSource::BasicMemory, "specs/Retry budget.md", BASIC)[..] else {
        panic!()
    };
    assert_eq!((note.name.as_str(), note.title.as_str()), ("specs/retry-budget", "Retry budget"));
    assert_eq!(
        note.facts,
        [
            "decision: Five retries at most #queue (agreed with ops)",
            "gotcha: The budget is not reset at midnight"
        ]
    );
    assert_eq!(note.kind, Some(ObservationType::Decision));
    assert_eq!(note.at.unwrap().to_string(), "2026-02-03T00:00:00Z");
    let text = note.text.as_ref().unwrap();
    assert!(
        text.contains("one budget") && text.contains("[x] a task") && text.contains("[[Queue]]")
    );
    assert!(!text.contains("Five retries") && !text.contains("permalink"), "{text}");
}

#[test]
fn a_note_without_any_form_is_named_by_its_heading_or_its_file() {
    let titled = |name, text| memories(ForeignSource::Markdown, name, text).swap_remove(0);
    let note = titled("adr/0007-use-sqlite.md", "# Use SQLite\r\n\r\nOne file is enough.\r\n");
    assert_eq!(
        (note.title.as_str(), note.text.as_deref()),
        ("Use SQLite", Some("One file is enough."))
    );
    assert_eq!(note.kind, Some(ObservationType::Decision));
    let note = titled("why-not-redis.md", "One more server to run.");
    assert_eq!(
        (note.title.as_str(), note.kind),
        ("why not redis", Some(ObservationType::Discovery))
    );
    assert!(
        memories(ForeignSource::Markdown, "empty.md", "---\ntitle: x\n---\n\n# x\n").is_empty()
    );
}

#[test]
fn a_long_note_is_cut_before_its_headings() {
    let section = |name: &str| format!("## {name}\n\n{}\n", "words and words ".repeat(250));
    let text =
        format!("# Handbook\n\n{}{}{}", section("Build"), section("Deploy"), section("Undo"));
    let parts = memories(ForeignSource::Markdown, "handbook.md", &text);
    let titles: Vec<(&str, &str)> =
        parts.iter().map(|part| (part.name.as_str(), part.title.as_str())).collect();
    assert_eq!(
        titles,
        [
            ("handbook.md", "Handbook"),
            ("handbook.md#2", "Handbook: Deploy"),
            ("handbook.md#3", "Handbook: Undo")
        ]
    );
}

#[test]
fn folders_are_read_without_what_is_hidden_or_no_note() {
    let folder = TempDir::new().unwrap();
    let write = |name: &str, text: &[u8]| {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    write("a.md", b"One.");
    write("deep/b.MD", b"Two.");
    write("empty.md", b"\n");
    write("bytes.md", b"\xff\xfe");
    write("huge.md", &vec![b'x'; 2 * 1024 * 1024]);
    write(".obsidian/c.md", b"Hidden.");
    write("node_modules/d.md", b"Not the user's.");
    write("e.txt", b"No note.");
    #[cfg(unix)]
    std::os::unix::fs::symlink(folder.path(), folder.path().join("loop")).unwrap();
    let found = read_markdown(ForeignSource::Markdown, folder.path());
    let names: Vec<&str> = found.memories.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(names, ["a.md", "deep/b.MD"]);
    assert!(found.memories.iter().all(|one| one.at.is_some()));
    assert_eq!((found.empty, found.problems.len()), (1, 2));
    // One note alone has the name that it has in its folder.
    let alone = read_markdown(ForeignSource::Markdown, &folder.path().join("a.md"));
    assert_eq!(alone.memories[0].identity, found.memories[0].identity);
}

#[test]
fn the_folders_of_basic_memory_are_those_of_its_configuration() {
    let home = TempDir::new().unwrap();
    assert_eq!(basic_memory_folders(home.path()), [home.path().join("basic-memory")]);
    fs::create_dir(home.path().join(".basic-memory")).unwrap();
    let config = home.path().join(".basic-memory/config.json");
    fs::write(&config, r#"{"projects": {"main": "/notes/main", "work": {"path": "~/work"}}}"#)
        .unwrap();
    assert_eq!(
        basic_memory_folders(home.path()),
        [std::path::PathBuf::from("/notes/main"), home.path().join("work")]
    );
    fs::write(&config, "{").unwrap();
    assert_eq!(basic_memory_folders(home.path()), [home.path().join("basic-memory")]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// Nothing of a note is lost where it is cut, and no part is longer than a memory may be.
    #[test]
    fn every_character_of_a_note_is_in_one_of_its_parts(
        lines in proptest::collection::vec("(## |```|- \\[[a-z]{0,3}\\] )?[a-zä☃ ]{0,40}", 0..400),
    ) {
        let body = lines.join("\n");
        let whole = format!("---\ntitle: Note\n---\nBegins here.\n{body}");
        let parts = memories(ForeignSource::Markdown, "note.md", &whole);
        let bare = |text: &str| text.chars().filter(|one| !one.is_whitespace()).collect::<String>();
        let texts: String = parts.iter().filter_map(|part| part.text.as_deref()).collect();
        prop_assert_eq!(bare(&texts), bare(&format!("Begins here.\n{body}")));
        for part in &parts {
            prop_assert!(part.text.as_ref().is_none_or(|text| text.chars().count() <= 6_000));
        }
    }

    #[test]
    fn any_text_is_a_note(text in "\\PC{0,200}", name in "[a-z/.]{0,20}") {
        for source in ForeignSource::ALL {
            let _ = memories(source, &name, &text);
        }
    }
}
