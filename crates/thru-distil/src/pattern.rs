//! Regular expressions, compiled once, in the form that is matched fast.

use regex::{Regex, RegexSet};

/// Compiles a pattern. Borders of words and letters of words are those of ASCII: with Unicode's the
/// engine falls back to a slow search in every text that is not plain ASCII.
pub(crate) fn regex(pattern: &str) -> Option<Regex> {
    Regex::new(&ascii(pattern)).ok()
}

/// Compiles patterns of which a text may match several.
pub(crate) fn set(patterns: &[&str]) -> Option<RegexSet> {
    RegexSet::new(patterns.iter().map(|pattern| ascii(pattern))).ok()
}

fn ascii(pattern: &str) -> String {
    pattern.replace(r"\b", r"(?-u:\b)").replace(r"\w", r"(?-u:\w)").replace(r"\d", "[0-9]")
}
