//! Splitting a text into chunks that fit an embedding model.

use std::ops::Range;

/// The most chunks of a text. The rest of a longer text adds little to its subject.
const MOST: usize = 8;
/// The most characters of a chunk: of prose some 200 tokens, which fits the 256 of the bundled model
/// with room to spare.
const LONGEST: usize = 900;

/// Returns the chunks of a text that get a vector each, in order: at most 8 of at most 900 characters,
/// split between paragraphs, else sentences, else words. The text after the last chunk is left out; a
/// blank text has no chunks.
pub fn chunks(text: &str) -> Vec<&str> {
    let mut rest = text.trim();
    let mut chunks = Vec::new();
    while !rest.is_empty() && chunks.len() < MOST {
        let (chunk, behind) = rest.split_at(end_of_first(rest));
        chunks.push(chunk.trim_end());
        rest = behind.trim_start();
    }
    chunks
}

/// Returns the end of the first chunk of a text.
fn end_of_first(text: &str) -> usize {
    let Some((longest, _)) = text.char_indices().nth(LONGEST) else { return text.len() };
    // A boundary nearer to the beginning would make many small chunks.
    let least = longest / 2;
    let paragraph = text[..longest].rfind("\n\n").filter(|at| *at >= least);
    let sentence = || last_border(text, least..longest, ends_sentence);
    let word = || last_border(text, least..longest, |_, next| next.is_whitespace());
    paragraph.or_else(sentence).or_else(word).unwrap_or(longest)
}

/// Returns the last position in a range of a text between two characters of this kind.
fn last_border(
    text: &str,
    range: Range<usize>,
    is_border: impl Fn(char, char) -> bool,
) -> Option<usize> {
    let mut next = text[range.end..].chars().next()?;
    for (at, c) in text[..range.end].char_indices().rev() {
        let end = at + c.len_utf8();
        if end < range.start {
            break;
        }
        if is_border(c, next) {
            return Some(end);
        }
        next = c;
    }
    None
}

fn ends_sentence(c: char, next: char) -> bool {
    match c {
        '.' | '!' | '?' | ':' => next.is_whitespace(),
        '\n' | '。' | '！' | '？' => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn blanks_have_no_piece_and_short_texts_have_one() {
        assert!(chunks(" \n\t ").is_empty());
        assert_eq!(chunks("  the queue starves\n"), ["the queue starves"]);
    }

    #[test]
    fn texts_are_cut_where_something_ends() {
        let first = "word ".repeat(120);
        let paragraphs = format!("{first}\n\n{first}");
        assert_eq!(chunks(&paragraphs), [first.trim(), first.trim()]);
        let sentences = format!("{first}ends here. {first}");
        assert!(chunks(&sentences)[0].ends_with("ends here."));
        let words = "words ".repeat(200);
        assert!(chunks(&words).iter().all(|chunk| chunk.ends_with("words")));
        let hard = "é".repeat(2_000);
        assert_eq!(
            chunks(&hard).iter().map(|chunk| chunk.chars().count()).collect::<Vec<_>>(),
            [900, 900, 200]
        );
    }

    #[test]
    fn of_very_long_texts_the_end_is_left_out() {
        let text = "x".repeat(1_000_000);
        assert_eq!(chunks(&text).len(), MOST);
    }

    proptest! {
        #[test]
        fn pieces_are_the_text_in_order(text in "(\\PC|[ .\n]|\n\n|[a-z]{1,300}){0,120}") {
            let pieces = chunks(&text);
            prop_assert!(pieces.len() <= MOST);
            prop_assert_eq!(pieces.is_empty(), text.trim().is_empty());
            let mut rest = text.as_str();
            for piece in &pieces {
                prop_assert!(!piece.trim().is_empty() && piece.chars().count() <= LONGEST);
                // There are only blanks between them.
                let at = rest.find(*piece).unwrap();
                prop_assert!(rest[..at].trim().is_empty());
                rest = &rest[at + piece.len()..];
            }
            prop_assert!(pieces.len() == MOST || rest.trim().is_empty());
        }
    }
}
