//! Text that is safe to show: one line each, limited in length, with nothing that could hide or
//! rearrange what is read.

use std::borrow::Cow;

pub(crate) use thru_core::{cut, one_line, visible};

/// Longest title, in characters.
pub(crate) const TITLE: usize = thru_core::TITLE_LENGTH;

/// Longest fact, in characters.
pub(crate) const FACT: usize = 240;

/// The tags around text that Throughline injects into a conversation.
pub(crate) const FENCE: (&str, &str) = ("<throughline-context", "</throughline-context>");

/// Returns `text` without the text that Throughline injected. An unclosed fence hides everything after
/// it.
pub(crate) fn without_fenced(text: &str) -> Cow<'_, str> {
    without_blocks(text, FENCE).map_or(Cow::Borrowed(text), Cow::Owned)
}

/// Returns `text` without the blocks between these tags, if it has any. An unclosed block hides everything after it.
pub(crate) fn without_blocks(text: &str, (open, close): (&str, &str)) -> Option<String> {
    let mut start = find_ignoring_case(text, open)?;
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    loop {
        kept.push_str(&rest[..start]);
        let Some(end) = find_ignoring_case(&rest[start..], close) else { return Some(kept) };
        rest = &rest[start + end + close.len()..];
        let Some(next) = find_ignoring_case(rest, open) else { break };
        start = next;
    }
    kept.push_str(rest);
    Some(kept)
}

/// Returns true if a text begins with these ASCII letters, ignoring case.
pub(crate) fn begins(text: &str, start: &str) -> bool {
    text.get(..start.len()).is_some_and(|found| found.eq_ignore_ascii_case(start))
}

/// Returns the position of an ASCII `needle` (in lower case) in `text`, ignoring case.
pub(crate) fn find_ignoring_case(text: &str, needle: &str) -> Option<usize> {
    let (text, needle) = (text.as_bytes(), needle.as_bytes());
    let first = *needle.first()?;
    let mut from = 0;
    while let Some(step) = memchr::memchr2(first, first.to_ascii_uppercase(), text.get(from..)?) {
        let at = from + step;
        let candidate = text.get(at..at + needle.len())?;
        if candidate.eq_ignore_ascii_case(needle) {
            return Some(at);
        }
        from = at + 1;
    }
    None
}

/// Returns `text` without Markdown marks, emoji and code quotes.
pub(crate) fn plain(text: &str) -> String {
    let linked = without_links(text);
    let mut plain = String::with_capacity(linked.len());
    let mut characters = linked.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '*' if characters.peek() == Some(&'*') => {
                characters.next();
            }
            '`' => {}
            _ if is_emoji(character) => {}
            _ => plain.push(character),
        }
    }
    plain.trim().to_owned()
}

/// Returns `text` without bold marks and emoji; code stays quoted, so that it can be recognised.
pub(crate) fn unmarked(text: &str) -> String {
    let linked = without_links(text);
    let mut kept = String::with_capacity(linked.len());
    let mut characters = linked.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '*' if characters.peek() == Some(&'*') => {
                characters.next();
            }
            _ if is_emoji(character) => {}
            _ => kept.push(character),
        }
    }
    kept.trim().to_owned()
}

/// Turns `[text](target)` into `text`.
fn without_links(text: &str) -> Cow<'_, str> {
    if !text.contains("](") {
        return Cow::Borrowed(text);
    }
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(middle) = rest.find("](") {
        let open = rest[..middle].rfind('[');
        let close = rest[middle..].find(')');
        match (open, close) {
            (Some(open), Some(close)) => {
                kept.push_str(&rest[..open]);
                kept.push_str(&rest[open + 1..middle]);
                rest = &rest[middle + close + 1..];
            }
            _ => {
                kept.push_str(&rest[..middle + 2]);
                rest = &rest[middle + 2..];
            }
        }
    }
    kept.push_str(rest);
    Cow::Owned(kept)
}

/// Returns true if the character is a pictograph.
pub(crate) fn is_emoji(character: char) -> bool {
    matches!(u32::from(character), 0x1f000..=0x1faff | 0x2600..=0x27bf | 0x2b00..=0x2bff | 0xfe0f | 0x200d | 0x23e9..=0x23fa)
}

/// Returns the last part of a path.
fn base_name(path: &str) -> &str {
    let trimmed = path.trim_end_matches(['/', '\\']);
    thru_core::file_name(trimmed)
}

/// Returns the last part of a path, ready to show.
pub(crate) fn shown_name(path: &str) -> String {
    one_line(base_name(path), TITLE)
}

/// Programs that are written in lower case even at the beginning of a sentence.
const PROGRAMS: [&str; 14] = [
    "npm", "npx", "pnpm", "yarn", "bun", "cargo", "rustc", "git", "gh", "curl", "pip", "pytest",
    "tsc", "ssh",
];

/// Returns `text` with a capital first letter, unless its first word is a name from code.
pub(crate) fn capitalised(text: &str) -> String {
    let word = text.split_whitespace().next().unwrap_or_default();
    let is_code = word.contains(['_', '.', '/', '(', ':', '@', '-', '<', '$'])
        && !word.ends_with([':', '.'])
        || word.chars().skip(1).any(char::is_uppercase)
        || PROGRAMS.contains(&word);
    let mut characters = text.chars();
    match characters.next() {
        Some(first) if first.is_lowercase() && !is_code => {
            first.to_uppercase().chain(characters).collect()
        }
        _ => text.to_owned(),
    }
}

/// Returns `text` with a lower-case first letter, unless its first word is a name.
pub(crate) fn uncapitalised(text: &str) -> String {
    let word = text.split_whitespace().next().unwrap_or_default();
    let mut characters = text.chars();
    match characters.next() {
        Some(first)
            if first.is_uppercase()
                && word.chars().skip(1).all(|c| c.is_lowercase())
                && word.len() > 1 =>
        {
            first.to_lowercase().chain(characters).collect()
        }
        _ => text.to_owned(),
    }
}

/// Returns the beginning and the end of a long text, cut at line ends: the parts a reader would look at.
pub(crate) fn ends(text: &str, head: usize, tail: usize) -> Cow<'_, str> {
    if text.len() <= head + tail {
        return Cow::Borrowed(text);
    }
    let head_end = text.floor_char_boundary(head);
    let head_end = text[..head_end].rfind('\n').unwrap_or(head_end);
    let tail_start = text.ceil_char_boundary(text.len() - tail);
    let tail_start = text[tail_start..].find('\n').map_or(tail_start, |at| tail_start + at);
    Cow::Owned([&text[..head_end], "\n", &text[tail_start..]].concat())
}
