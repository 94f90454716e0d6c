//! Recorded text as Markdown that shows it, and back.

use thru_core::plain_line;

/// The most characters of one line of ours. A longer text is cut.
pub(crate) const LONGEST: usize = 2_000;

/// Returns recorded text as one line of Markdown that shows it and does nothing else: no heading, no link, no embed, no
/// tag, no HTML, no comment, no block id. Pieces of code between backticks stay as they are.
pub(crate) fn escaped(text: &str) -> String {
    let line = plain_line(text, LONGEST);
    let mut out = String::with_capacity(line.len() + 8);
    let mut rest = line.as_str();
    let mut before = None;
    while let Some(character) = rest.chars().next() {
        if character == '`' {
            let ticks = rest.len() - rest.trim_start_matches('`').len();
            let (fence, after) = rest.split_at(ticks);
            match closing(after, ticks) {
                Some(end) => {
                    out.push_str(&rest[..ticks + end + ticks]);
                    rest = &rest[ticks + end + ticks..];
                }
                None => {
                    fence.chars().for_each(|tick| out.extend(['\\', tick]));
                    rest = after;
                }
            }
            before = Some('`');
            continue;
        }
        let after = &rest[character.len_utf8()..];
        if must_be_escaped(&out, before, character, after) {
            out.push('\\');
        }
        out.push(character);
        before = Some(character);
        rest = after;
    }
    out
}

/// Returns the place of the run of exactly so many backticks that closes a piece of code.
fn closing(text: &str, ticks: usize) -> Option<usize> {
    let mut at = 0;
    while let Some(found) = text[at..].find('`') {
        let start = at + found;
        let run = text[start..].len() - text[start..].trim_start_matches('`').len();
        if run == ticks {
            // A piece of nothing but blanks is none.
            return (!text[..start].trim().is_empty()).then_some(start);
        }
        at = start + run;
    }
    None
}

fn must_be_escaped(out: &str, before: Option<char>, character: char, after: &str) -> bool {
    let next = after.chars().next();
    let is_first = before.is_none();
    match character {
        '\\' => next.is_some_and(|next| next.is_ascii_punctuation()) || next.is_none(),
        '*' | '[' | ']' | '<' | '$' | '^' | '|' | '~' => true,
        // Within a word it is no emphasis.
        '_' => {
            !(before.is_some_and(char::is_alphanumeric) && next.is_some_and(char::is_alphanumeric))
        }
        '#' => is_first || !before.is_some_and(char::is_alphanumeric),
        '%' | '=' | ':' => is_first || next == Some(character) || before == Some(character),
        '&' => next.is_some_and(|next| next.is_alphanumeric() || next == '#'),
        '!' => next == Some('['),
        '>' | '+' | '-' => is_first,
        // The marker of a numbered list.
        '.' | ')' => {
            !is_first
                && out.bytes().all(|byte| byte.is_ascii_digit())
                && next.is_none_or(char::is_whitespace)
        }
        _ => false,
    }
}

/// Returns a line of Markdown without the backslashes of [`escaped`].
pub(crate) fn unescaped(markdown: &str) -> String {
    let mut out = String::with_capacity(markdown.len());
    let mut rest = markdown;
    while let Some(character) = rest.chars().next() {
        if character == '`' {
            let ticks = rest.len() - rest.trim_start_matches('`').len();
            let after = &rest[ticks..];
            let length = closing(after, ticks).map_or(ticks, |end| ticks + end + ticks);
            out.push_str(&rest[..length]);
            rest = &rest[length..];
            continue;
        }
        rest = &rest[character.len_utf8()..];
        match rest.chars().next() {
            Some(next) if character == '\\' && next.is_ascii_punctuation() => {
                out.push(next);
                rest = &rest[next.len_utf8()..];
            }
            _ => out.push(character),
        }
    }
    out
}

/// Returns a name between backticks.
pub(crate) fn code(name: &str) -> String {
    let name = plain_line(name, LONGEST);
    let longest = name.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    match name.starts_with('`') || name.ends_with('`') {
        true => format!("{fence} {name} {fence}"),
        false => format!("{fence}{name}{fence}"),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use pulldown_cmark::{Event, Options, Parser, Tag};

    use super::*;

    /// The text that Markdown shows, if it is one line of plain text and pieces of code.
    fn shown(markdown: &str) -> Option<String> {
        let mut text = String::new();
        for event in Parser::new_ext(markdown, Options::all()) {
            match event {
                Event::Text(part) => text.push_str(&part),
                Event::Code(part) => text.push_str(&format!("`{part}`")),
                Event::Start(Tag::Paragraph | Tag::List(_) | Tag::Item) | Event::End(_) => {}
                other => panic!("{other:?} in {markdown}"),
            }
        }
        Some(text)
    }

    #[test]
    fn hostile_text_does_nothing() {
        for text in [
            "# heading",
            "[[link]]",
            "![[embed]]",
            "[a](http://b)",
            "<script>x</script>",
            "%%hidden%%",
            "#tag and a#b",
            "$x$",
            "==mark==",
            "~~gone~~",
            "key:: value",
            "a ^t-abcdefghjk",
            "---",
            "- item",
            "1. one",
            "| a | b |",
            "**bold** _it_ snake_case",
            "&amp;",
            "`code [[x]] #y`",
            "`` a`b ``",
            "`open",
            "C:\\new\\*",
            "[ ] task",
            "> quote",
            "***",
            "\\",
            "[x]: http://y",
            "[^1]",
            "+ plus",
        ] {
            let markdown = format!("- {}", escaped(text));
            shown(&markdown);
            assert_eq!(unescaped(&escaped(text)), plain_line(text, LONGEST), "{markdown}");
            assert!(text.contains('`') || !markdown.contains("[["), "{markdown}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_shown_and_read_back(text in "[ a-c`*_#<>\\[\\]!|\\\\$%=~:^&;.1()+-]{0,40}") {
            let markdown = escaped(&text);
            prop_assert_eq!(unescaped(&markdown), plain_line(&text, LONGEST));
            shown(&format!("- {markdown}"));
        }
    }
}
