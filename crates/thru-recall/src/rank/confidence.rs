//! How sure we are that something answers the question at all: a probability, fitted on questions that were
//! asked where something answers them and where nothing does.

use thru_store::index::{Candidate, Candidates};

use super::evidence::{Evidence, Found, best_similarity};

/// With less confidence than this nothing was found.
pub const CONFIDENT: f32 = 0.35;

/// More words than these are a question and not a name.
const NAMES: usize = 3;
/// Documents of a store in which frequencies say little: some days of work.
const SMALL_STORE: u64 = 1_000;

/// How many signals there are.
const COUNT: usize = 2;

/// What confidence is made of, in the order of [`SIGNALS`].
pub type Signals = [f32; COUNT];

/// What the signals are called: how well the best passages (of all, and of what was said) hold the words of the
/// question, and the cosine of the text that means most nearly the same.
pub const SIGNALS: [&str; COUNT] = ["words", "meaning"];

/// A sum of signals with its constant, which becomes a probability.
struct Calibration {
    /// In the order of [`SIGNALS`].
    weights: Signals,
    /// What is added to the sum.
    constant: f32,
}

/// Where meaning is known.
const WITH_MEANING: Calibration = Calibration { weights: [8.0, 17.5], constant: -17.3 };
/// Where only words are.
const WORDS_ONLY: Calibration = Calibration { weights: [10.0, 0.0], constant: -12.0 };

/// The signals of a question.
pub(super) fn signals(candidates: &Candidates, evidence: &Evidence, found: &Found) -> Signals {
    let whole: f32 = candidates.idf.iter().sum();
    // As large as an idf can be here: then the value does not grow with the store.
    let rarest = ((2 + candidates.documents) as f32).ln();
    let expected = (whole * rarest).sqrt();
    let prose = candidates
        .found
        .iter()
        .zip(&evidence.words)
        .filter(|(candidate, _)| candidate.kind.is_prose())
        .map(|(_, words)| *words * evidence.best_words)
        .fold(0.0, f32::max);
    let share = |value: f32, of: f32| if of > 0.0 { value / of } else { 0.0 };
    [share(f32::midpoint(evidence.best_words, prose), expected), best_similarity(found)]
}

/// Whether a passage holds so much of the question that it counts as an answer whatever the confidence: every
/// word of a short one (whoever types a name and gets a passage with that name was answered, however common
/// it is); in a small store half of the words, because nobody can tell there which words are rare.
pub(super) fn holds_enough(candidates: &Candidates) -> bool {
    let words = candidates.idf.len();
    let wanted = match (candidates.documents < SMALL_STORE, words <= NAMES) {
        (true, _) => words.div_ceil(2),
        (false, true) => words,
        (false, false) => return false,
    };
    let held = |one: &Candidate| one.contributions.iter().filter(|part| **part > 0.0).count();
    wanted > 0 && candidates.found.iter().any(|one| held(one) >= wanted)
}

/// How sure we are, from 0 to 1.
pub(super) fn of(candidates: &Candidates, signals: &Signals, found: &Found) -> f32 {
    if candidates.found.is_empty() {
        return 0.0;
    }
    let by = |calibration: &Calibration| {
        let sum: f32 = signals.iter().zip(calibration.weights).map(|(s, weight)| s * weight).sum();
        1.0 / (1.0 + (-(sum + calibration.constant)).exp())
    };
    // Where most of what was said has no vector yet, that nothing is near in meaning says nothing.
    if has_meaning(candidates, found) { by(&WITH_MEANING) } else { by(&WORDS_ONLY) }
}

/// Whether enough of what was said has a vector for its likeness to be telling.
fn has_meaning(candidates: &Candidates, found: &Found) -> bool {
    let said =
        candidates.found.iter().zip(&found.similarity).filter(|(one, _)| one.kind.is_prose());
    let (mut known, mut all) = (0, 0);
    for (_, similarity) in said {
        all += 1;
        known += usize::from(similarity.is_some());
    }
    all > 0 && known * 10 >= all * 9
}

#[cfg(test)]
mod tests {
    use thru_core::PassageKind;

    use super::*;

    #[test]
    fn vectors_that_are_still_to_be_made_take_no_confidence() {
        let candidate = Candidate {
            row: 1,
            key: 1,
            session: 1,
            source: 1,
            ordinal: 1,
            turn: 1,
            length: 10,
            kind: PassageKind::Assistant,
            is_subagent: false,
            is_echo: false,
            at: 0,
            text_key: Some(1),
            contributions: vec![9.0; 3],
            proximity: 0.0,
        };
        let candidates = Candidates { found: vec![candidate], idf: vec![5.0; 3], documents: 1_000 };
        let confidence = |similarity: Vec<Option<f32>>| {
            let found = Found { similarity, ..Found::default() };
            let evidence = Evidence::of(&candidates, &found);
            of(&candidates, &signals(&candidates, &evidence, &found), &found)
        };
        assert_eq!(confidence(vec![None]), confidence(vec![]));
        assert!(confidence(vec![None]) > CONFIDENT);
        assert!(confidence(vec![Some(0.05)]) < confidence(vec![Some(0.7)]));
    }
}
