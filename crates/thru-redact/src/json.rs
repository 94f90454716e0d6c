//! Walks one JSON document as bytes and reports its strings in place, so that they can be replaced and
//! everything else stays byte for byte.
//!
//! Only for documents known to be valid: it does not check them, and it builds no tree.

use std::borrow::Cow;
use std::ops::Range;

use memchr::memchr2;

use crate::decode::{Escapes, decode};
use crate::edits::{Edit, Reason};
use crate::keys;

/// An event of the walk.
pub(crate) enum Event<'a> {
    /// A string value: its key and the bytes between its quotes.
    String {
        /// The key, if it is directly the value of one.
        key: Option<Cow<'a, str>>,
        /// The range of the raw value, without its quotes.
        value: Range<usize>,
        /// For the value in `{"name": …, "value": …}`, the range of the name's raw value.
        label: Option<Range<usize>>,
    },
    /// The range of a raw key, without its quotes.
    Key(Range<usize>),
    /// An object or an array begins, under this key.
    Open(Option<Cow<'a, str>>),
    /// An object or an array ends.
    Close,
}

/// Returns the document if the bytes are exactly one valid document.
pub(crate) fn valid(bytes: &[u8]) -> Option<&str> {
    let text = std::str::from_utf8(bytes).ok()?;
    serde_json::from_str::<serde::de::IgnoredAny>(text).ok()?;
    Some(text)
}

/// Returns the decoded text of the raw content of a string.
pub(crate) fn decode_string(raw: &str) -> Cow<'_, str> {
    if raw.contains('\\') {
        Cow::Owned(decode(raw.as_bytes(), Escapes::Json))
    } else {
        Cow::Borrowed(raw)
    }
}

/// Walks a valid document and calls `visit` with each event.
pub(crate) fn walk<'a>(document: &'a str, mut visit: impl FnMut(Event<'a>)) {
    let bytes = document.as_bytes();
    let mut in_object = Vec::new();
    let mut key: Option<Range<usize>> = None;
    let mut expects_key = false;
    let mut label: Option<Range<usize>> = None;
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'"' => {
                let string = at + 1..string_end(bytes, at + 1);
                at = string.end;
                if expects_key {
                    visit(Event::Key(string.clone()));
                    key = Some(string);
                } else {
                    let name = key.take();
                    let name = name.map(|name| decode_string(&document[name]));
                    let key = name.as_deref().unwrap_or_default();
                    if keys::is_label(key, &document[string.clone()]) {
                        label = Some(string.clone());
                    }
                    let label = if keys::is_labelled(key) { label.clone() } else { None };
                    visit(Event::String { key: name, value: string, label });
                }
            }
            b':' => expects_key = false,
            b',' => {
                expects_key = in_object.last() == Some(&true);
                key = None;
            }
            open @ (b'{' | b'[') => {
                expects_key = open == b'{';
                in_object.push(expects_key);
                // `"NAME": {"value": …}`
                label = key.clone().filter(|_| expects_key);
                let name = key.take().map(|name| decode_string(&document[name]));
                visit(Event::Open(name));
            }
            b'}' | b']' => {
                in_object.pop();
                label = None;
                expects_key = false;
                visit(Event::Close);
            }
            _ => {}
        }
        at += 1;
    }
}

/// Returns the position of the closing quote of the string that begins here.
fn string_end(bytes: &[u8], start: usize) -> usize {
    let mut at = start;
    while let Some(length) = memchr2(b'"', b'\\', &bytes[at..]) {
        at += length;
        if bytes[at] == b'"' {
            return at;
        }
        at = (at + 2).min(bytes.len());
    }
    bytes.len()
}

/// Escapes the replacement text of edits for use in a JSON string.
pub(crate) fn escape_replacements(edits: &mut [Edit]) {
    for edit in edits {
        if let Reason::Rewritten(text) = &mut edit.reason {
            let quoted = serde_json::Value::from(text.as_str()).to_string();
            *text = quoted[1..quoted.len() - 1].to_owned();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_come_with_their_keys() {
        let document = r#" {"a":"1","b\u0041":["2",{"c":"3\"4"},"5"],"name":"N","value":"6","d":{"value":"7"},"e":8} "#;
        assert!(valid(document.as_bytes()).is_some());
        let mut seen = Vec::new();
        walk(document, |event| match event {
            Event::String { key, value, label } => seen.push(format!(
                "{}={}{}",
                key.as_deref().unwrap_or("-"),
                &document[value],
                label.map(|label| format!(" of {}", &document[label])).unwrap_or_default()
            )),
            Event::Key(_) => {}
            Event::Open(key) => seen.push(format!("open {}", key.as_deref().unwrap_or("-"))),
            Event::Close => seen.push("close".to_owned()),
        });
        assert_eq!(
            seen,
            [
                "open -",
                "a=1",
                "open bA",
                "-=2",
                "open -",
                "c=3\\\"4",
                "close",
                "-=5",
                "close",
                "name=N",
                "value=6 of N",
                "open d",
                "value=7 of d",
                "close",
                "close"
            ]
        );
    }

    #[test]
    fn anything_but_one_document_is_not_valid() {
        for bytes in [&b"{\"a\":1"[..], b"{} {}", b"", b"\xff", b"{\"a\":\"\n\"}"] {
            assert!(valid(bytes).is_none());
        }
        let deep = "[".repeat(100_000) + &"]".repeat(100_000);
        assert!(valid(deep.as_bytes()).is_some());
    }
}
