//! Text made fit for a terminal: no control characters from transcripts, widths that count.

use thru_app::words::printable;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Text on one line, cut to this many columns.
pub fn one_line(text: &str, columns: usize) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    cut(&printable(&words.join(" ")), columns)
}

/// Text cut to this many columns, with `…` where something is missing.
pub fn cut(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let mut shown = String::new();
    let mut used = 1;
    for character in text.chars() {
        used += character.width().unwrap_or(0);
        if used > columns {
            break;
        }
        shown.push(character);
    }
    shown.push('…');
    shown
}

/// Text in lines of at most this many columns, broken between words.
pub fn wrap(text: &str, columns: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if width(line) + 1 + width(word) <= columns => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// Columns that a text takes.
pub fn width(text: &str) -> usize {
    text.width()
}

/// Text in rows that fit into this many columns: its lines are kept, and a word that is longer than a row is broken.
/// Rows that go on are indented like the text of the line, behind the dash of an item.
pub(crate) fn rows(text: &str, columns: usize) -> Vec<String> {
    let columns = columns.max(2);
    let text = printable(text).replace('\t', "    ");
    let mut rows = Vec::new();
    for line in text.lines() {
        let line = line.trim_end();
        let lead = (line.len() - line.trim_start_matches(' ').len()).min(columns / 4);
        let item = if line[lead..].starts_with("- ") { 2 } else { 0 };
        let hanging = (lead + item).min(columns / 3);
        let (mut indent, mut rest) = (lead, &line[lead..]);
        loop {
            let fits = fitting(rest, columns - indent);
            if fits == rest.len() {
                rows.push(format!("{:indent$}{rest}", ""));
                break;
            }
            // A break at a space, unless that leaves the row empty.
            let is_between = rest[..fits].ends_with(' ') || rest[fits..].starts_with(' ');
            let at = match is_between {
                true => fits,
                false => rest[..fits].trim_end().rfind(' ').filter(|at| *at > 0).unwrap_or(fits),
            };
            rows.push(format!("{:indent$}{}", "", rest[..at].trim_end()));
            (indent, rest) = (hanging, rest[at..].trim_start());
        }
    }
    rows
}

/// Bytes of the longest start of a line that fits, at least one character.
fn fitting(line: &str, columns: usize) -> usize {
    let mut fits = 0;
    for (at, character) in line.char_indices() {
        let end = at + character.len_utf8();
        // Of the whole start: characters that combine take other widths than each alone.
        if at > 0 && width(&line[..end]) > columns {
            break;
        }
        fits = end;
    }
    fits
}

/// The parts of sessions' ids that are shown, all of the width of the longest.
pub fn short_ids<'a>(ids: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let ids: Vec<String> = ids.into_iter().map(thru_core::short_id).collect();
    let width = ids.iter().map(String::len).max().unwrap_or(0).max(8);
    ids.into_iter().map(|id| format!("{id:width$}")).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn wide_characters_count_twice() {
        assert_eq!(cut("数据库连接", 7), "数据库…");
        assert_eq!(cut("short", 7), "short");
        assert_eq!(one_line("a\n  b\tc", 9), "a b c");
    }

    #[test]
    fn rows_break_between_words_and_keep_the_indentation() {
        assert_eq!(rows("one two three", 8), ["one two", "three"]);
        assert_eq!(rows("one\n\n  two three four", 11), ["one", "", "  two three", "  four"]);
        assert_eq!(rows("- one two three", 9), ["- one two", "  three"]);
        assert_eq!(rows("aaaaaaaaaa b", 4), ["aaaa", "aaaa", "aa b"]);
        assert_eq!(rows("数据库连接", 4), ["数据", "库连", "接"]);
        assert_eq!(rows("a\u{1b}[2Jb\u{202e}c", 10), ["abc"]);
    }

    proptest! {
        #[test]
        fn rows_fit_and_lose_no_word(text in any::<String>(), columns in 2usize..60) {
            let rows = rows(&text, columns);
            for row in &rows {
                prop_assert!(width(row) <= columns, "{row:?}");
            }
            let letters = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<String>();
            prop_assert_eq!(letters(&rows.concat()), letters(&printable(&text)));
        }
    }
}
