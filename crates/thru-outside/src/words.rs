//! Excerpts of foreign text, short enough for a message of ours.

/// Longest excerpt, in characters.
pub const LONGEST_EXCERPT: usize = 200;

/// Characters in a row that make a text an echo of another one.
const ECHO: usize = 24;

/// Returns the beginning of a text on one line, without control characters or direction marks.
pub fn excerpt(text: &str) -> String {
    let mut short = String::new();
    let mut length = 0;
    let mut gap = false;
    for letter in text.chars() {
        if letter.is_whitespace() || letter.is_control() {
            gap = !short.is_empty();
            continue;
        }
        if is_mark(letter) {
            continue;
        }
        if length + usize::from(gap) + 1 >= LONGEST_EXCERPT {
            short.push('…');
            break;
        }
        if std::mem::take(&mut gap) {
            short.push(' ');
            length += 1;
        }
        short.push(letter);
        length += 1;
    }
    short
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

/// Returns true if a character changes the writing direction, or is invisible.
const fn is_mark(letter: char) -> bool {
    matches!(letter, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_excerpt_is_one_short_line() {
        assert_eq!(
            excerpt("  model\n\t'x'\u{1b}[31m not\u{202e} found \n"),
            "model 'x' [31m not found"
        );
        let long = excerpt(&"word ".repeat(1_000));
        assert!(long.chars().count() <= LONGEST_EXCERPT && long.ends_with('…'), "{long}");
        assert_eq!(excerpt(&"é".repeat(LONGEST_EXCERPT - 1)), "é".repeat(LONGEST_EXCERPT - 1));
        assert_eq!(excerpt(""), "");
    }
}
