//! Store, index and archive that lost something: the next import or rebuild puts it right
//! (invariant I-4).

use std::fs;
use std::path::{Path, PathBuf};

use thru_intake::{IntakeError, OnLoss};

use crate::dump;
use crate::machine::{Machine, assert_same};
use crate::records::{Author, ONE, TWO, conversation, file, prompt_of};

/// A machine with sessions, a fork, subagents, a list of prompts, imported in several steps.
fn lived_in() -> Machine {
    let mut fork = Author::of(TWO);
    fork.forks(&conversation(ONE), 4).asks("Another way?");
    let machine = Machine::with([
        (&file(ONE), &conversation(ONE).first(3)),
        ("history.jsonl", &prompt_of("gone", 1_772_355_601_000, "Of a lost importer session")),
    ]);
    machine.import();
    machine.write(&file(TWO), fork.text());
    machine.import();
    machine.write(&file(ONE), conversation(ONE).text());
    let subagent = format!("projects/-home-ada-rocket/{ONE}/subagents/agent-a1.jsonl");
    machine.write(
        &subagent,
        Author::of(ONE).starting_at_record(70).asks("Look.").says("Seen.").text(),
    );
    machine.import();
    machine.assert_sound();
    machine
}

fn remove_store(machine: &Machine) {
    for name in ["memory.db", "memory.db-wal", "memory.db-shm"] {
        let _ = fs::remove_file(machine.layout().root().join(name));
    }
}

fn archived(machine: &Machine, session: &str) -> PathBuf {
    machine.layout().archive().join(format!("claude-code/-home-ada-rocket/{session}.jsonl.zst"))
}

#[test]
fn a_rebuild_gives_the_same_ids_and_the_same_answers() {
    let machine = lived_in();
    let before = machine.dump();
    let words = ["import", "lock", "crash", "toolu", "cargo", "anoth"];
    dump::merge_index(&machine.layout());
    let answers = dump::answers(&machine.layout(), &words);
    assert!(!answers.is_empty());
    let report = machine.rebuild();
    assert_eq!(report.problems, []);
    assert_same(&machine.dump(), &before);
    assert_same(&dump::answers(&machine.layout(), &words), &answers);
    machine.assert_sound();
    // And again, and with another number of threads.
    let mut machine = machine;
    machine.options.threads = 1;
    machine.rebuild();
    assert_same(&machine.dump(), &before);
    assert_same(&dump::answers(&machine.layout(), &words), &answers);
}

#[test]
fn a_rebuild_leaves_one_store_and_one_index() {
    let machine = lived_in();
    machine.rebuild();
    machine.rebuild();
    let names = |path: PathBuf| -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(path)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    };
    let found = names(machine.layout().root().to_owned());
    let databases: Vec<&String> = found.iter().filter(|name| name.contains(".db")).collect();
    assert!(!databases.iter().any(|name| name.contains("rebuild")), "{databases:?}");
    // One of passages and one of memories.
    assert_eq!(names(machine.layout().index()).len(), 2);
}

#[test]
fn a_lost_store_is_made_again_by_an_import() {
    let machine = lived_in();
    let before = machine.dump();
    remove_store(&machine);
    machine.import();
    assert_same(&machine.dump(), &before);
    machine.assert_sound();
}

#[test]
fn a_lost_store_is_made_again_by_a_rebuild_although_the_sources_are_gone() {
    let machine = lived_in();
    let before = machine.dump();
    fs::remove_dir_all(machine.claude()).unwrap();
    remove_store(&machine);
    machine.rebuild();
    assert_same(&machine.dump(), &before);
    machine.assert_sound();
}

#[test]
fn a_damaged_store_is_made_again_by_a_rebuild() {
    let machine = lived_in();
    let before = machine.dump();
    fs::write(machine.layout().database(), b"not a database at all, but long enough to look at")
        .unwrap();
    machine.rebuild();
    assert_same(&machine.dump(), &before);
    machine.assert_sound();
}

#[test]
fn a_lost_index_is_made_again_by_an_import() {
    let machine = lived_in();
    let before = dump::answers(&machine.layout(), &["import", "lock"]);
    fs::remove_dir_all(machine.layout().index()).unwrap();
    // Found all the same, in a small index in memory.
    assert!(!dump::answers(&machine.layout(), &["import", "lock"]).is_empty());
    machine.write(&file(TWO), conversation(TWO).first(1));
    machine.import();
    machine.assert_sound();
    assert!(!before.is_empty());
}

#[test]
fn a_damaged_index_is_made_again_by_an_import() {
    let machine = lived_in();
    for generation in fs::read_dir(machine.layout().index()).unwrap().flatten() {
        fs::write(generation.path().join("meta.json"), "{").unwrap();
    }
    assert!(!machine.verify().is_clean());
    machine.import();
    machine.assert_sound();
    assert!(!dump::answers(&machine.layout(), &["lock"]).is_empty());
}

#[test]
fn a_store_that_is_behind_the_archive_catches_up() {
    let machine = Machine::with([(&file(ONE), &conversation(ONE).first(4))]);
    machine.import();
    // The store as it was before the second import.
    let store = fs::read(machine.layout().database()).unwrap();
    machine.write(&file(ONE), conversation(ONE).text());
    machine.import();
    let before = machine.dump();
    remove_store(&machine);
    fs::write(machine.layout().database(), store).unwrap();
    machine.import();
    assert_same(&machine.dump(), &before);
}

#[test]
fn an_archive_that_lost_its_last_block_is_filled_up_when_the_source_grows() {
    let machine = Machine::with([(&file(ONE), &conversation(ONE).first(4))]);
    machine.import();
    let length = fs::metadata(archived(&machine, ONE)).unwrap().len();
    machine.write(&file(ONE), conversation(ONE).first(8));
    machine.import();
    fs::File::options().write(true).open(archived(&machine, ONE)).unwrap().set_len(length).unwrap();
    machine.write(&file(ONE), conversation(ONE).text());
    machine.import();
    machine.assert_sound();
    let whole = Machine::with([(&file(ONE), &conversation(ONE).text())]);
    whole.import();
    machine.assert_same_as(&whole);
}

#[test]
fn an_archive_that_lost_its_last_block_is_filled_up_by_the_next_import() {
    let machine = Machine::with([(&file(ONE), &conversation(ONE).first(4))]);
    machine.import();
    let length = fs::metadata(archived(&machine, ONE)).unwrap().len();
    machine.write(&file(ONE), conversation(ONE).text());
    machine.import();
    let before = machine.dump();
    for kept in [length, length + 20] {
        let archive = fs::File::options().write(true).open(archived(&machine, ONE)).unwrap();
        archive.set_len(kept).unwrap();
        let found = machine.verify();
        assert!(!found.is_clean());
        machine.import();
        machine.assert_sound();
        assert_same(&machine.dump(), &before);
    }
}

#[test]
fn an_archived_file_that_is_gone_is_made_again_from_its_source() {
    let machine = lived_in();
    let before = machine.dump();
    fs::remove_file(archived(&machine, ONE)).unwrap();
    // The store in use is the last that holds it.
    assert!(matches!(machine.try_rebuild(OnLoss::Refuse), Err(IntakeError::WouldLose(_))));
    let report = machine.try_rebuild(OnLoss::Accept).unwrap();
    assert!(report.lost.passages() > 0, "{:?}", report.lost);
    machine.import();
    machine.assert_sound();
    assert_same(&machine.dump(), &before);
}

#[test]
fn one_flipped_byte_is_found_and_named() {
    let machine = lived_in();
    let path = archived(&machine, ONE);
    let mut bytes = fs::read(&path).unwrap();
    // In the last block, not in a header.
    let at = bytes.len() - 20;
    bytes[at] ^= 0x40;
    fs::write(&path, bytes).unwrap();
    let found = machine.verify();
    assert!(!found.is_clean());
    assert!(found.findings.iter().any(|f| f.serious && f.place.contains(ONE)), "{found:?}");
    // A rebuild says what it could not read, and reads all the rest.
    let report = machine.try_rebuild(OnLoss::Accept).unwrap();
    assert_eq!(report.problems.len(), 1, "{:?}", report.problems);
    assert!(dump::store(&machine.layout()).iter().any(|line| line.contains("Another way?")));
}

#[test]
fn a_rebuild_reads_what_stands_behind_a_damaged_block() {
    let mut words = conversation(ONE);
    let machine = Machine::with([(&file(ONE), &words.text())]);
    machine.import();
    let path = archived(&machine, ONE);
    let first = fs::read(&path).unwrap().len();
    machine.write(&file(ONE), words.asks("And behind it?").text());
    machine.import();
    let mut bytes = fs::read(&path).unwrap();
    bytes[first - 20] ^= 0x40;
    fs::write(&path, bytes).unwrap();
    let report = machine.try_rebuild(OnLoss::Accept).unwrap();
    assert!(report.lost.passages() > 0 && report.problems.len() == 1, "{:?}", report.problems);
    assert!(dump::store(&machine.layout()).iter().any(|line| line.contains("And behind it?")));
}

#[test]
fn a_damaged_header_is_named_by_a_rebuild() {
    const MAGIC: &[u8] = b"first";
    for whole in [false, true] {
        let machine = match whole {
            true => lived_in(),
            false => Machine::with([(&file(ONE), &conversation(ONE).text())]),
        };
        machine.import();
        let path = archived(&machine, ONE);
        let bytes = fs::read(&path).unwrap();
        // One after the other: the first, one between, the last; where there is but one, it is all.
        let headers: Vec<usize> =
            (0..bytes.len() - MAGIC.len()).filter(|at| bytes[*at..].starts_with(MAGIC)).collect();
        assert_eq!(headers.len() > 1, whole, "{headers:?}");
        for at in headers {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0x40;
            fs::write(&path, damaged).unwrap();
            let found = machine.verify();
            assert!(found.findings.iter().any(|f| f.serious && f.place.contains(ONE)), "{found:?}");
            let report = machine.try_rebuild(OnLoss::Accept).unwrap();
            assert_eq!(report.problems.len(), 1, "at byte {at}: {:?}", report.problems);
            assert!(report.problems[0].0.contains(ONE), "{:?}", report.problems);
            // What the fork had in place of the lost goes back to where it belongs.
            fs::write(&path, &bytes).unwrap();
            assert_eq!(machine.try_rebuild(OnLoss::Accept).unwrap().problems, []);
        }
    }
}

/// Copies a folder with all in it.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let (path, target) = (entry.as_ref().unwrap().path(), to.join(entry.unwrap().file_name()));
        match path.is_dir() {
            true => copy(&path, &target),
            false => drop(fs::copy(&path, &target).unwrap()),
        }
    }
}

#[test]
fn files_of_a_commit_that_never_came_are_no_obstacle() {
    let machine = Machine::with([(&file(ONE), &conversation(ONE).first(3))]);
    machine.import();
    let (home, before) = (machine.layout().root().to_owned(), machine.folder().join("before"));
    copy(&home, &before);
    machine.write(&file(ONE), conversation(ONE).text());
    machine.import();
    let whole = machine.dump();
    let after = machine.folder().join("after");
    fs::rename(&home, &after).unwrap();
    fs::rename(&before, &home).unwrap();
    // Killed after it had written which rows are gone, before it said so.
    let mut left = 0;
    for index in fs::read_dir(after.join("index")).unwrap().flatten() {
        let ours = home.join("index").join(index.file_name());
        for entry in fs::read_dir(index.path()).unwrap().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            if name.ends_with(".del") || name == ".managed.json" {
                left += usize::from(name.ends_with(".del"));
                fs::copy(entry.path(), ours.join(name)).unwrap();
            }
        }
        fs::write(ours.join(".tmpabc"), "half").unwrap();
    }
    assert!(left > 0, "nothing was deleted: this shows nothing");
    machine.import();
    assert_same(&machine.dump(), &whole);
    machine.assert_sound();
    let leavings = fs::read_dir(home.join("index"))
        .unwrap()
        .flatten()
        .filter(|index| index.path().join(".tmpabc").exists());
    assert_eq!(leavings.count(), 0);
}
