//! A text given by a person, to be found wherever it occurs: also where redaction does not apply, such
//! as in ids and in the names of JSON's fields.

use regex::Regex;

use crate::json::{self, Event};
use crate::{RuleError, UserRule};

/// A text to search for.
#[derive(Clone, Debug)]
pub struct Sought {
    rule: UserRule,
    regex: Regex,
}

impl Sought {
    /// Creates a search for `text`; `name` is used in its placeholder, `[redacted:NAME]`. White space
    /// in the text matches any white space: text derived from it may break its lines elsewhere.
    ///
    /// # Errors
    /// [`RuleError`] if the text is empty, or longer than a pattern may be.
    pub fn new(name: &str, text: &str) -> Result<Self, RuleError> {
        let words: Vec<String> = text.split_whitespace().map(regex::escape).collect();
        let rule = UserRule { name: name.to_owned(), pattern: words.join(r"\s+") };
        let regex = crate::user_rules::compiled(&rule)?;
        Ok(Self { rule, regex })
    }

    /// Returns the rule that removes the text.
    pub const fn rule(&self) -> &UserRule {
        &self.rule
    }

    /// True if these bytes contain the text, literally or, in JSON, escaped.
    pub fn is_in(&self, bytes: &[u8]) -> bool {
        if self.regex.is_match(&String::from_utf8_lossy(bytes)) {
            return true;
        }
        // Otherwise only escapes can hide it.
        if !bytes.contains(&b'\\') {
            return false;
        }
        let Some(document) = json::valid(bytes) else { return false };
        let mut is_found = false;
        json::walk(document, |event| {
            let (key, value) = match event {
                Event::String { key, value, .. } => (key, Some(value)),
                Event::Open(key) => (key, None),
                Event::Key(_) | Event::Close => (None, None),
            };
            is_found |= key.is_some_and(|key| self.regex.is_match(&key));
            is_found |= value
                .is_some_and(|value| self.regex.is_match(&json::decode_string(&document[value])));
        });
        is_found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_found_as_it_is_written() {
        let sought = Sought::new("given", "a.b (\"c\")\n d").unwrap();
        for (text, is_found) in [
            ("x a.b (\"c\") d", true),
            ("a.b\t(\"c\")\n\nd", true),
            ("axb (\"c\") d", false),
            (r#"{"x":["a.b (\"c\")\nd"]}"#, true),
            (r#"{"a.b (\u0022c\") d":{}}"#, true),
            (r#"{"x":"a.b (\"c\")"}"#, false),
        ] {
            assert_eq!(sought.is_in(text.as_bytes()), is_found, "{text}");
        }
        assert!(Sought::new("given", " \n").is_err());
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_found_in_json_and_taken_out(text in "[a-z\"\\\\.*+ \n\t\u{e9}]{0,12}[a-z]{4}", around in "[A-Z ]{0,8}") {
            let sought = Sought::new("given", &text).unwrap();
            let line = serde_json::json!({ "text": format!("{around} {text} {around}") }).to_string();
            proptest::prop_assert!(sought.is_in(line.as_bytes()), "{}", line);
            let redactor = crate::Redactor::new(&[sought.rule().clone()], &[]).unwrap();
            let clean = redactor.clean_json_line(line.as_bytes(), &mut crate::Report::default());
            proptest::prop_assert!(!sought.is_in(clean.get()), "{}", String::from_utf8_lossy(clean.get()));
        }
    }
}
