//! `thru verify` and `thru rebuild`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use insta::assert_snapshot;
use serde_json::{Value, json};
use thru_core::Id;
use thru_store::Store;

use crate::faulting::eventually;
use crate::home::Home;
use crate::hooking::{hook, layout};
use crate::records::{ONE, TWO};

fn answers(home: &Home) -> Vec<Value> {
    let answer = |query: &&str| {
        let mut answer = home.json(&["search", "--all", "--json", query]);
        // What had to be done before depends on what was done before that.
        answer["preparation"].take();
        answer
    };
    ["importer lock", "E0502", "irrigation", "pears", "crash file"].iter().map(answer).collect()
}

#[test]
fn a_whole_memory_is_clean() {
    let home = Home::imported();
    let _settings = home.settings();
    assert_snapshot!(home.shown(&["verify"]), @r"
    journal  2 records
    archive  14 lines in 3 files, [size] as [size]
    store    11 passages
    index    11 passages
    Everything is as it was written.
    ");
    assert_eq!(home.json(&["verify", "--json"])["clean"], true);
}

#[test]
fn a_rebuild_gives_the_same_ids_and_answers() {
    let home = Home::imported();
    let _settings = home.settings();
    let ids = [home.id_of("importer"), home.id_of("irrigation")];
    let shown = |id: &String| home.thru(&["show", id, "--json", "--source"]).stdout;
    let (before, passages) = (answers(&home), ids.each_ref().map(shown));
    assert_snapshot!(home.shown(&["rebuild"]), @"Made 11 passages again from 3 archived files in [time].");
    assert_eq!(answers(&home), before);
    assert_eq!(ids.each_ref().map(shown), passages);
    home.thru(&["verify"]).expect(0);
}

#[test]
fn a_flipped_byte_is_found_and_named() {
    let home = Home::imported();
    let _settings = home.settings();
    let path = home.data().join(format!("archive/claude-code/-home-ada-rocket/{ONE}.jsonl.zst"));
    let mut bytes = fs::read(&path).unwrap();
    let last = bytes.len() - 20;
    bytes[last] ^= 1;
    fs::write(&path, bytes).unwrap();
    let ran = home.thru(&["verify"]).expect(2);
    assert!(ran.stdout.contains(&format!("{ONE}.jsonl: ")), "{}", ran.shown());
    assert_eq!(home.json(&["verify", "--json"])["clean"], false);
    // Search goes on as before.
    home.thru(&["search", "--all", "importer"]).expect(0);
}

#[test]
fn a_lost_store_is_named_and_made_again() {
    let home = Home::imported();
    let _settings = home.settings();
    let before = answers(&home);
    lose_store(&home);
    assert_snapshot!(home.shown(&["verify"]), @r"
    journal  2 records
    archive  14 lines in 3 files, [size] as [size]
    store    0 passages
    index    0 passages
    memory.db: there is no memory at [folder]/home/memory.db
    1 problem found.
    `thru rebuild` rebuilds store and index from journal and archive.
    -- exit 2 --
    ");
    home.thru(&["rebuild"]).expect(0);
    assert_eq!(answers(&home), before);
    home.thru(&["verify"]).expect(0);
}

/// Deletes the store of a home.
fn lose_store(home: &Home) {
    for name in ["memory.db", "memory.db-wal", "memory.db-shm"] {
        let _ = fs::remove_file(home.data().join(name));
    }
}

/// The ways in which a store is lost.
const LOSSES: [fn(&Home); 3] = [
    lose_store,
    |home| overwrite_store(home, b""),
    |home| overwrite_store(home, b"\0\0\0\0 not what was written here"),
];

fn overwrite_store(home: &Home, bytes: &[u8]) {
    lose_store(home);
    fs::write(home.data().join("memory.db"), bytes).unwrap();
}

#[test]
fn a_lost_store_is_made_again_by_the_next_command() {
    let home = Home::imported();
    let before = answers(&home);
    let commands: [&[&str]; 5] = [
        &["search", "--all", "importer lock"],
        &["status"],
        &["sync-history"],
        &["import"],
        &["remember", "The pears are ripe."],
    ];
    for lose in LOSSES {
        lose(&home);
        home.thru(&["verify"]).expect(2);
        assert_eq!(answers(&home), before);
    }
    for (command, lose) in commands.iter().zip(LOSSES.iter().cycle()) {
        lose(&home);
        let ran = home.thru(command).expect(0);
        let told = ran.stderr.matches("rebuilding it from journal and archive").count();
        assert_eq!(told, 1, "{command:?} {}", ran.shown());
        home.thru(&["verify"]).expect(0);
    }
}

#[test]
fn hooks_alone_have_a_lost_store_made_again() {
    for lose in LOSSES {
        let home = Home::imported();
        lose(&home);
        hook(&home, TWO, "SessionStart", json!({ "source": "startup" }));
        eventually(|| Store::open_to_read(&layout(&home)).is_ok());
        // The process that was left behind ends.
        eventually(|| home.thru(&["verify"]).code == 0);
    }
}

/// The kinds of files in the indexes of a home, each with all files of this kind.
fn index_files(home: &Home) -> BTreeMap<String, Vec<PathBuf>> {
    let mut files: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
    for folder in fs::read_dir(home.data().join("index")).unwrap() {
        for file in fs::read_dir(folder.unwrap().path()).unwrap() {
            let path = file.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap();
            let kind = name.rsplit_once('.').map_or(name, |(_, kind)| kind);
            if !name.starts_with('.') {
                files.entry(kind.to_owned()).or_default().push(path.clone());
            }
        }
    }
    files
}

/// The ways in which a file is damaged.
const DAMAGES: [fn(&Path); 3] = [
    |file| fs::remove_file(file).unwrap(),
    |file| {
        let bytes = fs::read(file).unwrap();
        fs::write(file, &bytes[..bytes.len() / 2]).unwrap();
    },
    |file| {
        let mut bytes = fs::read(file).unwrap();
        bytes.iter_mut().take(24).for_each(|byte| *byte = 0x81);
        fs::write(file, bytes).unwrap();
    },
];

#[test]
fn a_damaged_index_is_named_and_made_again() {
    let home = Home::imported();
    let before = answers(&home);
    for (kind, damage) in index_files(&home).into_keys().zip(DAMAGES.iter().cycle()) {
        for path in &index_files(&home)[&kind] {
            damage(path);
        }
        let verified = home.thru(&["verify"]).expect(2);
        let is_told = verified.stdout.contains("index: that of passages is damaged")
            && verified.stdout.contains("`thru rebuild`");
        assert!(is_told, "{kind} {}", verified.shown());
        let examined = home.thru(&["doctor"]);
        let is_told = examined.stdout.contains("that of passages is damaged");
        assert!(is_told, "{kind} {}", examined.shown());
        // Not all damage is in what a question reads, or stops it.
        home.thru(&["search", "--all", "importer lock"]).expect(0);
        home.thru(&["rebuild"]).expect(0);
        home.thru(&["verify"]).expect(0);
    }
    assert_eq!(answers(&home), before);
}

#[test]
fn an_index_that_is_gone_is_made_again_by_the_next_question() {
    let home = Home::imported();
    let before = answers(&home);
    fs::remove_dir_all(home.data().join("index")).unwrap();
    let verified = home.thru(&["verify"]).expect(0);
    assert!(verified.stdout.contains("index    0 passages"), "{}", verified.shown());
    assert_eq!(answers(&home), before);
    let verified = home.thru(&["verify"]).expect(0);
    assert!(verified.stdout.contains("index    11 passages"), "{}", verified.shown());
}

#[test]
fn an_empty_store_beside_an_archive_is_a_fault() {
    let home = Home::imported();
    let _settings = home.settings();
    lose_store(&home);
    let made = Store::open_to_write(&layout(&home), Id::derive(&[b"new"]), &mut |_, _, _| {});
    drop(made.unwrap());
    let ran = home.thru(&["verify"]).expect(2);
    assert!(ran.stdout.contains("holds nothing of 3 archived files"), "{}", ran.shown());
    home.thru(&["rebuild"]).expect(0);
    home.thru(&["verify"]).expect(0);
}

#[test]
fn a_lost_index_is_made_again_unnoticed() {
    let home = Home::imported();
    let _settings = home.settings();
    let ids = |home: &Home| -> Vec<String> {
        ["importer lock", "irrigation"].iter().map(|query| home.id_of(query)).collect()
    };
    let before = ids(&home);
    fs::remove_dir_all(home.data().join("index")).unwrap();
    assert_eq!(ids(&home), before);
    home.thru(&["verify"]).expect(0);
    home.thru(&["import"]).expect(0);
    assert_eq!(ids(&home), before);
    home.thru(&["verify"]).expect(0);
}

#[test]
fn a_damaged_store_is_an_error_that_says_what_to_do() {
    let home = Home::imported();
    let _settings = home.settings();
    for name in ["memory.db-wal", "memory.db-shm"] {
        let _ = fs::remove_file(home.data().join(name));
    }
    let path = home.data().join("memory.db");
    let mut bytes = fs::read(&path).unwrap();
    // What says that it is a database is left.
    bytes[100..8192].fill(7);
    fs::write(path, bytes).unwrap();
    assert_snapshot!(home.shown(&["search", "importer"]), @r"
    -- stderr --
    error: memory.db is damaged: database disk image is malformed.
    hint: run `thru rebuild`: it rebuilds the store from journal and archive.
    -- exit 2 --
    ");
    home.thru(&["verify"]).expect(2);
    home.thru(&["rebuild"]).expect(0);
    home.thru(&["search", "--all", "importer"]).expect(0);
    home.thru(&["verify"]).expect(0);
}

#[test]
fn a_memory_of_a_newer_version_is_left_as_it_is() {
    let home = Home::imported();
    let _settings = home.settings();
    let database = rusqlite::Connection::open(home.data().join("memory.db")).unwrap();
    database.pragma_update(None, "user_version", 99).unwrap();
    drop(database);
    for arguments in [&["search", "importer"][..], &["import"], &["sessions"]] {
        let ran = home.thru(arguments).expect(2);
        assert!(ran.stderr.contains("newer version"), "{arguments:?}: {}", ran.shown());
    }
    assert_snapshot!(home.shown(&["sessions"]), @r#"
    -- stderr --
    error: the memory was written by a newer version of Throughline (schema 99; this one supports 15).
    hint: install the newer version of Throughline.
    -- exit 2 --
    "#);
}

#[test]
fn an_empty_memory_is_clean() {
    let home = Home::new();
    home.write("projects/-x/77777777-aaaa-4aaa-8aaa-000000000007.jsonl", "");
    home.thru(&["import"]).expect(0);
    home.thru(&["verify"]).expect(0);
    home.thru(&["rebuild"]).expect(0);
    home.thru(&["sessions"]).expect(1);
}
