//! Renders a tool's input or result as plain text: `key: value` lines, strings as they are, images as
//! `[image]`. Reads the JSON in place, without building a tree.

use serde_json::value::RawValue;

use crate::blank::is_blank;
use crate::json;

/// Values nested deeper than this are written as raw JSON.
const DEPTH: usize = 12;

/// Members that repeat in full what another member holds.
const DROPPED: [&str; 1] = ["originalFile"];

/// A value rendered as text.
#[derive(Default)]
pub(crate) struct Rendered {
    pub(crate) text: String,
    /// True if the value held strings and all of them were blanked.
    pub(crate) blanked: bool,
    spoken: bool,
}

/// Renders a value as text.
pub(crate) fn flat(raw: &RawValue) -> Rendered {
    let mut rendered = Rendered::default();
    rendered.value(raw.get(), DEPTH);
    rendered.blanked &= !rendered.spoken;
    rendered
}

impl Rendered {
    fn value(&mut self, raw: &str, depth: usize) {
        match raw.as_bytes().first() {
            Some(b'"') => {
                let string = json::string(raw).unwrap_or_default();
                match is_blank(&string) {
                    true => self.blanked |= !string.is_empty(),
                    false => self.spoken = true,
                }
                self.text.push_str(&string);
            }
            Some(b'n') | None => {}
            Some(b'[') if depth > 0 => {
                for (at, element) in json::elements(raw).into_iter().enumerate() {
                    self.newline(at);
                    self.value(element.get(), depth - 1);
                }
            }
            Some(b'{') if depth > 0 => self.object(raw, depth - 1),
            Some(_) => self.text.push_str(raw),
        }
    }

    fn object(&mut self, raw: &str, depth: usize) {
        let members = json::members(raw);
        let member = |name| members.iter().find(|(key, _)| key == name).map(|(_, raw)| raw.get());
        match member("type").and_then(json::string).as_deref() {
            Some("text") => return self.value(member("text").unwrap_or_default(), depth),
            Some("image" | "document") => return self.text.push_str("[image]"),
            _ => {}
        }
        let kept = members.iter().filter(|(key, _)| !DROPPED.contains(&key.as_ref()));
        for (at, (key, value)) in kept.enumerate() {
            self.newline(at);
            self.text.push_str(key);
            self.text.push_str(": ");
            self.value(value.get(), depth);
        }
    }

    fn newline(&mut self, at: usize) {
        if at > 0 {
            self.text.push('\n');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(json: &str) -> String {
        flat(&RawValue::from_string(json.to_owned()).unwrap()).text
    }

    #[test]
    fn values_become_lines() {
        assert_eq!(
            text(r#"{"b":"x","a":[1,true,null,"y"],"originalFile":"long"}"#),
            "b: x\na: 1\ntrue\n\ny"
        );
        assert_eq!(
            text(r#"[{"type":"text","text":"seen"},{"source":{"data":"AAAA"},"type":"image"}]"#),
            "seen\n[image]"
        );
        assert_eq!(text("null"), "");
    }

    #[test]
    fn depth_is_bounded() {
        let deep = format!("{}1{}", "[".repeat(50_000), "]".repeat(50_000));
        assert!(text(&deep).starts_with("[[["));
    }

    #[test]
    fn blanks_are_noticed() {
        let blanked = |json: &str| flat(&RawValue::from_string(json.to_owned()).unwrap()).blanked;
        assert!(blanked(r#"{"command":"[private]","timeout":5}"#));
        assert!(!blanked(r#"{"command":"[private]","description":"list"}"#));
        assert!(!blanked(r#"{"timeout":5}"#));
    }
}
