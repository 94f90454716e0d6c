//! The tokenizer of the index and of queries.
//!
//! - A word is a run of letters and digits; its term is the lower-cased English stem.
//! - A word with inner capitals (`CamelCase`, `HTTPServer`) also yields the stems of its parts.
//! - Words joined by `_ - . / : @ # +` (`snake_case`, `a::b`, `x.y`, paths, error codes) also yield the
//!   whole, unstemmed, marked by a leading `=` so that it only matches other wholes.
//! - A terminal sequence (`ESC [ 31 m`) is no word, and no part of the one behind it.
//! - Chinese, Japanese and Korean runs, which have no spaces, yield the bigrams of their characters.

use std::hash::BuildHasher;

use frostem::{Algorithm, Stemmer};
use hashbrown::{DefaultHashBuilder, HashTable};
use thru_core::sequence_length;

/// Longest term, in bytes. Longer ones are data (base64, hashes), not words.
const LONGEST_TERM: usize = 80;
/// Most words in a joined whole; longer chains are not names.
const MOST_JOINED: usize = 8;
/// The byte with which terminal sequences begin.
const ESCAPE: u8 = 0x1b;
/// Number of cached stems. Words repeat so much that the cache saves nine of ten calls of the stemmer.
const CACHED_STEMS: usize = 16_384;

/// A language whose word forms are known, beside English.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// German.
    German,
    /// French.
    French,
    /// Spanish.
    Spanish,
    /// Italian.
    Italian,
    /// Portuguese.
    Portuguese,
    /// Dutch.
    Dutch,
}

impl Language {
    /// Returns the stem of a word in lower case.
    pub fn stem(self, word: &str) -> String {
        let algorithm = match self {
            Self::German => Algorithm::German,
            Self::French => Algorithm::French,
            Self::Spanish => Algorithm::Spanish,
            Self::Italian => Algorithm::Italian,
            Self::Portuguese => Algorithm::Portuguese,
            Self::Dutch => Algorithm::Dutch,
        };
        Stemmer::new(algorithm).stem(word).into_owned()
    }
}

/// The position of a term in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TermPlace {
    /// First byte.
    pub start: usize,
    /// Byte after the last.
    pub end: usize,
    /// Number of the word: the parts of an identifier are numbered in sequence, a whole has the number
    /// of its first part.
    pub position: usize,
}

/// Splits text into terms.
#[derive(Clone)]
pub struct Terms {
    stemmer: Stemmer,
    stems: Stems,
    lowered: String,
}

impl Default for Terms {
    fn default() -> Self {
        Self {
            stemmer: Stemmer::new(Algorithm::English),
            stems: Stems::default(),
            lowered: String::new(),
        }
    }
}

/// The stems of words as they are written, small enough to stay in the processor's cache.
#[derive(Clone, Default)]
struct Stems {
    table: HashTable<CachedStem>,
    /// Any text may be read, so the hash has a seed.
    hasher: DefaultHashBuilder,
    /// Each word with its stem behind it.
    text: String,
}

/// The places of a word and its stem in the text.
#[derive(Clone, Copy)]
struct CachedStem {
    start: u32,
    word: u8,
    stem: u8,
}

impl Stems {
    fn get(&self, word: &str) -> Option<&str> {
        let is_word = |cached: &CachedStem| {
            let start = cached.start as usize;
            self.text.as_bytes()[start..start + usize::from(cached.word)] == *word.as_bytes()
        };
        let cached = self.table.find(self.hasher.hash_one(word), is_word)?;
        let start = cached.start as usize + usize::from(cached.word);
        Some(&self.text[start..start + usize::from(cached.stem)])
    }

    /// Keeps the stem of a word that has none yet.
    fn insert(&mut self, word: &str, stem: &str) {
        if self.table.len() >= CACHED_STEMS {
            self.table.clear();
            self.text.clear();
        }
        let start = self.text.len() as u32;
        let cached = CachedStem { start, word: word.len() as u8, stem: stem.len() as u8 };
        self.text.extend([word, stem]);
        let Self { table, hasher, text } = self;
        let hash_of = |cached: &CachedStem| {
            let start = cached.start as usize;
            hasher.hash_one(&text[start..start + usize::from(cached.word)])
        };
        table.insert_unique(hasher.hash_one(word), cached, hash_of);
    }
}

impl Terms {
    /// Calls `sink` with every term of `text`, in order.
    pub fn tokenize(&mut self, text: &str, mut sink: impl FnMut(&str, TermPlace)) {
        let (mut position, mut rest) = (0, 0);
        while let Some(end) = self.run(text, rest, &mut position, &mut sink) {
            rest = end;
        }
    }

    /// Calls `sink` with the terms of the next run of joined words, and returns its end; `None` after the last.
    pub(super) fn run(
        &mut self,
        text: &str,
        from: usize,
        position: &mut usize,
        sink: &mut impl FnMut(&str, TermPlace),
    ) -> Option<usize> {
        let start = next_word(text, from)?;
        let (first, mut words, mut at) = (*position, 0, start);
        let end = loop {
            let word = at..end_of_word(text, at);
            words += 1;
            self.word(text, word.start, word.end, position, sink);
            at = word.end;
            while text.as_bytes().get(at).copied().is_some_and(is_joiner) {
                at += 1;
            }
            if at == word.end || end_of_word(text, at) == at {
                break word.end;
            }
        };
        if words > 1 && words <= MOST_JOINED && end - start < LONGEST_TERM {
            self.lowered.clear();
            self.lowered.push('=');
            lower_into(&text[start..end], &mut self.lowered);
            sink(&self.lowered, TermPlace { start, end, position: first });
        }
        Some(end)
    }

    fn word(
        &mut self,
        text: &str,
        start: usize,
        end: usize,
        position: &mut usize,
        sink: &mut impl FnMut(&str, TermPlace),
    ) {
        let word = &text[start..end];
        if word.len() > LONGEST_TERM {
            *position += 1;
            return;
        }
        if !word.is_ascii() && word.chars().any(is_ideographic) {
            bigrams(word, start, position, sink);
            return;
        }
        let place = TermPlace { start, end, position: *position };
        self.emit(word, place, sink);
        let mut parts = 0;
        if word.bytes().skip(1).any(|byte| byte.is_ascii_uppercase()) {
            let ends: Vec<usize> = camel_parts(word).collect();
            if ends.len() > 1 {
                let mut from = 0;
                for to in ends {
                    let place = TermPlace {
                        start: start + from,
                        end: start + to,
                        position: *position + parts,
                    };
                    self.emit(&word[from..to], place, sink);
                    parts += 1;
                    from = to;
                }
            }
        }
        *position += parts.max(1);
    }

    fn emit(&mut self, word: &str, place: TermPlace, sink: &mut impl FnMut(&str, TermPlace)) {
        if let Some(stem) = self.stems.get(word) {
            sink(stem, place);
            return;
        }
        self.lowered.clear();
        lower_into(word, &mut self.lowered);
        // The stemmer leaves alone what ends in a digit, and names and numbers that do come once.
        if word.ends_with(|last: char| last.is_ascii_digit()) {
            sink(&self.lowered, place);
            return;
        }
        let stem = self.stemmer.stem(&self.lowered);
        sink(&stem, place);
        self.stems.insert(word, &stem);
    }
}

fn lower_into(text: &str, lowered: &mut String) {
    if text.is_ascii() {
        lowered.push_str(text);
        let start = lowered.len() - text.len();
        lowered[start..].make_ascii_lowercase();
    } else {
        lowered.extend(text.chars().flat_map(char::to_lowercase));
    }
}

const fn is_joiner(byte: u8) -> bool {
    matches!(byte, b'_' | b'-' | b'.' | b'/' | b':' | b'@' | b'#' | b'+')
}

/// Returns the beginning of the next word.
fn next_word(text: &str, from: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = from;
    while let Some(byte) = bytes.get(at) {
        if byte.is_ascii_alphanumeric() {
            return Some(at);
        }
        at += match byte.is_ascii() {
            true if *byte == ESCAPE => sequence_length(&text[at..]),
            true => 1,
            false => match text[at..].chars().next()? {
                letter if letter.is_alphanumeric() => return Some(at),
                other => other.len_utf8(),
            },
        };
    }
    None
}

/// Returns the end of the word that begins here, which is here if none does.
fn end_of_word(text: &str, from: usize) -> usize {
    let bytes = text.as_bytes();
    let mut at = from;
    while let Some(byte) = bytes.get(at) {
        if byte.is_ascii() {
            if !byte.is_ascii_alphanumeric() {
                break;
            }
            at += 1;
        } else {
            match text[at..].chars().next() {
                Some(letter) if letter.is_alphanumeric() => at += letter.len_utf8(),
                _ => break,
            }
        }
    }
    at
}

/// Returns the ends of the parts of an identifier: `HTTPServer2Go` is `HTTP`, `Server`, `2`, `Go`.
fn camel_parts(word: &str) -> impl Iterator<Item = usize> {
    let bytes = word.as_bytes();
    (1..=bytes.len()).filter(move |&at| {
        if at == bytes.len() {
            return true;
        }
        let (before, here) = (bytes[at - 1], bytes[at]);
        let starts_word = here.is_ascii_uppercase()
            && (!before.is_ascii_uppercase()
                || bytes.get(at + 1).is_some_and(u8::is_ascii_lowercase));
        let digit_border = before.is_ascii_digit() != here.is_ascii_digit();
        word.is_char_boundary(at) && (starts_word || digit_border)
    })
}

const fn is_ideographic(character: char) -> bool {
    matches!(character as u32,
        0x1100..=0x11ff | 0x2e80..=0x2fdf | 0x3005..=0x3007 | 0x3040..=0x30ff | 0x3100..=0x318f
        | 0x31a0..=0x31ff | 0x3400..=0x4dbf | 0x4e00..=0x9fff | 0xac00..=0xd7ff | 0xf900..=0xfaff
        | 0xff66..=0xff9f | 0x20000..=0x3ffff)
}

fn bigrams(
    word: &str,
    offset: usize,
    position: &mut usize,
    sink: &mut impl FnMut(&str, TermPlace),
) {
    let borders: Vec<usize> = word.char_indices().map(|(at, _)| at).chain([word.len()]).collect();
    if borders.len() == 2 {
        sink(word, TermPlace { start: offset, end: offset + word.len(), position: *position });
        *position += 1;
    }
    for window in borders.windows(3) {
        let (from, to) = (window[0], window[2]);
        let place = TermPlace { start: offset + from, end: offset + to, position: *position };
        sink(&word[from..to].to_lowercase(), place);
        *position += 1;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn terms(text: &str) -> String {
        terms_by(&mut Terms::default(), text)
    }

    fn terms_by(terms: &mut Terms, text: &str) -> String {
        let mut found = Vec::new();
        terms.tokenize(text, |term, place| found.push(format!("{term}@{}", place.position)));
        found.join(" ")
    }

    #[test]
    fn more_words_than_are_cached_have_the_same_stems() {
        let mut known = Terms::default();
        for _ in 0..2 {
            for number in 0..=CACHED_STEMS {
                let word = format!("k{number}ings");
                assert_eq!(terms_by(&mut known, &word), terms(&word));
            }
        }
    }

    #[test]
    fn words_are_stemmed_and_lowered() {
        insta::assert_snapshot!(terms("Connections failed, retrying"), @"connect@0 fail@1 retri@2");
    }

    #[test]
    fn identifiers_are_kept_whole_and_split() {
        insta::assert_snapshot!(terms("getUserName"), @"getusernam@0 get@0 user@1 name@2");
        insta::assert_snapshot!(terms("HTTPServer2Go"), @"httpserver2go@0 http@0 server@1 2@2 go@3");
        insta::assert_snapshot!(terms("snake_case"), @"snake@0 case@1 =snake_case@0");
        insta::assert_snapshot!(terms("std::fs::File"), @"std@0 fs@1 file@2 =std::fs::file@0");
        insta::assert_snapshot!(terms("src/main.rs"), @"src@0 main@1 rs@2 =src/main.rs@0");
        insta::assert_snapshot!(terms("E0308 and TS-2345."), @"e0308@0 and@1 ts@2 2345@3 =ts-2345@2");
    }

    #[test]
    fn scripts_without_spaces_give_bigrams() {
        insta::assert_snapshot!(terms("数据库 a"), @"数据@0 据库@1 a@2");
        insta::assert_snapshot!(terms("語"), @"語@0");
    }

    #[test]
    fn terminal_sequences_are_no_part_of_words() {
        let styled = "\u{1b}[31mred\u{1b}[0m \u{1b}]0;title\u{7}name/\u{1b}[1;4mbold";
        insta::assert_snapshot!(terms(styled), @"red@0 name@1 bold@2");
        insta::assert_snapshot!(terms("\u{1b}word \u{1b}]open"), @"word@0 open@1");
    }

    #[test]
    fn data_is_no_word() {
        assert_eq!(terms(&"x".repeat(500)), "");
    }

    proptest! {
        #[test]
        fn the_stemmer_leaves_alone_what_ends_in_a_digit(word in "[a-zß-ÿ0-9]{0,12}[0-9]") {
            let stem = Stemmer::new(Algorithm::English).stem(&word).into_owned();
            prop_assert_eq!(stem, word);
        }

        #[test]
        fn places_lie_in_the_text(text in ".{0,200}") {
            Terms::default().tokenize(&text, |_, place| {
                assert!(text.is_char_boundary(place.start) && text.is_char_boundary(place.end));
                assert!(place.start < place.end);
            });
        }
    }
}
