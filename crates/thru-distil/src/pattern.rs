//! Regular expressions, compiled once, in a form that compiles and matches fast.

use regex::{Regex, RegexSet};

/// Compiles a pattern. Word boundaries, word characters, spaces and the case of letters are ASCII only: with Unicode ones the
/// engine falls back to a slow search in any text that is not plain ASCII, and takes half as long again to compile, which
/// every compaction and every start of a session waits for.
pub(crate) fn regex(pattern: &str) -> Regex {
    Regex::new(&ascii(pattern)).unwrap_or_else(|error| unreachable!("a built-in pattern: {error}"))
}

/// Compiles a set of patterns, several of which may match one text.
pub(crate) fn set(patterns: &[&str]) -> RegexSet {
    RegexSet::new(patterns.iter().map(|pattern| ascii(pattern)))
        .unwrap_or_else(|error| unreachable!("a built-in pattern: {error}"))
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
