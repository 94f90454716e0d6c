//! Labelled texts: secrets in realistic surroundings, and harmless text that looks like them.
//!
//! The secrets are drawn when the test runs, so that none stands in this repository. Each text is
//! cleaned as plain text, inside a JSON string, and inside JSON inside a JSON string.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may fail")]

use std::fmt::Write as _;

use support::{Draw, entries, expand};
use thru_redact::{Redactor, Report};

mod support;

/// The number of draws that each labelled text is tried with.
const DRAWS: u64 = 5;

/// Cleans the text in each kind of surroundings; returns the results without the surroundings.
fn cleaned(redactor: &Redactor, text: &str) -> Vec<(&'static str, String)> {
    let report = &mut Report::default();
    let plain = redactor.clean_text(text, report).into_inner();
    let line = serde_json::json!({ "type": "user", "content": text }).to_string();
    let line = redactor.clean_json_line(line.as_bytes(), report).into_inner();
    let line: serde_json::Value = serde_json::from_slice(&line).unwrap();
    let nested = serde_json::json!({ "command": text, "n": 1 }).to_string();
    let nested = serde_json::json!({ "arguments": nested }).to_string();
    let nested = redactor.clean_json_line(nested.as_bytes(), report).into_inner();
    let nested: serde_json::Value = serde_json::from_slice(&nested).unwrap();
    let inner: serde_json::Value = serde_json::from_str(nested["arguments"].as_str().unwrap())
        .unwrap_or_else(|error| panic!("{error}: {nested}"));
    vec![
        ("text", plain),
        ("json", line["content"].as_str().unwrap().to_owned()),
        ("nested", inner["command"].as_str().unwrap().to_owned()),
    ]
}

#[test]
fn secrets_are_found_where_people_put_them() {
    let redactor = Redactor::builtin();
    let (mut total, mut missed, mut list) = (0_u32, 0_u32, String::new());
    let mut count = 0;
    for (number, template) in entries(include_str!("labelled/secrets.txt")).enumerate() {
        count += 1;
        for round in 0..DRAWS {
            let mut draw = Draw(
                0x9E37_79B9_7F4A_7C15 ^ ((u64::try_from(number).unwrap() + 1) << 20) ^ (round + 1),
            );
            let text = expand(template, &mut draw);
            let (before, rest) = text.split_once('«').unwrap();
            let (secret, after) = rest.split_once('»').unwrap();
            let text = format!("{before}{secret}{after}");
            for (surrounding, output) in cleaned(&redactor, &text) {
                total += 1;
                let middle =
                    output.strip_prefix(before).and_then(|output| output.strip_suffix(after));
                if !middle.is_some_and(|middle| {
                    middle.starts_with("[redacted:") && !middle.contains(char::is_whitespace)
                }) {
                    missed += 1;
                    writeln!(list, "{surrounding}: {text}\n    -> {output}").unwrap();
                }
            }
        }
    }
    let recall = 1.0 - f64::from(missed) / f64::from(total);
    println!("{list}{count} texts, {total} tries, {missed} missed: recall {recall:.4}");
    assert!(count >= 150);
    assert!(recall >= 0.97);
}

#[test]
fn harmless_text_stays() {
    let redactor = Redactor::builtin();
    let (mut total, mut wrong, mut list) = (0_u32, 0_u32, String::new());
    let mut count = 0;
    for (number, template) in entries(include_str!("labelled/harmless.txt")).enumerate() {
        count += 1;
        for round in 0..DRAWS {
            let mut draw = Draw(
                0x2545_F491_4F6C_DD1D ^ ((u64::try_from(number).unwrap() + 1) << 20) ^ (round + 1),
            );
            let text = expand(template, &mut draw);
            for (surrounding, output) in cleaned(&redactor, &text) {
                total += 1;
                if output != text {
                    wrong += 1;
                    writeln!(list, "{surrounding}: {text}\n    -> {output}").unwrap();
                }
            }
        }
    }
    println!("{list}{count} texts, {total} tries, {wrong} wrongly redacted");
    assert!(count >= 150);
    assert!(f64::from(wrong) / f64::from(total) <= 0.002);
}
