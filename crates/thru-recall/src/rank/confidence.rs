//! How sure we are that something answers the question at all.

use thru_store::index::Candidates;

use super::evidence::{Evidence, Found, best_similarity};

/// With less confidence than this nothing was found.
pub const CONFIDENT: f32 = 0.0;

/// How sure we are, from 0 to 1.
pub(super) fn of(candidates: &Candidates, evidence: &Evidence, found: &Found) -> f32 {
    let expected = candidates.idf.iter().sum::<f32>().sqrt();
    if candidates.found.is_empty() || expected <= 0.0 {
        return 0.0;
    }
    let best_prose = candidates
        .found
        .iter()
        .zip(&evidence.words)
        .filter(|(candidate, _)| candidate.kind.is_prose())
        .map(|(_, words)| *words * evidence.best_words)
        .fold(0.0, f32::max);
    let words = f32::midpoint(evidence.best_words, best_prose) / expected;
    let _ = best_similarity(found);
    words
}
