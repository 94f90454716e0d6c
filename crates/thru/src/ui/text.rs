//! Painted text folded to the width of a terminal.

use std::borrow::Cow;

use thru_ui::text::width;

/// A line, which may be painted, folded between words to this many columns. What follows is indented to where the text
/// of the line begins, behind its labels. A word that is longer than a line stays whole.
pub(crate) fn fold(line: &str, columns: usize) -> Cow<'_, str> {
    let plain = unpainted(line);
    if width(&plain) <= columns {
        return Cow::Borrowed(line);
    }
    let lead = plain.len() - plain.trim_start().len();
    let mark = if plain[lead..].starts_with("- ") { 2 } else { 0 };
    let mut indent = (lead + mark).min(columns / 2);
    let mut at = lead;
    while let Some(gap) = plain[at..].find("  ") {
        let rest = plain[at + gap..].trim_start();
        at = plain.len() - rest.len();
        let text = width(&plain[..at]);
        if text > columns / 2 {
            break;
        }
        indent = text;
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_folded_between_words_and_behind_their_label() {
        assert_eq!(fold("it fits", 7), "it fits");
        assert_eq!(fold("state  one two three", 14), "state  one two\n       three");
        assert_eq!(fold("state  one two three", 11), "state  one\ntwo three", "no room beside it");
        assert_eq!(fold("  one two three", 9), "  one two\n  three");
        assert_eq!(fold("  - one two three", 11), "  - one two\n    three");
        assert_eq!(fold("ok  state  one two three", 22), "ok  state  one two\n           three");
        assert_eq!(fold("one /a/path/that/is/long two", 10), "one\n/a/path/that/is/long\ntwo");
        let painted = "\u{1b}[2mdata \u{1b}[0m one two";
        assert_eq!(fold(painted, 13), painted);
        assert_eq!(fold(painted, 12), "\u{1b}[2mdata \u{1b}[0m one\n      two");
    }
}
