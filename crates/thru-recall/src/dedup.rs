//! Near-duplicate texts of a session: a command that was run again, an answer that was given twice.
//!
//! An answer shows one of them; the others would only take its place. The comparison is by words, not by
//! meaning, and never between sessions: two sessions that say the same are news.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Characters of a text that are compared. Longer texts are told apart by their beginnings.
const COMPARED: usize = 2_000;
/// Texts with fewer distinct words are alike only if they are equal: one word makes too much of a
/// difference.
const FEW_WORDS: usize = 5;
/// The percentage of the words of two texts that must be in both for them to be alike.
const SHARED: usize = 80;
/// The percentage of a shorter text's words that a longer one must hold for the shorter one to add nothing.
const CONTAINED: usize = 95;

/// The texts shown so far, by session.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shown {
    sessions: HashMap<i64, Vec<Text>>,
}

/// The hashes kept of a text; they are only compared for equality.
#[derive(Clone, Debug)]
struct Text {
    /// The whole text.
    whole: u64,
    /// The distinct words of its beginning, sorted.
    words: Vec<u64>,
}

impl Shown {
    /// Returns true if `text` says nearly the same as, or a part of, a text already shown from the session
    /// with this row number. Otherwise remembers it as shown. A text that says more than an earlier one is
    /// not alike. Takes time linear in the texts shown from the session.
    pub(crate) fn is_near_duplicate(&mut self, session: i64, text: &str) -> bool {
        let text = Text::of(text);
        let shown = self.sessions.entry(session).or_default();
        let is_near_duplicate = shown.iter().any(|before| text.is_near_duplicate(before));
        if !is_near_duplicate {
            shown.push(text);
        }
        is_near_duplicate
    }
}

impl Text {
    fn of(text: &str) -> Self {
        let text = text.trim();
        let end = text.char_indices().nth(COMPARED).map_or(text.len(), |(at, _)| at);
        let mut words: Vec<u64> = text[..end]
            .split(|c: char| !c.is_alphanumeric())
            .filter(|word| !word.is_empty())
            .map(|word| hash(&word.to_lowercase()))
            .collect();
        words.sort_unstable();
        words.dedup();
        Self { whole: hash(text), words }
    }

    fn is_near_duplicate(&self, before: &Self) -> bool {
        if self.whole == before.whole {
            return true;
        }
        let (words, words_before) = (self.words.len(), before.words.len());
        if words.min(words_before) < FEW_WORDS {
            return false;
        }
        let shared = in_both(&self.words, &before.words);
        let either = words + words_before - shared;
        shared * 100 >= either * SHARED || words < words_before && shared * 100 >= words * CONTAINED
    }
}

fn hash(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

/// Counts the common values of two sorted lists without duplicates.
fn in_both(left: &[u64], right: &[u64]) -> usize {
    let mut right = right.iter().peekable();
    left.iter()
        .filter(|value| {
            while right.next_if(|other| other < value).is_some() {}
            right.peek() == Some(value)
        })
        .count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Returns true if `second` is alike once `first` was shown.
    fn is_near_duplicate(first: &str, second: &str) -> bool {
        let mut shown = Shown::default();
        assert!(!shown.is_near_duplicate(1, first));
        shown.is_near_duplicate(1, second)
    }

    #[test]
    fn nearly_the_same_words_are_alike() {
        let first = "The lock is held by the daemon, so the import waits for it";
        for (second, alike) in [
            (first, true),
            ("the LOCK is held by the daemon - so the import waits for it!", true),
            // Nine of eleven words.
            ("The lock is held by the daemon, so the rebuild waits for it", true),
            // Eight of twelve words.
            ("The lock is held by the hook, so the rebuild waits for it", false),
            // A part of the first.
            ("the import waits for the daemon", true),
            ("the import waits for the daemon again", false),
            ("The socket is gone", false),
            ("", false),
        ] {
            assert_eq!(is_near_duplicate(first, second), alike, "{second}");
        }
    }

    #[test]
    fn what_says_more_is_not_alike() {
        let short = "the import waits for the daemon";
        let long = "The import waits for the daemon because a rebuild holds its lock since noon";
        assert!(!is_near_duplicate(short, long));
        assert!(is_near_duplicate(long, short));
    }

    #[test]
    fn texts_of_few_words_are_alike_only_when_equal() {
        assert!(is_near_duplicate("cargo test -p store", "  cargo test -p store\n"));
        assert!(!is_near_duplicate("cargo test -p store", "cargo test -p store!"));
        assert!(!is_near_duplicate("cargo test -p store", "cargo test store"));
        assert!(!is_near_duplicate("cargo test -p store", "cargo test -p store again"));
        assert!(is_near_duplicate("→ …", "→ …"));
    }

    #[test]
    fn only_the_beginning_of_a_long_text_counts() {
        let words =
            |from: usize| (from..from + 600).map(|n| format!("w{n:04} ")).collect::<String>();
        let (log, other) = (words(0), words(5_000));
        assert!(is_near_duplicate(&(log.clone() + "one end"), &(log.clone() + &other)));
        assert!(!is_near_duplicate(&log, &other));
    }

    #[test]
    fn sessions_are_not_compared() {
        let mut shown = Shown::default();
        let text = "the import waits for the daemon";
        assert!(!shown.is_near_duplicate(1, text));
        assert!(!shown.is_near_duplicate(2, text));
        assert!(shown.is_near_duplicate(1, text));
        assert!(shown.is_near_duplicate(2, text));
    }

    #[test]
    fn what_was_alike_is_not_what_others_are_compared_with() {
        let mut shown = Shown::default();
        assert!(!shown.is_near_duplicate(1, "a b c d e f g h i j"));
        assert!(shown.is_near_duplicate(1, "a b c d e f g h i k"));
        // Nine of eleven words of the second, eight of twelve of the first.
        assert!(!shown.is_near_duplicate(1, "a b c d e f g h l k"));
    }

    proptest! {
        #[test]
        fn a_text_is_like_itself(text in ".{0,80}", others in prop::collection::vec("[ab ]{0,20}", 0..6)) {
            let mut shown = Shown::default();
            let known: Vec<bool> = others.iter().map(|other| shown.is_near_duplicate(1, other)).collect();
            let alike = shown.is_near_duplicate(1, &text);
            prop_assert!(shown.is_near_duplicate(1, &text));
            prop_assert!(!alike || known.contains(&false));
        }
    }
}
