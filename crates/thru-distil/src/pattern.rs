//! Regular expressions, compiled once, in a form that matches fast.

use regex::{Regex, RegexSet};

/// Compiles a pattern. Word boundaries and word characters are ASCII only: with Unicode ones the engine
/// falls back to a slow search in any text that is not plain ASCII.
pub(crate) fn regex(pattern: &str) -> Option<Regex> {
    Regex::new(&ascii(pattern)).ok()
}

/// Compiles a set of patterns, several of which may match one text.
pub(crate) fn set(patterns: &[&str]) -> Option<RegexSet> {
    RegexSet::new(patterns.iter().map(|pattern| ascii(pattern))).ok()
}

fn ascii(pattern: &str) -> String {
    pattern.replace(r"\b", r"(?-u:\b)").replace(r"\w", r"(?-u:\w)").replace(r"\d", "[0-9]")
}
