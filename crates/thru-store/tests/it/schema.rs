//! From an older schema to this one: whole, interrupted, refused.

use std::fs;

use rusqlite::Connection;
use thru_store::{SCHEMA_VERSION, Store, StoreError};

use crate::support::{Home, generation};

/// A store of the first schema with this many files.
fn old(files: u32) -> Home {
    let home = Home::new();
    drop(Store::open_at_schema(&home.layout(), generation(1), 1).unwrap());
    let database = Connection::open(home.layout().database()).unwrap();
    let fill = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1)
                INSERT INTO files (path) SELECT '/home/ada/src/file' || i || '.rs' FROM n";
    database.execute(fill, [files]).unwrap();
    home
}

fn unnamed(home: &Home) -> u64 {
    let database = Connection::open(home.layout().database()).unwrap();
    let sql = "SELECT count(*) FROM files WHERE '/home/ada/src/' || name <> path";
    database.query_row(sql, [], |row| row.get(0)).unwrap()
}

fn databases(home: &Home) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(home.layout().root())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| !name.ends_with("-wal") && !name.ends_with("-shm"))
        .collect();
    names.sort();
    names
}

#[test]
fn an_old_store_is_upgraded_with_its_rows() {
    let home = old(12_000);
    let mut told = Vec::new();
    let store = Store::open_to_write(&home.layout(), generation(2), &mut |what, done, total| {
        told.push(format!("{what} {done}/{total}"));
        assert_eq!(databases(&home), ["memory.before-v2.db", "memory.db"]);
    })
    .unwrap();
    assert_eq!(store.schema_version().unwrap(), SCHEMA_VERSION);
    // It is still the same store, for its index too.
    assert_eq!(store.generation().unwrap(), generation(1).to_string());
    drop(store);
    assert_eq!(
        told,
        ["naming files 5000/12000", "naming files 10000/12000", "naming files 12000/12000"]
    );
    assert_eq!(unnamed(&home), 0);
    assert_eq!(databases(&home), ["memory.db"]);
}

#[test]
fn an_interrupted_upgrade_goes_on_where_it_stopped() {
    let home = old(12_000);
    // Stopped as by a kill after the first step.
    let stopped = std::panic::catch_unwind(|| {
        let stop = &mut |_: &str, _: u64, _: u64| std::panic::resume_unwind(Box::new("killed"));
        drop(Store::open_to_write(&home.layout(), generation(2), stop));
    });
    assert!(stopped.is_err());
    assert_eq!(unnamed(&home), 7_000);
    let backup = home.layout().root().join("memory.before-v2.db");
    let before = fs::read(&backup).unwrap();
    let mut steps = 0;
    let store = Store::open_to_write(&home.layout(), generation(3), &mut |_, _, _| {
        steps += 1;
        assert_eq!(fs::read(&backup).unwrap(), before, "the copy from before must stay");
    })
    .unwrap();
    assert_eq!(store.schema_version().unwrap(), SCHEMA_VERSION);
    drop(store);
    assert_eq!(steps, 2);
    assert_eq!(unnamed(&home), 0);
    assert_eq!(databases(&home), ["memory.db"]);
}

#[test]
fn the_copy_from_before_an_upgrade_is_a_whole_store() {
    let home = old(10);
    let backup = home.layout().root().join("memory.before-v2.db");
    let mut files = 0;
    Store::open_to_write(&home.layout(), generation(2), &mut |_, _, _| {
        let copy = Connection::open(&backup).unwrap();
        files = copy.query_row("SELECT count(*) FROM files", [], |row| row.get(0)).unwrap();
        let version: u32 = copy.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap();
        assert_eq!(version, 1);
    })
    .unwrap();
    assert_eq!(files, 10);
}

#[test]
fn a_copy_that_was_left_half_written_does_not_stop_an_upgrade() {
    let home = old(10);
    for name in ["memory.before-v2.db", "memory.before-v2.partial"] {
        fs::write(home.layout().root().join(name), b"half").unwrap();
    }
    home.store();
    assert_eq!(databases(&home), ["memory.db"]);
    assert_eq!(unnamed(&home), 0);
}

#[test]
fn a_store_killed_after_the_upgrade_and_before_its_copy_was_removed_opens() {
    let home = old(10);
    home.store();
    fs::write(home.layout().root().join("memory.before-v2.db"), b"left over").unwrap();
    home.store();
    Store::open_to_read(&home.layout()).unwrap();
}

#[test]
fn an_empty_old_store_is_upgraded() {
    let home = old(0);
    assert_eq!(home.store().schema_version().unwrap(), SCHEMA_VERSION);
}

#[test]
fn a_store_of_a_newer_version_is_refused_and_left_as_it_is() {
    let home = Home::new();
    drop(home.store());
    let database = Connection::open(home.layout().database()).unwrap();
    database.pragma_update(None, "user_version", SCHEMA_VERSION + 1).unwrap();
    drop(database);
    let before = fs::read(home.layout().database()).unwrap();
    for error in [
        Store::open_to_read(&home.layout()).err().unwrap(),
        Store::open_to_write(&home.layout(), generation(2), &mut |_, _, _| {}).err().unwrap(),
    ] {
        assert!(matches!(error, StoreError::SchemaTooNew { .. }), "{error:?}");
        assert_eq!(
            error.to_string(),
            format!(
                "the memory was written by a newer version of Throughline (schema {}; this one supports {})",
                SCHEMA_VERSION + 1,
                SCHEMA_VERSION
            )
        );
    }
    assert_eq!(fs::read(home.layout().database()).unwrap(), before);
}

#[test]
fn texts_of_an_older_store_get_their_hashes() {
    let home = Home::new();
    drop(Store::open_at_schema(&home.layout(), generation(1), 6).unwrap());
    let database = Connection::open(home.layout().database()).unwrap();
    let text = b"as it was written".repeat(40);
    let block = zstd::bulk::compress(&text, 3).unwrap();
    for id in 1..=300 {
        let sql = "INSERT INTO text_blocks (id, length, data) VALUES (?1, ?2, ?3)";
        database.execute(sql, (id, text.len() as i64, &block)).unwrap();
    }
    drop(database);
    let store = Store::open_to_write(&home.layout(), generation(2), &mut |_, _, _| {}).unwrap();
    assert_eq!(store.text_problems().unwrap(), Vec::<String>::new());
    let database = Connection::open(home.layout().database()).unwrap();
    let unhashed = "SELECT count(*) FROM text_blocks WHERE hash IS NULL";
    assert_eq!(database.query_row(unhashed, [], |row| row.get::<_, u64>(0)).unwrap(), 0);
    database.execute("UPDATE text_blocks SET length = length + 1 WHERE id = 7", []).unwrap();
    assert_eq!(store.text_problems().unwrap().len(), 1);
}

#[test]
fn keys_that_wait_for_their_facts_wait_in_each_project() {
    let home = Home::new();
    drop(Store::open_at_schema(&home.layout(), generation(1), 10).unwrap());
    let database = Connection::open(home.layout().database()).unwrap();
    let fill = "INSERT INTO projects (id, key, name) VALUES (7, 'dir:/a', 'a');
         INSERT INTO sessions (id, agent, session, project) VALUES
             (1, 'claude-code', 'one', 7), (2, 'claude-code', 'two', NULL);
         INSERT INTO openings (session, place, fold, body) VALUES
             (1, 0, x'01', '{}'), (2, 0, x'01', '{}'), (2, 1, x'02', '{}');
         INSERT INTO unfolded (fold) VALUES (x'01');";
    database.execute_batch(fill).unwrap();
    drop(database);
    home.store();
    let database = Connection::open(home.layout().database()).unwrap();
    let mut waiting = database.prepare("SELECT hex(fold), project FROM unfolded").unwrap();
    let waiting = waiting.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    let waiting: Vec<(String, i64)> = waiting.map(Result::unwrap).collect();
    assert_eq!(waiting, [("01".to_owned(), 0), ("01".to_owned(), 7)]);
}
