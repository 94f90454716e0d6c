//! The guarantees of the journal, tested from the outside.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may fail")]

mod damage;
mod reading;
mod rewriting;
mod sealing;
mod writers;

use serde_json::{Value, json};
use thru_core::Timestamp;
use thru_journal::journal::{Entry, Journal, Stored};
use thru_redact::{Clean, Redactor, Report};

fn clean(body: &Value) -> Clean<Value> {
    let line = serde_json::to_vec(body).unwrap();
    Redactor::builtin()
        .clean_json_line(&line, &mut Report::default())
        .map(|line| serde_json::from_slice(&line).unwrap())
}

fn entry(key: &str) -> Entry {
    Entry {
        key: key.to_owned(),
        at: Timestamp::from_second(1_700_000_000).unwrap(),
        kind: "noted".to_owned(),
        body: clean(&json!({ "of": key, "text": "line\nbreak" })),
    }
}

fn keys(entries: &[Stored]) -> Vec<&str> {
    entries.iter().map(|entry| entry.key.as_str()).collect()
}

/// Returns the names of the segments.
fn segments(journal: &Journal) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(journal.dir())
        .unwrap()
        .map(|item| item.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}
