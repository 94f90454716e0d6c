//! Tokenisation: BERT's uncased WordPiece.
//!
//! Source: `BasicTokenizer` and `WordpieceTokenizer` of google-research/bert, as Hugging Face's
//! `tokenizers` runs them for this model (`BertNormalizer` with lower case and without accents,
//! `BertPreTokenizer`, `WordPiece`).

use std::collections::HashMap;

use unicode_normalization::UnicodeNormalization;
use unicode_properties::{GeneralCategory, GeneralCategoryGroup, UnicodeGeneralCategory};

/// Longest word that is looked up, in characters: a longer one is data.
const LONGEST_WORD: usize = 100;

/// Most bytes of a text per wanted token. Text beyond that is not even looked at.
const BYTES_PER_TOKEN: usize = 64;

/// The words and pieces that the model knows.
pub(super) struct Vocabulary<'t> {
    /// Pieces at the beginning of a word.
    starts: HashMap<&'t str, i32>,
    /// Pieces inside a word.
    continuations: HashMap<&'t str, i32>,
    unknown: i32,
    first: i32,
    last: i32,
}

impl<'t> Vocabulary<'t> {
    /// Parses the vocabulary, one piece a line; continuation pieces begin with `##`. Returns `None` if
    /// the model's special tokens are missing.
    pub(super) fn parse(text: &'t str) -> Option<Self> {
        // As many as there are, for which a table of half the size is enough.
        let mut starts = HashMap::with_capacity(25_000);
        let mut continuations = HashMap::with_capacity(6_000);
        for (number, word) in (0..).zip(text.lines()) {
            match word.strip_prefix("##") {
                Some(rest) if !rest.is_empty() => continuations.insert(rest, number),
                _ => starts.insert(word, number),
            };
        }
        let mark = |name: &str| starts.get(name).copied();
        let (unknown, first, last) = (mark("[UNK]")?, mark("[CLS]")?, mark("[SEP]")?);
        Some(Self { starts, continuations, unknown, first, last })
    }

    /// Returns the token ids of a text with the special tokens around it, at most `most` of them.
    pub(super) fn tokens(&self, text: &str, most: usize) -> Vec<i32> {
        let mut end = text.len().min(most * BYTES_PER_TOKEN);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        let room = most.saturating_sub(1);
        let mut tokens = vec![self.first];
        let mut word = String::new();
        for c in text[..end].chars().filter_map(cleaned) {
            let stands_alone = is_ideograph(c) || is_punctuation(c);
            if stands_alone || c == ' ' {
                self.pieces(&mut word, &mut tokens);
            }
            if stands_alone {
                word.push(c);
                self.pieces(&mut word, &mut tokens);
            } else if c != ' ' {
                word.push(c);
            }
            if tokens.len() > room {
                break;
            }
        }
        self.pieces(&mut word, &mut tokens);
        tokens.truncate(room);
        tokens.push(self.last);
        tokens
    }

    /// Adds the longest pieces that make up the word, and empties it.
    fn pieces(&self, word: &mut String, tokens: &mut Vec<i32>) {
        if word.is_empty() {
            return;
        }
        // Accents are removed and capitals lowered word by word: neither depends on the neighbours.
        let plain: String = word
            .nfd()
            .filter(|c| c.general_category() != GeneralCategory::NonspacingMark)
            .flat_map(char::to_lowercase)
            .collect();
        word.clear();
        let before = tokens.len();
        if plain.chars().count() > LONGEST_WORD {
            tokens.push(self.unknown);
            return;
        }
        let mut from = 0;
        while from < plain.len() {
            let known = if from == 0 { &self.starts } else { &self.continuations };
            let ends = plain[from..].char_indices().rev().map(|(at, c)| from + at + c.len_utf8());
            let found = ends.into_iter().find_map(|to| Some((to, *known.get(&plain[from..to])?)));
            let Some((to, number)) = found else {
                tokens.truncate(before);
                tokens.push(self.unknown);
                return;
            };
            tokens.push(number);
            from = to;
        }
    }
}

/// Returns the normalised character: all white space is one kind, control characters are dropped.
fn cleaned(c: char) -> Option<char> {
    match c {
        '\t' | '\n' | '\r' => Some(' '),
        '\0' | '\u{fffd}' => None,
        c if c.is_ascii() => (!c.is_control()).then_some(c),
        c if c.is_whitespace() => Some(' '),
        c => (c.general_category_group() != GeneralCategoryGroup::Other).then_some(c),
    }
}

fn is_punctuation(c: char) -> bool {
    match c.is_ascii() {
        true => c.is_ascii_punctuation(),
        false => c.general_category_group() == GeneralCategoryGroup::Punctuation,
    }
}

/// Returns true for Chinese characters, as BERT defines them: Japanese kana and Korean are words.
fn is_ideograph(c: char) -> bool {
    matches!(u32::from(c),
        0x4e00..=0x9fff | 0x3400..=0x4dbf | 0x20000..=0x2a6df | 0x2a700..=0x2b73f
        | 0x2b740..=0x2b81f | 0x2b920..=0x2ceaf | 0xf900..=0xfaff | 0x2f800..=0x2fa1f)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn small() -> Vocabulary<'static> {
        let words = "[PAD]\n[UNK]\n[CLS]\n[SEP]\nlock\n##ed\n##s\n.\n(\n漢\ncafe";
        Vocabulary::parse(words).unwrap()
    }

    #[test]
    fn words_are_made_of_the_longest_pieces() {
        assert_eq!(small().tokens("Locked. LOCKS(", 16), [2, 4, 5, 7, 4, 6, 8, 3]);
        assert_eq!(small().tokens("Café漢 unknown", 16), [2, 10, 9, 1, 3]);
    }

    #[test]
    fn what_is_too_long_is_cut_at_the_end() {
        assert_eq!(small().tokens(&"lock ".repeat(1_000_000), 5), [2, 4, 4, 4, 3]);
        assert_eq!(small().tokens(&"x".repeat(1_000_000), 5), [2, 1, 3]);
    }

    #[test]
    fn without_its_marks_it_is_no_vocabulary() {
        assert!(Vocabulary::parse("lock\n##ed").is_none());
    }

    proptest! {
        #[test]
        fn any_text_has_tokens(text in "\\PC{0,200}", most in 2usize..64) {
            let tokens = small().tokens(&text, most);
            prop_assert!((2..=most).contains(&tokens.len()));
            prop_assert_eq!((tokens[0], tokens[tokens.len() - 1]), (2, 3));
        }
    }
}
