//! What is said where archive and store are gone.

use std::fs;
use std::sync::Mutex;

use insta::assert_snapshot;
use thru_app::Progress;
use thru_app::fresh::{self, Freshness};
use thru_app::ingest::rebuild::restore;

use crate::home::{Home, call, shown};
use crate::records::{ONE, file};

/// Keeps what was said.
#[derive(Default)]
struct Said(Mutex<Vec<String>>);

impl Progress for Said {
    fn note(&self, message: &str) {
        self.0.lock().unwrap().push(message.to_owned());
    }
}

/// Opens the store and returns what was said.
fn opening(home: &Home) -> String {
    let said = Said::default();
    fresh::open(&home.app(), Freshness::AsItIs, call().heard_by(&said)).unwrap();
    said.0.into_inner().unwrap().join("\n")
}

#[test]
fn a_store_that_is_made_of_the_journal_alone_is_named() {
    let home = Home::new();
    home.prompt(ONE, 1, "Why do uploads fail?");
    assert_eq!(opening(&home), "", "there was none before");
    let layout = home.layout();
    for name in [layout.database(), layout.archive(), layout.index()] {
        let _ = fs::remove_file(&name).or_else(|_| fs::remove_dir_all(&name));
    }
    assert_snapshot!(opening(&home), @"The store was lost and there is no archive: what transcripts held is missing until `archive/` is put back from a backup and the store is rebuilt. What agents still keep can be imported again.");
    assert_eq!(opening(&home), "", "it is said once");
}

#[test]
fn a_transcript_that_the_archive_lost_is_not_an_unknown_session() {
    let home = Home::imported();
    fs::remove_file(home.folder().join("claude").join(file(ONE))).unwrap();
    fs::remove_dir_all(home.layout().archive()).unwrap();
    let refused = restore(&home.app(), "1111", call()).unwrap_err();
    assert_snapshot!(shown(&refused), @r#"
    NotFound: the transcript of session `11111111-aaaa-4aaa-8aaa-000000000001` is no longer in the archive
    Some(ByHand("put `archive/` back from a backup and try again; `thru verify` says what else is missing"))
    "#);
}
