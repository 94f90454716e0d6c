//! A text that somebody named, to be looked for wherever it may stand: also where redaction leaves
//! things alone, such as in ids and in the names of JSON's fields.

use regex::Regex;

use crate::json::{self, Event};
use crate::{RuleError, UserRule};

/// A text that is looked for.
#[derive(Clone, Debug)]
pub struct Sought {
    rule: UserRule,
    regex: Regex,
}

impl Sought {
    /// Looks for `text`; what is found is named `name`, as in `[redacted:NAME]`. Where the text has
    /// white space, any white space will do: what is made of a text may break its lines elsewhere.
    ///
    /// # Errors
    /// If the text is empty, or longer than a pattern may be.
    pub fn new(name: &str, text: &str) -> Result<Self, RuleError> {
        let words: Vec<String> = text.split_whitespace().map(regex::escape).collect();
        let rule = UserRule { name: name.to_owned(), pattern: words.join(r"\s+") };
        let regex = crate::user_rules::compiled(&rule)?;
        Ok(Self { rule, regex })
    }

    /// The rule that takes the text out.
    pub const fn rule(&self) -> &UserRule {
        &self.rule
    }

    /// Whether the text stands in these bytes, as it is or, where they are JSON, escaped.
    pub fn is_in(&self, bytes: &[u8]) -> bool {
        if self.regex.is_match(&String::from_utf8_lossy(bytes)) {
            return true;
        }
        // Only escapes hide it from that.
        if !bytes.contains(&b'\\') {
            return false;
        }
        let Some(document) = json::valid(bytes) else { return false };
        let mut is_found = false;
        json::walk(document, |event| {
            let (key, value) = match event {
                Event::String { key, value, .. } => (key, Some(value)),
                Event::Open(key) => (key, None),
                Event::Close => (None, None),
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
