//! Privacy tags: the text between them is removed wherever they stand.
//!
//! An input with two NULs is `before NUL inside NUL after`; any other is cleaned as it is.
#![no_main]

use libfuzzer_sys::fuzz_target;
use thru_fuzz::{check_line, holds, lossy};
use thru_redact::{Redactor, Report};

/// A text that must not come out. Neither a secret nor part of a tag.
const HIDDEN: &str = "quokkas dance at noon";

fuzz_target!(|data: &[u8]| {
    let redactor = Redactor::builtin();
    let text = lossy(data);
    let parts: Vec<&str> = text.splitn(3, '\0').collect();
    let &[before, inside, after] = parts.as_slice() else {
        check_text(&redactor, &text);
        check_line(&redactor, data);
        let _ = redactor.clean_bytes(data, &mut Report::default());
        return;
    };
    // A closing tag inside would end the outer one early.
    if inside.to_ascii_lowercase().contains("</private") || text.contains(HIDDEN) {
        return;
    }
    for (open, close) in
        [("<private>", "</private>"), ("<PRIVATE\n>", "</Private >"), ("<private>", "")]
    {
        let text = format!("{before}{open}{inside}{HIDDEN}{inside}{close}{after}");
        hidden(check_text(&redactor, &text).as_bytes(), &text);
        let line = serde_json::json!({ "message": { "content": [{ "text": text }, text] } });
        hidden(&check_line(&redactor, line.to_string().as_bytes()), &text);
        // JSON inside a JSON string, as in tool results.
        let nested = serde_json::json!({ "text": line.to_string() });
        hidden(&check_line(&redactor, nested.to_string().as_bytes()), &text);
        let value = redactor.clean_value(line, &mut Report::default()).into_inner();
        hidden(value.to_string().as_bytes(), &text);
        // The same in the middle of bytes that are not text.
        let bytes = [b"\xff\xfe", text.as_bytes(), b"\xfd"].concat();
        hidden(redactor.clean_bytes(&bytes, &mut Report::default()).get(), &text);
    }
});

fn hidden(cleaned: &[u8], text: &str) {
    assert!(!holds(cleaned, HIDDEN), "came out of {text:?}: {}", lossy(cleaned));
}

fn check_text(redactor: &Redactor, text: &str) -> String {
    let once = redactor.clean_text(text, &mut Report::default()).into_inner();
    let mut report = Report::default();
    let twice = redactor.clean_text(&once, &mut report).into_inner();
    assert_eq!(once, twice, "cleaning again changed a text");
    assert!(report.is_empty(), "cleaning again found {report:?} in {once:?}");
    assert!(!redactor.is_wholly_private(&once), "a cleaned text is private: {once:?}");
    once
}
