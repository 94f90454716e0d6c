//! Text made fit for a terminal: no control characters from transcripts, widths that count.

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
}
