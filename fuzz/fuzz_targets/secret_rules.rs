//! Secrets: cleaning any text is idempotent, and removes a token that is one beyond doubt.
//!
//! An input that starts with `rule ` holds a user's rule, up to the end of its first line.
#![no_main]

use libfuzzer_sys::fuzz_target;
use serde_json::{Value, json};
use thru_fuzz::{check_document, check_line, holds, lossy};
use thru_redact::{Redactor, Report, UserRule};

fuzz_target!(|data: &[u8]| {
    let builtin = Redactor::builtin();
    check_all(&builtin, data);
    if let Some((rule, rest)) = user_rule(data)
        && let Ok(redactor) = Redactor::new(&[rule], &[])
    {
        check_all(&redactor, rest);
        return;
    }

    // In pieces, so that no scanner reports this file.
    let token = ["gh", "p_", "Kd71mWq0ZtR5bYv8NcX2", "hJ4sLg9PfU6eTa3i"].concat();
    let text = lossy(data);
    // The token may be a part of something longer, which is not beyond doubt.
    if text.contains(&token) {
        return;
    }
    let middle = text.floor_char_boundary(text.len() / 2);
    let text = format!("{}\n{token}\n{}", &text[..middle], &text[middle..]);
    let cleaned = builtin.clean_text(&text, &mut Report::default()).into_inner();
    assert!(!holds(cleaned.as_bytes(), &token), "came out of {text:?}: {cleaned}");
    let line = json!({ "content": text }).to_string();
    let cleaned = check_line(&builtin, line.as_bytes());
    assert!(!holds(&cleaned, &token), "came out of {line}: {}", lossy(&cleaned));
});

fn user_rule(data: &[u8]) -> Option<(UserRule, &[u8])> {
    let rest = data.strip_prefix(b"rule ")?;
    let end = rest.iter().position(|&byte| byte == b'\n')?;
    let pattern = std::str::from_utf8(&rest[..end]).ok()?.to_owned();
    Some((UserRule { name: "mine".to_owned(), pattern }, &rest[end + 1..]))
}

fn check_all(redactor: &Redactor, data: &[u8]) {
    let text = lossy(data);
    let once = redactor.clean_text(&text, &mut Report::default()).into_inner();
    let twice = redactor.clean_text(&once, &mut Report::default()).into_inner();
    assert_eq!(once, twice, "cleaning again changed a text");

    let cleaned = check_line(redactor, data);
    check_line(
        redactor,
        json!({ "input": { "command": text, "password": text } }).to_string().as_bytes(),
    );
    let blanked = redactor.blank_json_line(data, &mut Report::default()).into_inner();
    check_document(data, &blanked);
    let _ = redactor.clean_bytes(data, &mut Report::default());

    // A line and its parsed document are cleaned alike.
    if let Ok(value) = serde_json::from_slice::<Value>(data)
        && let Ok(cleaned) = serde_json::from_slice::<Value>(&cleaned)
        && !is_lossy(data, &value)
    {
        let expected = redactor.clean_value(value, &mut Report::default()).into_inner();
        assert_eq!(cleaned, expected, "a line and its document are cleaned differently");
    }
}

/// True if a document in memory may lose something of its line: it keeps only the last of several
/// members with one name, and cannot hold an unpaired surrogate.
fn is_lossy(line: &[u8], value: &Value) -> bool {
    fn count(value: &Value) -> usize {
        match value {
            Value::Array(items) => items.iter().map(count).sum(),
            Value::Object(fields) => fields.len() + fields.values().map(count).sum::<usize>(),
            _ => 0,
        }
    }
    let mut inside = false;
    let mut colons = 0;
    let mut bytes = line.iter();
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => inside = !inside,
            b'\\' if inside => _ = bytes.next(),
            b':' if !inside => colons += 1,
            _ => {}
        }
    }
    colons != count(value)
}
