//! Privacy tags: finds the passages between `<private>` and `</private>`, and between the system tags
//! around text that Throughline or claude-mem gave to the agent.
//!
//! One pass over the text, linear on any input. In doubt the text is private: a tag that is never
//! closed hides everything to the end, and a closing tag only closes its own kind.

use memchr::{memchr, memchr_iter, memchr2};

use crate::edits::{Edit, Reason};

/// The tag names; the first is the user's, the others are the system's.
const NAMES: [&str; 3] = ["private", "throughline-context", "claude-mem-context"];
const USER: usize = 0;

/// The beginnings of tags, for the prefilter. Closing tags alone change nothing.
pub(crate) const OPENINGS: [&str; 3] = ["<private", "<throughline-context", "<claude-mem-context"];

#[derive(Clone, Copy, PartialEq, Eq)]
struct Tag {
    kind: usize,
    closes: bool,
    /// Has words after its name but no `name=value` among them: `<private key>`, which is much more
    /// often a placeholder in a document than a tag.
    doubtful: bool,
    end: usize,
}

/// Returns the tag that begins at the `<` at this position, if there is one.
fn tag_at(bytes: &[u8], start: usize) -> Option<Tag> {
    let closes = bytes.get(start + 1) == Some(&b'/');
    let name_start = start + 1 + usize::from(closes);
    let kind = NAMES.iter().position(|name| {
        bytes
            .get(name_start..name_start + name.len())
            .is_some_and(|found| found.eq_ignore_ascii_case(name.as_bytes()))
    })?;
    let name_end = name_start + NAMES[kind].len();
    let blanks = escaped_blanks(&bytes[name_end..]);
    let is_name =
        matches!(bytes.get(name_end)?, b'>' | b'/') || bytes[name_end].is_ascii_whitespace();
    if !is_name && blanks == 0 {
        return None;
    }
    // Up to the next bracket only, so that all these checks together are one pass.
    let length = memchr2(b'<', b'>', &bytes[name_end..])?;
    let end = name_end + length;
    if bytes[end] == b'<' {
        return None;
    }
    let attributes = bytes[name_end + blanks..end].trim_ascii();
    let doubtful =
        !attributes.is_empty() && attributes != b"/" && memchr(b'=', attributes).is_none();
    Some(Tag { kind, closes, doubtful, end: end + 1 })
}

/// Returns the length of the white space at the start of these bytes as JSON within text writes it: `\n`, and `\\n` one
/// layer deeper.
fn escaped_blanks(bytes: &[u8]) -> usize {
    let mut length = 0;
    loop {
        let rest = &bytes[length..];
        let slashes = rest.iter().take_while(|byte| **byte == b'\\').count();
        match rest.get(slashes) {
            Some(b'n' | b'r' | b't' | b'f') if slashes > 0 => length += slashes + 1,
            _ => return length,
        }
    }
}

/// Returns the passages to remove, sorted and disjoint.
pub(crate) fn find(text: &str) -> Vec<Edit> {
    let bytes = text.as_bytes();
    let mut edits = Vec::new();
    let mut depths = [0_u64; NAMES.len()];
    let mut passage_start = 0;
    let mut by_user = false;
    let mut last_closings = None;
    let mut done = 0;
    for start in memchr_iter(b'<', bytes) {
        if start < done {
            continue;
        }
        let Some(tag) = tag_at(bytes, start) else {
            continue;
        };
        if tag.doubtful && !tag.closes {
            let last = last_closings.get_or_insert_with(|| last_closing_tags(bytes));
            if last[tag.kind] < tag.end {
                continue;
            }
        }
        done = tag.end;
        let outside = depths == [0; NAMES.len()];
        if !tag.closes {
            if outside {
                passage_start = start;
                by_user = false;
            }
            depths[tag.kind] += 1;
            by_user |= tag.kind == USER;
        } else if depths[tag.kind] > 0 {
            depths[tag.kind] -= 1;
            if depths == [0; NAMES.len()] {
                edits.push(Edit::new(passage_start..tag.end, reason(by_user)));
            }
        }
    }
    if depths != [0; NAMES.len()] {
        edits.push(Edit::new(passage_start..bytes.len(), reason(by_user)));
    }
    edits
}

const fn reason(by_user: bool) -> Reason {
    if by_user { Reason::Private } else { Reason::System }
}

/// Returns the start of the last closing tag of each kind; 0 if there is none.
fn last_closing_tags(bytes: &[u8]) -> [usize; NAMES.len()] {
    let mut last = [0; NAMES.len()];
    for start in memchr_iter(b'<', bytes) {
        if let Some(tag) = tag_at(bytes, start)
            && tag.closes
        {
            last[tag.kind] = start;
        }
    }
    last
}

/// True if there is a user's tag and only white space outside the passages.
pub(crate) fn is_wholly_private(text: &str) -> bool {
    let edits = find(text);
    let mut done = 0;
    for edit in &edits {
        if !text[done..edit.range.start].trim().is_empty() {
            return false;
        }
        done = edit.range.end;
    }
    text[done..].trim().is_empty() && edits.iter().any(|edit| edit.reason == Reason::Private)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edits::apply_to_text;

    fn strip(text: &str) -> String {
        apply_to_text(text, &find(text))
    }

    #[test]
    fn passages_are_taken_out() {
        for (text, expected) in [
            ("abc <private>x</private> def", "abc [private] def"),
            ("a <PRIVATE\n>x</Private > b", "a [private] b"),
            (r"a <PRIVATE\n>x</Private > b", "a [private] b"),
            (r"a <private\\r\\n>x</private\n> b", "a [private] b"),
            (r"in <private\name>, see there", r"in <private\name>, see there"),
            ("a <private why=\"x\">x</private> b", "a [private] b"),
            ("a <private hidden>x</private> b", "a [private] b"),
            ("a <private>x", "a [private]"),
            ("<private>a<private>b</private>c</private>d", "[private]d"),
            ("a<throughline-context>x</throughline-context>b", "ab"),
            ("a <claude-mem-context n=1>x", "a "),
            ("<private>a<claude-mem-context>b</private>c</claude-mem-context>d", "[private]d"),
            ("<throughline-context>a</private>b", ""),
            ("x</private>y", "x</private>y"),
            (
                "use <private key> and <privately> and <private-key>",
                "use <private key> and <privately> and <private-key>",
            ),
            ("<private", "<private"),
            ("1 < 2 <private>é</private>", "1 < 2 [private]"),
            ("<private>a</private><private>b</private>", "[private][private]"),
            ("<private/>x", "[private]"),
        ] {
            assert_eq!(strip(text), expected, "{text}");
        }
    }

    #[test]
    fn wholly_private_means_nothing_but_white_space_is_left() {
        assert!(is_wholly_private(" <private>x</private>\n"));
        assert!(is_wholly_private("<throughline-context>y</throughline-context> <private>x"));
        assert!(!is_wholly_private("<throughline-context>y</throughline-context>"));
        assert!(!is_wholly_private("<private>x</private> y"));
        assert!(!is_wholly_private("[private]"));
        assert!(!is_wholly_private(""));
    }

    #[test]
    fn hostile_numbers_of_tags_take_one_walk() {
        for unit in [
            "<private>",
            "<private ",
            "<private key>",
            "</private><private x>",
            "<",
            "<private>x</private>",
        ] {
            let text = unit.repeat(2_000_000 / unit.len());
            let _ = find(&text);
        }
        let nested =
            format!("{}secret{}after", "<private>".repeat(100_000), "</private>".repeat(100_000));
        assert_eq!(strip(&nested), "[private]after");
    }
}
