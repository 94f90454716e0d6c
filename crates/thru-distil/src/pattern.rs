//! Regular expressions, compiled once, in a form that compiles and matches fast, and whose caches all threads share.

use std::borrow::Cow;
use std::ops::{Index, Range};

use regex_automata::meta::{self, Cache, Config};
use regex_automata::util::captures;
use regex_automata::{Input, MatchKind, PatternID, PatternSet};
use thru_core::Spares;

/// Compiles a pattern. Word boundaries, word characters, spaces and the case of letters are ASCII only: with Unicode ones the
/// engine falls back to a slow search in any text that is not plain ASCII, and takes half as long again to compile, which
/// every compaction and every start of a session waits for.
pub(crate) fn regex(pattern: &str) -> Regex {
    Regex(Engine::new(&[pattern], Config::new()))
}

/// Compiles a set of patterns, several of which may match one text.
pub(crate) fn set(patterns: &[&str]) -> Set {
    Set(Engine::new(patterns, Config::new().match_kind(MatchKind::All)))
}

/// The most bytes of tables that are made of a pattern as they are needed.
const TABLES: usize = 1 << 18;

#[derive(Debug)]
struct Engine {
    engine: meta::Regex,
    caches: Spares<Cache>,
}

impl Engine {
    fn new(patterns: &[&str], config: Config) -> Self {
        let patterns: Vec<String> = patterns.iter().map(|pattern| ascii(pattern)).collect();
        let engine = meta::Regex::builder()
            .configure(config.hybrid_cache_capacity(TABLES))
            .build_many(&patterns)
            .unwrap_or_else(|error| unreachable!("a built-in pattern: {error}"));
        Self { engine, caches: Spares::default() }
    }

    fn is_match(&self, text: &str) -> bool {
        let input = Input::new(text).earliest(true);
        self.search(|engine, cache| engine.search_half_with(cache, &input)).is_some()
    }

    fn search<T>(&self, search: impl FnOnce(&meta::Regex, &mut Cache) -> T) -> T {
        self.caches.lend(|| self.engine.create_cache(), |cache| search(&self.engine, cache))
    }
}

/// A compiled pattern.
#[derive(Debug)]
pub(crate) struct Regex(Engine);

impl Regex {
    /// True if it matches anywhere in the text.
    pub(crate) fn is_match(&self, text: &str) -> bool {
        self.0.is_match(text)
    }

    /// Returns the first match.
    pub(crate) fn find<'t>(&self, text: &'t str) -> Option<Match<'t>> {
        let input = Input::new(text);
        let found = self.0.search(|engine, cache| engine.search_with(cache, &input))?;
        Some(Match { text, range: found.range() })
    }

    /// Returns the first match with its groups.
    pub(crate) fn captures<'t>(&self, text: &'t str) -> Option<Captures<'t>> {
        self.captures_from(text, 0)
    }

    /// Returns the matches with their groups, which do not overlap.
    pub(crate) fn captures_iter<'t>(&self, text: &'t str) -> impl Iterator<Item = Captures<'t>> {
        let mut from = 0;
        std::iter::from_fn(move || {
            let found = self.captures_from(text, from)?;
            let Range { start, end } = found.whole();
            // Behind an empty match the next begins with the next character.
            let next = || text[end..].chars().next().map_or(1, char::len_utf8);
            from = if start == end { end + next() } else { end };
            Some(found)
        })
    }

    fn captures_from<'t>(&self, text: &'t str, from: usize) -> Option<Captures<'t>> {
        if from > text.len() {
            return None;
        }
        let input = Input::new(text).range(from..);
        let mut groups = self.0.engine.create_captures();
        self.0.search(|engine, cache| engine.search_captures_with(cache, &input, &mut groups));
        groups.is_match().then_some(Captures { text, groups })
    }

    /// Puts a text in the place of the first match.
    pub(crate) fn replace<'t>(&self, text: &'t str, with: &str) -> Cow<'t, str> {
        match self.find(text) {
            Some(found) => {
                Cow::Owned([&text[..found.start()], with, &text[found.end()..]].concat())
            }
            None => Cow::Borrowed(text),
        }
    }

    /// Puts a text in the place of each match.
    pub(crate) fn replace_all<'t>(&self, text: &'t str, with: &str) -> Cow<'t, str> {
        self.replace_each(text, |_| with.to_owned())
    }

    /// Puts what is made of each match in its place.
    pub(crate) fn replace_each<'t>(
        &self,
        text: &'t str,
        with: impl Fn(&Captures<'t>) -> String,
    ) -> Cow<'t, str> {
        let (mut replaced, mut end) = (String::new(), 0);
        for found in self.captures_iter(text) {
            let whole = found.whole();
            replaced.push_str(&text[end..whole.start]);
            replaced.push_str(&with(&found));
            end = whole.end;
        }
        if end == 0 && replaced.is_empty() {
            return Cow::Borrowed(text);
        }
        replaced.push_str(&text[end..]);
        Cow::Owned(replaced)
    }
}

/// Compiled patterns that are tried together.
#[derive(Debug)]
pub(crate) struct Set(Engine);

impl Set {
    /// True if any of them matches.
    pub(crate) fn is_match(&self, text: &str) -> bool {
        self.0.is_match(text)
    }

    /// Returns for each if it matches.
    pub(crate) fn matches(&self, text: &str) -> Vec<bool> {
        let patterns = self.0.engine.pattern_len();
        let mut found = PatternSet::new(patterns);
        let input = Input::new(text);
        self.0.search(|engine, cache| {
            engine.which_overlapping_matches_with(cache, &input, &mut found);
        });
        (0..patterns).map(|pattern| found.contains(PatternID::must(pattern))).collect()
    }
}

/// A match in a text.
#[derive(Clone, Debug)]
pub(crate) struct Match<'t> {
    text: &'t str,
    range: Range<usize>,
}

impl<'t> Match<'t> {
    pub(crate) fn as_str(&self) -> &'t str {
        &self.text[self.range.clone()]
    }

    pub(crate) const fn start(&self) -> usize {
        self.range.start
    }

    pub(crate) const fn end(&self) -> usize {
        self.range.end
    }
}

/// The groups of a match.
#[derive(Debug)]
pub(crate) struct Captures<'t> {
    text: &'t str,
    groups: captures::Captures,
}

impl<'t> Captures<'t> {
    /// Returns a group that took part in the match; the first is all of it.
    pub(crate) fn get(&self, group: usize) -> Option<Match<'t>> {
        Some(Match { text: self.text, range: self.groups.get_group(group)?.range() })
    }

    /// Returns the group of this name, if it took part in the match.
    pub(crate) fn name(&self, name: &str) -> Option<Match<'t>> {
        Some(Match { text: self.text, range: self.groups.get_group_by_name(name)?.range() })
    }

    /// Returns the groups in their order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = Option<Match<'t>>> {
        (0..self.groups.group_len()).map(|group| self.get(group))
    }

    /// Returns where the match stands.
    pub(crate) fn whole(&self) -> Range<usize> {
        self.groups.get_match().map_or(0..0, |found| found.range())
    }
}

/// A group; empty if it took no part in the match.
impl Index<usize> for Captures<'_> {
    type Output = str;

    fn index(&self, group: usize) -> &str {
        self.groups.get_group(group).map_or("", |span| &self.text[span.range()])
    }
}

/// A group; empty if it took no part in the match.
impl Index<&str> for Captures<'_> {
    type Output = str;

    fn index(&self, name: &str) -> &str {
        self.groups.get_group_by_name(name).map_or("", |span| &self.text[span.range()])
    }
}

/// Returns the pattern without Unicode, except for what may match a letter beyond ASCII, which it takes whole.
fn ascii(pattern: &str) -> String {
    let mut ascii = String::with_capacity(pattern.len() + 64);
    ascii.push_str("(?-u)");
    let mut letters = pattern.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => match letters.next() {
                Some('S') => ascii.push_str(r"(?u:[^\t\n\x0B\f\r\x20])"),
                Some('W') => ascii.push_str("(?u:[^0-9A-Za-z_])"),
                escaped => ascii.extend(['\\'].into_iter().chain(escaped)),
            },
            '[' => {
                let class = class(&mut letters);
                match class.starts_with('^') || !class.is_ascii() {
                    true => ascii.push_str(&format!("(?u:[{class}])")),
                    false => ascii.push_str(&format!("[{class}]")),
                }
            }
            '.' => ascii.push_str("(?u:.)"),
            _ if letter.is_ascii() => ascii.push(letter),
            _ => ascii.push_str(&format!("(?u:{letter})")),
        }
    }
    ascii
}

/// Reads the inside of a class and its end.
fn class(letters: &mut impl Iterator<Item = char>) -> String {
    let mut class = String::new();
    while let Some(letter) = letters.next().filter(|letter| *letter != ']') {
        match letter {
            '\\' => match letters.next() {
                Some('s') => class.push_str(r"\t\n\x0B\f\r\x20"),
                Some('d') => class.push_str("0-9"),
                Some('w') => class.push_str("0-9A-Za-z_"),
                escaped => class.extend(['\\'].into_iter().chain(escaped)),
            },
            _ => class.push(letter),
        }
    }
    class
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_beyond_ascii_are_taken_whole() {
        let is_match = |pattern: &str, text: &str| regex(pattern).is_match(text);
        assert!(is_match(r"(?i)^kiln['’]s\s[^,.;]{4}\S.\W$", "KILN’s über?öß"));
        assert!(is_match(r"(?i)^übrigens\b", "Übrigens: die Glasur"));
        assert!(is_match(r"^[\w\s-]+\.\d\[$", "cone 6-a.7["));
        assert!(!is_match("(?i)k", "\u{212a}"), "the sign of kelvin is no letter here");
        assert!(!is_match(r"^\w$", "é"));
    }
}
