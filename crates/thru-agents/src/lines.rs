//! Splits a block of bytes into numbered lines.

use std::borrow::Cow;

use thru_core::ReadBatch;

use crate::batch::note;
use crate::json;

/// Returns the non-blank lines of `block` with their numbers, starting at `first`. A byte order mark and
/// a carriage return before the newline are not part of a line.
pub(crate) fn numbered(block: &[u8], first: u64) -> impl Iterator<Item = (u64, &[u8])> {
    let mut rest = block;
    let mut next = first;
    std::iter::from_fn(move || {
        while !rest.is_empty() {
            let end = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
            let line = rest[..end].strip_prefix(b"\xef\xbb\xbf").unwrap_or(&rest[..end]);
            rest = rest.get(end + 1..).unwrap_or_default();
            next += 1;
            let line = line.trim_ascii();
            if !line.is_empty() {
                return Some((next - 1, line));
            }
        }
        None
    })
}

/// Returns a line as text that can be parsed, and notes invalid UTF-8.
pub(crate) fn text<'l>(line: &'l [u8], number: u64, batch: &mut ReadBatch) -> Cow<'l, str> {
    let text = json::mend(line);
    if text.len() != line.len() && std::str::from_utf8(line).is_err() {
        note(batch, "not-utf8", number);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_lines_count_but_are_not_given() {
        let block = b"\xef\xbb\xbf{1}\r\n\r\n  \n{2}\nrest";
        let lines: Vec<_> = numbered(block, 7).collect();
        assert_eq!(lines, [(7, &b"{1}"[..]), (10, b"{2}"), (11, b"rest")]);
        assert_eq!(numbered(b"", 1).count(), 0);
    }
}
