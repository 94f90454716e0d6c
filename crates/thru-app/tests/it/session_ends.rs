//! The end of a session, as the specification of the session-end hook has it: each test names the section that it quotes.
//! Where the vault does otherwise, the test says so.

use std::fs;

use thru_app::App;
use thru_app::vault::{
    ActiveState, Promotion, attention, compact, promote, promotions, status, unarchive,
};
use thru_core::MemoryKind;
use thru_store::{MemoryFilter, Store};

use crate::home::call;
use crate::records::{Author, ONE, TWO, file};
use crate::vaulted::Vaulted;

const SESSION: &str = "11111111.md";

/// "If both thresholds are not exceeded: Display: "Session note below threshold ({lineCount} lines, {ageInDays} days
/// old). Keeping active." Mark session status as "active" in frontmatter", and "Note next checkpoint time".
#[test]
fn a_note_below_the_threshold_stays_active() {
    let vault = Vaulted::new();
    assert!(vault.read(SESSION).contains("\nstatus: active\n"));
    let status = status(&vault.app(), call()).unwrap();
    let active = status.active.iter().find(|one| one.session == ONE).unwrap();
    let expected = format!(
        "Session note below threshold ({} lines, 0 days old). Keeping active.",
        vault.read(SESSION).lines().count()
    );
    assert_eq!((active.sentence.as_str(), active.state), (expected.as_str(), ActiveState::Small));
    assert!(active.next.unwrap().to_string().starts_with("2026-03-04T"));
}

/// "2. Final Session Note Update": "Add heading: "Session End"", "Add message: "Session completed. Work finalized."".
#[test]
fn a_session_that_is_over_has_a_closing_entry() {
    let text = Vaulted::new().read(SESSION);
    let closing = text.split("## Work Log").nth(1).unwrap().split("\n## ").next().unwrap();
    assert!(closing.contains(" - Session End\n- Session completed. Work finalized. ^t-"), "{text}");
}

/// "4. Compact Session Note", "5. Update Entity Notes", "6. Archive Session Note", "7. Create Backlinks".
#[test]
fn an_old_note_is_compacted_archived_and_linked_back() {
    let vault = Vaulted::new().after(3);
    let original = vault.path(SESSION);
    let synced = vault.sync();
    assert_eq!((synced.compacted.len(), synced.failed.len()), (2, 0), "{synced:?}");
    assert!(!original.exists(), "one note of a name: links to it stay clear");
    let archived = vault.path(SESSION);
    assert!(archived.to_string_lossy().contains("projects/rocket/archive/sessions/"));
    let text = fs::read_to_string(&archived).unwrap();
    for line in [
        "status: archived",
        "archived_date: 2026-03-04",
        "archived_reason: Compaction threshold exceeded",
    ] {
        assert!(text.contains(&format!("\n{line}\n")), "{text}");
    }
    let entity = vault.read("entities/rocket (project)");
    let decision = text.lines().find(|line| line.starts_with("- [decision]")).unwrap();
    let id = decision.rsplit(" ^t-").next().unwrap();
    let decisions = entity.split("## Key Decisions").nth(1).unwrap().split("\n## ").next().unwrap();
    assert!(decisions.contains(&format!("^t-{id}")), "{entity}");
    let name = archived.file_stem().unwrap().to_string_lossy().into_owned();
    assert!(
        entity.contains(&format!("- [[{name}]] - Archived session (compacted) ^t-")),
        "{entity}"
    );
    assert!(text.contains("- touches [[rocket (project)|rocket]]"), "{text}");
    // Each line is written once, however often it runs.
    let again = vault.sync();
    assert_eq!((again.created, again.changed, again.compacted.len()), (0, 0, 0));
}

/// "Archive Verification Failed": "Revert session status to "active"", "Add frontmatter.archive_error", "session preserved
/// at original location", "Retry archival on next session end"; "Archive directory missing: Create directory
/// automatically".
#[test]
fn an_archive_that_fails_leaves_the_note_active_and_is_tried_again() {
    let vault = Vaulted::new().after(3);
    let original = vault.path(SESSION);
    let archive = vault.folder().join("projects/rocket/archive");
    fs::write(&archive, "in the way").unwrap();
    let synced = vault.sync();
    assert!(
        synced.compacted.is_empty() && synced.failed.iter().all(|one| one.is_archive),
        "{synced:?}"
    );
    let text = fs::read_to_string(&original).unwrap();
    assert!(text.contains("\nstatus: active\n") && text.contains("\narchive_error: "), "{text}");
    assert_eq!(status(&vault.app(), call()).unwrap().failed.len(), 2);
    let expected = "2 session notes could not be compacted";
    assert_eq!(attention(&vault.app()).as_deref(), Some(expected));
    fs::remove_file(&archive).unwrap();
    assert_eq!(vault.sync().compacted.len(), 2);
    assert_eq!(attention(&vault.app()), None);
    assert!(!original.exists() && !vault.read(SESSION).contains("archive_error"));
}

/// "Compaction Failure": "Do NOT archive if compaction failed", "Set frontmatter.status = "compaction_failed"", "Add
/// frontmatter.error = error message".
#[test]
fn a_compaction_that_fails_leaves_the_note_and_says_so() {
    let vault = Vaulted::new().after(3);
    let original = vault.path(SESSION);
    let entities = vault.folder().join("projects/rocket/entities");
    fs::write(&entities, "in the way").unwrap();
    let synced = vault.sync();
    assert!(synced.failed.iter().any(|one| !one.is_archive), "{synced:?}");
    let text = fs::read_to_string(&original).unwrap();
    assert!(
        text.contains("\nstatus: compaction_failed\nthru_id") || text.contains("\nerror: "),
        "{text}"
    );
    fs::remove_file(&entities).unwrap();
    assert_eq!(vault.sync().failed.len(), 0);
    assert!(vault.read(SESSION).contains("\nstatus: archived\n"));
}

/// "If FileNotFoundError: No session note was created this session. Display: "No session note created this session.""
#[test]
fn a_session_without_a_note_is_said_to_have_none() {
    let vault = Vaulted::new();
    let mut empty = Author::of("33333333-cccc-4ccc-8ccc-000000000003");
    empty.asks("/clear");
    vault.home.write(&file("33333333-cccc-4ccc-8ccc-000000000003"), empty.text());
    vault.home.import();
    let trouble = compact(&vault.app(), "33333333", call()).unwrap_err();
    assert_eq!(trouble.message(), "No session note created this session.");
}

/// "Leave original note with archived status (default behavior)": here a setting, and a short note that shows the other.
#[test]
fn an_original_that_is_kept_shows_the_archived_note() {
    let vault = Vaulted::new().after(3);
    vault.home.set(&[("vault.keep_original", "true")]);
    let original = vault.path(SESSION);
    vault.sync();
    let name = original.file_stem().unwrap().to_string_lossy().into_owned();
    let archived = vault.path("archive/sessions/");
    assert!(archived.exists());
    let stub = fs::read_to_string(&original).unwrap();
    assert!(stub.contains(&format!("- ![[{name} (archived)]] ^t-")), "{stub}");
    assert!(stub.contains("\nstatus: archived\n"), "{stub}");
    let entity = vault.read("entities/rocket (project)");
    assert!(entity.contains(&format!("- [[{name} (archived)]] - Archived session")), "{entity}");
    let again = vault.sync();
    assert_eq!((again.created, again.changed, again.copies.len()), (0, 0, 0), "{again:?}");
    unarchive(&vault.app(), "11111111", call()).unwrap();
    let text = fs::read_to_string(&original).unwrap();
    assert!(text.contains("\nstatus: active\n") && text.contains("## Work Log"), "{text}");
}

/// A process that was killed between the two halves of a move left the note in both places.
#[test]
fn half_of_an_archive_is_begun_again() {
    let vault = Vaulted::new().after(3);
    let original = vault.path(SESSION);
    let text = vault.read(SESSION);
    let record = vault.app().layout.run().join("vault/notes.json");
    let known = fs::read_to_string(&record).unwrap();
    vault.sync();
    let archived = vault.path(SESSION);
    let whole = fs::read_to_string(&archived).unwrap();
    let undone = Vaulted::new().after(3);
    let place = undone.folder().join(archived.strip_prefix(vault.folder()).unwrap());
    fs::create_dir_all(place.parent().unwrap()).unwrap();
    fs::write(&place, &whole).unwrap();
    let below = archived.strip_prefix(vault.folder()).unwrap().to_string_lossy().into_owned();
    let hash = thru_core::content_hash(whole.as_bytes());
    let own = undone.app().layout.run().join("vault/notes.json");
    let known =
        known.replace(&*vault.folder().to_string_lossy(), &undone.folder().to_string_lossy());
    let mut known: serde_json::Value = serde_json::from_str(&known).unwrap();
    known["archiving"] = serde_json::json!({ below: hash.to_string() });
    // The stamps are those of the other home, so that each note is read again.
    fs::write(&own, known.to_string()).unwrap();
    assert_eq!(
        undone.read(
            "rocket/sessions/2026-03-01-use-one-lock-file-for-each-index-not-a-global-lock-11111111"
        ),
        text
    );
    let synced = undone.sync();
    assert_eq!((synced.copies.len(), synced.failed.len()), (0, 0), "{synced:?}");
    assert_eq!(fs::read_to_string(&place).unwrap(), whole);
    assert!(!undone.folder().join(original.strip_prefix(vault.folder()).unwrap()).exists());
}

/// "Review cross-project recall tracking", "Check for promotion threshold (3 recalls)".
#[test]
fn a_note_that_other_projects_recall_is_proposed_and_promoted() {
    let vault = Vaulted::new().after(3);
    vault.sync();
    assert_eq!(promotions(&vault.app(), call()).unwrap().proposed, []);
    let memory = {
        let store = Store::open_to_read(&vault.app().layout).unwrap();
        let memories = store.memories(&MemoryFilter::default()).unwrap();
        let mut observations = memories.into_iter().filter(|one| one.kind != MemoryKind::Summary);
        observations.find(|one| one.title.starts_with("Use one lock")).unwrap().id
    };
    for number in 1..=3 {
        let session = format!("4444444{number}-dddd-4ddd-8ddd-000000000004");
        let mut author = Author::of(&session).in_directory("/home/ada/orchard");
        author.asks("How did we lock the index?").runs("t1", &format!("thru show {memory}"));
        author.gets("t1", "Use one lock file for each index");
        vault.home.write(&file(&session), author.text());
    }
    vault.home.import();
    let proposed = promotions(&vault.app(), call()).unwrap().proposed;
    let expected = Promotion {
        note: "rocket (project)".to_owned(),
        project: "rocket".to_owned(),
        recalls: 3,
        is_preferences: false,
    };
    assert_eq!(proposed, [expected]);
    assert_eq!(status(&vault.app(), call()).unwrap().proposed, proposed);
    vault.edit("rocket (project)", |text| format!("{text}\nMy own words.\n"));
    promote(&vault.app(), "Rocket (Project)", call()).unwrap();
    let path = vault.path("rocket (project).md");
    assert!(path.ends_with("global/entities/rocket (project).md"), "{path:?}");
    let text = vault.read("rocket (project).md");
    assert!(text.contains("\nproject: global\n") && text.ends_with("\nMy own words.\n"), "{text}");
    let redirect = vault.read("projects/rocket/entities/rocket (project) (moved)");
    assert!(redirect.contains("- moved_to [[rocket (project)]] ^t-"), "{redirect}");
    assert_eq!(promotions(&vault.app(), call()).unwrap().proposed, []);
    let again = vault.sync();
    assert_eq!((again.created, again.changed, again.left.len()), (0, 0, 0), "{again:?}");
    assert!(promote(&vault.app(), "rocket (project)", call()).is_err(), "it is one already");
}

#[test]
fn a_note_is_compacted_by_hand_and_taken_out_of_the_archive_again() {
    let vault = Vaulted::new();
    let synced = compact(&vault.app(), "11111111", call()).unwrap();
    assert_eq!(synced.compacted.len(), 1, "{synced:?}");
    assert!(vault.path(SESSION).to_string_lossy().contains("/archive/sessions/"));
    assert!(vault.read(SESSION).contains("\narchived_reason: Compacted by hand\n"));
    unarchive(&vault.app(), "11111111", call()).unwrap();
    assert!(vault.path(SESSION).to_string_lossy().contains("rocket/sessions/"));
    let text = vault.read(SESSION);
    assert!(text.contains("\nstatus: active\n") && !text.contains("archived_date"), "{text}");
    let vault = vault.after(9);
    let active = |app: &App, session: &str| {
        let active = status(app, call()).unwrap().active;
        active.iter().find(|one| one.session == session).map(|one| one.state)
    };
    assert_eq!(active(&vault.app(), ONE), Some(ActiveState::TakenOut));
    assert_eq!(active(&vault.app(), TWO), Some(ActiveState::Due));
    assert_eq!(vault.sync().compacted.len(), 1, "it stays out; the other one does not");
    assert_eq!(active(&vault.app(), TWO), None);
    assert!(unarchive(&vault.app(), "11111111", call()).is_err());
}

#[test]
fn an_unarchive_that_fails_takes_no_effect() {
    let vault = Vaulted::new();
    compact(&vault.app(), "11111111", call()).unwrap();
    let (folder, aside) = (vault.folder(), vault.folder().with_file_name("aside"));
    fs::rename(&folder, &aside).unwrap();
    unarchive(&vault.app(), "11111111", call()).unwrap_err();
    fs::rename(&aside, &folder).unwrap();
    vault.sync();
    assert!(vault.path(SESSION).to_string_lossy().contains("/archive/sessions/"));
    let status = status(&vault.app(), call()).unwrap();
    assert!(status.active.iter().all(|one| one.session != ONE), "{status:?}");
}

/// "Threshold Testing": "Test Case 1: Line Threshold" to "Test Case 4: Neither Threshold".
#[test]
fn a_note_is_compacted_for_its_lines_or_its_age() {
    for (lines, days, reached) in [
        (600, 1, Some("exceeds 500 lines")),
        (300, 4, Some("exceeds 3 days old")),
        (600, 4, Some("exceeds 500 lines and exceeds 3 days old")),
        (200, 1, None),
    ] {
        let vault = Vaulted::new();
        let mine = |text: String| {
            let more = lines - text.lines().count();
            text + &"Words of mine.\n".repeat(more)
        };
        vault.edit(SESSION, mine);
        let vault = vault.after(days);
        let synced = vault.sync();
        let own = synced.compacted.iter().find(|one| one.session == ONE);
        assert_eq!(own.map(|one| one.reached.as_deref()), reached.map(Some), "{lines} {days}");
        let text = vault.read(SESSION);
        let is_archived = text.contains("\nstatus: archived\n");
        assert_eq!(is_archived, reached.is_some(), "{text}");
    }
}

/// "1. Load Current Session Note": "If session note exists: Proceed to finalize the session"; "2. Final Session Note
/// Update": "Set updated to current date". Here it is the day of what was said last: two machines write the same.
#[test]
fn the_dates_of_a_note_are_those_of_its_session() {
    let vault = Vaulted::new();
    let text = vault.read(SESSION);
    assert!(text.contains("\ncreated: 2026-03-01\nupdated: 2026-03-01\n"), "{text}");
    let vault = vault.after(3);
    vault.sync();
    assert!(vault.read(SESSION).contains("\nupdated: 2026-03-04\n"), "the day it was archived");
}

/// "4. Compact Session Note": "All wikilinked entities get updated with reference to this session"; "7. Create Backlinks":
/// "bidirectional links between archived sessions and the entities they contributed to".
#[test]
fn each_note_that_a_session_touches_links_back() {
    let vault = Vaulted::new().after(3);
    let synced = vault.sync();
    let own = synced.compacted.iter().find(|one| one.session == ONE).unwrap();
    let archived = vault.path(SESSION);
    let name = archived.file_stem().unwrap().to_string_lossy().into_owned();
    let text = vault.read(SESSION);
    assert!(!own.updated.is_empty());
    for note in &own.updated {
        assert!(text.contains(&format!("- touches [[{note}")), "{note} in {text}");
        let there = vault.read(&format!("{note}.md"));
        assert!(there.contains(&format!("- [[{name}]] - Archived session (compacted) ^t-")));
    }
}

/// "5. Update Entity Notes": "If conflict detected, trigger conflict resolution": what a person wrote into the note of an
/// entity meanwhile stays, and so does what is compacted.
#[test]
fn what_a_person_wrote_into_an_entity_outlives_a_compaction() {
    let vault = Vaulted::new();
    compact(&vault.app(), "11111111", call()).unwrap();
    vault.edit("entities/rocket (project)", |text| {
        text.replace("## Gotchas", "- Mine, and new\n\nProse of mine.\n\n## Gotchas")
            .replace("[decision] 2026-03-01: ", "[decision] 2026-03-01: In other words: ")
    });
    compact(&vault.app(), "22222222", call()).unwrap();
    vault.sync();
    let entity = vault.read("entities/rocket (project)");
    for part in ["- Mine, and new ^t-", "\nProse of mine.\n", "In other words: "] {
        assert_eq!(entity.matches(part).count(), 1, "{part} in {entity}");
    }
    assert_eq!(entity.matches("- Archived session (compacted) ^t-").count(), 2, "{entity}");
}

/// "6. Archive Session Note": "Archived notes retain full content and frontmatter", "Never delete notes (always archive)".
#[test]
fn an_archived_note_holds_all_that_it_held() {
    let vault = Vaulted::new();
    vault.edit(SESSION, |text| {
        text.replacen("---\n", "---\nrating: 4\n", 1) + "\n## Mine\nWords of mine.\n"
    });
    vault.sync();
    let before = vault.read(SESSION);
    let vault = vault.after(3);
    vault.sync();
    let after = vault.read(SESSION);
    let is_status = |line: &&str| line.starts_with("status: ") || line.starts_with("updated: ");
    for line in before.lines().filter(|line| !is_status(line)) {
        assert!(after.contains(line), "{line} in {after}");
    }
}

/// "Compaction Failure": "Session will remain in active state with error marker", "User can manually compact and archive
/// later".
#[test]
fn what_failed_is_compacted_by_hand_once_it_can_be() {
    let vault = Vaulted::new();
    let entities = vault.folder().join("projects/rocket/entities");
    fs::write(&entities, "in the way").unwrap();
    let failed = compact(&vault.app(), "11111111", call()).unwrap();
    assert_eq!((failed.compacted.len(), failed.failed.len()), (0, 1), "{failed:?}");
    assert!(vault.read(SESSION).contains("\nstatus: compaction_failed\n"));
    let expected = "1 session note could not be compacted, 1 note of the vault cannot be written";
    assert_eq!(attention(&vault.app()).as_deref(), Some(expected), "said at the next start");
    fs::remove_file(&entities).unwrap();
    let done = compact(&vault.app(), "11111111", call()).unwrap();
    assert_eq!((done.compacted.len(), done.failed.len()), (1, 0), "{done:?}");
    assert!(!vault.read(SESSION).contains("\nerror: "));
}

/// "Compaction Performance": "even with 10+ entity updates". How long it takes is told, and measured elsewhere.
#[test]
fn many_entities_are_updated_by_one_compaction() {
    let author = |session: &str| {
        let mut author = Author::of(session);
        for number in 0..12 {
            let path = format!("/home/ada/rocket/src/part{number}.rs");
            let call = format!("toolu_{number}");
            let input =
                serde_json::json!({ "file_path": path, "old_string": "a", "new_string": "b" });
            author.asks(&format!("Let part {number} take its lock first."));
            author.calls(&call, "Edit", input).gets(&call, "The file has been updated.");
            author.says("Done.");
        }
        author
    };
    let sessions = [ONE, TWO, "33333333-cccc-4ccc-8ccc-000000000003"];
    let vault = Vaulted::of(&sessions.map(|session| (session, author(session))));
    for session in &sessions[..2] {
        compact(&vault.app(), session, call()).unwrap();
    }
    let synced = compact(&vault.app(), sessions[2], call()).unwrap();
    assert!(synced.compacted[0].updated.len() >= 12, "{synced:?}");
}
