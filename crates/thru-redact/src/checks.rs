//! Distinguishes made-up, masked and descriptive values from real secrets, by their form alone.
//!
//! The context of a value is not used here; that is for [`crate::assignment`] and the rule table.

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

pub(crate) use thru_core::is_uuid;

use crate::edits::{PRIVATE, REDACTED};
use crate::made;

/// The check that a value must pass after a rule's pattern matched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Check {
    /// Not a mask or an example. For forms that nothing but a secret has.
    NotMasked,
    /// Not a mask, and the characters look drawn at random.
    Random,
    /// Not a mask, with digits among letters.
    Drawn,
    /// Digits that are no year and no row of digits.
    Number,
    /// As [`Self::Random`], of small letters, capitals and digits.
    Mixed,
    /// Not a mask and not a word such as "password" in place of one.
    Password,
    /// As [`Self::Password`], and no name: what a call is given.
    Given,
    /// As [`Self::Password`], with letters and digits: what follows may be a word of a sentence.
    Chosen,
    /// As [`Self::Chosen`], and no name, version or path: nothing but its place tells of it.
    SelfMade,
    /// What can be nothing else: drawn, or words that people make up.
    Certain,
    /// Words, and none of those that a sentence cannot do without.
    Phrase,
}

/// The most bytes of what people choose.
const LONGEST: usize = 128;

impl Check {
    /// True if a value may be a secret although it is long: what a person chose has an end.
    pub(crate) fn may_be_as_long(self, value: &str) -> bool {
        let is_chosen =
            matches!(self, Self::Password | Self::Given | Self::Chosen | Self::SelfMade);
        !is_chosen || value.len() <= LONGEST || looks_random(value)
    }

    pub(crate) fn passes(self, value: &str) -> bool {
        match self {
            Self::NotMasked => !is_masked(value),
            Self::Random => !is_masked(value) && looks_random(value),
            Self::Number => {
                let steps = || value.as_bytes().windows(2).map(|pair| pair[0].abs_diff(pair[1]));
                let is_year =
                    value.len() == 4 && (value.starts_with("19") || value.starts_with("20"));
                let jumps = steps().filter(|step| *step > 1).count();
                let is_drawn = match value.len() {
                    4 => {
                        jumps > 0 && distinct_bytes(value.as_bytes()) > 2 && !value.ends_with("00")
                    }
                    _ => jumps > 1,
                };
                !is_year && is_drawn
            }
            Self::Drawn => {
                let digits = value.bytes().filter(u8::is_ascii_digit).count();
                !is_masked(value) && digits > 1 && digits < value.len() / 2
            }
            Self::Mixed => {
                Self::Random.passes(value)
                    && is_mixed(value.as_bytes())
                    && value.bytes().any(|byte| byte.is_ascii_digit())
            }
            Self::Password => !is_masked(value) && !is_filler(value) && !is_reference(value),
            Self::Given => {
                let is_word = value.bytes().all(|byte| byte.is_ascii_lowercase());
                let is_name = value.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'_')
                    && !has_irregular_case(value.as_bytes());
                Self::Password.passes(value)
                    && (is_word && value.len() >= 10 || !is_name)
                    && !value.contains(['/', '<', '>', '.'])
            }
            Self::SelfMade => {
                let value = value.trim_end_matches(['.', ',', ';', ':', ')']);
                let is_mark = |byte: u8| b"!@#$%^&*?~=+".contains(&byte);
                Self::Chosen.passes(value)
                    && !value.contains(['/', '(', '<'])
                    && (value.bytes().any(is_mark)
                        || looks_random(value)
                        || value.bytes().any(|byte| byte.is_ascii_uppercase())
                            && value.bytes().filter(u8::is_ascii_digit).count() >= 2
                            && value.starts_with(|first: char| first.is_ascii_alphabetic())
                            && value.len() >= 8)
            }
            Self::Certain => made::is_certain(value) || made::is_phrase(value, true),
            Self::Phrase => {
                let joining = ["the", "and", "for", "are", "was", "not", "but", "has"];
                !value.split(' ').any(|word| joining.contains(&word))
            }
            Self::Chosen => {
                let has = |test: fn(&u8) -> bool| value.as_bytes().iter().any(test);
                let is_numbered = has(u8::is_ascii_alphabetic) && has(u8::is_ascii_digit);
                (is_numbered || made::is_made(value)) && Self::Password.passes(value)
            }
        }
    }
}

/// Substrings that mark a value as not real.
static MASKS: LazyLock<AhoCorasick> = LazyLock::new(|| {
    AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .build([
            REDACTED,
            PRIVATE,
            "\u{2026}",
            "\u{2022}\u{2022}",
            "example",
            "redacted",
            "placeholder",
            "changeme",
            "changeit",
            // Examples of standards and of vendors.
            "sflkxwrjsmekkf2qt4fwpmejf36pok6yjv_adqssw5c",
            "4ec39hqlyjwdarjtt1zdp7dc",
            "qwxhzgrpbjpvcgvuihnlc2ftzq",
            "mf_9.b5f-4.1jqm",
            "2yotnfzfejr1zcsicmwpaa",
            "tgzv3jokf0xg5qx2tlkwia",
            "1234567890abcdefghij",
            "change_me",
            "change-me",
            "replace_",
            "replace-",
            "your_",
            "your-",
            "xxxx",
            "****",
            "....",
            "dummy",
            "sample",
            "fake",
            "insert-",
            "insert_",
            "not-a-real",
            "notreal",
        ])
        .unwrap_or_else(|error| unreachable!("the built-in masks: {error}"))
});

/// True if the value is a placeholder, masked, or a single repeated character.
pub(crate) fn is_masked(value: &str) -> bool {
    let near = &value.as_bytes()[..value.len().min(512)];
    MASKS.is_match(near) || distinct_bytes(near) <= 4
}

fn distinct_bytes(value: &[u8]) -> usize {
    let mut seen = [false; 256];
    value
        .iter()
        .filter(|byte| !std::mem::replace(&mut seen[usize::from(byte.to_ascii_lowercase())], true))
        .count()
}

/// Words that replace or describe a password.
const FILLERS: [&str; 83] = [
    "anonymous",
    "password",
    "passwords",
    "passwd",
    "passphrase",
    "pass",
    "pwd",
    "secret",
    "secrets",
    "token",
    "tokens",
    "key",
    "keys",
    "api",
    "auth",
    "access",
    "private",
    "public",
    "client",
    "test",
    "tests",
    "testing",
    "tester",
    "my",
    "your",
    "our",
    "the",
    "user",
    "users",
    "username",
    "admin",
    "root",
    "guest",
    "demo",
    "default",
    "dev",
    "local",
    "localhost",
    "prod",
    "foo",
    "bar",
    "baz",
    "abc",
    "abcdef",
    "abcd",
    "xyz",
    "welcome",
    "hello",
    "world",
    "string",
    "str",
    "text",
    "none",
    "null",
    "nil",
    "undefined",
    "true",
    "false",
    "value",
    "here",
    "some",
    "new",
    "old",
    "wrong",
    "bad",
    "good",
    "invalid",
    "valid",
    "correct",
    "hash",
    "hashed",
    "hidden",
    "plain",
    "mock",
    "db",
    "postgres",
    "mysql",
    "redis",
    "minio",
    "rabbitmq",
    "required",
    "enter",
    "goes",
];

/// True if the letters of the value are only words that stand for a password.
pub(crate) fn is_filler(value: &str) -> bool {
    let count = |test: fn(&u8) -> bool| value.as_bytes().iter().filter(|byte| test(byte)).count();
    let digits = count(u8::is_ascii_digit);
    // What a rule for passwords made of it: `Welcome_2024`, `Admin123!`
    let has_year = || {
        value.as_bytes().windows(4).any(|part| {
            matches!(part, [b'1', b'9', ..] | [b'2', b'0', ..])
                && part.iter().all(u8::is_ascii_digit)
        })
    };
    let has_capital = count(u8::is_ascii_uppercase) > 0;
    let is_made = count(|byte| byte.is_ascii_punctuation()) > 0
        && (has_capital && (3..=4).contains(&digits) || digits == 4 && has_year());
    if value.len() > 64 || digits > 8 || is_made {
        return false;
    }
    let mut words = value
        .split(|character: char| !character.is_ascii_alphabetic())
        .filter(|word| !word.is_empty())
        .peekable();
    words.peek().is_some() && words.all(|word| is_made_of_fillers(&word.to_ascii_lowercase()))
}

/// True for one or more fillers with at most one letter after them.
fn is_made_of_fillers(word: &str) -> bool {
    let mut rest = word;
    while rest.len() > 1 {
        let longest = FILLERS
            .iter()
            .filter(|filler| rest.starts_with(**filler))
            .map(|filler| filler.len())
            .max();
        match longest {
            Some(length) => rest = &rest[length..],
            None => return false,
        }
    }
    rest.len() < word.len()
}

/// True if the value is a colour, or all hexadecimal digits in order as in the tests of ciphers.
pub(crate) fn is_made_up(value: &str) -> bool {
    let color = value.strip_prefix('#').is_some_and(|digits| {
        matches!(digits.len(), 3 | 4 | 6 | 8) && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
    });
    color || value.to_ascii_lowercase().contains("0123456789abcdef")
}

/// True if the value only refers to the real one: a variable, a template, a path.
pub(crate) fn is_reference(value: &str) -> bool {
    let bytes = value.as_bytes();
    let variable = value.strip_prefix('$').is_some_and(|name| {
        name.starts_with(['{', '(', '_'])
            || (!name.is_empty()
                && name
                    .bytes()
                    .all(|byte| byte.is_ascii_uppercase() || byte == b'_' || byte.is_ascii_digit()))
            || (name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
                && name.starts_with(|first: char| first.is_ascii_lowercase()))
    });
    variable
        || (value.starts_with('$') && value.contains("->"))
        || is_tag(value)
        || value.contains("${")
        || value.contains("$(")
        || value.contains("{{")
        || value.contains("://")
        || bytes.starts_with(b"<")
        || bytes.starts_with(b"{")
        || bytes.starts_with(b"%(")
        || bytes.starts_with(b"&#")
        || bytes.starts_with(b"#{")
        || bytes.starts_with(b"&lt;")
        || (bytes.first() == Some(&b'%') && bytes.last() == Some(&b'%'))
        || [
            "process.env",
            "os.environ",
            "import.meta",
            "env.",
            "vault:",
            "op://",
            "secrets.",
            "ref:",
            "arn:aws",
        ]
        .iter()
        .any(|start| value.starts_with(start))
        || is_path(value)
        || is_pattern(value)
}

/// True for a regular expression.
fn is_pattern(value: &str) -> bool {
    ["[0-9", "[a-z", "[A-Z", "[^", "\\d", "\\w", "\\s", "(?:", "(?P<", "(?i)"]
        .iter()
        .any(|part| value.contains(part))
        || value.starts_with(".*")
        || value.starts_with(".+")
}

/// True for the tag of a YAML value: `!vault`, `!Ref`.
fn is_tag(value: &str) -> bool {
    value.strip_prefix('!').is_some_and(|tag| {
        let is_part = |byte: u8| byte.is_ascii_lowercase() || b"_-/:".contains(&byte);
        tag.bytes().all(|byte| byte.is_ascii_alphabetic()) || tag.bytes().all(is_part)
    })
}

fn is_path(value: &str) -> bool {
    ["./", "../", "~/"].iter().any(|start| value.starts_with(start))
        || (value.starts_with('/') && !looks_random(value))
}

/// True if the characters look random, not composed of words, numbers and dates.
///
/// Two things are measured: adjacent pairs of a letter and a digit, which random text has many of and
/// names have few of, and the share of the text that is runs of letters as in words.
pub(crate) fn looks_random(value: &str) -> bool {
    let bytes = value.as_bytes();
    let bytes = &bytes[..bytes.len().min(512)];
    let length = bytes.len();
    let digits = bytes.iter().filter(|byte| byte.is_ascii_digit()).count();
    let letters = bytes.iter().filter(|byte| byte.is_ascii_alphabetic()).count();
    if length < 12 || letters * 8 < length || entropy(bytes) < if length < 20 { 2.7 } else { 3.0 } {
        return false;
    }
    let changes = bytes
        .windows(2)
        .filter(|pair| {
            (pair[0].is_ascii_digit() && pair[1].is_ascii_alphabetic())
                || (pair[0].is_ascii_alphabetic() && pair[1].is_ascii_digit())
        })
        .count();
    let in_words = letters_in_words(bytes);
    if changes >= 3.max(length / 12) && in_words * 10 < length * 7 {
        return true;
    }
    let enough = if digits > 0 { 16 } else { 20 };
    length >= enough && is_mixed(bytes) && in_words * 10 < length * 4
}

/// True if capitals and small letters are mixed as in no word or name.
pub(crate) fn has_irregular_case(bytes: &[u8]) -> bool {
    let bytes = &bytes[..bytes.len().min(512)];
    bytes.len() >= 10 && is_mixed(bytes) && letters_in_words(bytes) * 10 < bytes.len() * 4
}

fn is_mixed(bytes: &[u8]) -> bool {
    bytes.iter().any(u8::is_ascii_lowercase) && bytes.iter().any(u8::is_ascii_uppercase)
}

/// Returns the number of letters in runs as in words: an optional capital and small letters, or
/// capitals, with as many vowels among them as words have.
pub(crate) fn letters_in_words(bytes: &[u8]) -> usize {
    let mut total = 0;
    let mut at = 0;
    while at < bytes.len() {
        let start = at;
        while at < bytes.len() && bytes[at].is_ascii_uppercase() {
            at += 1;
        }
        let capitals = at - start;
        while at < bytes.len() && bytes[at].is_ascii_lowercase() {
            at += 1;
        }
        let small_start = start + capitals.saturating_sub(1);
        let small = at - start - capitals;
        if (small >= 4 || (small >= 3 && capitals == 1))
            && sounds_like_a_word(&bytes[small_start..at])
        {
            total += at - small_start;
        }
        if capitals >= 4 && sounds_like_a_word(&bytes[start..start + capitals]) {
            total += capitals;
        }
        if at == start {
            at += 1;
        }
    }
    total
}

/// True if the text is mostly words, or nothing but letters of one case.
pub(crate) fn is_worded(value: &str) -> bool {
    let bytes = value.as_bytes();
    let plain = bytes.len() >= 4
        && (bytes.iter().all(u8::is_ascii_lowercase) || bytes.iter().all(u8::is_ascii_uppercase));
    plain || letters_in_words(bytes) * 10 > bytes.len() * 6
}

/// True for letters with as many vowels as words have, in pairs as in words.
pub(crate) fn sounds_like_a_word(letters: &[u8]) -> bool {
    let is_vowel =
        |byte: &&u8| matches!(byte.to_ascii_lowercase(), b'a' | b'e' | b'i' | b'o' | b'u');
    let usual = letters.windows(2).filter(|pair| is_usual(pair[0], pair[1])).count();
    letters.iter().filter(is_vowel).count() * 5 >= letters.len()
        && usual * 4 >= letters.len().saturating_sub(1) * 3
}

/// The letters that follow each letter from `a` to `z` in words. Drawn letters follow each other so less than half of the time.
#[rustfmt::skip]
const FOLLOWERS: [&str; 26] = [
    "bcdgiklmnprstuvy", "aeijlorsuy", "aehikolrtuy", "adeiorsuy", "acdefgilmnprstvwxy", "aefilortu", "aeghilnorsu", "aeiortu", "abcdefglmnoprstvz",
    "aeosu", "einsy", "adefiklmopstuvy", "abeimopsu", "acdefgiknostuvy", "abcdfghiklmnoprstuvw", "aehiloprstuy", "u", "abcdegiklmnorstuvy",
    "acehiklmopstuwy", "acehilmorstuwy", "abcdegilmnprst", "aeio", "aehinors", "aeipt", "aeilmnoprst", "aeioz",
];

/// For each letter a bit for each of its [`FOLLOWERS`].
const USUAL: [u32; 26] = {
    let mut usual = [0; 26];
    let mut letter = 0;
    while letter < 26 {
        let followers = FOLLOWERS[letter].as_bytes();
        let mut at = 0;
        while at < followers.len() {
            usual[letter] |= 1 << (followers[at] - b'a');
            at += 1;
        }
        letter += 1;
    }
    usual
};

/// True if the second of two letters often follows the first in words.
fn is_usual(first: u8, second: u8) -> bool {
    let place = |byte: u8| byte.to_ascii_lowercase().wrapping_sub(b'a');
    let (first, second) = (place(first), place(second));
    second < 26 && USUAL.get(usize::from(first)).is_some_and(|usual| usual >> second & 1 == 1)
}

/// Returns Shannon's entropy in bits per byte.
fn entropy(bytes: &[u8]) -> f64 {
    let mut counts = [0_u32; 256];
    for byte in bytes {
        counts[usize::from(*byte)] += 1;
    }
    let length = f64::from(u32::try_from(bytes.len()).unwrap_or(u32::MAX));
    counts
        .iter()
        .filter(|count| **count > 0)
        .map(|count| {
            let share = f64::from(*count) / length;
            -share * share.log2()
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_text_is_distinguished_from_names() {
        for value in [
            "9f86d081884c7d659a2feaa0c55ad015",
            "wJalrXUtnFEMIK7MDENGbPxRfiCYzKd03hf7Qmxy",
            "q8Zr2LxPw0VbN4tYc6Hs",
            "k3j5h2g9f8d7s6a5p4o3",
            "Zm9vYmFyYmF6cXV4MTIzNDU2Nzg5MA==",
        ] {
            assert!(looks_random(value), "{value}");
        }
        for value in [
            "claude-sonnet-4-5-20250929",
            "getUserTokenById2",
            "my-cool-service-v2-token",
            "config.auth.tokens.primary",
            "AuthenticationTokenProvider",
            "2025-09-29T10:11:12.123Z",
            "MAX_THINKING_TOKENS_2048",
            "application/vnd.github.v3",
        ] {
            assert!(!looks_random(value), "{value}");
        }
    }

    #[test]
    fn fillers_masks_and_references_are_known() {
        for value in ["password123", "my-secret-token", "TestPassword1!", "changeme", "admin"] {
            assert!(is_filler(value) || is_masked(value), "{value}");
        }
        for value in ["hunter2", "s3cr3t!", "correct-horse-7", "3f9a8b7c6d5e4f3a"] {
            assert!(!is_filler(value) && !is_masked(value), "{value}");
        }
        for value in [
            "${TOKEN}",
            "$DB_PASS",
            "$password",
            "{{ vault.x }}",
            "process.env.X",
            "/run/secrets/db",
            "<token>",
            "%PASS%",
        ] {
            assert!(is_reference(value), "{value}");
        }
        assert!(is_uuid("123e4567-e89b-12d3-a456-426614174000"));
    }
}
