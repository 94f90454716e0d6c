//! The vault: notes of what is remembered, and what people do to them.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use thru_app::TroubleKind;
use thru_app::keep::forget::{Forget, find, forget};
use thru_app::keep::redact::{add_rule, apply};
use thru_app::keep::undo::undo;
use thru_app::vault::{
    SyncVault, VaultSettled, attention, detach, export, init, note, note_text, resolve, restore,
    status, sync,
};
use thru_core::Timestamp;

use crate::home::{Home, call};
use crate::records::{Author, ONE, TWO};
use crate::vaulted::{Vaulted, decided, files};

const SESSION: &str = "11111111.md";

#[test]
fn notes_are_written_once_and_a_dry_run_writes_none() {
    let vault = Vaulted::new();
    let before: Vec<(PathBuf, String)> = vault
        .notes()
        .into_iter()
        .map(|path| (path.clone(), fs::read_to_string(path).unwrap()))
        .collect();
    assert!(before.len() >= 3, "{before:?}");
    let again = vault.sync();
    assert_eq!((again.created, again.changed, again.waiting), (0, 0, 0));
    for (path, text) in before {
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
    }
    let views = vault.folder().join("Throughline.base");
    fs::remove_file(&views).unwrap();
    vault.sync();
    assert!(!views.exists(), "views are written once");
    let home = Home::imported();
    let folder = home.data().with_file_name("vault");
    let dry = init(&home.app(), Some(&folder), true, call()).unwrap();
    assert!(dry.dry_run && dry.synced.created > 0);
    assert!(!folder.exists());
    assert_eq!(status(&home.app(), call()).unwrap().vault, None);
}

#[test]
fn a_vault_of_other_notes_gets_a_plain_folder() {
    let home = Home::imported();
    let other = home.data().with_file_name("notes");
    fs::create_dir_all(other.join(".obsidian")).unwrap();
    fs::write(other.join("mine.md"), "mine").unwrap();
    let made = init(&home.app(), Some(&other), false, call()).unwrap();
    assert_eq!((made.vault, made.within), (other.join("Throughline"), Some(other.clone())));
    assert!(!other.join("Throughline/.obsidian").exists());
    assert_eq!(fs::read_to_string(other.join("mine.md")).unwrap(), "mine");
    let elsewhere = other.with_file_name("elsewhere");
    let trouble = init(&home.app(), Some(&elsewhere), false, call()).unwrap_err();
    assert_eq!(trouble.kind(), TroubleKind::Refused);
}

#[test]
fn what_a_person_writes_comes_back_into_memory() {
    let vault = Vaulted::new();
    let line = vault.read(SESSION);
    let line = line.lines().find(|line| line.starts_with("- [decision]")).unwrap();
    let (line, id) = line.rsplit_once(" ^t-").unwrap();
    vault.edit(SESSION, |text| {
        text.replace(line, "- [decision] One **lock** for each index")
            .replace(
                "## Open Questions",
                "- Never trust the clock of another machine\n\n## Open Questions",
            )
            .replace("# Thanks", "# My own title, and\nwords of mine\n")
    });
    let synced = vault.sync();
    assert_eq!((synced.taken.edited, synced.taken.told), (1, 1));
    let titles = vault.titles();
    assert!(titles.contains(&"One **lock** for each index".to_owned()), "{titles:?}");
    assert!(titles.contains(&"Never trust the clock of another machine".to_owned()), "{titles:?}");
    let text = vault.read(SESSION);
    assert!(
        text.contains(&format!("- [decision] One **lock** for each index ^t-{id}\n")),
        "{text}"
    );
    let told = text.lines().find(|line| line.starts_with("- Never trust")).unwrap();
    assert!(told.contains(" ^t-"), "{told}");
    let again = vault.sync();
    assert!(again.taken.is_empty() && again.changed == 0, "{again:?}");
    undo(&vault.app(), None, call()).unwrap();
    assert!(!vault.titles().contains(&"Never trust the clock of another machine".to_owned()));
    vault.sync();
    assert!(!vault.read(SESSION).contains("Never trust"));
}

#[test]
fn a_secret_in_a_note_does_not_reach_memory() {
    let vault = Vaulted::new();
    let secret = format!("ghp_{}", "a1B2c3D4e5F6".repeat(3));
    vault.edit(SESSION, |text| {
        text.replace("## Open Questions", &format!("- The token is {secret}\n\n## Open Questions"))
    });
    assert_eq!(vault.sync().taken.told, 1);
    assert!(vault.titles().iter().all(|title| !title.contains(&secret)));
}

#[test]
fn what_a_person_removes_stays_away_and_is_still_remembered() {
    let vault = Vaulted::new();
    let titles = vault.titles();
    let text = vault.read(SESSION);
    let line = text.lines().find(|line| line.starts_with("- [decision]")).unwrap().to_owned();
    vault.edit(SESSION, |text| text.replace(&format!("{line}\n"), ""));
    assert_eq!(vault.sync().taken.removed, 1);
    assert_eq!(vault.sync().changed, 0);
    assert!(!vault.read(SESSION).contains(&line));
    assert_eq!(vault.titles(), titles);
    undo(&vault.app(), None, call()).unwrap();
    vault.sync();
    assert!(vault.read(SESSION).contains(&line));
}

#[test]
fn a_moved_note_keeps_its_identity_and_a_deleted_one_stays_away() {
    let vault = Vaulted::new();
    let moved = vault.folder().join("Mine/My session.md");
    fs::create_dir_all(moved.parent().unwrap()).unwrap();
    fs::rename(vault.path(SESSION), &moved).unwrap();
    let synced = vault.sync();
    assert_eq!((synced.created, synced.taken.notes), (0, 0));
    assert!(vault.read("_index").contains("[[My session|"));
    fs::remove_file(&moved).unwrap();
    assert_eq!(vault.sync().taken.notes, 1);
    let again = vault.sync();
    assert_eq!((again.created, again.taken.notes), (0, 0));
}

#[test]
fn a_loss_is_not_taken_in_before_it_is_accepted() {
    let vault = Vaulted::new();
    let aside = vault.folder().with_file_name("aside");
    fs::rename(vault.folder().join("projects"), &aside).unwrap();
    let lost = vault.sync();
    assert!(lost.loss.is_some() && lost.created == 0, "{lost:?}");
    assert!(status(&vault.app(), call()).unwrap().loss.is_some());
    fs::rename(&aside, vault.folder().join("projects")).unwrap();
    let back = vault.sync();
    assert!(back.loss.is_none() && back.taken.is_empty());
    fs::remove_dir_all(vault.folder().join("projects")).unwrap();
    let accepted = sync(&vault.app(), &SyncVault { accept: true, ..SyncVault::default() }, call());
    assert!(accepted.unwrap().taken.notes >= 3);
}

#[test]
fn most_notes_of_a_small_vault_are_a_loss() {
    let ids: Vec<String> =
        (3..9).map(|at| format!("{at}3333333-aaaa-4aaa-8aaa-000000000003")).collect();
    let sessions: Vec<(&str, _)> = ids.iter().map(|id| (id.as_str(), decided(id))).collect();
    let vault = Vaulted::of(&sessions);
    // Ten notes are no loss for their number.
    let notes = vault.notes();
    notes.iter().skip(1).take(9).for_each(|note| fs::remove_file(note).unwrap());
    let lost = vault.sync();
    assert!(lost.loss.is_some() && lost.taken.is_empty(), "{lost:?}");
}

/// "MCP Unavailable": here the folder of the vault is not there.
#[test]
fn a_vault_that_is_not_there_costs_nothing() {
    let vault = Vaulted::new();
    let aside = vault.folder().with_file_name("aside");
    fs::rename(vault.folder(), &aside).unwrap();
    let trouble = sync(&vault.app(), &SyncVault::default(), call()).unwrap_err();
    assert_eq!(trouble.kind(), TroubleKind::NotFound);
    assert!(
        attention(&vault.app()).unwrap().ends_with("vault is not there: notes of sessions wait")
    );
    assert!(!vault.folder().exists(), "it is not made anew");
    fs::rename(&aside, vault.folder()).unwrap();
    assert!(vault.sync().taken.is_empty());
}

#[test]
fn copies_of_sync_programs_are_listed_and_left_alone() {
    let vault = Vaulted::new();
    let text = vault.read(SESSION);
    let copy = vault.path(SESSION).with_file_name("x.sync-conflict-20261122-101010-ABCDEFG.md");
    fs::write(&copy, text.replace("[decision]", "[decision] changed")).unwrap();
    let renamed = vault.path(SESSION).with_file_name("x 2.md");
    fs::write(&renamed, &text).unwrap();
    let synced = vault.sync();
    assert_eq!((synced.copies.len(), synced.taken.is_empty()), (2, true), "{synced:?}");
    assert!(copy.exists() && renamed.exists());
}

#[test]
fn a_forgotten_session_leaves_no_note() {
    let vault = Vaulted::new();
    let request = Forget::Session { id: ONE.to_owned(), with_effects: false };
    let targets = find(&vault.app(), &request, call()).unwrap();
    forget(&vault.app(), &targets, call()).unwrap();
    vault.sync();
    assert!(vault.notes().iter().all(|path| !path.to_string_lossy().contains("11111111")));
}

#[test]
fn a_note_is_found_by_its_session() {
    let vault = Vaulted::new();
    let place = note(&vault.app(), "11111111", call()).unwrap();
    assert_eq!(place.path, vault.path(SESSION));
    assert!(place.uri.starts_with("obsidian://open?path=%2F") && !place.uri.contains(' '));
    let text = note_text(&vault.app(), "11111111", call()).unwrap();
    assert_eq!(*text.get(), vault.read(SESSION));
}

#[test]
fn a_deleted_note_is_restored_when_asked_for() {
    let vault = Vaulted::new();
    let path = vault.path(SESSION);
    let text = vault.read(SESSION);
    fs::remove_file(&path).unwrap();
    vault.sync();
    assert!(!path.exists());
    restore(&vault.app(), Some("11111111"), call()).unwrap();
    assert_eq!(vault.read(SESSION), text);
    let none = restore(&vault.app(), None, call()).unwrap_err();
    assert_eq!(none.message(), "there is no deleted note to write again");
    let stands = restore(&vault.app(), Some("11111111"), call()).unwrap_err();
    assert_eq!(stands.message(), "the note of that session was not deleted");
}

#[test]
fn a_conflict_copy_is_merged_and_kept() {
    let vault = Vaulted::new();
    let text = vault.read(SESSION);
    let decision = text.lines().find(|line| line.starts_with("- [decision]")).unwrap();
    let (decision, _) = decision.rsplit_once(" ^t-").unwrap();
    let copy = vault.path(SESSION).with_file_name("x.sync-conflict-20261122-101010-ABCDEFG.md");
    let other = text
        .replace(decision, "- [decision] Said on the other machine")
        .replace(
            "## Next Steps",
            "- Told on the other machine\n\nProse of the other machine.\n\n## Next Steps",
        )
        .replace("## Open Questions", "- Decided on the other machine\n\n## Open Questions");
    fs::write(&copy, other).unwrap();
    vault.edit(SESSION, |text| text.replace("## Open Questions", "My prose.\n\n## Open Questions"));
    let resolved = resolve(&vault.app(), call()).unwrap();
    assert_eq!((resolved.merged.len(), resolved.left.len()), (1, 0), "{resolved:?}");
    assert!(!copy.exists() && fs::read_dir(&resolved.kept_in).unwrap().count() == 1);
    let merged = vault.read(SESSION);
    for part in [
        "- [decision] Said on the other machine ^t-",
        "Decided on the other machine ^t-",
        "My prose.\n",
        "> [!question] Only in `x.sync-conflict-20261122-101010-ABCDEFG.md`\n",
        "> Prose of the other machine.\n",
        "> - Told on the other machine\n",
    ] {
        assert!(merged.contains(part), "{part} in {merged}");
    }
    assert!(resolve(&vault.app(), call()).unwrap().merged.is_empty());
}

/// Moved by a person, and a copy of it came with it: the record does not tell where the note is now.
#[test]
fn a_copy_of_a_note_that_was_moved_is_merged_where_the_note_is() {
    let vault = Vaulted::new();
    let text = vault.read(SESSION);
    let gone = vault.path(SESSION);
    fs::remove_file(&gone).unwrap();
    assert_eq!(vault.sync().taken.notes, 1);
    let moved = vault.folder().join("Mine/My session.md");
    fs::create_dir_all(moved.parent().unwrap()).unwrap();
    fs::write(&moved, &text).unwrap();
    let copy = moved.with_file_name("My session.sync-conflict-20261122-101010-ABCDEFG.md");
    fs::write(&copy, format!("{text}\nProse of the other machine.\n")).unwrap();
    let resolved = resolve(&vault.app(), call()).unwrap();
    assert_eq!((resolved.merged.len(), resolved.left.len()), (1, 0), "{resolved:?}");
    let merged = fs::read_to_string(&moved).unwrap();
    assert!(merged.ends_with("\n> Prose of the other machine.\n"), "{merged}");
    assert!(!copy.exists() && !gone.exists());
}

#[test]
fn a_version_of_another_machine_takes_no_line_away() {
    let vault = Vaulted::new();
    let text = vault.read(SESSION);
    let line = text.lines().find(|line| line.starts_with("- [decision]")).unwrap().to_owned();
    let theirs = "- [bugfix] Found on the other machine ^t-0123456789";
    vault.edit(SESSION, |text| text.replace(&line, theirs));
    let synced = vault.sync();
    assert_eq!((synced.taken.removed, synced.changed), (0, 1));
    let both = vault.read(SESSION);
    assert!(both.contains(&line) && both.contains(theirs), "{both}");
    assert_eq!(vault.sync().changed, 0);
}

#[test]
fn without_the_record_nothing_is_written_twice() {
    let vault = Vaulted::new();
    let text = vault.read(SESSION);
    let state = vault.app().layout.run().join("vault");
    for file in fs::read_dir(&state).unwrap().map(|entry| entry.unwrap().path()) {
        if file.extension().is_some_and(|ending| ending == "md") {
            fs::write(file, "damaged").unwrap();
        }
    }
    vault.sync();
    assert_eq!(vault.read(SESSION), text);
    fs::remove_dir_all(&state).unwrap();
    let synced = vault.sync();
    assert_eq!((synced.created, synced.taken.is_empty(), vault.read(SESSION)), (0, true, text));
}

#[test]
fn notes_are_exported_and_a_detached_vault_is_left_to_the_person() {
    let vault = Vaulted::new();
    let aside = vault.folder().with_file_name("export");
    let files = export(&vault.app(), &aside, call()).unwrap();
    assert_eq!(files.notes, vault.notes().len());
    assert!(export(&vault.app(), &aside, call()).is_err(), "it is not empty");
    vault.edit(SESSION, |text| format!("{text}\nMy own words.\n"));
    detach(&vault.app()).unwrap();
    let text = vault.read(SESSION);
    assert!(
        !text.contains("^t-") && !text.contains("thru_id") && text.ends_with("\nMy own words.\n")
    );
    assert_eq!(status(&vault.app(), call()).unwrap().vault, None);
}

#[test]
fn text_of_a_person_outlives_a_forgotten_session() {
    let vault = Vaulted::new();
    vault.edit(SESSION, |text| format!("{text}\nMy own words.\n"));
    vault.sync();
    let request = Forget::Session { id: ONE.to_owned(), with_effects: false };
    let targets = find(&vault.app(), &request, call()).unwrap();
    forget(&vault.app(), &targets, call()).unwrap();
    let synced = vault.sync();
    assert_eq!(synced.left.len(), 1, "{synced:?}");
    let text = vault.read(SESSION);
    assert!(text.ends_with("\nMy own words.\n") && !text.contains("^t-"), "{text}");
}

/// A status that a person sets is as good as a command.
#[test]
fn a_note_is_archived_by_its_status() {
    let vault = Vaulted::new();
    vault.edit(SESSION, |text| text.replace("\nstatus: active\n", "\nstatus: archived\n"));
    assert_eq!(vault.sync().taken.statuses, 1);
    let text = vault.read(SESSION);
    assert!(text.contains("\nstatus: archived\n") && text.contains("\narchived_date: "), "{text}");
    assert!(vault.read("entities/rocket (project)").contains("- Archived session (compacted)"));
    assert!(vault.path(SESSION).to_string_lossy().contains("/archive/sessions/"));
    vault.edit(SESSION, |text| text.replace("\nstatus: archived\n", "\nstatus: active\n"));
    assert_eq!(vault.sync().taken.statuses, 1);
    assert!(vault.path(SESSION).to_string_lossy().contains("rocket/sessions/"));
    assert!(!vault.read(SESSION).contains("\narchived_date: "));
}

/// Some systems hand names back with their accents apart.
#[test]
fn a_name_in_another_normal_form_is_the_same_note() {
    let vault = Vaulted::new();
    let accented = vault.path(SESSION).with_file_name("Ma s\u{e9}ance.md");
    fs::rename(vault.path(SESSION), &accented).unwrap();
    vault.sync();
    let apart = accented.with_file_name("Ma se\u{301}ance.md");
    fs::rename(&accented, &apart).unwrap();
    let synced = vault.sync();
    assert_eq!((synced.created, synced.taken.is_empty(), synced.copies.len()), (0, true, 0));
    assert!(vault.sync().taken.is_empty());
    let own = vault.notes().into_iter().filter(|path| path.to_string_lossy().contains("ance.md"));
    assert_eq!(own.collect::<Vec<_>>(), [apart]);
}

/// Nothing is compared with memory again while neither changed; a person's own note is nothing of that.
#[test]
fn notes_are_passed_over_while_nothing_is_new() {
    let vault = Vaulted::new();
    let first = vault.sync();
    assert!(first.is_compared || !vault.sync().is_compared, "a second look is enough");
    fs::write(vault.folder().join("mine.md"), "My own.\n").unwrap();
    let again = vault.sync();
    assert_eq!((again.is_compared, again.unchanged), (false, vault.notes().len() - 1));
    vault.home.remember("Never trust the clock of another machine");
    assert!(vault.sync().is_compared);
    assert!(!vault.sync().is_compared);
    vault.home.set(&[("vault.compact_lines", "50")]);
    assert!(vault.sync().is_compared);
    let later = vault.after(1);
    assert!(later.sync().is_compared, "notes grow old");
}

/// However long a person makes a line, nothing of it is lost, nor of the text below it.
#[test]
fn a_line_that_a_person_made_long_loses_nothing() {
    let vault = Vaulted::new();
    let line = |note: &str| {
        note.lines().find(|line| line.starts_with("- [decision]")).map(str::to_owned).unwrap()
    };
    let long = |word: &str| {
        format!("{word} every process that writes it takes this lock first ").repeat(3)
    };
    // The first becomes the text of the memory, which has none; the second stays in the line.
    for words in [long("as"), long("because")] {
        vault.edit(SESSION, |note| {
            let old = line(&note);
            let (text, id) = old.rsplit_once(" ^t-").unwrap();
            note.replace(&old, &format!("{text} {} ^t-{id}", words.trim()))
        });
        assert_eq!(vault.sync().taken.edited, 1);
        vault.sync();
    }
    let note = vault.read(SESSION);
    assert!(line(&note).contains(long("because").trim()), "{note}");
    assert!(note.contains(long("as").trim()), "{note}");
}

/// *Recent Changes* shows the title of a memory alone: a line that a person made long there does not overwrite its text.
#[test]
fn a_line_that_a_person_made_long_leaves_a_text_that_its_note_does_not_show() {
    const PROJECT: &str = "entities/rocket (project)";
    let vault = Vaulted::new().after(3);
    vault.sync();
    let line = |note: &str| {
        let changes = note.split("## Recent Changes\n").nth(1).unwrap();
        changes.lines().find(|line| line.starts_with("- [")).unwrap().to_owned()
    };
    let long = |word: &str| {
        format!("{word} every process that writes it takes this lock first ").repeat(3)
    };
    // The first becomes the text of the memory, which its session's note shows; the second stays in the line.
    for words in [long("as"), long("because")] {
        vault.edit(PROJECT, |note| {
            let old = line(&note);
            let (text, id) = old.rsplit_once(" ^t-").unwrap();
            note.replace(&old, &format!("{text} {} ^t-{id}", words.trim()))
        });
        assert_eq!(vault.sync().taken.edited, 1);
        vault.sync();
    }
    let all: String = vault.notes().iter().map(|path| fs::read_to_string(path).unwrap()).collect();
    for words in [long("as"), long("because")] {
        assert!(all.contains(words.trim()), "{words}: {all}");
    }
}

/// A command waits a moment for the daemon, which writes for a moment.
#[test]
fn a_command_waits_for_another_process_that_writes() {
    let vault = Vaulted::new();
    let lock = fs::File::options().write(true).open(vault.app().layout.run().join("vault/lock"));
    let lock = lock.unwrap();
    lock.lock().unwrap();
    let other = std::thread::spawn(move || {
        std::thread::sleep(std::time::Duration::from_millis(100));
        drop(lock);
    });
    assert!(vault.sync().taken.is_empty());
    other.join().unwrap();
}

/// Where names are folded, two that differ in case alone would be one file.
#[test]
fn no_two_names_of_notes_are_one_where_case_is_folded() {
    let vault = Vaulted::new();
    let taken = vault.path(SESSION);
    let name = taken.file_name().unwrap().to_string_lossy().to_uppercase();
    let other = taken.with_file_name(name.replace(".MD", ".md"));
    fs::rename(&taken, taken.with_file_name("mine.md")).unwrap();
    fs::write(&other, "A note of my own.\n").unwrap();
    fs::remove_file(taken.with_file_name("mine.md")).unwrap();
    vault.sync();
    restore(&vault.app(), Some("11111111"), call()).unwrap();
    let names: Vec<String> =
        vault.notes().iter().map(|path| thru_vault::folded(&path.to_string_lossy())).collect();
    let distinct: std::collections::BTreeSet<&String> = names.iter().collect();
    assert_eq!(distinct.len(), names.len(), "{names:?}");
    assert_eq!(fs::read_to_string(&other).unwrap(), "A note of my own.\n");
}

/// A home whose vault says a word in its titles, its lines and the names of its files, with a line of a person's.
fn told_of_quartz() -> Vaulted {
    let mut author = Author::of(ONE);
    author
        .asks("Let's use one quartzheron key for each index, not a global lock.")
        .says("Agreed: one quartzheron key for each index. Next: make the quartzheron a setting.");
    let vault = Vaulted::of(&[(ONE, author), (TWO, decided(TWO))]);
    vault.edit(SESSION, |text| format!("{text}\nMy quartzheron line.\n"));
    vault.sync();
    let notes = vault.read(SESSION) + &vault.read("_index");
    assert!(notes.matches("quartzheron").count() > 3, "{notes}");
    assert!(vault.path(SESSION).to_string_lossy().contains("quartzheron"));
    vault
}

/// Returns what is left of a word in the vault and in the data directory.
fn left_of(vault: &Vaulted, word: &str) -> Vec<String> {
    let mut left = Vec::new();
    for path in files(&vault.folder()).into_iter().chain(files(&vault.home.data())) {
        if path.to_string_lossy().contains(word) {
            left.push(path.display().to_string());
        }
        let text = fs::read(&path).unwrap();
        let text = String::from_utf8_lossy(&text);
        left.extend(text.lines().filter(|line| line.contains(word)).map(str::to_owned));
    }
    left
}

#[test]
fn redaction_takes_a_text_out_of_our_lines_and_names_those_of_people() {
    for is_rule in [true, false] {
        let vault = told_of_quartz();
        let applied = match is_rule {
            true => add_rule(&vault.app(), "quartz", "quartz[a-z]+", true, call()),
            false => apply(&vault.app(), Some("quartzheron"), call()),
        };
        let settled = applied.unwrap().vault.unwrap();
        assert_eq!(settled.yours.values().sum::<usize>(), 1, "{settled:?}");
        let left = left_of(&vault, "quartzheron");
        assert_eq!(left, ["My quartzheron line."], "a rule: {is_rule}");
        assert!(vault.sync().taken.is_empty());
        assert_eq!(left_of(&vault, "quartzheron"), left);
        forgotten(&vault, ONE);
        assert!(!vault.read(SESSION).contains("^t-"), "{}", vault.read(SESSION));
    }
}

#[test]
fn a_session_forgotten_after_a_redaction_leaves_no_note() {
    let vault = Vaulted::new();
    add_rule(&vault.app(), "one", "one lock file", true, call()).unwrap();
    apply(&vault.app(), Some("make the timeout"), call()).unwrap();
    let settled = forgotten(&vault, ONE);
    assert_eq!((settled.removed, settled.left.len()), (1, 0), "{settled:?}");
    assert!(vault.notes().iter().all(|path| !path.to_string_lossy().contains(SESSION)));
    assert!(!vault.read("_index").contains("Thanks"), "{}", vault.read("_index"));
}

/// A note that may be open in an editor is left alone, and named.
#[test]
fn a_note_that_was_saved_a_moment_ago_is_cleaned_by_the_next_sync() {
    let vault = told_of_quartz();
    let note = vault.path(SESSION);
    fs::write(&note, vault.read(SESSION) + "Another quartzheron line.\n").unwrap();
    let saved = |at: Timestamp| {
        let at = SystemTime::UNIX_EPOCH + Duration::from_secs(at.as_second() as u64);
        fs::File::options().write(true).open(&note).unwrap().set_modified(at).unwrap();
    };
    saved(vault.now);
    let applied = apply(&vault.app(), Some("quartzheron"), call()).unwrap();
    let settled = applied.vault.unwrap();
    assert!(!settled.is_done() && settled.yours.is_empty(), "{settled:?}");
    saved(Timestamp::UNIX_EPOCH);
    vault.sync();
    let left = left_of(&vault, "quartzheron");
    assert_eq!(left, ["My quartzheron line.", "Another quartzheron line."]);
}

/// What an older version kept of notes is text, which cleaning would change.
#[test]
fn the_record_of_an_older_version_is_hashed_before_it_is_cleaned() {
    let vault = told_of_quartz();
    let state = vault.app().layout.run().join("vault");
    let path = state.join("notes.json");
    let mut record: serde_json::Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    for (id, note) in record["notes"].as_object_mut().unwrap() {
        let text = fs::read(vault.folder().join(note["path"].as_str().unwrap())).unwrap();
        fs::write(state.join(format!("{id}.md")), text).unwrap();
        let note = note.as_object_mut().unwrap();
        note.remove("base").unwrap();
        note.remove("length").unwrap();
    }
    fs::write(&path, record.to_string()).unwrap();
    add_rule(&vault.app(), "quartz", "quartz[a-z]+", true, call()).unwrap();
    let left = left_of(&vault, "quartzheron");
    assert!(left.iter().all(|line| !line.contains("^t-")), "{left:?}");
}

fn forgotten(vault: &Vaulted, session: &str) -> VaultSettled {
    let request = Forget::Session { id: session.to_owned(), with_effects: false };
    let targets = find(&vault.app(), &request, call()).unwrap();
    forget(&vault.app(), &targets, call()).unwrap().vault.unwrap()
}
