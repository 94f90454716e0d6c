//! Limits the size of texts to what is still worth searching.

pub(crate) use thru_core::head;

/// Bytes kept of a tool call (its name and input).
pub const CALL_LIMIT: usize = 32 * 1024;

/// Bytes kept of a tool's result. With the call and the newline between them, a passage is at most 64
/// KiB.
pub const RESULT_LIMIT: usize = 32 * 1024 - 1;

/// Bytes kept of a text that a person or the agent wrote.
pub const PROSE_LIMIT: usize = 256 * 1024;

/// Returns `text` if it fits into `limit` bytes, else its head and tail around a note of its full
/// length.
pub(crate) fn cap(text: String, limit: usize) -> String {
    if text.len() <= limit {
        return text;
    }
    let marker = format!("\n[... {} bytes in all ...]\n", text.len());
    let half = limit.saturating_sub(marker.len()) / 2;
    let head = &text[..text.floor_char_boundary(half)];
    let tail = &text[text.ceil_char_boundary(text.len() - half)..];
    [head, marker.as_str(), tail].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fits_is_left_alone() {
        assert_eq!(cap("abc".to_owned(), 3), "abc");
    }

    #[test]
    fn what_does_not_fit_keeps_both_ends_and_says_how_long_it_was() {
        let text = format!("{}ä{}", "a".repeat(500), "z".repeat(500));
        let capped = cap(text, 100);
        assert!(capped.len() <= 100 && capped.starts_with("aaa") && capped.ends_with("zzz"));
        assert!(capped.contains("[... 1002 bytes in all ...]"));
    }

    #[test]
    fn characters_are_never_cut() {
        let text = "ä".repeat(100);
        for limit in 40..60 {
            assert!(cap(text.clone(), limit).len() <= limit);
            assert!(head(&text, limit).len() <= limit);
        }
    }
}
