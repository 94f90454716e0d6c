//! Lines folded to the width of a terminal: painted ones, changed lines of a file, examples of a command.

use std::borrow::Cow;

use crate::text::{width, wrap};

/// A line, which may be painted, folded between words to this many columns. What follows is indented to where the text
/// of the line begins, behind its labels. A word that is longer than a line stays whole.
pub fn fold(line: &str, columns: usize) -> Cow<'_, str> {
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

/// The fewest columns for what an example does, beside it.
const WHAT: usize = 20;

/// A line of examples: what one does stays behind it, or goes below it where there is no room. Other lines are folded.
pub fn example(line: &str, columns: usize) -> String {
    let lead = line.len() - line.trim_start().len();
    if width(line) <= columns || lead == 0 {
        return fold(line, columns).into_owned();
    }
    let (words, what) = line[lead..].split_once("  ").unwrap_or((&line[lead..], ""));
    let what = what.trim_start();
    let beside = width(line) - width(what);
    let (mut text, indent) = match !what.is_empty() && columns.saturating_sub(beside) >= WHAT {
        true => (line[..line.len() - what.len()].to_owned(), beside),
        false => (String::new(), lead + 4),
    };
    let mut rows = wrap(what, columns.saturating_sub(indent));
    if text.is_empty() {
        text = " ".repeat(lead);
        rows = [wrap(words, columns.saturating_sub(indent)), rows].concat();
    }
    text.push_str(&rows.join(&format!("\n{:indent$}", "")));
    text
}

/// A line of a difference (`diff -u`) in lines of at most so many columns, each with its sign.
pub fn change(line: &str, columns: usize) -> Vec<String> {
    let sign: String = line.chars().take(1).filter(|sign| "+- ".contains(*sign)).collect();
    let text = &line[sign.len()..];
    if width(line) <= columns || sign.is_empty() || (sign != " " && text.starts_with(&*sign)) {
        return vec![line.to_owned()];
    }
    let indent = text.len() - text.trim_start().len();
    let rows = wrap(text, columns.saturating_sub(indent + 3)).into_iter().enumerate();
    rows.map(|(at, row)| {
        let indent = if at == 0 { indent } else { indent + 2 };
        // A word that is longer than a line stands alone.
        let indent = if width(&row) + indent + 1 > columns { 0 } else { indent };
        format!("{sign}{:indent$}{row}", "")
    })
    .collect()
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
    fn examples_keep_what_they_do_behind_or_below_them() {
        let line = "  thru up    set everything up, or mend it";
        assert_eq!(example(line, 60), line);
        assert_eq!(example(line, 34), "  thru up    set everything up, or\n             mend it");
        assert_eq!(example(line, 30), "  thru up\n      set everything up, or\n      mend it");
        assert_eq!(example("  thru up --yes --json", 20), "  thru up --yes\n      --json");
        assert_eq!(example("Exit status: 0", 8), "Exit\nstatus:\n0");
    }

    #[test]
    fn changed_lines_keep_their_sign() {
        assert_eq!(change("+ok", 10), ["+ok"]);
        assert_eq!(change("+  \"a\": [1, 2, 3]", 14), ["+  \"a\": [1,", "+    2, 3]"]);
        assert_eq!(change("+++ /home/me/long/path", 10), ["+++ /home/me/long/path"]);
    }

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
