//! Further occurrences of secrets that were found: as they are, and as programs write them.
//!
//! A name tells of one place only; the value comes again in a command's output, a retelling, a header. Linear in the text:
//! all forms of all secrets are looked for at once.

use std::borrow::Cow;
use std::ops::Range;

use aho_corasick::{AhoCorasick, MatchKind};

use crate::base64;
use crate::edits::{Edit, Reason};
use crate::made;
use crate::names::is_constant_name;

/// The most secrets of one text that are looked for again.
const MOST: usize = 64;
/// The fewest and the most bytes of one.
const SHORTEST: usize = 6;
const LONGEST: usize = 512;
/// The fewest letters of one that is a single word.
const WORD: usize = 10;
/// The fewest bytes that are looked for within words, and the fewest characters of its base64.
const WITHIN: usize = 16;
const SHORTEST_CODE: usize = 10;

/// The secrets that were found, and the name of the rule of each.
#[derive(Debug, Default)]
pub(crate) struct Known {
    secrets: Vec<(String, Cow<'static, str>)>,
}

/// A way in which a secret may stand in a text.
struct Form<'a> {
    text: String,
    /// True for the inner part of a code.
    is_code: bool,
    rule: &'a Cow<'static, str>,
}

/// The search for all forms of all secrets at once.
pub(crate) struct Search<'a> {
    automaton: AhoCorasick,
    forms: Vec<Form<'a>>,
}

impl Known {
    /// Adds what these edits take from a text.
    pub(crate) fn add(&mut self, text: &str, edits: &[Edit]) {
        for edit in edits {
            let (Reason::Assigned(rule) | Reason::Secret(rule)) = &edit.reason else { continue };
            let Some(value) = text.get(edit.range.clone()) else { continue };
            self.add_one(value, rule.clone());
            // What stands for another text.
            let may_be_code = value.len() >= SHORTEST_CODE;
            let decoded = may_be_code.then(|| base64::decode_text(value)).flatten();
            if let Some(decoded) = decoded.filter(|text| text.is_ascii()) {
                // A user stands before it.
                if let Some((_, password)) = decoded.trim().split_once(':') {
                    self.add_one(password, rule.clone());
                }
                self.add_one(decoded.trim(), rule.clone());
            }
        }
    }

    fn add_one(&mut self, value: &str, rule: Cow<'static, str>) {
        let is_known = self.secrets.iter().any(|(known, _)| known == value);
        if self.secrets.len() < MOST && !is_known && is_distinct(value) {
            self.secrets.push((value.to_owned(), rule));
        }
    }

    /// Prepares the search for the secrets; `None` if there are none.
    pub(crate) fn search(&self) -> Option<Search<'_>> {
        if self.secrets.is_empty() {
            return None;
        }
        let forms = self.secrets.iter().flat_map(|(value, rule)| {
            let forms = forms(value).into_iter();
            forms.map(move |(text, is_code)| Form { text, is_code, rule })
        });
        let forms: Vec<Form<'_>> = forms.collect();
        let texts = forms.iter().map(|form| &form.text);
        let automaton = AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(texts);
        Some(Search { automaton: automaton.ok()?, forms })
    }
}

impl Search<'_> {
    /// Finds the secrets in a text.
    pub(crate) fn find(&self, text: &str) -> Vec<Edit> {
        let found = self.automaton.find_iter(text).filter_map(|found| {
            let form = &self.forms[found.pattern().as_usize()];
            let range = match form.is_code {
                true => around(text, found.range()),
                false => found.range(),
            };
            let stands = form.is_code || form.text.len() >= WITHIN || is_whole(text, &range);
            stands.then(|| Edit::new(range, Reason::Assigned(form.rule.clone())))
        });
        found.collect()
    }
}

/// True for a value that is a secret wherever it stands: no word of everyday, and no name in code.
fn is_distinct(value: &str) -> bool {
    let has = |test: fn(&u8) -> bool| value.as_bytes().iter().any(test);
    let is_word = value.bytes().all(|byte| byte.is_ascii_alphabetic());
    let is_plain = value.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
    (SHORTEST..=LONGEST).contains(&value.len())
        && !is_constant_name(value.as_bytes())
        && !made::is_name_in_code(value)
        && !value.contains(['"', '\n', '\\', '[', '\''])
        && (made::is_certain(value) && (!is_word || value.len() >= WORD)
            || is_plain && has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic)
            || value.contains(' ') && made::is_phrase(value, true))
}

/// Returns the forms in which a value may stand in a text, and for each if it is the inner part of a code.
fn forms(value: &str) -> Vec<(String, bool)> {
    let mut forms = vec![(value.to_owned(), false)];
    let mut add = |form: String, is_code: bool| {
        if form != value {
            forms.push((form, is_code));
        }
    };
    let hex = value.bytes().map(|byte| format!("{byte:02x}")).collect::<String>();
    add(hex.to_uppercase(), false);
    add(hex, false);
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte);
    let percent = value.bytes().map(|byte| match is_plain(byte) {
        true => char::from(byte).to_string(),
        false => format!("%{byte:02X}"),
    });
    add(percent.collect(), false);
    add(value.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;"), false);
    for shift in 0..3 {
        let code = base64::encode_at(value.as_bytes(), shift);
        if code.len() >= SHORTEST_CODE {
            add(code.replace('+', "-").replace('/', "_"), true);
            add(code, true);
        }
    }
    forms
}

/// Returns all of the base64 around a part of it, with its padding.
fn around(text: &str, part: Range<usize>) -> Range<usize> {
    let is_part = |byte: &&u8| byte.is_ascii_alphanumeric() || b"+/-_".contains(byte);
    let bytes = text.as_bytes();
    let before = bytes[..part.start].iter().rev().take(LONGEST).take_while(is_part).count();
    let start = part.start - before;
    // The letter of an escape is not a part of it.
    let start = start + usize::from(before > 0 && bytes[..start].ends_with(b"\\"));
    let end = part.end + bytes[part.end..].iter().take(LONGEST).take_while(is_part).count();
    let padding = bytes[end..].iter().take(2).take_while(|byte| **byte == b'=').count();
    start..end + padding
}

/// True if no letter or digit goes on before and behind the range.
fn is_whole(text: &str, range: &Range<usize>) -> bool {
    let is_part = |part: char| part.is_alphanumeric() || part == '_';
    let before = &text[..range.start];
    // In what JSON or a program writes, the letter of an escape stands before it.
    let is_escape = [r"\n", r"\t", r"\r"].iter().any(|escape| before.ends_with(escape));
    (is_escape || !before.ends_with(is_part)) && !text[range.end..].starts_with(is_part)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found<'a>(secret: &str, text: &'a str) -> Vec<&'a str> {
        let mut known = Known::default();
        let reason = Reason::Assigned("password".into());
        known.add(secret, &[Edit::new(0..secret.len(), reason)]);
        let edits = known.search().map_or_else(Vec::new, |search| search.find(text));
        edits.into_iter().map(|edit| &text[edit.range]).collect()
    }

    #[test]
    fn secrets_are_found_again_in_all_forms() {
        for (secret, text, expected) in [
            (
                "plum88&x",
                "then plum88&x. plum88%26x plum88&amp;x",
                &["plum88&x", "plum88%26x", "plum88&amp;x"][..],
            ),
            ("plum8x", "plum8xx aplum8x _plum8x plum8x-", &["plum8x"]),
            ("plum88xy", "hex 706c756d38387879", &["706c756d38387879"]),
            ("plumFerret88", "Basic Ym9iOnBsdW1GZXJyZXQ4OA== x", &["Ym9iOnBsdW1GZXJyZXQ4OA=="]),
            ("cGx1bUZlcnJldDg4", "$ base64 -d\nplumFerret88", &["plumFerret88"]),
            ("kettle", "a kettle", &[]),
        ] {
            assert_eq!(found(secret, text), expected, "{text}");
        }
    }
}
