//! Importing the memories of other programs.

use std::path::PathBuf;

use thru_app::TroubleKind;
use thru_app::ask::ProjectScope;
use thru_app::ask::get::{Get, Piece, Sources, get};
use thru_app::fresh::Freshness;
use thru_app::ingest::foreign::{ForeignPlan, ImportForeign, plan, plan_locked};
use thru_app::keep::forget::{self, Forget};
use thru_core::ForeignSource;
use thru_store::{MemoryFilter, MemoryRow};

use crate::home::{Home, call};
use crate::records::{Author, ONE, file};
use crate::vaulted::Vaulted;

/// Made by claude-mem itself.
const CLAUDE_MEM: &str = include_str!("../../../thru-foreign/tests/it/claude-mem-13.25.3.sql");
/// A session in it.
const SESSION: &str = "0b7b5a8e-2f58-4d0b-8a37-51b1c9d6f001";

/// A home with a database of claude-mem, and the request to import it.
fn with_claude_mem(home: &Home) -> ImportForeign {
    let path = home.folder().join("claude-mem.db");
    let database = rusqlite::Connection::open(&path).unwrap();
    database.execute_batch(CLAUDE_MEM).unwrap();
    ImportForeign { source: ForeignSource::ClaudeMem, paths: vec![path], scope: None }
}

fn import(home: &Home, request: &ImportForeign) -> ForeignPlan {
    plan_locked(&home.here(), request, call()).unwrap().import(call()).unwrap()
}

fn imported(home: &Home) -> Vec<MemoryRow> {
    let mut rows = home.store().memories(&MemoryFilter::default()).unwrap();
    rows.retain(|row| row.flags.is_imported);
    rows
}

fn title(home: &Home, id: &str) -> String {
    let request =
        Get { ids: vec![id.to_owned()], sources: Sources::None, freshness: Freshness::Recorded };
    let pieces = get(&home.here(), &request, call()).unwrap();
    match &pieces.pieces[0] {
        Piece::Memory(piece) => piece.memory.entry.title.get().clone(),
        piece => panic!("{piece:?}"),
    }
}

#[test]
fn a_database_of_claude_mem_is_imported_once_and_whole() {
    let home = Home::new();
    let request = with_claude_mem(&home);
    let planned = plan(&home.here(), &request).unwrap().plan;
    assert_eq!((planned.observations, planned.summaries), (6, 1));
    assert_eq!((planned.prompts, planned.sessions), (5, 3));
    assert_eq!((planned.new, planned.known, planned.empty), (10, 0, 0));
    assert!(!home.layout().database().exists(), "a plan changes nothing");

    import(&home, &request);
    let rows = imported(&home);
    assert_eq!(rows.len() as u64, planned.new);
    assert!(rows.iter().all(|row| row.flags.is_note && !row.flags.is_from_person));
    let again = import(&home, &request);
    assert_eq!((again.new, again.changed, again.known), (0, 0, 10));
    assert_eq!(imported(&home).len(), rows.len());

    // The names that people know from there lead to the same memories here.
    assert_eq!(title(&home, "claude-mem:3"), "Full-text index added for notes");
    assert_eq!(title(&home, "claude-mem:S1"), "Make the search fast");
    assert_eq!(title(&home, &format!("claude-mem:{SESSION}")), "Asked: Make the search fast");
    // A secret that lay open there does not come along.
    let journal = std::fs::read_dir(home.layout().journal()).unwrap();
    for segment in journal {
        let text = std::fs::read(segment.unwrap().path()).unwrap();
        assert!(!String::from_utf8_lossy(&text).contains("A1b2C3d4E5f6"));
    }
}

#[test]
fn a_forgotten_memory_does_not_come_again() {
    let home = Home::new();
    let request = with_claude_mem(&home);
    import(&home, &request);
    let memories = Forget::Memories(vec!["claude-mem:6".to_owned()]);
    let targets = forget::find(&home.here(), &memories, call()).unwrap();
    forget::forget(&home.here(), &targets, call()).unwrap();
    let again = import(&home, &request);
    assert_eq!((again.new, again.known, again.forgotten), (0, 9, 1));
    assert_eq!(imported(&home).len(), 9);
}

#[test]
fn projects_are_found_by_sessions_and_by_names() {
    let home = Home::new();
    // A transcript of the session is here, in a project of another name.
    let lantern = home.folder().join("work/lantern-app");
    std::fs::create_dir_all(&lantern).unwrap();
    let mut author = Author::of(SESSION).in_directory(lantern.to_str().unwrap());
    author.asks("Make the search fast").says("It is.");
    home.write(&file(SESSION), author.text());
    let harbor = home.folder().join("work/harbor");
    std::fs::create_dir_all(&harbor).unwrap();
    let mut author = Author::of(ONE).in_directory(harbor.to_str().unwrap());
    author.asks("Where are the docs?").says("In docs.");
    home.write(&file(ONE), author.text());
    home.import();

    let report = import(&home, &with_claude_mem(&home));
    assert_eq!((report.prompts, report.prompts_here), (3, 2));
    assert_eq!(report.unknown_projects.len(), 0);
    let store = home.store();
    let names: std::collections::BTreeSet<String> = imported(&home)
        .iter()
        .map(|row| store.project_name(row.project.unwrap()).unwrap().unwrap())
        .collect();
    assert_eq!(names.into_iter().collect::<Vec<_>>(), ["harbor", "lantern-app"]);
}

#[test]
fn a_project_that_is_not_known_here_joins_it_with_the_next_import() {
    let home = Home::new();
    let request = with_claude_mem(&home);
    let report = import(&home, &request);
    assert_eq!(report.unknown_projects.into_iter().collect::<Vec<_>>(), ["harbor", "lantern"]);
    let harbor = home.folder().join("work/harbor");
    std::fs::create_dir_all(&harbor).unwrap();
    let mut author = Author::of(ONE).in_directory(harbor.to_str().unwrap());
    author.asks("Where are the docs?").says("In docs.");
    home.write(&file(ONE), author.text());
    home.import();
    let again = import(&home, &request);
    assert_eq!((again.new, again.changed), (0, 6));
    assert_eq!(again.unknown_projects.into_iter().collect::<Vec<_>>(), ["lantern"]);
    assert_eq!(imported(&home).len(), 10);
}

#[test]
fn notes_are_imported_for_the_project_that_is_named() {
    let home = Home::imported();
    let notes = home.folder().join("notes");
    std::fs::create_dir(&notes).unwrap();
    std::fs::write(notes.join("why.md"), "# Why SQLite\n\nOne file is enough.\n").unwrap();
    std::fs::write(notes.join("secret.md"), "<private>All of it.</private>").unwrap();
    let mut request = ImportForeign {
        source: ForeignSource::Markdown,
        paths: vec![PathBuf::from("../../notes")],
        scope: Some(ProjectScope::Everywhere),
    };
    let report = import(&home, &request);
    assert_eq!((report.notes, report.new, report.private), (2, 1, 1));
    assert!(imported(&home).iter().all(MemoryRow::is_global));
    assert_eq!(title(&home, "markdown:why.md"), "Why SQLite");
    std::fs::write(notes.join("why.md"), "# Why SQLite\n\nOne file, no server.\n").unwrap();
    let again = import(&home, &request);
    assert_eq!((again.new, again.changed), (0, 1));
    assert_eq!(imported(&home).len(), 1);
    request.paths = vec![PathBuf::from("nowhere")];
    let refused = plan(&home.here(), &request).err().unwrap();
    assert_eq!(refused.kind(), TroubleKind::NotFound);
}

/// A vault of ours is one of basic-memory as well.
#[test]
fn notes_of_a_vault_are_imported_and_left_as_they_are() {
    let vaulted = Vaulted::new();
    let before: Vec<(PathBuf, String)> = vaulted
        .notes()
        .into_iter()
        .map(|path| (path.clone(), std::fs::read_to_string(path).unwrap()))
        .collect();
    let home = Home::new();
    let request = ImportForeign {
        source: ForeignSource::BasicMemory,
        paths: vec![vaulted.folder()],
        scope: None,
    };
    import(&home, &request);
    assert!(imported(&home).len() >= 3);
    let journal = std::fs::read_dir(home.layout().journal()).unwrap();
    let journal: String = journal
        .map(|segment| std::fs::read(segment.unwrap().path()).unwrap())
        .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
        .collect();
    assert!(
        journal.contains("decision: Use one lock file for each index") && !journal.contains("^t-")
    );
    for (path, text) in before {
        assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
    }
}
