//! The vault on the command line, and killed at random moments.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant, SystemTime};

use crate::home::Home;
use crate::records::{conversation, file};

fn vault(home: &Home) -> PathBuf {
    home.folder().join("vault")
}

/// A home with sessions of March, in which something was decided, and without a vault.
fn decided(sessions: u32) -> Home {
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

/// The notes of a vault, by path. Files that are hidden are left out.
fn notes(folder: &Path) -> BTreeMap<PathBuf, String> {
    let mut all = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            all.extend(notes(&path));
        } else if !entry.file_name().to_string_lossy().starts_with('.') {
            all.insert(path.clone(), fs::read_to_string(&path).unwrap());
        }
    }
    all
}

/// A note is as it was or as it shall be, never between, and what a person wrote is there once.
#[test]
fn killed_at_any_moment_each_note_is_old_or_new() {
    let home = decided(6);
    home.thru(&["vault", "init", vault(&home).to_str().unwrap()]).expect(0);
    let began = Instant::now();
    let sync = || home.command().args(["vault", "sync"]).stdout(Stdio::null()).spawn().unwrap();
    assert!(sync().wait().unwrap().success());
    let took = began.elapsed();
    let mut seed = 0x5eed_u64;
    let mut marks = Vec::new();
    for round in 0..12_u32 {
        let (path, text) = {
            let all = notes(&vault(&home));
            let sessions: Vec<_> =
                all.into_iter().filter(|(_, text)| text.contains("## Decisions Made\n")).collect();
            sessions[round as usize % sessions.len()].clone()
        };
        let mark = format!("told-in-round-{round}-");
        let told = format!("## Decisions Made\n- A decision {mark}\n");
        fs::write(&path, text.replacen("## Decisions Made\n", &told, 1)).unwrap();
        let long_ago =
            SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000 + u64::from(round));
        fs::File::options().write(true).open(&path).unwrap().set_modified(long_ago).unwrap();
        marks.push(mark);
        let before = notes(&vault(&home));
        let mut child = sync();
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        std::thread::sleep(took * (seed % 1_000) as u32 / 1_000);
        child.kill().unwrap();
        child.wait().unwrap();
        let killed = notes(&vault(&home));
        home.thru(&["vault", "sync"]).expect(0);
        let after = notes(&vault(&home));
        for (path, text) in killed {
            let is_whole = [&before, &after].iter().any(|all| all.get(&path) == Some(&text));
            assert!(is_whole, "round {round}: {}: {text}", path.display());
        }
        assert_eq!(before.keys().collect::<Vec<_>>(), after.keys().collect::<Vec<_>>());
    }
    let all: String = notes(&vault(&home)).into_values().collect();
    for mark in marks {
        assert_eq!(all.matches(&mark).count(), 1, "{mark}");
    }
}
