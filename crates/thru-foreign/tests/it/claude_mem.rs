//! The database of claude-mem.

use std::path::PathBuf;

use rusqlite::Connection;
use tempfile::TempDir;
use thru_core::{Concept, ObservationType};
use thru_foreign::{ForeignError, ForeignMemories, ForeignMemory, Holds, read_claude_mem};

/// Made by the program itself.
const MADE_BY_13_25_3: &str = include_str!("claude-mem-13.25.3.sql");

fn database(sql: &str) -> (TempDir, PathBuf) {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("claude-mem.db");
    Connection::open(&path).unwrap().execute_batch(sql).unwrap();
    (folder, path)
}

fn read(sql: &str) -> ForeignMemories {
    let (_folder, path) = database(sql);
    read_claude_mem(&path).unwrap()
}

fn named<'f>(found: &'f ForeignMemories, name: &str) -> &'f ForeignMemory {
    found.memories.iter().find(|memory| memory.name == name).unwrap()
}

#[test]
fn everything_that_the_program_made_is_read() {
    let found = read(MADE_BY_13_25_3);
    let count = |holds: Holds| found.memories.iter().filter(|one| one.holds == holds).count();
    assert_eq!((count(Holds::Observation), count(Holds::Summary)), (6, 1));
    let prompts: u64 = found
        .memories
        .iter()
        .map(|one| if let Holds::Prompts(prompts) = one.holds { prompts } else { 0 })
        .sum();
    assert_eq!((prompts, found.empty), (5, 0));

    let feature = named(&found, "3");
    assert_eq!(feature.title, "Full-text index added for notes");
    assert_eq!(feature.kind, Some(ObservationType::Feature));
    assert_eq!(
        feature.text.as_deref(),
        Some(
            "FTS5, external content\nSearch goes through notes_fts now; the page answers in 12 ms instead of 900 ms."
        )
    );
    assert_eq!(feature.facts, ["Migration 14 creates notes_fts", "Triggers keep it up to date"]);
    assert!(feature.concepts.contains(&Concept::TradeOff));
    assert_eq!(feature.files_modified, ["src/search.py", "migrations/014_fts.sql"]);
    assert_eq!(feature.at.unwrap().as_millisecond(), 1_755_600_120_000);
    assert_eq!(feature.project.as_deref(), Some("lantern"));
    assert_eq!(feature.session.as_deref(), Some("0b7b5a8e-2f58-4d0b-8a37-51b1c9d6f001"));

    // A type of its own stays visible.
    let warning = named(&found, "5");
    assert_eq!(warning.kind, None);
    assert!(warning.concepts.contains(&Concept::Gotcha));
    assert!(warning.facts.contains(&"Type in claude-mem: security_note".to_owned()));

    let summary = named(&found, "S1");
    assert_eq!(summary.title, "Make the search fast");
    assert_eq!(summary.facts[0], "Looked into: How the search page reads notes");
    assert_eq!(summary.facts[3], "Next: Rank by recency");

    let asked = named(&found, "0b7b5a8e-2f58-4d0b-8a37-51b1c9d6f001");
    assert_eq!(asked.title, "Asked: Make the search fast");
    assert_eq!(
        asked.facts,
        ["Make the search fast", "Use FTS5, not an external engine.\nKeep the page as it is."]
    );
}

#[test]
fn a_database_of_an_early_version_is_read_by_the_columns_that_it_has() {
    let found = read(
        "CREATE TABLE sdk_sessions (id INTEGER PRIMARY KEY, claude_session_id TEXT, sdk_session_id TEXT,
             project TEXT, user_prompt TEXT, started_at_epoch INTEGER);
         CREATE TABLE observations (id INTEGER PRIMARY KEY, sdk_session_id TEXT, project TEXT, text TEXT,
             type TEXT, created_at_epoch INTEGER);
         INSERT INTO sdk_sessions VALUES (1, 'aaaa', 'sdk-1', 'rocket', 'Why is it slow?', 1700000000);
         INSERT INTO observations VALUES (1, 'sdk-1', 'rocket', 'The cache is never filled', 'discovery', 1700000000);
         INSERT INTO observations VALUES (2, 'sdk-1', 'rocket', '  ', 'discovery', 1700000000);",
    );
    let memory = named(&found, "1");
    assert_eq!(memory.title, "The cache is never filled");
    assert_eq!(memory.at.unwrap().as_second(), 1_700_000_000);
    assert_eq!(memory.session.as_deref(), Some("aaaa"));
    // The prompt of the session stands for the list that there was none of yet.
    assert_eq!(named(&found, "aaaa").facts, ["Why is it slow?"]);
    assert_eq!((found.memories.len(), found.empty), (2, 1));
}

#[test]
fn values_of_other_types_cost_only_themselves() {
    let found = read(
        "CREATE TABLE observations (id INTEGER PRIMARY KEY, title, facts, concepts, created_at_epoch, project);
         INSERT INTO observations VALUES (1, x'ff41', '[1, null, \"two\"]', '{', 'yesterday', 7);
         INSERT INTO observations VALUES (2, 3.5, 'one\ntwo', NULL, -1e300, NULL);
         CREATE TABLE user_prompts (unlike TEXT);",
    );
    assert_eq!(named(&found, "1").facts, ["1", "two"]);
    assert_eq!(named(&found, "1").title, "\u{fffd}A");
    assert_eq!(named(&found, "2").facts, ["one", "two"]);
    assert_eq!(found.memories.len(), 2);
}

#[test]
fn a_file_that_is_no_such_database_is_refused() {
    let (_folder, other) = database("CREATE TABLE notes (id INTEGER PRIMARY KEY)");
    assert!(matches!(read_claude_mem(&other), Err(ForeignError::OtherProgram { .. })));
    std::fs::write(&other, "no database at all, however long it is".repeat(40)).unwrap();
    assert!(matches!(read_claude_mem(&other), Err(ForeignError::Database { .. })));
    let missing = other.with_file_name("missing.db");
    assert!(matches!(read_claude_mem(&missing), Err(ForeignError::Database { .. })));
    assert!(!missing.exists());
}
