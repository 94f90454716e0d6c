//! The vault in the background, as the daemon keeps it.

use std::fs;
use std::path::PathBuf;

use serde_json::json;
use thru_app::vault::{Following, Look};

use crate::home::call;
use crate::records::{Author, file};
use crate::vaulted::{Vaulted, files};

const SESSION: &str = "11111111.md";
const THREE: &str = "33333333-cccc-4ccc-8ccc-000000000003";

/// A session that begins at five past eight in the evening, and says something of these subjects.
fn session(subjects: &[&str]) -> String {
    let mut author = Author::of(THREE).starting_at_record(39_900);
    for subject in subjects {
        author.asks(&format!("Let's use one lock file for each {subject}, not a global lock."));
        let path = format!("/home/ada/rocket/src/{subject}.rs");
        author.calls(
            subject,
            "Edit",
            json!({ "file_path": path, "old_string": "a", "new_string": "b" }),
        );
        author.gets(subject, "The file has been updated.");
        author.says(&format!("Agreed: one lock file for each {subject}."));
    }
    author.text()
}

/// Lets the session go on until this minute after eight.
fn say(vault: &mut Vaulted, minute: u32, subjects: &[&str]) {
    vault.home.write(&file(THREE), session(subjects));
    vault.home.import();
    vault.now = format!("2026-03-01T20:{minute:02}:00Z").parse().unwrap();
}

/// Returns the numbers of notes that were made and changed, and of what was told in them.
fn step(following: &mut Following, vault: &Vaulted, look: Look) -> (usize, usize, usize) {
    let synced = following.sync(&vault.app(), look, call()).unwrap();
    (synced.created, synced.changed, synced.taken.told)
}

/// While a session goes on, what it tells goes into its own note, with what a person wrote there.
#[test]
fn a_session_that_goes_on_is_written_alone() {
    let mut vault = Vaulted::new();
    let following = &mut Following::default();
    step(following, &vault, Look::Sessions);
    say(&mut vault, 6, &["index"]);
    assert_eq!(step(following, &vault, Look::Sessions), (1, 0, 0));
    assert_eq!(step(following, &vault, Look::Sessions), (0, 0, 0));
    assert!(!vault.read("_index").contains("33333333"));
    let tell = |vault: &Vaulted, words: &str| {
        let told = format!("## Decisions Made\n- {words}\n");
        vault.edit("33333333", |note| note.replace("## Decisions Made\n", &told));
    };
    tell(&vault, "Name each lock after its file");
    assert_eq!(step(following, &vault, Look::Everywhere).2, 1);
    step(following, &vault, Look::Everywhere);
    say(&mut vault, 7, &["index", "folder"]);
    assert_eq!(step(following, &vault, Look::Sessions), (0, 1, 0));
    // A note that is not as it was written is looked at, even where its change was not noticed.
    tell(&vault, "Take each lock for a moment only");
    say(&mut vault, 8, &["index", "folder", "journal"]);
    assert_eq!(step(following, &vault, Look::Sessions).2, 1);
    step(following, &vault, Look::Everywhere);
    let note = vault.read("33333333");
    for words in [
        "one lock file for each index.”",
        "one lock file for each folder.”",
        "one lock file for each journal.”",
        "- Name each lock after its file ^t-",
        "- Take each lock for a moment only ^t-",
    ] {
        assert_eq!(note.matches(words).count(), 1, "{words}: {note}");
    }
}

/// The end of a session changes its own note at once; one look at all the others serves the ends of ten minutes.
#[test]
fn the_end_of_a_session_is_written_alone() {
    let mut vault = Vaulted::new();
    let following = &mut Following::default();
    say(&mut vault, 6, &["index"]);
    step(following, &vault, Look::Sessions);
    vault.now = "2026-03-01T20:40:00Z".parse().unwrap();
    let ended = following.sync(&vault.app(), Look::Sessions, call()).unwrap();
    assert_eq!((ended.created, ended.changed), (0, 1), "{ended:?}");
    assert!(vault.read("33333333").contains(" - Session End\n"));
    assert!(!vault.read("_index").contains("33333333"));
    assert_eq!(ended.due.unwrap().to_string(), "2026-03-01T20:50:00Z");
    assert_eq!(step(following, &vault, Look::Sessions), (0, 0, 0));
    vault.now = ended.due.unwrap();
    assert_eq!(step(following, &vault, Look::Sessions), (0, 1, 0));
    assert!(vault.read("_index").contains("33333333"));
    assert_eq!(following.sync(&vault.app(), Look::Sessions, call()).unwrap().due, None);
}

/// A person who asks does not wait for the ten minutes, and a note that reached a limit is compacted at once.
#[test]
fn a_session_that_ends_is_compacted_where_it_reached_a_limit() {
    let mut vault = Vaulted::new();
    let following = &mut Following::default();
    say(&mut vault, 6, &["index"]);
    step(following, &vault, Look::Sessions);
    vault.now = "2026-03-01T20:40:00Z".parse().unwrap();
    step(following, &vault, Look::Sessions);
    assert_eq!(vault.sync().changed, 1);
    assert!(vault.read("_index").contains("33333333"));
    let mut vault = Vaulted::new();
    let following = &mut Following::default();
    vault.home.set(&[("vault.compact_lines", "50")]);
    let subjects: Vec<String> = (0..24).map(|number| format!("part{number}")).collect();
    let subjects: Vec<&str> = subjects.iter().map(String::as_str).collect();
    say(&mut vault, 6, &subjects);
    step(following, &vault, Look::Sessions);
    vault.now = "2026-03-01T20:40:00Z".parse().unwrap();
    let ended = following.sync(&vault.app(), Look::Sessions, call()).unwrap();
    assert_eq!(ended.compacted.len(), 1, "{}", vault.read("33333333"));
}

/// What another process wrote meanwhile counts.
#[test]
fn the_record_of_another_process_is_followed() {
    let mut vault = Vaulted::new();
    let following = &mut Following::default();
    step(following, &vault, Look::Sessions);
    vault.home.remember("Never trust the clock of another machine");
    vault.edit(SESSION, |note| note.replace("## Open Questions", "- Told\n\n## Open Questions"));
    let other = vault.sync();
    assert_eq!((other.created, other.taken.told), (1, 1), "{other:?}");
    say(&mut vault, 6, &["index"]);
    assert_eq!(step(following, &vault, Look::Sessions), (1, 0, 0));
    let again = vault.sync();
    assert_eq!((again.created, again.changed, again.taken.is_empty()), (0, 0, true), "{again:?}");
    assert_eq!(vault.read(SESSION).matches("- Told ^t-").count(), 1);
}

/// Files that we wrote are no news; others are, and so is a folder that came or went.
#[test]
fn what_we_wrote_is_not_looked_at_again() {
    let vault = Vaulted::new();
    let mut following = Following::default();
    let root = vault.folder();
    let differs = |following: &Following, paths: &[PathBuf]| {
        following.differs(&root, &paths.iter().cloned().collect())
    };
    assert!(differs(&following, &[vault.path(SESSION)]), "nothing is known yet");
    step(&mut following, &vault, Look::Everywhere);
    let all = files(&root);
    assert!(!differs(&following, &all));
    assert!(!differs(&following, &[root.join("never was.md"), root.join("picture.png")]));
    fs::write(root.join("picture.png"), "not read").unwrap();
    assert!(!differs(&following, &[root.join("picture.png")]));
    fs::write(root.join("mine.md"), "My own.\n").unwrap();
    assert!(differs(&following, &[root.join("mine.md")]));
    step(&mut following, &vault, Look::Everywhere);
    assert!(!differs(&following, &[root.join("mine.md")]));
    vault.edit(SESSION, |note| format!("{note}\nMine.\n"));
    assert!(differs(&following, &all));
    let came = root.join("came");
    fs::create_dir(&came).unwrap();
    assert!(differs(&following, std::slice::from_ref(&came)));
    fs::rename(root.join("projects"), came.join("projects")).unwrap();
    assert!(differs(&following, &[root.join("projects")]));
}
