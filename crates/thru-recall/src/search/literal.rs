//! Questions that quote what a passage holds: an error message, a line of code.

use thru_store::index::tokenizer::Terms;
use thru_store::index::{Candidates, QueryTerms};
use thru_store::{Result, Store};

use crate::rank::{PassageScore, Ranking};

/// The least number of words that make a quotation, and of pairs of those that are searched for.
const WORDS: usize = 4;
const PAIRS: usize = 2;
/// The share of the nearness of the question's words to each other that a passage with the quotation has at least.
const QUOTED: f32 = 0.98;
/// Passages as near that are read.
const READ: usize = 12;

/// The passage that holds the words of a question as they stand in it: of the session of the best, the last one.
///
/// # Errors
/// Fails if the store cannot be read.
pub(super) fn quoted(
    store: &Store,
    query: &str,
    ranking: &Ranking,
    candidates: &Candidates,
    terms: &QueryTerms,
) -> Result<Option<PassageScore>> {
    let wanted = words(query);
    let is_long = terms.pairs.len() >= PAIRS && wanted.split_whitespace().count() >= WORDS;
    let own = nearness(query, candidates, terms).filter(|_| is_long);
    let Some(own) = own else { return Ok(None) };
    let found = |score: &PassageScore| &candidates.found[score.candidate];
    let may_quote =
        |score: &&PassageScore| !found(score).is_echo && found(score).proximity >= own * QUOTED;
    let mut last: Option<PassageScore> = None;
    for score in ranking.passages.iter().filter(may_quote).take(READ) {
        let one = found(score);
        let is_later = last.as_ref().map(found).is_none_or(|known| {
            known.session == one.session && (known.at, known.ordinal) < (one.at, one.ordinal)
        });
        let Some(passage) = store.passages_of_rows(&[one.row])?.pop().filter(|_| is_later) else {
            continue;
        };
        if words(&store.text_of(&passage)?).contains(&wanted) {
            last = Some(*score);
        }
    }
    Ok(last)
}

/// The words of a text in lower case, each between two blanks.
fn words(text: &str) -> String {
    let mut words = " ".to_owned();
    for word in text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
        words.push_str(&word.to_lowercase());
        words.push(' ');
    }
    words
}

/// The nearness of the words of a question in it, as it is counted in passages; `None` where it has a word that is unknown.
fn nearness(query: &str, candidates: &Candidates, terms: &QueryTerms) -> Option<f32> {
    let mut places: Vec<Option<usize>> = vec![None; terms.terms.len()];
    Terms::default().tokenize(query, |term, place| {
        if let Some(at) = terms.terms.iter().position(|own| own == term) {
            places[at].get_or_insert(place.position);
        }
    });
    let idf = |at: usize| candidates.idf.get(at).copied().filter(|idf| *idf > 0.0);
    let pair = |(a, b): (usize, usize)| {
        let distance = places[a]?.abs_diff(places[b]?).max(1);
        Some(f32::midpoint(idf(a)?, idf(b)?) / (distance as f32).sqrt())
    };
    terms.pairs.iter().copied().map(pair).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analyse;

    #[test]
    fn a_quotation_has_the_words_as_they_stand() {
        let text = words("> [TypeError: the lock\n  isn't open]");
        assert!(text.contains(&words("TypeError: the lock isn't open")));
        assert!(!text.contains(&words("the lock is open")));
    }

    #[test]
    fn words_are_the_nearer_the_fewer_stand_between_them() {
        let near = |query: &str| {
            let terms = analyse(query);
            let idf = vec![2.0; terms.terms.len()];
            let candidates = Candidates { found: Vec::new(), idf, documents: 100 };
            nearness(query, &candidates, &terms).unwrap()
        };
        assert!(near("open store lock") > near("open the store of the lock"));
        let unknown = Candidates { idf: vec![2.0, 0.0], ..Candidates::default() };
        assert_eq!(nearness("open lock", &unknown, &analyse("open lock")), None);
    }
}
