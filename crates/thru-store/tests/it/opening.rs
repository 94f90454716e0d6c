//! Opening, replacing and sharing a store.

use std::fs;

use thru_store::{Store, StoreError};

use crate::support::{Home, generation, passage, rows, write};

#[test]
fn reading_a_store_that_is_not_there_makes_none() {
    let home = Home::new();
    let found = Store::open_to_read(&home.layout());
    assert!(matches!(found, Err(StoreError::Missing { .. })));
    assert_eq!(fs::read_dir(home.layout().root()).unwrap().count(), 0);
}

#[test]
fn a_file_that_is_no_database_is_damage() {
    let home = Home::new();
    fs::write(home.layout().database(), vec![b'x'; 4096]).unwrap();
    for error in [
        Store::open_to_read(&home.layout()).err().unwrap(),
        Store::open_to_write(&home.layout(), generation(1), &mut |_, _, _| {}).err().unwrap(),
    ] {
        assert!(matches!(error, StoreError::Corrupt { .. }), "{error:?}");
    }
}

#[test]
fn a_replacement_takes_over_with_no_log_of_the_old_store_beside_it() {
    let home = Home::new();
    let mut old = home.store();
    let mut batch = old.begin().unwrap();
    write(&mut batch, "old", vec![passage("old", 0, "of the old store")], Vec::new());
    batch.commit().unwrap();
    // As after a kill: the old store's log is still there.
    let wal = home.layout().root().join("memory.db-wal");
    assert!(wal.exists());
    std::mem::forget(old);
    let mut new = Store::open_replacement(&home.layout(), generation(2)).unwrap();
    let mut batch = new.begin().unwrap();
    write(&mut batch, "new", vec![passage("new", 0, "of the new store")], Vec::new());
    batch.commit().unwrap();
    new.take_over(&mut || false).unwrap_err();
    // The store is still open here; a killed process has it no longer open.
    let names: Vec<String> = fs::read_dir(home.layout().root())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert!(names.iter().any(|name| name == "memory.db"), "{names:?}");
}

#[test]
fn a_replacement_is_what_is_read_from_then_on() {
    let home = Home::new();
    let mut old = home.store();
    let mut batch = old.begin().unwrap();
    write(&mut batch, "old", vec![passage("old", 0, "of the old store")], Vec::new());
    batch.commit().unwrap();
    drop(old);
    // A log that a killed process left behind.
    fs::write(home.layout().root().join("memory.db-wal"), b"").unwrap();
    let mut new = Store::open_replacement(&home.layout(), generation(2)).unwrap();
    let mut batch = new.begin().unwrap();
    write(&mut batch, "new", vec![passage("new", 0, "of the new store")], Vec::new());
    batch.commit().unwrap();
    new.take_over(&mut || false).unwrap();
    let mut names: Vec<String> = fs::read_dir(home.layout().root())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, ["memory.db"]);
    let store = Store::open_to_read(&home.layout()).unwrap();
    assert_eq!(store.generation().unwrap(), generation(2).to_string());
    let found = rows(&store);
    assert_eq!(found.len(), 1);
    assert_eq!(store.text_of(&found[0]).unwrap(), "of the new store");
}

#[test]
fn a_replacement_takes_the_place_of_a_damaged_store() {
    let home = Home::new();
    fs::write(home.layout().database(), vec![b'x'; 4096]).unwrap();
    fs::write(home.layout().root().join("memory.db-wal"), b"old log").unwrap();
    Store::open_replacement(&home.layout(), generation(2))
        .unwrap()
        .take_over(&mut || false)
        .unwrap();
    assert!(!home.layout().root().join("memory.db-wal").exists());
    Store::open_to_read(&home.layout()).unwrap();
}

#[test]
fn half_a_replacement_is_thrown_away_by_the_next() {
    let home = Home::new();
    let mut new = Store::open_replacement(&home.layout(), generation(2)).unwrap();
    let mut batch = new.begin().unwrap();
    write(&mut batch, "half", vec![passage("half", 0, "never finished")], Vec::new());
    batch.commit().unwrap();
    drop(new);
    let again = Store::open_replacement(&home.layout(), generation(3)).unwrap();
    assert_eq!(rows(&again), []);
}

#[test]
fn readers_see_a_batch_whole_or_not_at_all() {
    let home = Home::new();
    let mut store = home.store();
    let reader = Store::open_to_read(&home.layout()).unwrap();
    let mut batch = store.begin().unwrap();
    write(&mut batch, "s", vec![passage("s", 0, "one"), passage("s", 1, "two")], Vec::new());
    assert_eq!(rows(&reader), []);
    batch.commit().unwrap();
    assert_eq!(rows(&reader).len(), 2);
    let mut batch = store.begin().unwrap();
    write(&mut batch, "s", vec![passage("s", 2, "three")], Vec::new());
    drop(batch);
    assert_eq!(rows(&reader).len(), 2);
}

#[cfg(unix)]
#[test]
fn only_the_owner_may_read_the_database() {
    use std::os::unix::fs::PermissionsExt;
    let home = Home::new();
    let mut store = home.store();
    let mut batch = store.begin().unwrap();
    write(&mut batch, "s", vec![passage("s", 0, "one")], Vec::new());
    batch.commit().unwrap();
    for entry in fs::read_dir(home.layout().root()).unwrap().flatten() {
        let mode = entry.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o600, "{}", entry.path().display());
    }
}
