//! The JSON object in a text that a model wrote: models wrap it in words and fences, or leave a trailing comma.

use serde_json::{Value, json};

/// Most braces of a text at which parsing is tried. Each try reads on from there.
const MOST_TRIES: usize = 64;

/// Returns the JSON object in a text: the whole text, else the contents of a fence, else the first
/// complete object.
///
/// No part of a truncated object is taken for the whole.
pub fn find_object(text: &str) -> Option<Value> {
    object(text.trim())
        .or_else(|| fenced(text).into_iter().find_map(first_object))
        .or_else(|| first_object(text))
}

/// Parses a text that is an object and nothing else.
fn object(text: &str) -> Option<Value> {
    if !text.starts_with('{') {
        return None;
    }
    let value: Value = serde_json::from_str(text)
        .ok()
        .or_else(|| serde_json::from_str(&without_trailing_commas(text)).ok())?;
    value.is_object().then_some(value)
}

/// Returns the contents of code fences in any language. An unclosed fence reaches to the end. A fence
/// inside a JSON string is not at the beginning of a line.
fn fenced(text: &str) -> Vec<&str> {
    let (mut pieces, mut opened, mut at) = (Vec::new(), None, 0);
    for line in text.split_inclusive('\n') {
        let start = at;
        at += line.len();
        if line.trim_start().starts_with("```") {
            match opened.take() {
                None => opened = Some(at),
                Some(from) => pieces.extend(text.get(from..start)),
            }
        }
    }
    pieces.extend(opened.and_then(|from| text.get(from..)));
    pieces
}

/// Returns the first complete, non-empty object: in code, `{}` is no answer.
fn first_object(text: &str) -> Option<Value> {
    let mut from = 0;
    for _ in 0..MOST_TRIES {
        let start = from + text.get(from..)?.find('{')?;
        // An object that begins here and does not end is truncated; anything inside is only a part of
        // it.
        let end = start + length_of_object(text.get(start..)?)?;
        let found = object(text.get(start..end)?);
        if found.as_ref().is_some_and(|value| value != &json!({})) {
            return found;
        }
        from = start + 1;
    }
    None
}

/// Returns the length of the text from its first brace to the one that closes it.
fn length_of_object(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    let mut scanner = Scanner::default();
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if scanner.is_inside_string(byte) => {}
            b'{' => depth += 1,
            b'}' => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
    }
    None
}

/// Removes commas that nothing follows.
fn without_trailing_commas(text: &str) -> String {
    let mut scanner = Scanner::default();
    let mut kept = String::with_capacity(text.len());
    // A comma and the space after it, until the next character decides.
    let mut held = String::new();
    for letter in text.chars() {
        let is_inside =
            u8::try_from(letter).map_or(scanner.is_open, |byte| scanner.is_inside_string(byte));
        if !is_inside && (letter == ',' || (letter.is_ascii_whitespace() && !held.is_empty())) {
            if letter == ',' {
                kept.push_str(&std::mem::take(&mut held));
            }
            held.push(letter);
            continue;
        }
        if !is_inside && matches!(letter, '}' | ']') {
            held.clear();
        }
        kept.push_str(&std::mem::take(&mut held));
        kept.push(letter);
    }
    kept + &held
}

/// Tracks whether a position is inside a JSON string.
#[derive(Default)]
struct Scanner {
    is_open: bool,
    is_escaped: bool,
}

impl Scanner {
    /// Takes the next byte; returns true if it belongs to a string, quotes included.
    const fn is_inside_string(&mut self, byte: u8) -> bool {
        if !self.is_open {
            self.is_open = byte == b'"';
            return self.is_open;
        }
        match byte {
            _ if self.is_escaped => self.is_escaped = false,
            b'\\' => self.is_escaped = true,
            b'"' => self.is_open = false,
            _ => {}
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn an_object_is_found_however_it_is_wrapped() {
        let wanted = json!({ "title": "a } in ``` a \"string\"", "facts": [{ "n": 1 }] });
        let plain = wanted.to_string();
        let inner = json!({ "title": "x", "facts": [] });
        let pretty = serde_json::to_string_pretty(&inner).unwrap();
        assert_eq!(find_object(&plain).unwrap(), wanted);
        assert_eq!(
            find_object(&format!("Sure! Here it is: {plain} Anything else?")).unwrap(),
            wanted
        );
        for text in [
            format!("\n\n{pretty}\n"),
            format!("```json\n{pretty}\n```"),
            format!("Here:\n```\n{pretty}\n```\nDone."),
            format!("I looked at `{{x}}` first.\n```json\n{pretty}\n```"),
            format!("```rust\nfn main() {{}}\n```\n```json\n{pretty}\n```"),
            format!("```json\n{pretty}"),
            "{\"title\": \"x\", \"facts\": [ ],\n}".to_owned(),
            "{\"title\": \"x\", \"facts\": [], }".to_owned(),
            "The set {a, b} is {\"title\": \"x\", \"facts\": []}".to_owned(),
        ] {
            assert_eq!(find_object(&text), Some(inner.clone()), "{text}");
        }
    }

    #[test]
    fn what_is_no_object_or_only_a_part_of_one_is_nothing() {
        for text in [
            "",
            "I cannot help with that.",
            "[1, 2]",
            "\"{}\"x",
            "42",
            "{",
            "}",
            "{]}",
            "{\"a\"}",
            "{\"a\": {\"b\": 1}, \"c\": \"cut",
            "```json\n{\"a\": [{\"b\": 1}, ",
            "{\"a\": 1,, }",
            "<observation/>",
        ] {
            assert_eq!(find_object(text), None, "{text}");
        }
    }

    #[test]
    fn hostile_text_takes_little_time() {
        for piece in ["{", "{a}", "{{}", "\"", "```", "{\"a\":", "[", "{,"] {
            assert_eq!(find_object(&piece.repeat(200_000)), None, "{piece}");
        }
    }

    #[test]
    fn commas_in_strings_stay() {
        let value = json!({ "a": ",}", "b": [",]", "\\\",}"], "ü": ", }" });
        let text = value.to_string().replace("]", ",]").replace(",,]", ",]");
        assert_eq!(object(&without_trailing_commas(&value.to_string())).unwrap(), value);
        _ = find_object(&text);
    }

    fn objects() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            any::<i64>().prop_map(Value::from),
            any::<bool>().prop_map(Value::from),
            ".{0,12}".prop_map(Value::from)
        ];
        let value = leaf.prop_recursive(3, 24, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::hash_map(".{0,6}", inner, 0..4)
                    .prop_map(|fields| Value::Object(fields.into_iter().collect())),
            ]
        });
        prop::collection::hash_map(".{0,6}", value, 1..5)
            .prop_map(|fields| Value::Object(fields.into_iter().collect()))
    }

    proptest! {
        #[test]
        fn arbitrary_text_is_read(text in ".{0,400}") {
            if let Some(value) = find_object(&text) {
                prop_assert!(value.is_object());
            }
        }

        #[test]
        fn braces_and_quotes_are_read(text in r#"[{}\[\]",:\\a` ]{0,200}"#) {
            _ = find_object(&text);
        }

        #[test]
        fn any_object_is_found_in_words(value in objects(), before in "[a-z .,:]{0,20}", after in "[a-z .,:{}\n`]{0,20}") {
            prop_assert_eq!(find_object(&format!("{before}{value}{after}")), Some(value.clone()));
            let pretty = serde_json::to_string_pretty(&value).unwrap();
            prop_assert_eq!(find_object(&format!("{before}\n{pretty}\n{after}")), Some(value.clone()));
            prop_assert_eq!(object(&without_trailing_commas(&pretty)), Some(value));
        }

        #[test]
        fn no_part_is_taken_for_the_whole(value in objects(), cut in any::<prop::sample::Index>()) {
            let text = value.to_string();
            let mut at = cut.index(text.len());
            while !text.is_char_boundary(at) {
                at -= 1;
            }
            let quotes = text.contains('`');
            prop_assume!(!quotes);
            prop_assert_eq!(find_object(&text[..at]), None);
        }
    }
}
