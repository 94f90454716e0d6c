//! Helpers shared by the fuzz targets, such as ways around what the product is right to refuse.

pub mod transcripts;

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use thru_redact::{Clean, Redactor, Report};

/// Bytes that count as clean. Cleaning is fuzzed by targets of its own; others want their bytes as
/// they are.
pub fn as_clean(bytes: &[u8]) -> Clean<Vec<u8>> {
    Redactor::builtin().clean_json_line(b"", &mut Report::default()).map(|_| bytes.to_vec())
}

/// Cleans a line twice and checks what holds for every line; gives what came out.
pub fn check_line(redactor: &Redactor, line: &[u8]) -> Vec<u8> {
    let clean = |line: &[u8]| redactor.clean_json_line(line, &mut Report::default()).into_inner();
    let once = clean(line);
    let twice = clean(&once);
    assert_eq!(lossy(&once), lossy(&twice), "cleaning again changed a line");
    check_document(line, &once);
    once
}

/// Checks that a document is still one, and only its strings changed.
pub fn check_document(before: &[u8], after: &[u8]) {
    if let Ok(before) = serde_json::from_slice::<Value>(before) {
        match serde_json::from_slice::<Value>(after) {
            Ok(after) => {
                assert!(is_same_but_strings(&before, &after), "more than strings changed")
            }
            Err(error) => panic!("no longer JSON ({error}): {}", lossy(after)),
        }
    }
}

/// True if two documents differ in the inside of strings and keys only: a key may be a secret itself. Two secret keys of one
/// object come out alike, and then one member hides the other.
fn is_same_but_strings(before: &Value, after: &Value) -> bool {
    match (before, after) {
        (Value::Array(before), Value::Array(after)) => {
            before.len() == after.len()
                && before.iter().zip(after).all(|(one, other)| is_same_but_strings(one, other))
        }
        (Value::Object(before), Value::Object(after)) => {
            let is_hidden =
                before.len() > after.len() && after.keys().any(|key| key.contains("[redacted:"));
            is_hidden || skeleton_of(before.values()) == skeleton_of(after.values())
        }
        _ => skeleton(before) == skeleton(after),
    }
}

/// Everything of a document but the inside of its strings, and of its keys.
fn skeleton(value: &Value) -> Value {
    match value {
        Value::String(_) => Value::from(""),
        Value::Array(items) => items.iter().map(skeleton).collect(),
        Value::Object(fields) => skeleton_of(fields.values()).into(),
        other => other.clone(),
    }
}

/// The skeletons of values in no order.
fn skeleton_of<'v>(values: impl Iterator<Item = &'v Value>) -> Vec<String> {
    let mut members: Vec<String> = values.map(|value| skeleton(value).to_string()).collect();
    members.sort_unstable();
    members
}

/// True if `needle` occurs in `haystack`.
pub fn holds(haystack: &[u8], needle: &str) -> bool {
    haystack.windows(needle.len()).any(|window| window == needle.as_bytes())
}

/// Bytes for people.
pub fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A line of JSON behind the checksum that journal and archive put before theirs. Without it a
/// fuzzer would never get past the first look at a record.
pub fn seal(json: &[u8]) -> Vec<u8> {
    let digits = blake3::hash(json).to_hex();
    [&digits.as_bytes()[..16], b" ", json, b"\n"].concat()
}

/// An empty directory of this process, in memory where the system has such a place.
pub fn empty_directory(name: &str) -> PathBuf {
    let memory = Path::new("/dev/shm");
    let parent = if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() };
    let path = parent.join(format!("thru-fuzz-{name}-{}", std::process::id()));
    let _ = fs::remove_dir_all(&path);
    fs::create_dir(&path).expect("a directory for the files of this run");
    path
}
