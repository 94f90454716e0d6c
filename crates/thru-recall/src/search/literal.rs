//! Questions that quote what a passage holds: an error message, a line of code.

use thru_store::index::tokenizer::Terms;
use thru_store::index::{Candidates, QueryTerms};

use crate::rank::{PassageScore, Ranking};

/// The least number of pairs of words that make a quotation.
const PAIRS: usize = 3;
/// The share of the nearness of the question's words to each other that a passage with the quotation has.
const QUOTED: f32 = 0.98;

/// The passage that holds the words of a question as they stand in it: of the session of the best, the last one.
pub(super) fn quoted(
    query: &str,
    ranking: &Ranking,
    candidates: &Candidates,
    terms: &QueryTerms,
) -> Option<PassageScore> {
    let own = nearness(query, candidates, terms).filter(|_| terms.pairs.len() >= PAIRS)?;
    let found = |score: &PassageScore| &candidates.found[score.candidate];
    let is_quote = |score: &&PassageScore| {
        !found(score).is_echo && found(score).proximity >= own * QUOTED
    };
    let best = ranking.passages.iter().find(is_quote)?;
    let session = found(best).session;
    let quotes = ranking.passages.iter().filter(is_quote);
    quotes.filter(|score| found(score).session == session).max_by_key(|score| found(score).at).copied()
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
    use thru_core::PassageKind;
    use thru_store::index::Candidate;

    use super::*;
    use crate::analyse;
    use crate::rank::{Found, rank};

    #[test]
    fn a_passage_with_the_words_as_they_stand_is_a_quotation() {
        let quote = |query: &str, share: f32| {
            let terms = analyse(query);
            let idf = vec![2.0; terms.terms.len()];
            let mut candidates = Candidates { found: Vec::new(), idf, documents: 100 };
            let own = nearness(query, &candidates, &terms).unwrap_or(1.0);
            let passage = |ordinal: u32, share: f32| Candidate {
                row: i64::from(ordinal),
                key: u64::from(ordinal),
                session: 1,
                source: 1,
                ordinal,
                turn: 1,
                length: 20,
                kind: PassageKind::Tool,
                is_subagent: false,
                is_echo: false,
                at: i64::from(ordinal),
                text_key: None,
                contributions: vec![1.0; terms.terms.len()],
                proximity: own * share,
            };
            candidates.found = vec![passage(1, share), passage(5, share), passage(9, 0.5)];
            let ranking = rank(&candidates, &Found::default());
            let found = quoted(query, &ranking, &candidates, &terms);
            found.map(|score| candidates.found[score.candidate].ordinal)
        };
        let error = "error: the lock of store is not open";
        assert_eq!(quote(error, 1.0), Some(5), "the last one");
        assert_eq!(quote(error, 0.9), None);
        assert_eq!(quote("lock of store", 1.0), None, "too few words");
    }
}
