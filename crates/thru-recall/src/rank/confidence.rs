//! How sure we are that something answers the question at all: a probability, fitted on questions that were
//! asked where something answers them and where nothing does.

use thru_store::index::{Candidate, Candidates};

use super::evidence::{Evidence, Found, best_similarity};

/// With less confidence than this nothing was found.
pub const CONFIDENT: f32 = 0.35;

/// More words than these are a question and not a name.
const NAMES: usize = 3;

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

/// Whether a passage holds every word of the question: whoever types a name and gets a passage with that
/// name was answered, however common it is.
pub(super) fn holds_all(candidates: &Candidates) -> bool {
    let holds = |one: &Candidate| one.contributions.iter().all(|contribution| *contribution > 0.0);
    (1..=NAMES).contains(&candidates.idf.len()) && candidates.found.iter().any(holds)
}

/// How sure we are, from 0 to 1.
pub(super) fn of(candidates: &Candidates, signals: &Signals, found: &Found) -> f32 {
    if candidates.found.is_empty() {
        return 0.0;
    }
    let calibration = if found.similarity.is_empty() { WORDS_ONLY } else { WITH_MEANING };
    let sum: f32 = signals.iter().zip(calibration.weights).map(|(s, weight)| s * weight).sum();
    1.0 / (1.0 + (-(sum + calibration.constant)).exp())
}
