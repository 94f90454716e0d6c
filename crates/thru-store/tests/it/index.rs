//! The text index beside its store: behind it, ahead of it, missing.

use std::fs;

use thru_store::Store;
use thru_store::index::{
    Collection, Damage, IndexFilter, IndexWriter, OpenIndexes, QueryTerms, TextIndex, guarded,
    remove_other_indexes,
};

use thru_store::index::tokenizer::Language;

use crate::support::{Home, call, passage, result, rows, write};

fn found(home: &Home, store: &Store, term: &str) -> Vec<String> {
    found_by(&OpenIndexes::default(), home, store, term)
}

fn found_by(open: &OpenIndexes, home: &Home, store: &Store, term: &str) -> Vec<String> {
    let index = open.index(&home.layout(), store, Collection::Passages).unwrap();
    let query = QueryTerms { terms: vec![term.to_owned()], ..QueryTerms::default() };
    let candidates = index.candidates(&query, &IndexFilter::default(), 100).unwrap();
    let rows: Vec<i64> = candidates.found.iter().map(|candidate| candidate.row).collect();
    let mut texts: Vec<String> = store
        .passages_of_rows(&rows)
        .unwrap()
        .iter()
        .map(|row| store.text_of(row).unwrap())
        .collect();
    texts.sort();
    texts
}

/// The folders of the indexes, that of the passages first.
fn folders(home: &Home) -> Vec<String> {
    let mut folders: Vec<String> = fs::read_dir(home.layout().index())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    folders.sort();
    folders
}

fn index(home: &Home, store: &mut Store) {
    let mut writer = IndexWriter::open(&home.layout(), store, 1, 20_000_000).unwrap();
    writer.catch_up(store).unwrap();
    let progress = writer.commit().unwrap();
    writer.finish().unwrap();
    let batch = store.begin().unwrap();
    batch.clear_retired(&progress.cleared).unwrap();
    batch.commit().unwrap();
}

fn add(store: &mut Store, ordinal: u32, text: &str) {
    let mut batch = store.begin().unwrap();
    write(&mut batch, "s", vec![passage("s", ordinal, text)], Vec::new());
    batch.commit().unwrap();
}

#[test]
fn rows_that_are_not_indexed_yet_are_found() {
    let home = Home::new();
    let mut store = home.store();
    add(&mut store, 0, "an apple");
    assert_eq!(found(&home, &store, "appl"), ["an apple"]);
    index(&home, &mut store);
    add(&mut store, 1, "another apple");
    assert_eq!(found(&home, &store, "appl"), ["an apple", "another apple"]);
    index(&home, &mut store);
    assert_eq!(found(&home, &store, "appl"), ["an apple", "another apple"]);
}

#[test]
fn the_forms_of_a_word_count_as_the_word() {
    let home = Home::new();
    let mut store = home.store();
    add(&mut store, 0, "Beide Datenbanken wurden gesichert.");
    index(&home, &mut store);
    add(&mut store, 1, "Die Datenbank ist voll, das Datum falsch.");
    let index = OpenIndexes::default().index(&home.layout(), &store, Collection::Passages).unwrap();
    let forms = index.forms("datenbank", Language::German, 8).unwrap();
    assert_eq!(forms, ["datenbank", "datenbanken"]);
    assert!(index.forms("datenbank", Language::German, 1).unwrap().len() == 1);
    let query = QueryTerms {
        terms: vec!["datenbank".to_owned()],
        forms: [(0, vec!["datenbanken".to_owned()])].into(),
        ..QueryTerms::default()
    };
    let candidates = index.candidates(&query, &IndexFilter::default(), 100).unwrap();
    assert_eq!(candidates.found.len(), 2);
    assert!(candidates.found.iter().all(|one| one.contributions[0] > 0.0));
}

#[test]
fn replaced_rows_vanish() {
    let home = Home::new();
    let mut store = home.store();
    let mut batch = store.begin().unwrap();
    write(&mut batch, "s", vec![call("s", 0, "apple picker", &[])], Vec::new());
    batch.commit().unwrap();
    index(&home, &mut store);
    let mut batch = store.begin().unwrap();
    write(&mut batch, "s", Vec::new(), vec![result("apple picker", "pears instead", &[])]);
    batch.commit().unwrap();
    // The old row is in the index still, the new one in memory: found once.
    assert_eq!(found(&home, &store, "appl"), ["apple picker\npears instead"]);
    assert_eq!(found(&home, &store, "pear"), ["apple picker\npears instead"]);
    index(&home, &mut store);
    assert_eq!(store.retired_rows(Collection::Passages).unwrap(), Vec::<i64>::new());
    let compared = TextIndex::open(&home.layout(), &store).unwrap().compare(&store).unwrap();
    assert_eq!(compared, (1, 0, 0));
    assert_eq!(found(&home, &store, "pear"), ["apple picker\npears instead"]);
}

#[test]
fn rows_replaced_before_they_were_ever_indexed_leave_nothing() {
    let home = Home::new();
    let mut store = home.store();
    let mut batch = store.begin().unwrap();
    write(&mut batch, "s", vec![call("s", 0, "apple picker", &[])], Vec::new());
    batch.commit().unwrap();
    let mut batch = store.begin().unwrap();
    write(&mut batch, "s", Vec::new(), vec![result("apple picker", "pears", &[])]);
    batch.commit().unwrap();
    index(&home, &mut store);
    assert_eq!(store.retired_rows(Collection::Passages).unwrap(), Vec::<i64>::new());
    let compared = TextIndex::open(&home.layout(), &store).unwrap().compare(&store).unwrap();
    assert_eq!(compared, (1, 0, 0));
}

#[test]
fn what_was_not_committed_is_added_again() {
    let home = Home::new();
    let mut store = home.store();
    add(&mut store, 0, "an apple");
    {
        // Killed before its commit.
        let mut writer = IndexWriter::open(&home.layout(), &store, 1, 20_000_000).unwrap();
        writer.catch_up(&store).unwrap();
    }
    assert_eq!(found(&home, &store, "appl"), ["an apple"]);
    index(&home, &mut store);
    let compared = TextIndex::open(&home.layout(), &store).unwrap().compare(&store).unwrap();
    assert_eq!(compared, (1, 0, 0));
}

#[test]
fn a_missing_or_damaged_index_is_made_again() {
    let home = Home::new();
    let mut store = home.store();
    add(&mut store, 0, "an apple");
    index(&home, &mut store);
    let folder = home.layout().index().join(&folders(&home)[0]);
    fs::write(folder.join("meta.json"), "{ damaged").unwrap();
    assert!(TextIndex::open(&home.layout(), &store).is_err());
    index(&home, &mut store);
    assert_eq!(found(&home, &store, "appl"), ["an apple"]);
    fs::remove_dir_all(&folder).unwrap();
    assert_eq!(found(&home, &store, "appl"), ["an apple"]);
    index(&home, &mut store);
    assert_eq!(TextIndex::open(&home.layout(), &store).unwrap().documents(), 1);
}

#[test]
fn an_index_that_stays_open_shows_what_came_and_went_since() {
    let home = Home::new();
    let mut store = home.store();
    let open = OpenIndexes::default();
    let found = |store: &Store| found_by(&open, &home, store, "appl");
    assert_eq!(found(&store), Vec::<String>::new());
    add(&mut store, 0, "an apple");
    assert_eq!(found(&store), ["an apple"]);
    index(&home, &mut store);
    assert_eq!((found(&store), found(&store)), (vec!["an apple".into()], vec!["an apple".into()]));
    add(&mut store, 1, "another apple");
    assert_eq!(found(&store), ["an apple", "another apple"]);
    index(&home, &mut store);
    assert_eq!(found(&store), ["an apple", "another apple"]);
    let mut writer = IndexWriter::open(&home.layout(), &store, 1, 20_000_000).unwrap();
    writer.merge_all().unwrap();
    drop(writer);
    assert_eq!(found(&store), ["an apple", "another apple"]);
    fs::remove_dir_all(home.layout().index()).unwrap();
    assert_eq!(found(&store), ["an apple", "another apple"]);
    index(&home, &mut store);
    open.close();
    assert_eq!(found(&store), ["an apple", "another apple"]);
}

#[test]
fn many_segments_become_one() {
    let home = Home::new();
    let mut store = home.store();
    for round in 0..12 {
        add(&mut store, round, &format!("apple number{round}"));
        index(&home, &mut store);
        for folder in folders(&home) {
            let metas = fs::read(home.layout().index().join(&folder).join("meta.json")).unwrap();
            let metas: serde_json::Value = serde_json::from_slice(&metas).unwrap();
            let segments = metas["segments"].as_array().unwrap().len();
            assert!(segments <= 4, "{metas}");
            // Nothing is left of the segments that were merged.
            let files = fs::read_dir(home.layout().index().join(folder)).unwrap();
            let is_terms = |name: &str| name.ends_with(".term");
            let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
            assert_eq!(names.filter(|name| is_terms(name)).count(), segments);
        }
        let opened = TextIndex::open(&home.layout(), &store).unwrap();
        assert_eq!((opened.rows_left_out, opened.documents()), (0, u64::from(round) + 1));
    }
}

#[test]
fn a_tail_that_is_too_long_is_counted_and_its_end_is_searched() {
    let home = Home::new();
    let mut store = home.store();
    let mut batch = store.begin().unwrap();
    let passages = (0..2_500).map(|n| passage("s", n, &format!("apple number{n}"))).collect();
    write(&mut batch, "s", passages, Vec::new());
    batch.commit().unwrap();
    let opened = TextIndex::open(&home.layout(), &store).unwrap();
    assert_eq!((opened.rows_left_out, opened.documents()), (500, 2_000));
    assert_eq!(found(&home, &store, "number2499"), ["apple number2499"]);
    assert_eq!(found(&home, &store, "number7"), Vec::<String>::new());
    index(&home, &mut store);
    assert_eq!(found(&home, &store, "number7"), ["apple number7"]);
    assert_eq!(rows(&store).len(), 2_500);
}

#[test]
fn indexes_of_other_stores_are_removed() {
    let home = Home::new();
    let mut store = home.store();
    add(&mut store, 0, "an apple");
    index(&home, &mut store);
    let own = folders(&home);
    fs::create_dir(home.layout().index().join("0123456789abcdef")).unwrap();
    remove_other_indexes(&home.layout(), &store).unwrap();
    assert_eq!(folders(&home), own);
}

/// The ways in which a file is damaged.
const DAMAGES: [fn(&std::path::Path); 4] = [
    |file| fs::remove_file(file).unwrap(),
    |file| fs::write(file, b"").unwrap(),
    |file| {
        let bytes = fs::read(file).unwrap();
        fs::write(file, &bytes[..bytes.len() / 2]).unwrap();
    },
    |file| {
        let mut bytes = fs::read(file).unwrap();
        // The body of a file: its footer tells of what is written in front of it.
        for byte in bytes.iter_mut().take(8) {
            *byte ^= 0xff;
        }
        fs::write(file, bytes).unwrap();
    },
];

#[test]
fn damage_of_any_file_is_found_and_mended() {
    let home = Home::new();
    let mut store = home.store();
    add(&mut store, 0, "an apple");
    add(&mut store, 1, "another apple");
    index(&home, &mut store);
    let layout = home.layout();
    let folder = layout.index().join(&folders(&home)[0]);
    let mut names: Vec<String> = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        // Locks, and the list of files to remove, of which only the form matters.
        .filter(|name| !name.starts_with('.'))
        .collect();
    names.sort();
    assert!(names.len() >= 7, "{names:?}");
    for name in names {
        for damage in DAMAGES {
            let whole = layout.root().join("whole");
            copy(&layout.index(), &whole);
            damage(&folder.join(&name));
            let damaged = Collection::ALL
                .map(|collection| Damage::of(&layout, &store, collection).unwrap())
                .into_iter()
                .flatten()
                .count();
            // A segment of no memories has nothing to lose in some files.
            assert!(damaged == 1, "{name}");
            let found = guarded(
                &layout,
                || -> Result<_, thru_store::StoreError> {
                    let index =
                        OpenIndexes::default().index(&layout, &store, Collection::Passages)?;
                    let terms =
                        QueryTerms { terms: vec!["appl".to_owned()], ..QueryTerms::default() };
                    Ok(index.candidates(&terms, &IndexFilter::default(), 100)?.found.len())
                },
                |_| true,
                |damage| damage.remove().map(|removed| assert!(removed)),
            );
            assert_eq!(found.unwrap(), 2, "{name}");
            fs::remove_dir_all(layout.index()).unwrap();
            fs::rename(whole, layout.index()).unwrap();
        }
    }
    assert!(Damage::of(&layout, &store, Collection::Passages).unwrap().is_none());
}

fn copy(from: &std::path::Path, to: &std::path::Path) {
    fs::create_dir(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => copy(&entry.path(), &target),
            false => drop(fs::copy(entry.path(), target).unwrap()),
        }
    }
}

#[test]
#[should_panic(expected = "a mistake of ours")]
fn a_panic_without_damage_goes_on() {
    let home = Home::new();
    let mut store = home.store();
    add(&mut store, 0, "an apple");
    index(&home, &mut store);
    let work = || -> Result<(), thru_store::StoreError> { panic!("a mistake of ours") };
    guarded(&home.layout(), work, |_| true, |_| panic!("nothing is damaged")).unwrap();
}
