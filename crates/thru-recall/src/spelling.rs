//! Corrections of the words of a query that no passage and no memory holds, by the terms of their indexes.
//!
//! A word that is written nowhere finds nothing. Unless it is known to be spelled rightly, it is read as the most frequent
//! word within one edit (two letters exchanged, else one changed, missing or added), with a hyphen, as two words written as one, or, from eight
//! letters on, as the term within two edits. The first letter stays.

use std::collections::BTreeMap;
use std::ops::Range;

use schemars::JsonSchema;
use serde::Serialize;
use thru_store::Result;
use thru_store::index::tokenizer::Terms;
use thru_store::index::{IndexFilter, QueryTerms, TextIndex};

use crate::query::{LONGEST_QUERY, is_foreign, is_stop_word, query_language};

/// Letters of the shortest word that is corrected.
const SHORTEST: usize = 4;
/// Letters of the shortest word with a capital inside a sentence that is corrected: mostly a name.
const SHORTEST_NAME: usize = 6;
/// Letters from which two edits are allowed.
const TWO_EDITS: usize = 8;
/// Letters of the longest word that is another one if a single letter is changed, and not mistyped, unless what it would
/// be read as is written often …
const LONGEST_DOUBTFUL: usize = 5;
/// … which is in one of so many documents …
const OFTEN: u64 = 25;
/// … and in so many at least.
const LEAST_OFTEN: u64 = 3;
/// Letters of the shortest half of a compound.
const SHORTEST_HALF: usize = 3;
/// Letters of the longest word that is corrected. Longer ones are data.
const LONGEST: usize = 40;
/// Maximum number of words of a query that are looked at.
const MOST_WORDS: usize = 16;
/// Documents among which one holds both halves of a compound.
const BEST: usize = 20;
/// Among so many documents, a word that one alone holds is as likely mistyped itself.
const MANY: u64 = 2_000;
/// The letters that a word may lack.
const LETTERS: &str = "abcdefghijklmnopqrstuvwxyz";

/// A word of a query that was read as another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Correction {
    /// The word, as typed.
    pub typed: String,
    /// The words that it was read as.
    pub read: String,
}

impl Correction {
    /// Names the word that was read in a form that these texts hold. An index knows the stem alone, which other forms have,
    /// too.
    pub fn as_written<'t>(self, texts: impl Iterator<Item = &'t str>) -> Self {
        let mut stems = Terms::default();
        let Some(wanted) = stem(&mut stems, &self.read).filter(|_| !self.read.contains(' ')) else {
            return self;
        };
        let mut written = None;
        for text in texts {
            let mut forms = Vec::new();
            stems.tokenize(text, |term, place| {
                if term == wanted {
                    forms.push(text[place.start..place.end].to_lowercase());
                }
            });
            if forms.contains(&self.read) {
                return self;
            }
            written = written.or(forms.into_iter().next());
        }
        let read = written.unwrap_or(self.read);
        Self { read, ..self }
    }
}

/// A query with its unknown words corrected.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Spelled {
    /// The query to search for.
    pub query: String,
    /// The corrections made in it, in the order of the words.
    pub corrections: Vec<Correction>,
}

/// The words that are known: those that a document of any of these indexes holds.
#[derive(Clone, Copy)]
struct Vocabulary<'i>(&'i [&'i TextIndex]);

impl Vocabulary<'_> {
    fn is_empty(self) -> bool {
        self.documents() == 0
    }

    /// The number of documents that hold a word which is clearly one of the memory's own.
    fn often(self) -> u64 {
        LEAST_OFTEN.max(self.documents() / OFTEN)
    }

    fn frequency(self, term: &str) -> Result<u64> {
        self.0.iter().map(|index| index.frequency(term)).sum()
    }

    /// True if a document within the filter holds these words together. Frequencies count replaced documents and those of
    /// other projects, too.
    fn holds(self, words: &str, filter: &IndexFilter) -> Result<bool> {
        let mut terms = Vec::new();
        Terms::default().tokenize(words, |term, _| terms.push(term.to_owned()));
        let terms = QueryTerms { terms, ..QueryTerms::default() };
        for index in self.0 {
            let found = index.candidates(&terms, filter, BEST)?.found;
            if found.iter().any(|one| one.contributions.iter().all(|held| *held > 0.0)) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn documents(self) -> u64 {
        self.0.iter().map(|index| index.documents()).sum()
    }

    /// True for a word that may be one of the memory's own, though it is known from nowhere else.
    fn is_written(self, word: &str) -> Result<bool> {
        let Some(term) = stem(&mut Terms::default(), word) else { return Ok(false) };
        Ok(self.documents() < MANY || self.frequency(&term)? > 1)
    }

    /// The most frequent term within some edits; of equally frequent ones the first in the alphabet.
    fn nearest(self, term: &str, edits: u8) -> Result<Option<String>> {
        let mut near: BTreeMap<String, u64> = BTreeMap::new();
        for index in self.0 {
            for (term, found) in index.terms_near(term, edits)? {
                *near.entry(term).or_default() += found;
            }
        }
        let words = near.into_iter().filter(|(term, _)| term.chars().all(char::is_alphabetic));
        Ok(words.max_by(|a, b| a.1.cmp(&b.1).then(b.0.cmp(&a.0))).map(|(term, _)| term))
    }
}

/// Corrects the words of a query that no document of any index holds, other than those that are rightly spelled by
/// `is_word`, which is given them in lower case, by words that documents within the filter hold.
///
/// # Errors
/// Fails if an index cannot be read.
pub fn spelled(
    indexes: &[&TextIndex],
    filter: &IndexFilter,
    query: &str,
    is_word: impl Fn(&str) -> bool,
) -> Result<Spelled> {
    let known = Vocabulary(indexes);
    let mut spelled = Spelled { query: query.to_owned(), corrections: Vec::new() };
    // A word of another language is none that was mistyped.
    if known.is_empty() || is_foreign(query, query_language(query)) {
        return Ok(spelled);
    }
    // From the last to the first, so that places before stay where they are.
    for place in unknown(known, query)?.into_iter().rev() {
        let typed = &query[place.clone()];
        if is_word(&typed.to_lowercase()) {
            continue;
        }
        if let Some(read) = common(typed) {
            // Nothing is searched for by it, so there is nothing to say of it.
            spelled.query.replace_range(place, &read);
            continue;
        }
        if let Some(read) = correction(known, typed)?
            && !is_longer(typed, &read)
            && (read.contains([' ', '-']) || is_word(&read) || known.is_written(&read)?)
            && known.holds(&read, filter)?
        {
            spelled.query.replace_range(place, &read);
            let correction = Correction { typed: typed.to_owned(), read };
            if !spelled.corrections.contains(&correction) {
                spelled.corrections.insert(0, correction);
            }
        }
    }
    Ok(spelled)
}

/// True if a word is another one with letters added, which is no slip: "rabbitmq" is not "rabbit".
fn is_longer(typed: &str, read: &str) -> bool {
    typed.to_lowercase().strip_prefix(read).is_some_and(|more| more.chars().count() > 1)
}

/// The places of the words that no document holds.
fn unknown(known: Vocabulary<'_>, query: &str) -> Result<Vec<Range<usize>>> {
    let query = &query[..query.floor_char_boundary(LONGEST_QUERY)];
    let mut words: Vec<(String, Range<usize>)> = Vec::new();
    Terms::default().tokenize(query, |term, place| {
        if !term.starts_with('=') {
            words.push((term.to_owned(), place.start..place.end));
        }
    });
    let has_parts = |place: &Range<usize>| {
        words.iter().any(|(_, other)| {
            place.start <= other.start && other.end <= place.end && other.len() < place.len()
        })
    };
    let mut unknown = Vec::new();
    for (term, place) in words.iter().take(MOST_WORDS) {
        let word = &query[place.clone()];
        if (may_be_corrected(query, place) || common(word).is_some())
            && !has_parts(place)
            && !is_stop_word(&word.to_lowercase())
            && known.frequency(term)? == 0
        {
            unknown.push(place.clone());
        }
    }
    Ok(unknown)
}

fn may_be_corrected(query: &str, place: &Range<usize>) -> bool {
    let word = &query[place.clone()];
    let letters = word.chars().count();
    let is_first = query[..place.start].trim().is_empty();
    let is_name = !is_first && word.starts_with(char::is_uppercase);
    let shortest = if is_name { SHORTEST_NAME } else { SHORTEST };
    (shortest..=LONGEST).contains(&letters) && word.chars().all(char::is_alphabetic)
}

/// The word without a subject of its own that a word becomes by an exchange of two neighbouring letters: "the" for "teh".
fn common(typed: &str) -> Option<String> {
    let letters: Vec<char> = typed.chars().collect();
    let exchanged = (1..letters.len()).map(|at| {
        let mut letters = letters.clone();
        letters.swap(at - 1, at);
        letters.into_iter().collect::<String>()
    });
    exchanged.into_iter().find(|word| is_stop_word(word))
}

fn correction(known: Vocabulary<'_>, typed: &str) -> Result<Option<String>> {
    let word = typed.to_lowercase();
    let mut stems = Terms::default();
    let own = stem(&mut stems, &word).unwrap_or_default();
    // Letters that only changed places are the likelier slip.
    let letters = |word: &str| {
        let mut letters: Vec<char> = word.chars().collect();
        letters.sort_unstable();
        letters
    };
    let typed_letters = letters(&word);
    let mut best: Option<((bool, u64), String)> = None;
    for variant in variants(&word) {
        let Some(term) = stem(&mut stems, &variant) else { continue };
        let found = known.frequency(&term)?;
        // "notarize" and "notation" share all but a letter of what an index knows of them.
        let is_doubtful = is_doubtful(&word, &variant) || is_doubtful(&own, &term);
        if found == 0 || is_doubtful && found < known.often() {
            continue;
        }
        let value = (letters(&variant) == typed_letters, found);
        // Of equally good ones the first in the alphabet, so that the answer is always the same.
        let is_better = |(most, kept): &((bool, u64), String)| {
            value > *most || value == *most && variant < *kept
        };
        if best.as_ref().is_none_or(is_better) {
            best = Some((value, variant));
        }
    }
    if let Some((_, word)) = best {
        return Ok(Some(word));
    }
    if let Some(joined) = joined(known, &word)? {
        return Ok(Some(joined));
    }
    if let Some(halves) = halves(known, &mut stems, &word)? {
        return Ok(Some(halves));
    }
    match stem(&mut stems, &word) {
        Some(term) if word.chars().count() >= TWO_EDITS => known.nearest(&term, 2),
        _ => Ok(None),
    }
}

/// True if a short word with one letter changed may well be another word: "line" for "live".
fn is_doubtful(word: &str, variant: &str) -> bool {
    let changed = word.chars().zip(variant.chars()).filter(|(own, other)| own != other).count();
    let is_short = word.chars().count() <= LONGEST_DOUBTFUL;
    is_short && changed == 1 && variant.len() == word.len()
}

/// The word as it is written with a hyphen: "reevaluation" is "re-evaluation".
fn joined(known: Vocabulary<'_>, word: &str) -> Result<Option<String>> {
    let parts = word.char_indices().map(|(at, _)| word.split_at(at));
    for (left, right) in parts.filter(|(left, right)| left.len().min(right.len()) > 1) {
        let joined = format!("{left}-{right}");
        if known.frequency(&format!("={joined}"))? > 0 {
            return Ok(Some(joined));
        }
    }
    Ok(None)
}

/// The split of a compound into two words that both occur, the rarer of them as often as can be.
fn halves(known: Vocabulary<'_>, stems: &mut Terms, word: &str) -> Result<Option<String>> {
    let mut best: Option<(u64, String)> = None;
    let letters = word.chars().count();
    for (at, _) in word
        .char_indices()
        .skip(SHORTEST_HALF)
        .take((letters + 1).saturating_sub(2 * SHORTEST_HALF))
    {
        let (left, right) = word.split_at(at);
        // `notarize` is no `not arize`; `login` may be `log in`.
        if is_stop_word(left) {
            continue;
        }
        let (Some(one), Some(other)) = (stem(stems, left), stem(stems, right)) else { continue };
        let found = known.frequency(&one)?.min(known.frequency(&other)?);
        if found > best.as_ref().map_or(0, |(most, _)| *most) {
            best = Some((found, format!("{left} {right}")));
        }
    }
    Ok(best.map(|(_, halves)| halves))
}

fn stem(stems: &mut Terms, word: &str) -> Option<String> {
    let mut found = None;
    stems.tokenize(word, |term, _| {
        found.get_or_insert_with(|| term.to_owned());
    });
    found
}

/// The words that are one edit away and begin with the same letter.
fn variants(word: &str) -> Vec<String> {
    let letters: Vec<char> = word.chars().collect();
    let spelled = |letters: &[&[char]]| letters.concat().into_iter().collect::<String>();
    let mut variants = Vec::new();
    for at in 1..=letters.len() {
        let (before, after) = letters.split_at(at);
        for letter in LETTERS.chars() {
            variants.push(spelled(&[before, &[letter], after]));
        }
        let Some((own, rest)) = after.split_first() else { continue };
        variants.push(spelled(&[before, rest]));
        for letter in LETTERS.chars().filter(|letter| letter != own) {
            variants.push(spelled(&[before, &[letter], rest]));
        }
        if let Some((next, rest)) = rest.split_first() {
            variants.push(spelled(&[before, &[*next, *own], rest]));
        }
    }
    variants
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn variants_are_one_edit_away_and_keep_the_first_letter() {
        let variants = variants("brnach");
        for wanted in ["branch", "bnach", "brnaches", "brnech"] {
            let is_one_edit = wanted != "brnaches";
            assert_eq!(variants.iter().any(|variant| variant == wanted), is_one_edit, "{wanted}");
        }
        assert!(variants.iter().all(|variant| variant.starts_with('b')));
    }

    #[test]
    fn a_common_word_with_exchanged_letters_is_known() {
        for (typed, wanted) in [
            ("teh", Some("the")),
            ("wiht", Some("with")),
            ("the", None),
            ("lokc", None),
            ("", None),
        ] {
            assert_eq!(common(typed).as_deref(), wanted, "{typed}");
        }
    }

    proptest! {
        #[test]
        fn any_word_has_variants_of_whole_characters(word in "\\PC{1,12}") {
            for variant in variants(&word) {
                let change = variant.chars().count().abs_diff(word.chars().count());
                prop_assert!(change <= 1);
            }
        }

        #[test]
        fn any_place_of_any_query_may_be_judged(query in "(\\PC|\u{3000}|\u{2003}|\u{a0}){0,60}") {
            Terms::default().tokenize(&query, |_, place| {
                may_be_corrected(&query, &(place.start..place.end));
            });
        }
    }
}
