//! The entry point: everything that is kept or shown goes through the [`Redactor`].
//!
//! Combines the findings of the other modules, applies the replacements, and cleans the result again
//! until nothing more is found, so that cleaning twice is the same as cleaning once.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::LazyLock;

use serde_json::Value;

use crate::copies::{Known, Search};
use crate::decode::{self, Escapes};
use crate::edits::{self, Edit, PRIVATE, Reason};
use crate::json::{self, Event};
use crate::keywords::{self, Occurrence};
use crate::user_rules::UserRules;
use crate::{
    Clean, Report, RuleError, UserRule, assignment, blank, cookie, keys, rules, secrets, tags,
};

/// The number of rounds after which a text is considered hostile and blanked.
const ROUNDS: usize = 8;
/// The most bytes of a document within a string whose strings are read one by one.
const LONGEST_DOCUMENT: usize = 64 << 10;
/// The number of nested layers of escapes in text that are decoded.
const LAYERS: usize = 3;

/// Removes privacy tags and secrets from text. Immutable, and cheap to share between threads.
#[derive(Clone, Debug, Default)]
pub struct Redactor {
    user: UserRules,
    /// Empty for the built-in rules: theirs is only computed on request, which hooks never make.
    fingerprint: String,
}

impl Redactor {
    /// Returns a redactor with only the built-in rules.
    pub fn builtin() -> Self {
        Self::default()
    }

    /// Creates a redactor with the built-in rules and the user's.
    ///
    /// A match of `allow`, be it the secret alone or with its name (`KEY=value`), is never redacted.
    /// Privacy tags take precedence over it.
    ///
    /// # Errors
    /// [`RuleError`] if a name cannot be used in a placeholder, or a pattern is not a regular
    /// expression, is too large, or matches empty text.
    pub fn new(user_rules: &[UserRule], allow: &[String]) -> Result<Self, RuleError> {
        Ok(Self {
            user: UserRules::new(user_rules, allow)?,
            fingerprint: fingerprint(user_rules, allow),
        })
    }

    /// Returns a fingerprint of the set of rules: it changes whenever the result of redaction may
    /// change.
    pub fn fingerprint(&self) -> String {
        if self.fingerprint.is_empty() { fingerprint(&[], &[]) } else { self.fingerprint.clone() }
    }

    /// Cleans plain text.
    pub fn clean_text(&self, text: &str, report: &mut Report) -> Clean<String> {
        let edits = self.lasting_edits(None, text, report);
        Clean::new(if edits.is_empty() {
            text.to_owned()
        } else {
            edits::apply_to_text(text, &edits)
        })
    }

    /// Cleans the bytes of a file that is not JSON, as text. Bytes that are not UTF-8 stay, unless they
    /// are inside a replaced range.
    pub fn clean_bytes(&self, bytes: &[u8], report: &mut Report) -> Clean<Vec<u8>> {
        let text = match std::str::from_utf8(bytes) {
            Ok(text) => Cow::Borrowed(text),
            Err(_) => Cow::Owned(decode::decode(bytes, Escapes::None)),
        };
        let mut edits = self.lasting_edits(None, &text, report);
        if matches!(text, Cow::Owned(_)) {
            edits = decode::to_bytes(bytes, Escapes::None, edits);
        }
        Clean::new(edits::apply(bytes, &edits))
    }

    /// Cleans one line of JSON, with or without its line break. Only secrets and private passages in
    /// string values are replaced; everything else stays byte for byte.
    ///
    /// Technical values (ids, signatures, images) are not changed. A line that is not JSON is cleaned
    /// as text.
    pub fn clean_json_line(&self, line: &[u8], report: &mut Report) -> Clean<Vec<u8>> {
        let keywords = keywords::keywords(line);
        let first = keywords.iter().position(|keyword| secrets::is_suspicious(line, *keyword));
        // Strings that end before the first suspicion hold none.
        let (first, keywords) = match first {
            _ if self.user.has_rules() => (0, keywords.as_slice()),
            Some(first) => (keywords[first].end(), &keywords[first..]),
            None => return Clean::new(line.to_vec()),
        };
        let Some(document) = json::valid(line) else {
            return self.clean_bytes(line, report);
        };
        let mut all = Vec::new();
        let mut known = Known::default();
        let mut payloads = Payloads::default();
        json::walk(document, |event| {
            let (value, found) = match event {
                Event::String { key, value, label } => {
                    let label = label.map(|label| json::decode_string(&document[label]));
                    let in_payload =
                        payloads.is_inside() || key.as_deref().is_some_and(keys::is_payload);
                    let (key, label) = (key.as_deref(), label.as_deref());
                    if value.end < first && !name_of(key, label).is_some_and(is_telling) {
                        return;
                    }
                    let name = Name { key, label, in_payload };
                    let found =
                        self.string_edits(name, document, &value, keywords, &mut known, report);
                    (value, found)
                }
                Event::Key(key) if key.end < first => return,
                Event::Key(key) => {
                    let name = Name::default();
                    let found =
                        self.string_edits(name, document, &key, keywords, &mut known, report);
                    (key, found)
                }
                Event::Open(key) => return payloads.open(key.as_deref()),
                Event::Close => return payloads.close(),
            };
            all.extend(found.into_iter().map(|edit| {
                Edit::new(value.start + edit.range.start..value.start + edit.range.end, edit.reason)
            }));
        });
        if let Some(search) = known.search() {
            all.extend(self.copies_in_strings(&search, document));
            all = edits::join(all);
        }
        json::escape_replacements(&mut all);
        Clean::new(edits::apply(line, &all))
    }

    /// Returns the edits of what is known to be secret, in all strings of a document.
    fn copies_in_strings(&self, search: &Search<'_>, document: &str) -> Vec<Edit> {
        let mut all = Vec::new();
        let mut payloads = Payloads::default();
        json::walk(document, |event| {
            let value = match event {
                Event::String { key, value, .. } => {
                    let key = key.as_deref();
                    let in_payload = payloads.is_inside() || key.is_some_and(keys::is_payload);
                    let raw = document[value.clone()].as_bytes();
                    if key.is_some_and(|key| keys::is_left_alone(key, raw, in_payload)) {
                        return;
                    }
                    value
                }
                Event::Key(key) => key,
                Event::Open(key) => return payloads.open(key.as_deref()),
                Event::Close => return payloads.close(),
            };
            let raw = &document[value.clone()];
            let text = json::decode_string(raw);
            let found = self.with_copies(search, &text, Vec::new());
            all.extend(in_raw(raw, text, found).into_iter().map(|edit| {
                Edit::new(value.start + edit.range.start..value.start + edit.range.end, edit.reason)
            }));
        });
        all
    }

    /// As [`Self::clean_json_line`], for a document in memory.
    pub fn clean_value(&self, value: Value, report: &mut Report) -> Clean<Value> {
        let line = value.to_string();
        let cleaned = self.clean_json_line(line.as_bytes(), report);
        if cleaned.get() == line.as_bytes() {
            return Clean::new(value);
        }
        // A line stays JSON. Nothing of one that did not would be kept.
        Clean::new(serde_json::from_slice(cleaned.get()).unwrap_or_default())
    }

    /// Cleans every text of a value; `texts` must pass them one by one.
    pub fn clean_texts<T>(
        &self,
        mut value: T,
        texts: impl FnOnce(&mut T, &mut dyn FnMut(&mut String)),
        report: &mut Report,
    ) -> Clean<T> {
        texts(&mut value, &mut |text| *text = self.clean_text(text, report).into_inner());
        Clean::new(value)
    }

    /// True if only white space is left after removing tagged passages, and at least one of them was a
    /// user's.
    pub fn is_wholly_private(&self, text: &str) -> bool {
        tags::is_wholly_private(text)
    }

    /// Replaces every string value of one line of JSON by `[private]`, except those without which the
    /// record could not be placed (its type, ids, times and the like). A line that is not JSON becomes
    /// one string.
    pub fn blank_json_line(&self, line: &[u8], report: &mut Report) -> Clean<Vec<u8>> {
        report.private += 1;
        let blanked = blank::line(line);
        // The remaining values are single technical words; they are cleaned like any other.
        self.clean_json_line(&blanked, report)
    }

    /// Returns the edits of one raw string of a JSON document in which these keywords were found.
    fn string_edits(
        &self,
        Name { key, label, in_payload }: Name<'_>,
        document: &str,
        part: &Range<usize>,
        keywords: &[Occurrence],
        known: &mut Known,
        report: &mut Report,
    ) -> Vec<Edit> {
        let name = name_of(key, label);
        if !self.user.has_rules()
            && !name.is_some_and(is_telling)
            && !secrets::is_suspicious_part(document, part, keywords)
        {
            return Vec::new();
        }
        let raw = &document[part.clone()];
        let text = json::decode_string(raw);
        if key.is_some_and(|key| keys::is_left_alone(key, text.as_bytes(), in_payload)) {
            return Vec::new();
        }
        let edits = self.lasting_edits(name, &text, report);
        known.add(&text, &edits);
        in_raw(raw, text, edits)
    }

    /// Returns the edits after which nothing more is found.
    fn lasting_edits(&self, name: Option<&str>, text: &str, report: &mut Report) -> Vec<Edit> {
        let edits = self.find(name, text);
        if edits.is_empty() {
            return edits;
        }
        edits::count(&edits, report);
        let first = edits::apply_to_text(text, &edits);
        let mut current = Cow::Borrowed(first.as_str());
        for _ in 0..ROUNDS {
            let more = self.find(name, &current);
            let next = edits::apply_to_text(&current, &more);
            if next == *current {
                return match current {
                    Cow::Borrowed(_) => edits,
                    Cow::Owned(cleaned) => vec![difference(text, &cleaned)],
                };
            }
            edits::count(&more, report);
            current = Cow::Owned(next);
        }
        // Constructed so that each cleaning reveals something else: nothing of it is kept.
        vec![Edit::new(0..text.len(), Reason::Private)]
    }

    /// Returns the edits from a single pass over a text, sorted and disjoint.
    fn find(&self, name: Option<&str>, text: &str) -> Vec<Edit> {
        let mut edits = Vec::new();
        if let Some(name) = name
            && let Some((range, rule)) = assignment::find_in_pair(name, text)
            && !self.user.allows(text, &text[range.clone()])
        {
            edits.push(Edit::new(range, Reason::Assigned(rule.into())));
        }
        if name.is_some_and(|name| name.to_ascii_lowercase().ends_with("cookie")) {
            let found = cookie::find_in_value(text).into_iter();
            let found = found.filter(|range| !self.user.allows(text, &text[range.clone()]));
            edits.extend(found.map(|range| Edit::new(range, Reason::Secret("cookie".into()))));
        }
        self.find_in_layers(text, 0, &mut edits);
        self.find_in_document(text, &mut edits);
        let edits = edits::join(edits);
        let mut known = Known::default();
        known.add(text, &edits);
        match known.search() {
            Some(search) => self.with_copies(&search, text, edits),
            None => edits,
        }
    }

    /// Finds what the strings of a document hold, each by itself: in them quotation marks and line breaks are no longer escaped.
    fn find_in_document(&self, text: &str, edits: &mut Vec<Edit>) {
        if !text.starts_with(['{', '[']) || text.len() > LONGEST_DOCUMENT {
            return;
        }
        let Some(document) = json::valid(text.as_bytes()) else { return };
        let keywords = keywords::keywords(document.as_bytes());
        json::walk(document, |event| {
            let Event::String { key, value, label } = event else { return };
            let label = label.map(|label| json::decode_string(&document[label]));
            let name = name_of(key.as_deref(), label.as_deref());
            if !name.is_some_and(is_telling)
                && !secrets::is_suspicious_part(document, &value, &keywords)
            {
                return;
            }
            let raw = &document[value.clone()];
            // A single word is judged with the key before it.
            if !raw.contains(' ') {
                return;
            }
            let inner = json::decode_string(raw);
            let found = self.find(name, &inner);
            edits.extend(in_raw(raw, inner, found).into_iter().map(|edit| {
                Edit::new(value.start + edit.range.start..value.start + edit.range.end, edit.reason)
            }));
        });
    }

    /// Returns the edits of a text with those of what is known to be secret.
    fn with_copies(&self, search: &Search<'_>, text: &str, mut edits: Vec<Edit>) -> Vec<Edit> {
        let copies = search.find(text).into_iter();
        let copies = copies.filter(|edit| !self.user.allows(text, &text[edit.range.clone()]));
        // What has a rule of its own keeps its name.
        let is_new = |edit: &Edit| {
            let at = edits.partition_point(|other| other.range.end <= edit.range.start);
            edits.get(at).is_none_or(|other| {
                other.range.start > edit.range.start || other.range.end < edit.range.end
            })
        };
        let copies: Vec<Edit> = copies.filter(is_new).collect();
        edits.extend(copies);
        edits::join(edits)
    }

    fn find_in_layers(&self, text: &str, layer: usize, edits: &mut Vec<Edit>) {
        let findings = secrets::find(text, |whole, secret| self.user.allows(whole, secret));
        edits.extend(findings.edits);
        if findings.tags {
            edits.extend(tags::find(text));
        }
        if self.user.has_rules() {
            self.user.find(text, edits);
        }
        for (found, escapes) in [
            (findings.marks, Escapes::Marks),
            (findings.escapes, Escapes::Json),
            (findings.percents, Escapes::Percent),
            (findings.mail, Escapes::Mail),
            (findings.entities, Escapes::Entities),
        ] {
            if found && layer < LAYERS {
                let decoded = decode::decode(text.as_bytes(), escapes);
                let mut inner = Vec::new();
                self.find_in_layers(&decoded, layer + 1, &mut inner);
                edits.extend(decode::to_bytes(text.as_bytes(), escapes, edits::join(inner)));
            }
        }
    }
}

/// Maps edits of a decoded string of a JSON document back to its raw bytes.
fn in_raw(raw: &str, text: Cow<'_, str>, edits: Vec<Edit>) -> Vec<Edit> {
    match text {
        Cow::Borrowed(_) => edits,
        Cow::Owned(_) => decode::to_bytes(raw.as_bytes(), Escapes::Json, edits),
    }
}

/// True if a value that belongs to this name may be a secret.
fn is_telling(name: &str) -> bool {
    assignment::is_telling(name) || name.to_ascii_lowercase().ends_with("cookie")
}

/// The names of a value of a JSON document.
#[derive(Clone, Copy, Default)]
struct Name<'a> {
    key: Option<&'a str>,
    /// The name beside it, for the value in `{"name": …, "value": …}`.
    label: Option<&'a str>,
    /// True inside what a tool was given or gave back.
    in_payload: bool,
}

/// The depth of a walk, and that at which it entered what a tool was given or gave back.
#[derive(Default)]
struct Payloads {
    depth: usize,
    entered: Option<usize>,
}

impl Payloads {
    fn is_inside(&self) -> bool {
        self.entered.is_some()
    }

    fn open(&mut self, key: Option<&str>) {
        if self.entered.is_none() && key.is_some_and(keys::is_payload) {
            self.entered = Some(self.depth);
        }
        self.depth += 1;
    }

    fn close(&mut self) {
        self.depth = self.depth.saturating_sub(1);
        if self.entered == Some(self.depth) {
            self.entered = None;
        }
    }
}

/// Returns the name of a value: its key, or for `{"name": …, "value": …}` the name beside it.
fn name_of<'a>(key: Option<&'a str>, label: Option<&'a str>) -> Option<&'a str> {
    match (key, label) {
        (Some(key), Some(label)) if keys::is_labelled(key) => Some(keys::of_label(label)),
        _ => key,
    }
}

/// Returns a single edit that turns one text into another.
fn difference(before: &str, after: &str) -> Edit {
    let same = |pair: &(u8, u8)| pair.0 == pair.1;
    let start = before.bytes().zip(after.bytes()).take_while(same).count();
    let start = before.floor_char_boundary(start).min(after.floor_char_boundary(start));
    let end =
        before[start..].bytes().rev().zip(after[start..].bytes().rev()).take_while(same).count();
    let mut end = end;
    while !(before.is_char_boundary(before.len() - end)
        && after.is_char_boundary(after.len() - end))
    {
        end -= 1;
    }
    let middle = &after[start..after.len() - end];
    let reason =
        if middle == PRIVATE { Reason::Private } else { Reason::Rewritten(middle.to_owned()) };
    Edit::new(start..before.len() - end, reason)
}

/// The hash of the built-in rules, computed once: a hook makes several redactors.
static BUILT_IN: LazyLock<u64> = LazyLock::new(|| {
    rules::RULES.iter().fold(0xcbf2_9ce4_8422_2325, |hash, rule| {
        let form = format!(
            "{:?}{:?}{:?}{:?}{:?}",
            rule.keywords, rule.finder, rule.start, rule.follows, rule.check
        );
        hashed(hashed(hash, rule.name), &form)
    })
});

/// Adds a text to an FNV-1a hash.
fn hashed(hash: u64, text: &str) -> u64 {
    let add = |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    text.bytes().chain([0xff]).fold(hash, add)
}

/// Returns the hash of everything that determines what is redacted.
fn fingerprint(user_rules: &[UserRule], allow: &[String]) -> String {
    let mut hash = *BUILT_IN;
    let mut add = |text: &str| hash = hashed(hash, text);
    for rule in user_rules {
        add("rule");
        add(&rule.name);
        add(&rule.pattern);
    }
    for pattern in allow {
        add("allow");
        add(pattern);
    }
    format!("{}-{hash:016x}", rules::VERSION)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clean_line(line: &str) -> String {
        let cleaned = Redactor::builtin().clean_json_line(line.as_bytes(), &mut Report::default());
        String::from_utf8(cleaned.into_inner()).unwrap()
    }

    fn token() -> String {
        ["gh", "p_", "a8F3kL09xQ2mZ7pR4sT1vB6nC5dW0eY8uI3o"].concat()
    }

    #[test]
    fn only_what_goes_is_replaced() {
        let token = token();
        for (line, expected) in [
            (
                format!(r#"{{"a" : "x\u00e9 {token}\n\"y\/z\"", "b":[1.50,{{}}]}}"#),
                r#"{"a" : "x\u00e9 [redacted:github-token]\n\"y\/z\"", "b":[1.50,{}]}"#,
            ),
            (
                r#"{"a":"\u003cprivate\u003ex\u003c\/private\u003e \u00e9"}"#.to_owned(),
                r#"{"a":"[private] \u00e9"}"#,
            ),
            (
                r#"{"input":{"password":"hunter2\n"}}"#.to_owned(),
                r#"{"input":{"password":"[redacted:password]\n"}}"#,
            ),
            (
                r#"{"args":"{\"password\":\"hunter2\",\"n\":1}"}"#.to_owned(),
                r#"{"args":"{\"password\":\"[redacted:password]\",\"n\":1}"}"#,
            ),
            (
                r#"{"args":"{\"t\":\"\\u003cprivate\\u003ex\"}"}"#.to_owned(),
                r#"{"args":"{\"t\":\"[private]"}"#,
            ),
            (
                r#"{"env":[{"name":"DB_PASSWORD","value":"hunter2"}]}"#.to_owned(),
                r#"{"env":[{"name":"DB_PASSWORD","value":"[redacted:password]"}]}"#,
            ),
            (
                r#"{"out":{"db_password":{"type":"string","value":"hunter2"}}}"#.to_owned(),
                r#"{"out":{"db_password":{"type":"string","value":"[redacted:password]"}}}"#,
            ),
            (
                format!(r#"{{"id":"{token}","{token}":1,"input":{{"id":"{token}"}}}}"#),
                format!(
                    r#"{{"id":"{token}","[redacted:github-token]":1,"input":{{"id":"[redacted:github-token]"}}}}"#
                )
                .leak(),
            ),
            (format!("{{\"a\":\"{token}\"}}\n"), "{\"a\":\"[redacted:github-token]\"}\n"),
        ] {
            assert_eq!(clean_line(&line), expected);
        }
    }

    #[test]
    fn text_that_is_not_json_is_cleaned_as_text() {
        assert_eq!(
            clean_line(r#"{"a":"password: \"hunter2\", b"#),
            r#"{"a":"password: \"[redacted:password]\", b"#
        );
        assert_eq!(clean_line(r#"{"a":"\u003cprivate\u003ehello"#), r#"{"a":"[private]"#);
        let cleaned = Redactor::builtin()
            .clean_json_line(b"\xff <private>a\xffb</private> \xfe", &mut Report::default());
        assert_eq!(cleaned.get(), b"\xff [private] \xfe");
    }

    #[test]
    fn text_revealed_by_a_removal_is_cleaned_too() {
        let context = "<throughline-context>x</throughline-context>";
        let mut report = Report::default();
        let redactor = Redactor::builtin();
        let text = format!("a <pri{context}vate>b\"</private> c");
        assert_eq!(redactor.clean_text(&text, &mut report).get(), "a [private] c");
        assert_eq!(report.private, 1);
        let line = serde_json::json!({ "a": text }).to_string();
        assert_eq!(clean_line(&line), r#"{"a":"a [private] c"}"#);
        let mut hostile = "<private>".to_owned();
        for _ in 0..20 {
            hostile = format!(
                "<pri{context}vate>{}",
                hostile.replace("<private>", &format!("<pri{context}vate>"))
            );
        }
        let cleaned = redactor.clean_text(&hostile, &mut report).into_inner();
        assert_eq!(redactor.clean_text(&cleaned, &mut report).get(), &cleaned);
    }

    #[test]
    fn user_rules_and_the_allow_list_are_applied() {
        let rules =
            [UserRule { name: "ticket".to_owned(), pattern: r"TCK-(?P<secret>\d+)".to_owned() }];
        let token = token();
        let allow = [token.clone(), "TCK-7".to_owned(), "DEV_PASSWORD=.*".to_owned()];
        let redactor = Redactor::new(&rules, &allow).unwrap();
        let mut report = Report::default();
        let text = format!("TCK-12 TCK-7 {token} DEV_PASSWORD=hunter2");
        let cleaned = redactor.clean_text(&text, &mut report);
        assert_eq!(cleaned.get(), &text.replace("12", "[redacted:ticket]"));
        assert_eq!(report.secrets["ticket"], 1);
        assert_ne!(redactor.fingerprint(), Redactor::builtin().fingerprint());
        assert_eq!(Redactor::default().fingerprint(), Redactor::builtin().fingerprint());
    }

    #[test]
    fn a_difference_turns_one_text_into_the_other() {
        for (before, after) in
            [("abcabc", "abc"), ("é", "è"), ("", "x"), ("aXa", "aa"), ("same", "same")]
        {
            let edit = difference(before, after);
            assert_eq!(edits::apply_to_text(before, &[edit]), after);
        }
    }
}
