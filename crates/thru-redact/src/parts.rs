//! Tokens whose parts code joins: `["one", "other"].join("")`.
//!
//! Within a fixed number of bytes around the call, so it is linear on any input.

use std::ops::Range;

use crate::checks::looks_random;

/// Calls that join a list with nothing between its parts, as text and raw JSON have them.
pub(crate) const JOINS: [&str; 6] =
    [".join('')", ".join(\"\")", r#".join(\"\")"#, ".join(``)", "''.join(", "\".join("];

/// The most bytes around a call that are read.
const NEAR: usize = 512;
/// The most bytes around it in which a word must tell of a secret.
const TOLD: usize = 256;
/// The fewest bytes of what is joined.
const SHORTEST: usize = 16;

/// True if, in text or in raw JSON, the call joins with nothing between.
pub(crate) fn is_possible(bytes: &[u8], word: &Range<usize>) -> bool {
    let near = &bytes[word.start.saturating_sub(NEAR)..bytes.len().min(word.end + 8)];
    // A list of texts.
    let opens = |pair: &[u8]| {
        pair[0] == b'[' && matches!(pair[1], b'"' | b'\'' | b'`' | b'\\' | b'\n' | b' ')
    };
    if !near.windows(2).any(opens) {
        return false;
    }
    bytes[word.start] != b'"' || matches!(bytes[..word.start].last(), Some(b'"' | b'\\'))
}

/// Returns the parts of the secret that the call at this position joins.
pub(crate) fn find(text: &str, word: &Range<usize>) -> Vec<Range<usize>> {
    let around = |bytes: usize| {
        text.ceil_char_boundary(word.start.saturating_sub(bytes))
            ..text.floor_char_boundary(text.len().min(word.end + bytes))
    };
    let near = text[around(TOLD)].to_ascii_lowercase();
    let words = ["key", "token", "secret", "pass", "auth", "cred"];
    if !words.iter().any(|word| near.contains(word)) {
        return Vec::new();
    }
    let is_behind = text[word.clone()].ends_with('(');
    let part = if is_behind { word.end..around(NEAR).end } else { around(NEAR).start..word.start };
    let mut lists = text[part.clone()].match_indices('[').filter_map(|(open, _)| {
        let start = part.start + open + 1;
        let close = text[start..part.end].find(']')?;
        let parts = literals(text, start..start + close)?;
        let whole: String = parts.iter().map(|part| &text[part.clone()]).collect();
        (parts.len() > 1 && whole.len() >= SHORTEST && looks_random(&whole)).then_some(parts)
    });
    let found = if is_behind { lists.next() } else { lists.next_back() };
    found.unwrap_or_default()
}

/// Returns the texts of a list; `None` if it holds anything else.
fn literals(text: &str, list: Range<usize>) -> Option<Vec<Range<usize>>> {
    let is_between = |part: char| part.is_whitespace() || ",\\".contains(part);
    let mut found = Vec::new();
    let mut at = list.start;
    loop {
        let rest = text[at..list.end].trim_start_matches(is_between);
        let Some(mark) = rest.chars().next() else { return Some(found) };
        let start = list.end - rest.len() + 1;
        if !matches!(mark, '"' | '\'' | '`') {
            return None;
        }
        let inner = &text[start..start + text[start..list.end].find(mark)?];
        let value = inner.trim_end_matches('\\');
        if value.is_empty() || value.contains(char::is_whitespace) {
            return None;
        }
        found.push(start..start + value.len());
        at = start + inner.len() + 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_that_code_joins_are_found() {
        for (text, count) in [
            ("const KEY = ['q7Xv2LmP', '0RtZs9Kd'].join('') // api key", 2),
            ("PARTS = [\"q7Xv2LmP\", \"0RtZs9Kd\"]\ntoken = \"\".join(PARTS)", 0),
            ("token = \"\".join([\"q7Xv2LmP\", \"0RtZs9Kd\"])", 2),
            ("const PARTS = ['q7Xv2LmP', '0RtZs9Kd'];\nconst apiKey = PARTS.join('');", 2),
            ("const title = ['q7Xv2LmP', '0RtZs9Kd'].join('')", 0),
            ("const key = ['user', 'profile', 'settings2'].join('')", 0),
            ("const key = [prefix, 'q7Xv2LmP0RtZs9Kd'].join('')", 0),
        ] {
            let word = JOINS.iter().find_map(|join| Some((text.find(join)?, join.len())));
            let (start, length) = word.unwrap();
            let word = start..start + length;
            let found = find(text, &word).len();
            assert!(found == 0 || is_possible(text.as_bytes(), &word), "{text}");
            assert_eq!(found, count, "{text}");
        }
    }
}
