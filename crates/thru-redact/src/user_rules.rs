//! The user's additions: their own rules, and an allow list.
//!
//! Patterns are compiled by an engine that is linear on any text, and with a size limit, so that no
//! pattern can hang or bloat the program.

use std::borrow::Cow;
use std::ops::Range;

use regex::{Regex, RegexBuilder};

use crate::edits::{Edit, PRIVATE, REDACTED, Reason};

/// The maximum size of a compiled pattern in bytes.
const SIZE_LIMIT: usize = 2 * 1024 * 1024;
/// The longest name of a rule.
const LONGEST_NAME: usize = 64;

/// A rule that the user added.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserRule {
    /// The name, as in the placeholder `[redacted:NAME]`: letters, digits, `-` and `_`.
    pub name: String,
    /// A regular expression. Its group named `secret`, or else the whole match, is taken out.
    pub pattern: String,
}

/// An error in a user's rule.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
pub enum RuleError {
    /// The name cannot be used in a placeholder.
    #[error(
        "the redaction rule {name:?} needs another name: 1 to 64 letters, digits, hyphens and underscores"
    )]
    Name {
        /// The name as given.
        name: String,
    },
    /// The pattern is not a regular expression, or too large.
    #[error(
        "the pattern of the redaction rule {name:?} cannot be used; correct or remove it: {reason}"
    )]
    Pattern {
        /// The rule's name.
        name: String,
        /// A description of the problem.
        reason: String,
    },
    /// The pattern matches empty text, so it describes no secret.
    #[error(
        "the pattern of the redaction rule {name:?} matches empty text; make it ask for at least one character"
    )]
    Empty {
        /// The rule's name.
        name: String,
    },
    /// An entry of the allow list is not a regular expression, or too large.
    #[error(
        "the entry {pattern:?} of the redaction allow list cannot be used; correct or remove it: {reason}"
    )]
    Allow {
        /// The entry as given.
        pattern: String,
        /// A description of the problem.
        reason: String,
    },
}

/// The user's rules, compiled.
#[derive(Clone, Debug, Default)]
pub(crate) struct UserRules {
    rules: Vec<(String, Regex)>,
    allow: Vec<Regex>,
}

fn compile(pattern: &str) -> Result<Regex, String> {
    RegexBuilder::new(pattern)
        .size_limit(SIZE_LIMIT)
        .dfa_size_limit(SIZE_LIMIT)
        .build()
        .map_err(|error| error.to_string())
}

/// Returns the compiled pattern of a rule, after checking the rule.
pub(crate) fn compiled(rule: &UserRule) -> Result<Regex, RuleError> {
    let UserRule { name, pattern } = rule.clone();
    let is_name_byte = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    if name.is_empty() || name.len() > LONGEST_NAME || !name.bytes().all(is_name_byte) {
        return Err(RuleError::Name { name });
    }
    match compile(&pattern) {
        Err(reason) => Err(RuleError::Pattern { name, reason }),
        Ok(regex) if regex.is_match("") => Err(RuleError::Empty { name }),
        Ok(regex) => Ok(regex),
    }
}

impl UserRules {
    pub(crate) fn new(rules: &[UserRule], allow: &[String]) -> Result<Self, RuleError> {
        let mut compiled = Self::default();
        for rule in rules {
            compiled.rules.push((rule.name.clone(), self::compiled(rule)?));
        }
        for pattern in allow {
            // Compiled alone first, so that no bracket can close the group around it.
            let regex = compile(pattern)
                .and_then(|_| compile(&format!(r"\A(?:{pattern})\z")))
                .map_err(|reason| RuleError::Allow { pattern: pattern.clone(), reason })?;
            compiled.allow.push(regex);
        }
        Ok(compiled)
    }

    /// True if there are rules, so that texts must be searched that the built-in ones would skip.
    pub(crate) fn has_rules(&self) -> bool {
        !self.rules.is_empty()
    }

    /// True if the user allowed this match, or the secret in it.
    pub(crate) fn allows(&self, whole: &str, secret: &str) -> bool {
        self.allow.iter().any(|regex| regex.is_match(secret) || regex.is_match(whole))
    }

    /// Adds the matches of the user's rules to `edits`.
    pub(crate) fn find(&self, text: &str, edits: &mut Vec<Edit>) {
        for (name, regex) in &self.rules {
            let group = regex.capture_names().position(|group| group == Some("secret"));
            let mut add = |whole: &str, range: Range<usize>| {
                if !range.is_empty()
                    && !self.allows(whole, &text[range.clone()])
                    && let Some(range) = around_placeholders(text, range)
                {
                    edits.push(Edit::new(range, Reason::Secret(Cow::Owned(name.clone()))));
                }
            };
            match group {
                None => regex.find_iter(text).for_each(|found| add(found.as_str(), found.range())),
                Some(group) => {
                    for groups in regex.captures_iter(text) {
                        if let (Some(whole), Some(secret)) = (groups.get(0), groups.get(group)) {
                            add(whole.as_str(), secret.range());
                        }
                    }
                }
            }
        }
    }
}

/// Extends the range to the placeholders that it cuts through; returns `None` if it is inside one,
/// since a placeholder is not a secret.
fn around_placeholders(text: &str, mut range: Range<usize>) -> Option<Range<usize>> {
    if let Some(placeholder) = placeholder_around(text, range.start) {
        if placeholder.end >= range.end {
            return None;
        }
        range.start = placeholder.start;
    }
    if let Some(placeholder) = placeholder_around(text, range.end) {
        range.end = placeholder.end;
    }
    Some(range)
}

/// Returns the placeholder around this position, if there is one.
fn placeholder_around(text: &str, place: usize) -> Option<Range<usize>> {
    let from = text.floor_char_boundary(place.saturating_sub(REDACTED.len() + LONGEST_NAME));
    let start =
        from + text[from..text.ceil_char_boundary((place + 1).min(text.len()))].rfind('[')?;
    let placeholder = &text[start..];
    let length = if placeholder.starts_with(PRIVATE) {
        PRIVATE.len()
    } else if placeholder.starts_with(REDACTED) {
        placeholder.find(']')? + 1
    } else {
        return None;
    };
    (start + length > place).then_some(start..start + length)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(name: &str, pattern: &str) -> UserRule {
        UserRule { name: name.to_owned(), pattern: pattern.to_owned() }
    }

    #[test]
    fn errors_name_the_rule_and_the_remedy() {
        for (rules, allow, expected) in [
            (vec![rule("a b", "x")], vec![], "the redaction rule \"a b\" needs another name"),
            (
                vec![rule("a", "(")],
                vec![],
                "the pattern of the redaction rule \"a\" cannot be used; correct or remove it",
            ),
            (
                vec![rule("a", "x*")],
                vec![],
                "the pattern of the redaction rule \"a\" matches empty text",
            ),
            (
                vec![rule("a", r"(?:\w{900}){900}")],
                vec![],
                "the pattern of the redaction rule \"a\" cannot be used",
            ),
            (
                vec![],
                vec![")".to_owned()],
                "the entry \")\" of the redaction allow list cannot be used",
            ),
        ] {
            let error = UserRules::new(&rules, &allow).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{error}");
        }
    }

    #[test]
    fn placeholders_are_not_matched_again() {
        let rules = UserRules::new(&[rule("r", "[a-z]+")], &["keep".to_owned()]).unwrap();
        let mut edits = Vec::new();
        rules.find("[redacted:r] keep [private] x", &mut edits);
        assert_eq!(edits.len(), 1);
        assert_eq!(edits[0].range, 28..29);
    }
}
