//! Failures of hooks, kept for `thru doctor`: never the words of an input, only its
//! shape.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use thru_core::{Layout, Timestamp};

use crate::notes;

/// The file is cut back beyond this many bytes, to half of them …
const LIMIT: u64 = 256 * 1024;
/// … and to this many failures.
const KEPT: usize = 200;

/// One hook that could not do its work.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// Time of the failure.
    pub at: Timestamp,
    /// The agent and event that the hook was called for, as it was called.
    pub event: String,
    /// The reason.
    pub reason: String,
    /// The shape of the input: see [`shape`].
    pub shape: String,
    /// The version of the binary.
    pub version: String,
    /// True if the event was lost by it.
    #[serde(default)]
    pub lost: bool,
}

fn path(layout: &Layout) -> std::path::PathBuf {
    layout.run().join("hook-failures.jsonl")
}

/// Notes a failure. Where even that is impossible, nothing can be done.
pub fn note(layout: &Layout, failure: &Failure) {
    if let Ok(line) = serde_json::to_string(failure) {
        let _ = notes::append(&path(layout), &line, LIMIT, KEPT);
    }
}

/// The failures that are known, the oldest first.
pub fn list(layout: &Layout) -> Vec<Failure> {
    notes::lines(&path(layout)).iter().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

/// The shape of an input: names of fields, types and lengths, never a value.
pub fn shape(input: &[u8]) -> String {
    let bytes = input.len();
    match serde_json::from_slice::<Value>(input) {
        Ok(value) => format!("{bytes} bytes of JSON: {}", shape_of(&value, 2)),
        Err(_) if input.is_empty() => "empty".to_owned(),
        Err(_) if std::str::from_utf8(input).is_err() => format!("{bytes} bytes, not UTF-8"),
        Err(_) => format!("{bytes} bytes, not JSON"),
    }
}

fn shape_of(value: &Value, depth: usize) -> String {
    /// Fields that are named before the rest is only counted.
    const FIELDS: usize = 24;
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(_) => "bool".to_owned(),
        Value::Number(_) => "number".to_owned(),
        Value::String(text) => format!("string({})", text.len()),
        Value::Array(items) => format!("array({})", items.len()),
        Value::Object(fields) if depth == 0 => format!("object({})", fields.len()),
        Value::Object(fields) => {
            let mut shown: Vec<String> = fields
                .iter()
                .take(FIELDS)
                .map(|(name, field)| {
                    // The name of a field is a word; a secret has digits or is longer.
                    let known = name.len() <= 32
                        && name.bytes().all(|b| b.is_ascii_alphabetic() || b == b'_');
                    let name = if known { name.as_str() } else { "?" };
                    format!("{name}: {}", shape_of(field, depth - 1))
                })
                .collect();
            if fields.len() > FIELDS {
                shown.push(format!("{} more", fields.len() - FIELDS));
            }
            format!("{{{}}}", shown.join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shape_holds_no_value() {
        for (input, expected) in [
            (&b""[..], "empty"),
            (b"hello", "5 bytes, not JSON"),
            (b"\xff\xfe", "2 bytes, not UTF-8"),
            (
                br#"{"tool_input":{"command":"secret"},"n":7,"\u0000 secret":[1]}"#,
                "61 bytes of JSON: {?: array(1), n: number, tool_input: {command: string(6)}}",
            ),
        ] {
            assert_eq!(shape(input), expected);
        }
    }

    #[test]
    fn failures_are_kept_and_their_number_is_bounded() {
        let home = tempfile::tempdir().unwrap();
        let layout = Layout::new(home.path());
        let failure = |n: i64| Failure {
            at: Timestamp::from_second(n).unwrap(),
            event: "claude-code PostToolUse".to_owned(),
            reason: "the input is not JSON".to_owned(),
            shape: "x".repeat(3000),
            version: "1".to_owned(),
            lost: false,
        };
        for n in 0..300 {
            note(&layout, &failure(n));
        }
        let known = list(&layout);
        assert_eq!(known.last(), Some(&failure(299)));
        assert!(known.len() < 300 && std::fs::metadata(path(&layout)).unwrap().len() <= 2 * LIMIT);
    }
}
