//! A user and a password that stand together where a text speaks of a login: `deploy / VALUE`, `bob:VALUE`, `bob and then VALUE`.
//!
//! Within a fixed number of lines around a word, so it is linear on any input.

use std::ops::Range;

use crate::told::{self, is_password};

/// The most lines above a word and below it.
const LINES: usize = 4;
/// The most words of a line.
const WORDS: usize = 48;

/// Returns the passwords of the pairs in the line of this word, or if it holds none, in those around it.
pub(crate) fn find(text: &str, word: &Range<usize>) -> Vec<Range<usize>> {
    let Some(line) = told::line_around(text, word.start) else { return Vec::new() };
    let mut found = in_line(text, line.clone(), true);
    if !found.is_empty() {
        return found;
    }
    let mut at = line.start;
    for _ in 0..LINES {
        let Some(above) = told::line_above(text, at) else { break };
        let pairs = in_line(text, above.clone(), false);
        if pairs.is_empty() {
            break;
        }
        found.extend(pairs);
        at = above.start;
    }
    at = line.end;
    for _ in 0..LINES {
        let Some(below) = told::next_line(text, at) else { break };
        let pairs = in_line(text, below.clone(), false);
        if pairs.is_empty() {
            break;
        }
        found.extend(pairs);
        at = below.end;
    }
    found
}

/// Returns the passwords of the pairs in a line; what a sentence joins counts only in the line that speaks of a login.
fn in_line(text: &str, line: Range<usize>, is_told: bool) -> Vec<Range<usize>> {
    let written = &text[line.clone()];
    let has_sign = || {
        written.contains([':', '/', ',', '=', '-', '—', '–', '→'])
            || [" and ", " y ", " et ", " e ", " und "].iter().any(|word| written.contains(word))
    };
    if !written.bytes().any(|byte| byte.is_ascii_digit()) || !has_sign() {
        return Vec::new();
    }
    let words: Vec<Range<usize>> = told::ranges(text, line).into_iter().take(WORDS).collect();
    let is_sign = |word: &Range<usize>| {
        matches!(&text[word.clone()], "/" | ":" | "—" | "–" | "-" | "→" | "->" | "=")
    };
    let mut found = Vec::new();
    for (nth, word) in words.iter().enumerate() {
        let written = &text[word.clone()];
        if let Some((user, value)) = written.split_once([':', '/'])
            && (is_told || words.len() < 4)
            && is_user(user)
            && is_password(value)
        {
            found.push(word.end - value.len()..word.end);
            continue;
        }
        let before: Vec<_> = words[..nth].iter().rev().take(3).collect();
        let Some(user) =
            before.iter().find(|word| !is_sign(word) && !is_joining(&text[word.start..word.end]))
        else {
            continue;
        };
        let gap = text[user.end..word.start].trim_matches(|part: char| "\"'`*()".contains(part));
        let is_strong =
            || written.bytes().any(|byte| byte.is_ascii_uppercase() || told::is_mark(&byte));
        let is_joined = match gap.trim() {
            "/" => true,
            ":" => gap == " : ",
            "—" | "–" | "-" | "→" | "->" | "=" => text[user.start..user.end].contains('@'),
            "and then" | ", then" | ", and then" => is_told,
            "," | "and" | "with" | "und" | "y" | "et" | "e" => is_told && is_strong(),
            _ => false,
        };
        if is_joined && is_user(&text[user.start..user.end]) && is_password(written) {
            found.push(word.clone());
        }
    }
    found
}

fn is_joining(word: &str) -> bool {
    matches!(word, "and" | "then" | "with" | "und" | "y" | "et" | "e")
}

/// True for the name of a user.
fn is_user(word: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"_.@+-\\".contains(&byte);
    (2..=48).contains(&word.len())
        && word.starts_with(|first: char| first.is_ascii_alphabetic())
        && word.bytes().all(is_part)
}
