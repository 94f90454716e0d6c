//! The vault on the command line.

use std::fs;
use std::path::{Path, PathBuf};

use crate::home::Home;
use crate::records::{conversation, file};

pub(crate) fn vault(home: &Home) -> PathBuf {
    home.folder().join("vault")
}

/// A home with sessions of March, in which something was decided, and without a vault.
pub(crate) fn decided(sessions: u32) -> Home {
    let home = Home::new();
    for number in 1..=sessions {
        let id = format!("{number:08x}-aaaa-4aaa-8aaa-{number:012x}");
        let mut author = conversation(&id);
        author.asks("Let's use one lock file for each index, not a global lock.");
        author.says("Agreed: one lock file for each index. Next: make the timeout a setting.");
        home.write(&file(&id), author.text());
    }
    home.thru(&["import"]).expect(0);
    home
}

/// "Session note {exceeds 500 lines / exceeds 3 days old}. Triggering compaction...", "Updated [[{entityName}]] with
/// knowledge from session.", "Session archived to: {archivePath}", "Compaction complete. Session archived.", "Show
/// "Compaction completed in {duration}ms"".
#[test]
fn a_compaction_is_told_step_by_step() {
    let home = decided(1);
    let folder = vault(&home);
    let folder = folder.to_str().unwrap();
    let planned = home.thru(&["vault", "init", folder, "--dry-run"]).expect(0);
    assert!(planned.stdout.starts_with("Would write "), "{}", planned.stdout);
    assert!(!Path::new(folder).exists());
    let made = home.thru(&["vault", "init", folder]).expect(0);
    for message in [
        ": Session note exceeds 3 days old. Triggering compaction...\n",
        "  Updated [[rocket (project)]] with knowledge from session.\n",
        "  Session archived to: projects/rocket/archive/sessions/2026-03-01-",
        "\nCompaction complete. Session archived.\nCompaction completed in ",
    ] {
        assert!(made.stdout.contains(message), "{message} in {}", made.stdout);
    }
    assert_eq!(home.thru(&["vault", "promote"]).expect(1).stdout.lines().count(), 1);
    let retried = home.thru(&["vault", "retry"]).expect(0);
    assert!(retried.stdout.starts_with("Every note is as it should be"), "{}", retried.stdout);
}

/// "MCP unavailable. Cannot finalize session.", "Pending actions: …", and the options: wait and retry, export.
#[test]
fn a_vault_that_is_not_there_is_said_with_what_waits() {
    let home = decided(1);
    home.thru(&["vault", "init", vault(&home).to_str().unwrap()]).expect(0);
    fs::rename(vault(&home), home.folder().join("aside")).unwrap();
    let status = home.thru(&["vault"]).expect(0).stdout;
    let pending = "Pending actions:\n- Session note update\n- Compaction check\n- Archival (if threshold exceeded)\n";
    assert!(status.contains("Cannot finalize sessions.\n") && status.contains(pending), "{status}");
    assert_ne!(home.thru(&["vault", "retry"]).code, 0);
    let export = home.folder().join("export");
    home.thru(&["vault", "export", export.to_str().unwrap()]).expect(0);
    assert!(export.join("projects/rocket/_index.md").exists());
    fs::rename(home.folder().join("aside"), vault(&home)).unwrap();
    home.thru(&["vault", "retry"]).expect(0);
    let inside = vault(&home).join("export");
    let refused = home.thru(&["vault", "export", inside.to_str().unwrap()]).expect(2);
    assert!(refused.stderr.contains("lies in the vault"), "{}", refused.stderr);
    assert!(!inside.exists());
}

#[test]
fn a_sync_that_refuses_says_nothing_else() {
    let home = decided(1);
    home.thru(&["vault", "init", vault(&home).to_str().unwrap()]).expect(0);
    fs::remove_dir_all(vault(&home).join("projects")).unwrap();
    let refused = home.thru(&["vault", "sync"]).expect(2).stdout;
    let first = refused.lines().next().unwrap();
    assert!(
        first.ends_with("are gone at once: nothing was taken in, and nothing written."),
        "{refused}"
    );
}

/// "Session compaction failed. Session note preserved.", "Manual action required", "Error: {error.message}".
#[test]
fn a_compaction_that_fails_says_what_to_do() {
    let home = decided(1);
    fs::create_dir_all(vault(&home).join("projects/rocket")).unwrap();
    fs::write(vault(&home).join("projects/rocket/entities"), "in the way").unwrap();
    let told = home.thru(&["vault", "init", vault(&home).to_str().unwrap()]).stdout;
    for message in [
        "Session compaction failed. Session note preserved.\nManual action required:\n1. Review session note: ",
        "\nError: ",
    ] {
        assert!(told.contains(message), "{told}");
    }
}

#[test]
fn notes_that_went_with_their_folder_are_written_when_the_vault_is_made_again() {
    let home = decided(1);
    let folder = vault(&home);
    let init = ["vault", "init", folder.to_str().unwrap()];
    let made = home.thru(&init).expect(0).stdout;
    fs::remove_dir_all(&folder).unwrap();
    let again = home.thru(&init).expect(0).stdout;
    assert_eq!(again.lines().next(), made.lines().next());
    assert!(!again.contains("gone at once"), "{again}");
    // What is missing from a folder that is there may be a mistake, and is neither written nor explained away.
    fs::remove_dir_all(folder.join("projects")).unwrap();
    let refused = home.thru(&init).expect(2).stdout;
    assert!(refused.contains("gone at once") && refused.contains("thru vault accept"), "{refused}");
    assert!(!refused.contains("Wrote ") && !refused.contains("no session"), "{refused}");
}

#[test]
fn the_screen_tells_why_a_note_is_not_archived() {
    let home = decided(1);
    home.thru(&["vault", "init", vault(&home).to_str().unwrap()]).expect(0);
    assert!(!home.thru(&["vault"]).expect(0).stdout.contains("rocket/"));
    home.thru(&["vault", "unarchive", "00000001"]).expect(0);
    let status = home.thru(&["vault"]).expect(0).stdout;
    assert!(status.contains("-00000001.md: out of the archive until you compact it\n"), "{status}");
    assert!(!status.contains("Triggering") && !status.contains("checkpoint"), "{status}");
}

#[test]
fn a_note_tells_which_decisions_an_agent_told() {
    let home = decided(1);
    home.thru(&["vault", "init", vault(&home).to_str().unwrap()]).expect(0);
    home.tell(&["Ada says two spaces"]);
    let mut agent = home.command();
    agent.env("CLAUDECODE", "1").current_dir(home.project());
    assert!(agent.args(["remember", "An agent says four"]).output().unwrap().status.success());
    home.thru(&["vault", "sync"]).expect(0);
    let note = vault(&home).join("projects/rocket/entities/rocket (project).md");
    let read = || fs::read_to_string(&note).unwrap();
    let line = |words: &str| {
        let note = read();
        note.lines()
            .find(|line| line.contains(words))
            .unwrap_or_else(|| panic!("{note}"))
            .to_owned()
    };
    assert!(line("two spaces").starts_with("- [decision] 20"), "{}", read());
    assert!(line("says four").starts_with("- [decision, told by an agent] 20"), "{}", read());
    // The mark is no part of the words, and the type before it is the line's.
    fs::write(
        &note,
        read().replace("[decision, told by", "[discovery, told by").replace("four", "six"),
    )
    .unwrap();
    home.thru(&["vault", "sync"]).expect(0);
    let found = home.inside(&["search", "agent says six", "--type", "discovery"]).expect(0).stdout;
    assert!(found.contains("discovery  told by an agent: An agent says six  "), "{found}");
}

#[test]
fn imported_decisions_that_the_log_leaves_out_are_named() {
    let home = decided(1);
    home.tell(&["Two spaces"]);
    home.thru(&["vault", "init", vault(&home).to_str().unwrap()]).expect(0);
    let decisions = home.folder().join("decisions.jsonl");
    fs::write(&decisions, home.thru(&["export", "--decisions"]).expect(0).stdout).unwrap();
    let elsewhere = Home::new();
    let imported = elsewhere.thru(&["import", decisions.to_str().unwrap()]).expect(0).stdout;
    assert!(imported.contains("1 note archived"), "{imported}");
    assert!(imported.contains(" `thru log` lists all but the archived notes.\n"), "{imported}");
    let log = elsewhere.thru(&["log", "--all"]).expect(0).stdout;
    assert!(log.contains("Two spaces") && !log.contains("archived"), "{log}");
}

#[test]
fn without_a_vault_every_action_on_one_says_so() {
    let home = decided(1);
    for action in ["restore", "detach", "sync", "resolve"] {
        let refused = home.thru(&["vault", action]).expect(2).stderr;
        assert!(refused.starts_with("error: there is no vault.\n"), "{action}: {refused}");
    }
}

/// A vault is made before anything was recorded, and says why it holds nothing.
#[test]
fn a_vault_of_an_empty_memory_says_why_it_is_empty() {
    let home = Home::new();
    let folder = vault(&home);
    let made = home.thru(&["vault", "init", folder.to_str().unwrap()]).expect(0);
    let (first, why) = made.stdout.split_once('\n').unwrap();
    assert!(first.starts_with("Wrote 0 notes into "), "{first}");
    let expected =
        "Memory holds no session to write yet: `thru import` reads the history on this machine.\n";
    assert_eq!(why, expected);
}

#[test]
fn an_action_on_a_note_says_what_it_did() {
    let home = decided(1);
    let folder = vault(&home);
    home.thru(&["vault", "init", folder.to_str().unwrap()]).expect(0);
    let again = home.thru(&["vault", "compact", "00000001"]).expect(0).stdout;
    assert_eq!(again, "That note is archived already.\n");
    let out = home.thru(&["vault", "unarchive", "00000001"]).expect(0).stdout;
    assert!(out.starts_with("The note is out of the archive."), "{out}");
    assert!(!out.contains("as it should be"), "{out}");
    let index = folder.join("projects/rocket/_index.md");
    let copy = index.with_file_name("_index.sync-conflict-20261122-101010-ABCDEFG.md");
    fs::write(&copy, fs::read_to_string(&index).unwrap() + "\nMine.\n").unwrap();
    for command in ["sync", "status"] {
        let told = home.thru(&["vault", command]).expect(0).stdout;
        assert!(told.contains("Conflict copy: projects/rocket/_index.sync-conflict"), "{told}");
        assert!(told.contains("waits until `thru vault resolve` merges it."), "{told}");
        assert!(!told.contains("as it should be"), "{told}");
    }
}
