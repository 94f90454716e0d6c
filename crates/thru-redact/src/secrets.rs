//! Finds secrets: one pass with an automaton of all keywords, and a detailed check with a rule only at
//! its keywords.
//!
//! The same pass serves as the prefilter for raw JSON ([`glance`]). It must never rule out what
//! [`find`] would find in the decoded text, so its checks allow for escapes.

use std::ops::Range;
use std::sync::{LazyLock, OnceLock};

use aho_corasick::automaton::Automaton;
use aho_corasick::dfa::DFA;
use aho_corasick::{Anchored, StartKind};
use regex::Regex;

use crate::edits::{Edit, Reason};
use crate::rules::{Finder, Follows, RULES, Rule, Start};
use crate::{assignment, private_key, tags};

/// The amount of text that a pattern is matched against. A longer secret is extended to its end
/// afterwards.
const WINDOW: usize = 8 * 1024;

/// The amount of it that the prefilter reads.
const GLANCE: usize = 1024;

/// The target of a keyword.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pointer {
    Rule(usize),
    Tag,
    /// An escape that may hide part of a keyword.
    Escape,
}

/// All keywords, with the targets and the length of each.
struct Keywords {
    words: Vec<&'static str>,
    pointers: Vec<(Vec<Pointer>, usize)>,
    /// Keywords by their first byte in lower case.
    by_first: Vec<Vec<usize>>,
}

static KEYWORDS: LazyLock<Keywords> = LazyLock::new(|| {
    let mut words: Vec<&'static str> = Vec::new();
    let mut pointers: Vec<(Vec<Pointer>, usize)> = Vec::new();
    let mut by_first = vec![Vec::new(); 256];
    let mut add = |word: &'static str, pointer| {
        let first = word.bytes().next().unwrap_or_default().to_ascii_lowercase();
        let alike: &mut Vec<usize> = &mut by_first[usize::from(first)];
        match alike.iter().find(|known| words[**known] == word) {
            Some(known) => pointers[*known].0.push(pointer),
            None => {
                alike.push(words.len());
                words.push(word);
                pointers.push((vec![pointer], word.len()));
            }
        }
    };
    for (index, rule) in RULES.iter().enumerate() {
        for keyword in rule.keywords {
            add(keyword, Pointer::Rule(index));
        }
    }
    for opening in tags::OPENINGS {
        add(opening, Pointer::Tag);
    }
    add(r"\u00", Pointer::Escape);
    add(r"\/", Pointer::Escape);
    Keywords { words, pointers, by_first }
});

/// The automaton for large texts: fast, and slow to build.
static FOR_MUCH: OnceLock<DFA> = OnceLock::new();

/// A bit for each pair of bytes that a keyword begins with, in lower case: for small texts, which are all that most hooks
/// ever see. An automaton would take longer to build than such a text takes to read.
static BEGINNINGS: LazyLock<Vec<u64>> = LazyLock::new(|| {
    let mut pairs = vec![0; 1024];
    for word in &KEYWORDS.words {
        if let [first, second, ..] = word.as_bytes() {
            let pair = pair(*first, *second);
            pairs[pair / 64] |= 1_u64 << (pair % 64);
        }
    }
    pairs
});

/// Returns two bytes in lower case as one number.
fn pair(first: u8, second: u8) -> usize {
    usize::from(first.to_ascii_lowercase()) << 8 | usize::from(second.to_ascii_lowercase())
}

/// The size in bytes from which the automaton for large texts is worthwhile.
const MUCH: usize = 16 * 1024;

/// Builds the automaton for large texts, so that small ones are searched with it as well.
pub(crate) fn expect_much() {
    for_much();
}

fn for_much() -> &'static DFA {
    FOR_MUCH.get_or_init(|| {
        DFA::builder()
            .ascii_case_insensitive(true)
            .start_kind(StartKind::Unanchored)
            .prefilter(false)
            .build(&KEYWORDS.words)
            .unwrap_or_else(|error| unreachable!("the built-in keywords: {error}"))
    })
}

/// Returns the compiled pattern of a rule of the table, compiling it on first use.
fn pattern(index: usize) -> Option<&'static Regex> {
    static PATTERNS: LazyLock<Vec<OnceLock<Regex>>> =
        LazyLock::new(|| RULES.iter().map(|_| OnceLock::new()).collect());
    let Finder::Pattern(source) = RULES.get(index)?.finder else {
        return None;
    };
    Some(PATTERNS.get(index)?.get_or_init(|| {
        Regex::new(&format!(r"\A(?:{source})"))
            .unwrap_or_else(|error| unreachable!("a built-in pattern: {error}"))
    }))
}

/// Calls `on_keyword` for each keyword, until it returns `true`: in the order of their ends, the longest first.
fn walk(bytes: &[u8], on_keyword: impl FnMut(Pointer, Range<usize>) -> bool) {
    match FOR_MUCH.get() {
        Some(automaton) => walk_with(automaton, bytes, on_keyword),
        None if bytes.len() < MUCH => walk_plainly(bytes, on_keyword),
        None => walk_with(for_much(), bytes, on_keyword),
    }
}

/// Looks for the keywords without an automaton.
fn walk_plainly(bytes: &[u8], mut on_keyword: impl FnMut(Pointer, Range<usize>) -> bool) {
    let (keywords, beginnings) = (&*KEYWORDS, &*BEGINNINGS);
    let mut found: Vec<(usize, usize, usize)> = Vec::new();
    for (at, two) in bytes.windows(2).enumerate() {
        let pair = pair(two[0], two[1]);
        if beginnings[pair / 64] & (1 << (pair % 64)) == 0 {
            continue;
        }
        for &index in &keywords.by_first[pair >> 8] {
            let word = keywords.words[index].as_bytes();
            let end = at + word.len();
            if bytes.get(at..end).is_some_and(|here| here.eq_ignore_ascii_case(word)) {
                found.push((end, at, index));
            }
        }
    }
    found.sort_unstable();
    for (end, start, index) in found {
        for pointer in &keywords.pointers[index].0 {
            if on_keyword(*pointer, start..end) {
                return;
            }
        }
    }
}

fn walk_with(
    automaton: &DFA,
    bytes: &[u8],
    mut on_keyword: impl FnMut(Pointer, Range<usize>) -> bool,
) {
    let pointers = &KEYWORDS.pointers;
    let Ok(mut state) = automaton.start_state(Anchored::No) else {
        return;
    };
    for (at, byte) in bytes.iter().enumerate() {
        state = automaton.next_state(Anchored::No, state, *byte);
        if automaton.is_special(state) && automaton.is_match(state) {
            for index in 0..automaton.match_len(state) {
                let (pointers, length) =
                    &pointers[automaton.match_pattern(state, index).as_usize()];
                for pointer in pointers {
                    if on_keyword(*pointer, at + 1 - length..at + 1) {
                        return;
                    }
                }
            }
        }
    }
}

/// True if this text, or the strings of this raw JSON, may contain anything to remove. Fast, with false
/// positives only.
pub(crate) fn glance(bytes: &[u8]) -> bool {
    let mut suspicious = false;
    walk(bytes, |pointer, word| {
        suspicious = match pointer {
            Pointer::Tag => true,
            Pointer::Escape => hides_something(bytes, &word),
            Pointer::Rule(index) => RULES.get(index).is_some_and(|rule| {
                is_possible(rule, bytes, &word) && may_match(index, rule, bytes, &word)
            }),
        };
        suspicious
    });
    suspicious
}

/// True if the pattern of a token matches the characters that are the same in text and raw JSON. Other
/// patterns match characters that JSON escapes, and are not tried.
fn may_match(index: usize, rule: &Rule, bytes: &[u8], word: &Range<usize>) -> bool {
    let (Finder::Pattern(_), Follows::Token(_)) = (rule.finder, rule.follows) else {
        return true;
    };
    let start = match rule.start {
        Start::Before(longest) => run_start(bytes, word.start, longest),
        Start::Word | Start::Anywhere => Some(word.start),
    };
    let (Some(start), Some(pattern)) = (start, pattern(index)) else {
        return false;
    };
    let window = &bytes[start..bytes.len().min(start + GLANCE)];
    let is_same = |byte: &&u8| matches!(byte, b' '..=b'~') && !matches!(byte, b'"' | b'\\');
    let length = window.iter().take_while(is_same).count();
    // If the window ends before the text does, the match may continue.
    length == GLANCE
        || std::str::from_utf8(&window[..length]).is_ok_and(|window| pattern.is_match(window))
}

/// The findings of a pass over a text.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    /// The secrets, neither sorted nor disjoint.
    pub(crate) edits: Vec<Edit>,
    /// A privacy tag may be there.
    pub(crate) tags: bool,
    /// The text contains escapes that may hide more.
    pub(crate) escapes: bool,
}

/// Finds the secrets that the table describes.
pub(crate) fn find(text: &str, is_allowed: impl Fn(&str, &str) -> bool) -> Findings {
    let bytes = text.as_bytes();
    let mut findings = Findings::default();
    // The progress of each rule, so that none examines the same text twice.
    let mut done = [0_usize; 256];
    walk(bytes, |pointer, word| {
        match pointer {
            Pointer::Tag => findings.tags = true,
            Pointer::Escape => findings.escapes |= hides_something(bytes, &word),
            Pointer::Rule(index) => {
                let Some(rule) = RULES.get(index) else {
                    return false;
                };
                let done = &mut done[index.min(255)];
                if word.start >= *done
                    && is_possible(rule, bytes, &word)
                    && let Some(found) = look(index, rule, text, word)
                {
                    *done = found.whole.end;
                    if let Some(edit) = found.edit
                        && !is_allowed(&text[found.whole], &text[edit.range.clone()])
                    {
                        findings.edits.push(edit);
                    }
                }
            }
        }
        false
    });
    findings
}

/// The result of a detailed check.
struct Found {
    /// The range that the rule examined as one unit.
    whole: Range<usize>,
    /// The edit; `None` if it turned out not to be a secret.
    edit: Option<Edit>,
}

/// Runs the detailed check of a rule at a keyword.
fn look(index: usize, rule: &Rule, text: &str, word: Range<usize>) -> Option<Found> {
    match rule.finder {
        Finder::Assignment => {
            let named = assignment::find(text, word)?;
            let edit = Edit::new(named.secret, Reason::Assigned(named.rule.into()));
            Some(Found { whole: named.whole, edit: Some(edit) })
        }
        Finder::PrivateKey => {
            let key = private_key::find(text, word.start)?;
            Some(Found {
                whole: key.clone(),
                edit: Some(Edit::new(key, Reason::Secret(rule.name.into()))),
            })
        }
        Finder::Pattern(_) => {
            let start = match rule.start {
                Start::Before(longest) => run_start(text.as_bytes(), word.start, longest)?,
                Start::Word | Start::Anywhere => word.start,
            };
            let window = &text[start..text.floor_char_boundary(text.len().min(start + WINDOW))];
            let pattern = pattern(index)?;
            let found = pattern.find(window)?;
            let groups = pattern.captures(&window[..found.end()]);
            let secret = groups.and_then(|groups| groups.name("secret")).unwrap_or(found);
            let mut whole = start..start + found.end();
            if !rule.check.passes(secret.as_str()) {
                return Some(Found { whole, edit: None });
            }
            let mut range = start + secret.start()..start + secret.end();
            if found.end() + 4 >= WINDOW {
                let rest = text.as_bytes()[range.end..].iter();
                range.end += rest.take_while(|byte| assignment::is_token_byte(**byte)).count();
                whole.end = whole.end.max(range.end);
            }
            Some(Found { whole, edit: Some(Edit::new(range, Reason::Secret(rule.name.into()))) })
        }
    }
}

/// Returns the start of the run of letters and digits before this position, if it is not too long.
fn run_start(bytes: &[u8], end: usize, longest: usize) -> Option<usize> {
    let floor = end.saturating_sub(longest);
    let length =
        bytes[floor..end].iter().rev().take_while(|byte| byte.is_ascii_alphanumeric()).count();
    let mut start = end - length;
    // The letter of an escape is not part of the run.
    if start > 0 && bytes[start - 1] == b'\\' {
        start = (start + 1).min(end);
    }
    begins_word(bytes, start).then_some(start)
}

/// True if a word may begin here. In raw JSON, and in JSON within text, the letters of an escape just
/// before do not count.
fn begins_word(bytes: &[u8], start: usize) -> bool {
    match start.checked_sub(1) {
        Some(before) if bytes[before].is_ascii_alphanumeric() || bytes[before] == b'_' => {
            bytes[start.saturating_sub(6)..before].contains(&b'\\')
        }
        _ => true,
    }
}

/// True if this position is inside words joined by dashes, such as `task-sk-…`. Many patterns include
/// dashes, and trying them again after every dash of a long run would take unbounded time.
fn follows_dash(bytes: &[u8], start: usize) -> bool {
    let before = &bytes[start.saturating_sub(8)..start];
    let dashes = before.iter().rev().take_while(|byte| **byte == b'-').count();
    dashes > 0 && (dashes == 8 || !begins_word(bytes, start - dashes))
}

/// True if a detailed check is worthwhile, in text or in raw JSON.
fn is_possible(rule: &Rule, bytes: &[u8], word: &Range<usize>) -> bool {
    match rule.finder {
        Finder::Assignment => return assignment::is_possible(bytes, word.clone()),
        Finder::PrivateKey => return private_key::is_possible(bytes, word.start),
        Finder::Pattern(_) => {}
    }
    if rule.start == Start::Word
        && !(begins_word(bytes, word.start)
            && (bytes[word.clone()].contains(&b'_') || !follows_dash(bytes, word.start)))
    {
        return false;
    }
    let rest = &bytes[word.end..];
    match rule.follows {
        Follows::Token(length) => {
            rest.len() >= length
                && rest[..length].iter().all(|byte| {
                    assignment::is_token_byte(*byte) || matches!(byte, b'%' | b'$' | b'@')
                })
        }
        Follows::Sign => rest.iter().take(40).any(|byte| matches!(byte, b':' | b'=' | b',')),
        Follows::Credentials => credentials_follow(rest),
        Follows::Pair => pair_follows(rest),
    }
}

/// True if something like `user:password@` or `token@` comes before the path of a URL.
fn credentials_follow(rest: &[u8]) -> bool {
    for (at, byte) in rest.iter().enumerate().take(640) {
        match byte {
            b'@' if at >= 20 || rest[..at].contains(&b':') => return true,
            b'/' | b'"' | b'\'' | b'<' | b'>' | b'`' | 0..=b' ' => return false,
            _ => {}
        }
    }
    false
}

/// True if a name, a colon and a character other than a blank follow.
fn pair_follows(rest: &[u8]) -> bool {
    let rest = &rest[..rest.len().min(80)];
    let name =
        rest.iter().position(|byte| !matches!(byte, b'"' | b'\'' | b'\\')).unwrap_or(rest.len());
    let colon = rest[name..].iter().position(|byte| {
        !(byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'@' | b'+' | b'-'))
    });
    colon.is_some_and(|length| {
        length > 0
            && rest[name + length] == b':'
            && rest.get(name + length + 1).is_some_and(|next| *next > b' ' && *next != b'/')
    })
}

/// True if the escape that begins here stands for a printable ASCII character, which a keyword or a tag
/// may contain.
fn hides_something(bytes: &[u8], word: &Range<usize>) -> bool {
    &bytes[word.clone()] == br"\/" || matches!(bytes.get(word.end), Some(b'2'..=b'7'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_compiles() {
        assert!(RULES.len() <= 256);
        for (index, rule) in RULES.iter().enumerate() {
            assert_eq!(
                pattern(index).is_some(),
                matches!(rule.finder, Finder::Pattern(_)),
                "{}",
                rule.name
            );
        }
    }

    #[test]
    fn small_and_large_texts_are_searched_alike() {
        assert!(KEYWORDS.words.iter().all(|word| word.len() >= 2));
        let mut text = String::new();
        for (number, word) in KEYWORDS.words.iter().enumerate() {
            text.push_str(word);
            text.push_str(&word.to_uppercase());
            text.push_str([" ", "", "\u{e9}"][number % 3]);
            // Some begin within others.
            text.push_str(&word[..word.len() / 2]);
        }
        let (mut plain, mut automaton) = (Vec::new(), Vec::new());
        walk_plainly(text.as_bytes(), |pointer, word| {
            plain.push((pointer, word));
            false
        });
        walk_with(for_much(), text.as_bytes(), |pointer, word| {
            automaton.push((pointer, word));
            false
        });
        assert!(plain.len() > 2 * KEYWORDS.words.len());
        assert_eq!(plain, automaton);
    }

    #[test]
    fn hostile_text_takes_one_walk() {
        // Each of these would take minutes if any text were examined repeatedly.
        for unit in [
            "password=",
            "eyJ",
            "-----BEGIN PRIVATE KEY-----",
            "eyJaaaaaaaaaa.",
            "://",
            "://a:b",
            "sk-",
            "--sk-",
            "-eyJ",
            "xxxx.glpat-",
            "token: \"",
            "authorization: bearer ",
            "key=\\\"",
            "0123456789:AA",
            "\\u00",
            "-----BEGIN PRIVATE KEY-----AAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\n",
        ] {
            let text = unit.repeat(300_000 / unit.len());
            let _ = find(&text, |_, _| false);
            let _ = glance(text.as_bytes());
        }
    }
}
