//! The patterns of the built-in rules. Several hundred of them stay in memory, so each is made small: of the engines that the
//! `regex` crate makes for a pattern there are two, which share one automaton, and their tables are small or soon freed.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::OnceLock;

use regex_automata::hybrid::dfa::{Cache, Config, DFA};
use regex_automata::nfa::thompson::pikevm::PikeVM;
use regex_automata::nfa::thompson::{self, NFA, WhichCaptures};
use regex_automata::util::captures::Captures;
use regex_automata::util::syntax;
use regex_automata::{Anchored, Input, MatchKind, PatternID, PatternSet};
use thru_core::Spares;

/// A pattern, compiled on first use.
///
/// Its classes are those of ASCII, and one that excludes characters takes any byte besides, which needs a tenth of the
/// states. A class with other characters stands in `(?u:…)`.
pub(crate) struct Pattern {
    source: Cow<'static, str>,
    anchored: Anchored,
    engines: OnceLock<(Tables, PikeVM)>,
}

impl Pattern {
    /// The most bytes of tables that are made of a pattern as they are needed.
    const TABLES: usize = 1 << 18;

    /// A pattern that matches anywhere in a text.
    pub(crate) const fn anywhere(source: &'static str) -> Self {
        let source = Cow::Borrowed(source);
        Self { source, anchored: Anchored::No, engines: OnceLock::new() }
    }

    /// A pattern that matches only at the beginning of a text.
    pub(crate) const fn at_start(source: &'static str) -> Self {
        let source = Cow::Borrowed(source);
        Self { source, anchored: Anchored::Yes, engines: OnceLock::new() }
    }

    /// As [`Self::at_start`], for a pattern that is put together.
    pub(crate) const fn composed(source: String) -> Self {
        Self { source: Cow::Owned(source), anchored: Anchored::Yes, engines: OnceLock::new() }
    }

    /// Returns the pattern as it is written.
    pub(crate) fn source(&self) -> &str {
        &self.source
    }

    /// Returns the bytes that the compiled pattern takes before it is used.
    #[cfg(test)]
    pub(crate) fn size(&self) -> usize {
        let tables = &self.engines().0;
        tables.dfa.get_nfa().memory_usage() + tables.search(|_, cache| cache.memory_usage())
    }

    fn engines(&self) -> &(Tables, PikeVM) {
        self.engines.get_or_init(|| {
            let nfa = compile(&[self.source()], WhichCaptures::All);
            let tables = Tables::new(nfa.clone(), Self::TABLES, MatchKind::LeftmostFirst);
            let vm = PikeVM::new_from_nfa(nfa);
            (tables, vm.unwrap_or_else(|error| unreachable!("a built-in pattern: {error}")))
        })
    }

    /// Returns where the first match ends.
    fn end(&self, text: &str) -> Option<usize> {
        let input = Input::new(text).anchored(self.anchored);
        let found = self.engines().0.search(|dfa, cache| dfa.try_search_fwd(cache, &input));
        Some(found.unwrap_or_else(|error| unreachable!("nothing ends a search: {error}"))?.offset())
    }

    /// True if the pattern matches.
    pub(crate) fn is_match(&self, text: &str) -> bool {
        self.end(text).is_some()
    }

    /// Returns where the pattern matches first.
    pub(crate) fn find(&self, text: &str) -> Option<Range<usize>> {
        match self.anchored {
            Anchored::Yes => Some(0..text.ceil_char_boundary(self.end(text)?)),
            _ => self.captures(text).map(|groups| groups.range()),
        }
    }

    /// Returns the groups of the first match.
    pub(crate) fn captures<'t>(&self, text: &'t str) -> Option<Groups<'t>> {
        let input = Input::new(text).anchored(self.anchored).range(..self.end(text)?);
        let vm = &self.engines().1;
        let mut captures = vm.create_captures();
        vm.captures(&mut vm.create_cache(), input, &mut captures);
        captures.is_match().then_some(Groups { text, captures })
    }
}

/// Compiles patterns to one automaton.
fn compile(patterns: &[&str], captures: WhichCaptures) -> NFA {
    thompson::Compiler::new()
        .syntax(syntax::Config::new().unicode(false).utf8(false))
        .configure(thompson::Config::new().which_captures(captures).utf8(false))
        .build_many(patterns)
        .unwrap_or_else(|error| unreachable!("a built-in pattern: {error}"))
}

/// An automaton whose tables are made as they are needed.
struct Tables {
    dfa: DFA,
    caches: Spares<Cache>,
}

impl Tables {
    fn new(nfa: NFA, capacity: usize, kind: MatchKind) -> Self {
        let config = Config::new().match_kind(kind).cache_capacity(capacity);
        let dfa = DFA::builder()
            .configure(config.skip_cache_capacity_check(true))
            .build_from_nfa(nfa)
            .unwrap_or_else(|error| unreachable!("a built-in pattern: {error}"));
        Self { dfa, caches: Spares::default() }
    }

    /// Searches with a cache of the automaton.
    fn search<T>(&self, search: impl FnOnce(&DFA, &mut Cache) -> T) -> T {
        self.caches.lend(|| self.dfa.create_cache(), |cache| search(&self.dfa, cache))
    }
}

/// Many patterns that are tried at once at the beginning of a text.
pub(crate) struct Set(Tables);

impl Set {
    /// The most bytes of tables that are made of all of them as they are needed.
    const TABLES: usize = 1 << 21;

    /// Compiles built-in patterns.
    pub(crate) fn new(patterns: &[&str]) -> Self {
        Self(Tables::new(compile(patterns, WhichCaptures::None), Self::TABLES, MatchKind::All))
    }

    /// Returns for each pattern if it matches at the beginning of the text.
    pub(crate) fn matches(&self, text: &str) -> Vec<bool> {
        let patterns = self.0.dfa.pattern_len();
        let mut found = PatternSet::new(patterns);
        let input = Input::new(text).anchored(Anchored::Yes);
        let search = |dfa: &DFA, cache: &mut Cache| {
            dfa.try_which_overlapping_matches(cache, &input, &mut found)
        };
        self.0
            .search(search)
            .unwrap_or_else(|error| unreachable!("nothing ends a search: {error}"));
        (0..patterns).map(|at| found.contains(PatternID::must(at))).collect()
    }
}

/// The groups of a match.
pub(crate) struct Groups<'t> {
    text: &'t str,
    captures: Captures,
}

impl<'t> Groups<'t> {
    /// Returns the group of this name, if it took part in the match.
    pub(crate) fn name(&self, name: &str) -> Option<Group<'t>> {
        let range = whole(self.text, self.captures.get_group_by_name(name)?.range());
        Some(Group { start: range.start, text: &self.text[range] })
    }

    /// Returns where all of the match is.
    pub(crate) fn range(&self) -> Range<usize> {
        self.captures.get_match().map_or(0..0, |found| whole(self.text, found.range()))
    }
}

/// A part of a match.
#[derive(Clone, Copy)]
pub(crate) struct Group<'t> {
    text: &'t str,
    start: usize,
}

impl<'t> Group<'t> {
    pub(crate) const fn as_str(&self) -> &'t str {
        self.text
    }

    pub(crate) const fn start(&self) -> usize {
        self.start
    }

    pub(crate) const fn end(&self) -> usize {
        self.start + self.text.len()
    }

    pub(crate) const fn range(&self) -> Range<usize> {
        self.start..self.end()
    }
}

/// Returns the range with all of the characters that it cuts.
fn whole(text: &str, range: Range<usize>) -> Range<usize> {
    text.floor_char_boundary(range.start)..text.ceil_char_boundary(range.end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_character_is_cut() {
        let pattern = Pattern::at_start(r"=(?P<v>[^\s]{1,4})");
        let groups = pattern.captures("=a\u{20ac}\u{20ac}b").unwrap();
        assert_eq!(groups.name("v").unwrap().as_str(), "a\u{20ac}");
        let groups = pattern.captures("=ab\u{20ac}").unwrap();
        assert_eq!(groups.name("v").unwrap().range(), 1..6);
        assert_eq!(pattern.find("=ab\u{20ac}"), Some(0..6));
    }

    #[test]
    fn all_of_a_set_are_tried_at_once() {
        let set = Set::new(&["a+b", "a", "b", "(?:a|b)+c"]);
        assert_eq!(set.matches("aab"), [true, true, false, false]);
        assert_eq!(set.matches("bac"), [false, false, true, true]);
        assert_eq!(set.matches(""), [false; 4]);
    }

    #[test]
    fn classes_are_those_of_ascii_unless_they_say_otherwise() {
        assert!(!Pattern::at_start(r"\w").is_match("\u{e9}"));
        assert!(Pattern::at_start(r"(?u:[\u{e9}])\z").is_match("\u{e9}"));
        assert!(Pattern::at_start(r"\u{e9}\z").is_match("\u{e9}"));
    }
}
