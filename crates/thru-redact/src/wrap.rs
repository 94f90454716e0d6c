//! Tokens that a line break cuts in two: in a narrow terminal, in a box, behind a backslash.
//!
//! Only the lines right after a keyword are joined, and only for the pattern of a form: a name and its value are never
//! looked for across lines.

use std::ops::Range;

use crate::assignment::is_token_byte;
use crate::checks;
use crate::pattern::Pattern;

/// The fewest bytes of a token before the first break.
const SHORTEST: usize = 12;
/// The most bytes of a token on one line.
const LONGEST: usize = 1024;
/// The most lines that are joined.
const LINES: usize = 64;

/// A line break within a token, with what stands before and after it.
static BREAK: Pattern = Pattern::at_start(
    r#"(?:["'] ?[+.] ?["']|["'](?: ?[+.&\\])?[ \t]{0,8}\r?\n[ \t]{0,40}[+.&]? ?["']|(?:[ \t]{0,80}(?u:[│┃|])|\\)?[ \t]{0,8}\r?\n[ \t]{0,40}(?:(?:(?u:[│┃|>#*])|//|--|\+)[ \t]{1,4}|\+)?)"#,
);

/// A text without the breaks in it.
pub(crate) struct Joined {
    pub(crate) text: String,
    /// The end of the first line.
    pub(crate) first: usize,
    /// The positions of the breaks in the joined text, and the length of each.
    breaks: Vec<(usize, usize)>,
}

impl Joined {
    /// True if nothing but the end of the line stands at the first break.
    pub(crate) fn is_bare(&self) -> bool {
        self.breaks.first().is_some_and(|(_, length)| *length <= 2)
    }

    /// True if a break lies within the range.
    pub(crate) fn spans(&self, range: &Range<usize>) -> bool {
        self.breaks.iter().any(|(at, _)| range.start < *at && *at < range.end)
    }

    /// Returns the range in the text with its breaks.
    pub(crate) fn before(&self, range: Range<usize>) -> Range<usize> {
        let back = |place: usize, is_end: bool| {
            let breaks =
                self.breaks.iter().filter(|(at, _)| *at < place || (*at == place && !is_end));
            place + breaks.map(|(_, length)| length).sum::<usize>()
        };
        back(range.start, false)..back(range.end, true)
    }
}

/// True if a token may go on after a line break, in text or in raw JSON; its first line has this length.
pub(crate) fn is_possible(bytes: &[u8], length: usize) -> bool {
    let (first, rest) = bytes.split_at(length.min(bytes.len()));
    let is_between = |byte: &u8| {
        matches!(byte, b' ' | b'\t' | b'\r' | b'|' | b'"' | b'\'' | b'+' | b'.' | 0x80..)
    };
    let near = &rest[..rest.len().min(96)];
    if is_concatenated(near) {
        return true;
    }
    length >= SHORTEST
        && (first.iter().any(u8::is_ascii_digit) || is_capital(first))
        && near
            .iter()
            .position(|byte| *byte == b'\n' || *byte == b'\\' || *byte == b'+')
            .is_some_and(|at| near[..at].iter().all(is_between))
}

/// True for `" + "` and the like: code puts any parts together.
fn is_concatenated(rest: &[u8]) -> bool {
    let [mark @ (b'"' | b'\''), rest @ ..] = rest else { return false };
    let rest = rest.strip_prefix(b" ").unwrap_or(rest);
    let [b'+' | b'.', rest @ ..] = rest else { return false };
    rest.strip_prefix(b" ").unwrap_or(rest).first() == Some(mark)
}

/// Joins the lines of the token that the text begins with; `None` if it ends on its first line.
///
/// A part that is hardly more than a word is only joined where it must be.
pub(crate) fn join(text: &str, keyword: usize, must: bool) -> Option<Joined> {
    let run = |start: usize| {
        start
            + text.as_bytes()[start..]
                .iter()
                .take(LONGEST + 1)
                .take_while(|byte| is_token_byte(**byte))
                .count()
    };
    let first = run(0);
    let bytes = &text.as_bytes()[..first];
    let may_be_cut = (SHORTEST..=LONGEST).contains(&first)
        && (bytes.iter().any(u8::is_ascii_digit) || is_capital(bytes));
    if !may_be_cut && !is_concatenated(&text.as_bytes()[first..]) {
        return None;
    }
    let mut joined = Joined { text: text[..first].to_owned(), first, breaks: Vec::new() };
    let mut end = first;
    let mut last = first;
    while joined.breaks.len() < LINES
        && let Some(found) = BREAK.find(&text[end..])
    {
        let start = end + found.end;
        if text.as_bytes()[end] == b'\\' {
            // The shell joins lines of any length.
            last = LONGEST;
        }
        let next = run(start);
        let part = &text[start..next];
        let stands_out = part.len() >= 6
            && (part.bytes().any(|byte| byte.is_ascii_digit()) || is_mixed_up(part));
        let is_id = stands_out && is_capital(joined.text.as_bytes()) && is_capital(part.as_bytes());
        let in_code = is_concatenated(&text.as_bytes()[end..]);
        if !(must || stands_out)
            || !(in_code || is_id || goes_on(part, &text[next..], last))
            || part.get(..keyword) == text.get(..keyword)
        {
            break;
        }
        joined.breaks.push((joined.text.len(), start - end));
        joined.text.push_str(part);
        last = part.len();
        end = next;
    }
    (!joined.breaks.is_empty()).then(|| {
        joined.text.push_str(&text[end..]);
        joined
    })
}

/// True for capitals and digits alone, of which the ids of keys of AWS consist.
fn is_capital(part: &[u8]) -> bool {
    part.iter().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit())
}

/// True if capitals and small letters alternate as in no word.
fn is_mixed_up(part: &str) -> bool {
    let pairs = || part.as_bytes().windows(2);
    pairs().filter(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase()).count() >= 2
        || pairs()
            .filter(|pair| pair[0].is_ascii_uppercase() && pair[1].is_ascii_uppercase())
            .count()
            >= 2
}

/// True if a line that begins with this part goes on with the token of the line before it.
fn goes_on(part: &str, rest: &str, last: usize) -> bool {
    let ends_line = rest.trim_start_matches([
        ' ', '\t', '\r', '│', '┃', '|', '"', '\'', '`', '\\', ';', ',', ')', '+', '.',
    ]);
    !part.is_empty()
        && !part.trim_end_matches('=').contains('=')
        // A token that begins within a line is cut at the width of the terminal.
        && part.len() <= last.max(104) + 16
        && (ends_line.is_empty() || ends_line.starts_with('\n'))
        && !checks::is_worded(part)
        && !part.bytes().all(|byte| matches!(byte, b'-' | b'=' | b'.' | b'_' | b'~'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_one_token_are_joined() {
        for (text, expected) in [
            ("ghp_aB3dE6gH9j\nK2mN5pQ8sT1\nx", Some("ghp_aB3dE6gH9jK2mN5pQ8sT1x")),
            ("ghp_aB3dE6gH9j   │\n│ K2mN5pQ8sT1 │\n", Some("ghp_aB3dE6gH9jK2mN5pQ8sT1 │\n")),
            ("ghp_aB3dE6gH9j\\\n  K2mN5pQ8sT1", Some("ghp_aB3dE6gH9jK2mN5pQ8sT1")),
            ("ghp_aB3dE6gH9j' \\\n  'K2mN5pQ8sT1'", Some("ghp_aB3dE6gH9jK2mN5pQ8sT1'")),
            ("AKIAHGFLJUAP\n4G57IEZU here", Some("AKIAHGFLJUAP4G57IEZU here")),
            ("ghp_aB3dE6gH9j'\nK2mN5pQ8sT1", None),
            ("ghp_aB3dE6gH9j\nDEBUG=true", None),
            ("ghp_aB3dE6gH9j\nghp_K2mN5pQ8sT1", None),
            ("ghp_aB3dE6gH9j\nK2mN5pQ8sT1 is next", None),
            ("ghp_aB3dE6gH9j and so on", None),
        ] {
            assert_eq!(
                join(text, 4, true).map(|joined| joined.text).as_deref(),
                expected,
                "{text}"
            );
        }
        let joined = join("ghp_aB3dE6gH9j\nK2mN5pQ8sT1 ", 4, true).unwrap();
        assert_eq!(joined.before(0..25), 0..26);
        assert!(joined.spans(&(0..25)) && !joined.spans(&(0..14)));
    }
}
