//! Text made fit for a terminal: no control characters from transcripts, widths that count.

use std::borrow::Cow;

use thru_app::words::printable;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Text on one line, cut to this many columns.
pub(crate) fn one_line(text: &str, columns: usize) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    cut(&printable(&words.join(" ")), columns)
}

/// Text cut to this many columns, with `…` where something is missing.
pub(crate) fn cut(text: &str, columns: usize) -> String {
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
pub(crate) fn wrap(text: &str, columns: usize) -> Vec<String> {
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

/// A line, which may be painted, folded between words to this many columns. What follows is indented to where the text
/// of the line begins, behind its label. A word that is longer than a line stays whole.
pub(crate) fn fold(line: &str, columns: usize) -> Cow<'_, str> {
    let plain = unpainted(line);
    if width(&plain) <= columns {
        return Cow::Borrowed(line);
    }
    let lead = plain.len() - plain.trim_start().len();
    let label = plain[lead..].find("  ").map(|end| {
        let rest = &plain[lead + end..];
        width(&plain[..lead + end]) + rest.len() - rest.trim_start().len()
    });
    let indent = label.filter(|indent| *indent <= columns / 2).unwrap_or(lead.min(columns / 2));
    let mut folded = String::with_capacity(line.len() + 2 * indent);
    let mut used = 0;
    for (number, word) in line.split(' ').enumerate() {
        let own = width(&unpainted(word));
        if own > 0 && used > indent && used + 1 + own > columns {
            folded.truncate(folded.trim_end_matches(' ').len());
            folded.push('\n');
            folded.extend(std::iter::repeat_n(' ', indent));
            used = indent;
        } else if number > 0 {
            folded.push(' ');
            used += 1;
        }
        folded.push_str(word);
        used += own;
    }
    Cow::Owned(folded)
}

/// The text of a painted line.
fn unpainted(line: &str) -> String {
    let mut pieces = line.split("\u{1b}[");
    let mut text = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        text.push_str(piece.split_once('m').map_or(piece, |(_, rest)| rest));
    }
    text
}

/// Columns that a text takes.
pub(crate) fn width(text: &str) -> usize {
    text.width()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_characters_count_twice() {
        assert_eq!(cut("数据库连接", 7), "数据库…");
        assert_eq!(cut("short", 7), "short");
        assert_eq!(one_line("a\n  b\tc", 9), "a b c");
    }

    #[test]
    fn lines_are_folded_between_words_and_behind_their_label() {
        assert_eq!(fold("it fits", 7), "it fits");
        assert_eq!(fold("state  one two three", 14), "state  one two\n       three");
        assert_eq!(fold("state  one two three", 11), "state  one\ntwo three", "no room beside it");
        assert_eq!(fold("  one two three", 9), "  one two\n  three");
        assert_eq!(fold("one /a/path/that/is/long two", 10), "one\n/a/path/that/is/long\ntwo");
        let painted = "\u{1b}[2mdata \u{1b}[0m one two";
        assert_eq!(fold(painted, 13), painted);
        assert_eq!(fold(painted, 12), "\u{1b}[2mdata \u{1b}[0m one\n      two");
    }
}
