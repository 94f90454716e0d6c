//! Excerpts of foreign text, short enough for a message of ours.

/// Longest excerpt, in characters.
pub const LONGEST_EXCERPT: usize = 200;

/// Characters in a row that make a text an echo of another one.
const ECHO: usize = 24;

/// Returns the beginning of a foreign text: one line of at most [`LONGEST_EXCERPT`] characters, nothing hidden and no steering tag in it.
pub fn excerpt(text: &str) -> String {
    thru_core::one_line(text, LONGEST_EXCERPT)
}

/// Like [`excerpt`], but replaces a text that repeats part of what was sent, which must not be in a message.
pub fn excerpt_unless_echo<'s>(text: &str, sent: impl IntoIterator<Item = &'s str>) -> String {
    let short = excerpt(text);
    let letters: Vec<char> = short.chars().collect();
    let mut sent =
        sent.into_iter().map(|text| text.split_whitespace().collect::<Vec<_>>().join(" "));
    let repeats = sent.any(|sent| {
        letters.windows(ECHO).any(|part| sent.contains(part.iter().collect::<String>().as_str()))
    });
    if repeats { "(it repeats what was sent)".to_owned() } else { short }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_excerpt_is_one_short_line() {
        assert_eq!(excerpt("  model\n\t'x'\u{1b}[31m not\u{202e} found \n"), "model 'x' not found");
        let long = excerpt(&"word ".repeat(1_000));
        assert!(long.chars().count() <= LONGEST_EXCERPT && long.ends_with('…'), "{long}");
        assert_eq!(excerpt(&"é".repeat(LONGEST_EXCERPT - 1)), "é".repeat(LONGEST_EXCERPT - 1));
        assert_eq!(excerpt(""), "");
    }
}
