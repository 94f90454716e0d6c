//! From a typed query to the terms to search for. A query is text without syntax, so it cannot be
//! malformed.

use thru_store::Result;
use thru_store::index::tokenizer::{Language, Terms};
use thru_store::index::{QueryTerms, TextIndex};

use crate::languages::{is_common, language_of};

/// English words that say nothing about the subject of a query; some are typed without their apostrophe.
const STOP_WORDS: &[&str] = &[
    "a",
    "about",
    "after",
    "again",
    "against",
    "all",
    "also",
    "am",
    "an",
    "and",
    "any",
    "are",
    "aren",
    "arent",
    "as",
    "at",
    "be",
    "because",
    "been",
    "before",
    "being",
    "between",
    "both",
    "but",
    "by",
    "can",
    "cant",
    "could",
    "couldn",
    "couldnt",
    "d",
    "did",
    "didn",
    "didnt",
    "do",
    "does",
    "doesn",
    "doesnt",
    "doing",
    "don",
    "dont",
    "down",
    "during",
    "each",
    "few",
    "for",
    "from",
    "further",
    "had",
    "hadnt",
    "has",
    "hasnt",
    "have",
    "havent",
    "having",
    "he",
    "her",
    "here",
    "hers",
    "herself",
    "him",
    "himself",
    "his",
    "how",
    "i",
    "if",
    "im",
    "in",
    "into",
    "is",
    "isn",
    "isnt",
    "it",
    "its",
    "itself",
    "ive",
    "just",
    "ll",
    "m",
    "me",
    "more",
    "most",
    "my",
    "myself",
    "no",
    "nor",
    "not",
    "of",
    "off",
    "on",
    "once",
    "only",
    "or",
    "other",
    "our",
    "ours",
    "ourselves",
    "out",
    "over",
    "own",
    "re",
    "s",
    "same",
    "she",
    "should",
    "shouldn",
    "shouldnt",
    "so",
    "some",
    "such",
    "t",
    "than",
    "that",
    "thats",
    "the",
    "their",
    "theirs",
    "them",
    "themselves",
    "then",
    "there",
    "these",
    "they",
    "this",
    "those",
    "to",
    "too",
    "under",
    "until",
    "up",
    "ve",
    "very",
    "was",
    "wasn",
    "wasnt",
    "we",
    "were",
    "werent",
    "what",
    "whats",
    "when",
    "where",
    "wheres",
    "which",
    "while",
    "who",
    "whom",
    "why",
    "will",
    "with",
    "wont",
    "would",
    "wouldn",
    "wouldnt",
    "you",
    "your",
    "yours",
    "yourself",
];

/// Returns true if a word (in lower case) says nothing about the subject of a query.
pub(crate) fn is_stop_word(word: &str) -> bool {
    STOP_WORDS.contains(&word)
}

/// Maximum number of terms. A pasted log is cut here: its first words still find it.
const MOST_TERMS: usize = 64;

/// Maximum bytes of a query that are read, for the same reason.
pub(crate) const LONGEST_QUERY: usize = 4_000;

/// Maximum number of other forms of a word.
const MOST_FORMS: usize = 8;

/// Returns the terms of a query, without stop words unless it has nothing else.
pub fn analyse(query: &str) -> QueryTerms {
    let query = &query[..query.floor_char_boundary(LONGEST_QUERY)];
    let language = query_language(query);
    let analysed = terms(query, Skip::Common(language));
    let analysed = if analysed.terms.is_empty() { terms(query, Skip::Nothing) } else { analysed };
    // Names are known by their capitals, which German nouns have too.
    let names = if is_foreign(query, language) { Vec::new() } else { analysed.names };
    QueryTerms { language, names, ..analysed }
}

/// Adds the forms of a query's words that an index holds, by the language of the query: its terms are English stems.
///
/// # Errors
/// Fails if the index cannot be read.
pub(crate) fn add_forms(terms: &mut QueryTerms, query: &str, index: &TextIndex) -> Result<()> {
    let query = &query[..query.floor_char_boundary(LONGEST_QUERY)];
    let Some(language) = terms.language else { return Ok(()) };
    let mut words: Vec<(String, String)> = Vec::new();
    Terms::default().tokenize(query, |term, place| {
        words.push((term.to_owned(), query[place.start..place.end].to_lowercase()));
    });
    for (number, term) in terms.terms.iter().enumerate() {
        let Some((_, word)) = words.iter().find(|(own, _)| own == term) else { continue };
        if word.chars().all(char::is_alphabetic) {
            let mut forms = index.forms(word, language, MOST_FORMS)?;
            forms.retain(|form| !terms.terms.contains(form));
            if !forms.is_empty() {
                terms.forms.insert(number, forms);
            }
        }
    }
    Ok(())
}

/// Returns the language of a query if it is not English but one whose words are known.
pub(crate) fn query_language(query: &str) -> Option<Language> {
    let words = query.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    language_of(&words.map(str::to_lowercase).collect::<Vec<_>>())
}

/// Returns true if a query is not in English: by its language, or by letters most of which are not Latin.
pub(crate) fn is_foreign(query: &str, language: Option<Language>) -> bool {
    let letters = || query.chars().filter(|c| c.is_alphabetic());
    let other = letters().filter(|c| !c.is_ascii()).count();
    other * 2 > letters().count() || language.is_some()
}

/// The words that are left out of the terms.
#[derive(Clone, Copy)]
enum Skip {
    Nothing,
    /// Those of English, and those of the query's own language.
    Common(Option<Language>),
}

fn terms(query: &str, skip: Skip) -> QueryTerms {
    // Words first, then parts of identifiers, then joined wholes: the order decides which terms stay if
    // there are too many.
    let mut words: Vec<Found> = Vec::new();
    Terms::default().tokenize(query, |term, place| {
        let text = &query[place.start..place.end];
        let is_skipped = match skip {
            Skip::Common(language) if !term.starts_with('=') => {
                let word = text.to_lowercase();
                text.chars().count() < 2 && text.is_ascii()
                    || is_stop_word(&word)
                    || language.is_some_and(|language| is_common(&word, language))
            }
            _ => false,
        };
        if !is_skipped {
            words.push(Found { term: term.to_owned(), start: place.start, end: place.end });
        }
    });
    let is_part = |found: &Found| {
        words.iter().any(|other| {
            !other.term.starts_with('=')
                && other.start <= found.start
                && found.end <= other.end
                && (other.end - other.start) > (found.end - found.start)
        })
    };
    let rank = |found: &Found| match (found.term.starts_with('='), is_part(found)) {
        (true, _) => 2,
        (false, true) => 1,
        (false, false) => 0,
    };
    let mut ordered: Vec<(u8, usize)> =
        words.iter().enumerate().map(|(at, found)| (rank(found), at)).collect();
    ordered.sort_unstable();
    let mut terms: Vec<String> = Vec::new();
    for (_, at) in ordered {
        let term = &words[at].term;
        if !terms.contains(term) && terms.len() < MOST_TERMS {
            terms.push(term.clone());
        }
    }
    // Neighbours; an identifier counts as its parts.
    let has_parts = |found: &Found| {
        words.iter().any(|other| {
            !other.term.starts_with('=')
                && found.start <= other.start
                && other.end <= found.end
                && (other.end - other.start) < (found.end - found.start)
        })
    };
    let mut sequence: Vec<usize> = Vec::new();
    for found in words.iter().filter(|found| !found.term.starts_with('=') && !has_parts(found)) {
        if let Some(at) = terms.iter().position(|term| *term == found.term)
            && !sequence.contains(&at)
        {
            sequence.push(at);
        }
    }
    let pairs = sequence.windows(2).map(|pair| (pair[0], pair[1])).collect();
    let names = words.iter().filter(|found| {
        let covers = |other: &&Found| {
            other.start <= found.start
                && found.end <= other.end
                && (other.end - other.start) > (found.end - found.start)
        };
        is_name(query, found) && !words.iter().filter(covers).any(|other| is_name(query, other))
    });
    let mut names: Vec<usize> =
        names.filter_map(|found| terms.iter().position(|term| *term == found.term)).collect();
    names.sort_unstable();
    names.dedup();
    QueryTerms { terms, pairs, names, ..QueryTerms::default() }
}

/// Returns true for a name: an identifier, a path, a number, or a capital where no sentence begins.
fn is_name(query: &str, found: &Found) -> bool {
    let text = &query[found.start..found.end];
    let is_sign = |c: char| c.is_uppercase() || c.is_numeric() || "_./@".contains(c);
    let before = query[..found.start].trim_end();
    let begins = before.is_empty() || before.ends_with(['.', '!', '?', ':']);
    text.chars().skip(usize::from(begins)).any(is_sign)
}

struct Found {
    term: String,
    start: usize,
    end: usize,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn shown(query: &str) -> String {
        let analysed = analyse(query);
        format!("{} {:?}", analysed.terms.join(" "), analysed.pairs)
    }

    #[test]
    fn questions_lose_their_stop_words() {
        insta::assert_snapshot!(
            shown("Why did the importer crash on big files?"),
            @"import crash big file [(0, 1), (1, 2), (2, 3)]"
        );
        insta::assert_snapshot!(shown("what was it"), @"what was it [(0, 1), (1, 2)]");
    }

    #[test]
    fn identifiers_are_looked_for_whole_and_in_parts() {
        insta::assert_snapshot!(
            shown("parseConfig in src/main.rs"),
            @"parseconfig src main rs pars config =src/main.rs [(4, 5), (5, 1), (1, 2), (2, 3)]"
        );
    }

    #[test]
    fn names_are_told_from_words() {
        let names = |query: &str| {
            let analysed = analyse(query);
            let names = analysed.names.iter().map(|at| analysed.terms[*at].as_str());
            names.collect::<Vec<_>>().join(" ")
        };
        for (query, wanted) in [
            ("Why did we choose Kafka for streaming?", "kafka"),
            ("What changed? Nothing in the sign-on of users", ""),
            ("ShareDialog gets 0 recipients", "sharedialog"),
            ("the timeout in gemini-provider.ts", "=gemini-provider.ts"),
            ("Warum haben wir die Warteschlange nach Redis verlegt und wie?", ""),
        ] {
            assert_eq!(names(query), wanted, "{query}");
        }
    }

    #[test]
    fn nothing_gives_nothing() {
        assert_eq!(analyse(""), QueryTerms::default());
        assert_eq!(analyse("?! \"()\" AND:*").terms, analyse("and").terms);
    }

    proptest! {
        #[test]
        fn any_text_is_a_query(query in ".{0,300}") {
            let analysed = analyse(&query);
            for (a, b) in analysed.pairs {
                prop_assert!(a != b && a.max(b) < analysed.terms.len());
            }
        }
    }
}
