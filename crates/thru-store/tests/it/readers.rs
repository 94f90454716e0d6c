//! Readers that leave their connection to the next one.

use std::fs;

use thru_store::{Readers, Store, StoreError};

use crate::support::{Home, generation, passage, rows, write};

fn add(store: &mut Store, text: &str) {
    let mut batch = store.begin().unwrap();
    write(&mut batch, text, vec![passage(text, 0, text)], Vec::new());
    batch.commit().unwrap();
}

/// A replacement of the store that holds one text.
fn replacement(home: &Home, text: &str) -> Store {
    let mut store = Store::open_replacement(&home.layout(), generation(2)).unwrap();
    add(&mut store, text);
    store
}

fn texts(readers: &Readers, home: &Home) -> Vec<String> {
    let store = readers.open(&home.layout()).unwrap();
    rows(&store).iter().map(|row| store.text_of(row).unwrap()).collect()
}

#[test]
fn a_connection_is_kept_until_it_is_closed_and_sees_what_is_written_meanwhile() {
    let home = Home::new();
    let readers = Readers::keeping();
    assert!(matches!(readers.open(&home.layout()), Err(StoreError::Missing { .. })));
    let mut store = home.store();
    add(&mut store, "one");
    assert_eq!(texts(&readers, &home), ["one"]);
    add(&mut store, "two");
    assert_eq!(texts(&readers, &home), ["one", "two"]);
    // Nothing holds up a checkpoint.
    store.checkpoint().unwrap();
    assert_eq!(fs::metadata(home.layout().root().join("memory.db-wal")).unwrap().len(), 0);
    drop(store);
    // A connection is open, so that nothing can replace the store. Kept before the replacement was begun, it is
    // closed by its keeper or by the next reader.
    let new = replacement(&home, "new");
    assert!(matches!(new.take_over(&mut || false), Err(StoreError::Busy { .. })));
    let new = replacement(&home, "new");
    readers.close();
    new.take_over(&mut || false).unwrap();
    assert_eq!(texts(&readers, &home), ["new"]);
}

#[test]
fn no_connection_is_kept_while_a_replacement_is_made() {
    let home = Home::new();
    let readers = Readers::keeping();
    let mut store = home.store();
    add(&mut store, "old");
    drop(store);
    assert_eq!(texts(&readers, &home), ["old"]);
    let new = replacement(&home, "new");
    assert_eq!(texts(&readers, &home), ["old"]);
    new.take_over(&mut || false).unwrap();
    assert_eq!(texts(&readers, &home), ["new"]);
}

#[test]
fn readers_that_keep_nothing_hold_nothing_up() {
    let home = Home::new();
    let readers = Readers::default();
    let mut store = home.store();
    add(&mut store, "old");
    drop(store);
    assert_eq!(texts(&readers, &home), ["old"]);
    replacement(&home, "new").take_over(&mut || false).unwrap();
    assert_eq!(texts(&readers, &home), ["new"]);
}

#[cfg(unix)]
#[test]
fn a_store_that_was_removed_or_replaced_by_hand_is_read_as_it_is_now() {
    let home = Home::new();
    let readers = Readers::keeping();
    let mut store = home.store();
    add(&mut store, "old");
    drop(store);
    assert_eq!(texts(&readers, &home), ["old"]);
    let remove = || {
        for name in ["memory.db", "memory.db-wal", "memory.db-shm"] {
            let _ = fs::remove_file(home.layout().root().join(name));
        }
    };
    remove();
    assert!(matches!(readers.open(&home.layout()), Err(StoreError::Missing { .. })));
    let mut store = home.store();
    add(&mut store, "new");
    assert_eq!(texts(&readers, &home), ["new"]);
}
