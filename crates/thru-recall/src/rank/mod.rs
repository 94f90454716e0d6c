//! The order of passages and of sessions.
//!
//! The candidates' data becomes [`Evidence`], evidence becomes named features, and each of the two orders
//! is a sum of its own features with its own weights. `docs/recall.md` has the value of each feature and how
//! the weights were fitted. Everything is computed from the candidates alone.

mod confidence;
mod evidence;
mod passages;
mod sessions;
mod weights;

use std::collections::HashMap;

use thru_store::index::{Candidate, Candidates};

pub use confidence::CONFIDENT;
use confidence::{confidence, holds_enough, leads};
use evidence::Evidence;
pub use evidence::{Found, SessionMeaning};
pub(crate) use evidence::{Own, related};
use passages::{PASSAGE_FEATURES, PassageFeatures};
use sessions::{SESSION_FEATURES, SessionFeatures};
use weights::WEIGHTS;

/// The score of a passage, with its features.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PassageScore {
    /// Its index in [`Candidates::found`].
    pub candidate: usize,
    /// The weighted sum of its features.
    pub score: f32,
    /// Its features, in the order of [`PASSAGE_FEATURES`].
    features: PassageFeatures,
}

/// The score of a session, with its features.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SessionScore {
    /// Its row.
    pub session: i64,
    /// The weighted sum of its features.
    pub score: f32,
    /// Its features, in the order of [`SESSION_FEATURES`].
    features: SessionFeatures,
}

/// An order of passages and one of sessions.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ranking {
    /// Passages, best first.
    pub passages: Vec<PassageScore>,
    /// Sessions, best first.
    pub sessions: Vec<SessionScore>,
    /// Confidence that the best passages answer the question, from 0 to 1: see [`CONFIDENT`].
    pub confidence: f32,
    /// True if a passage holds so much of the question, or a session leads so far, that it counts as an answer although the
    /// confidence is low.
    pub is_enough: bool,
}

/// Orders candidates.
pub(crate) fn rank(candidates: &Candidates, found: &Found) -> Ranking {
    let evidence = Evidence::of(candidates, found);
    let all = &candidates.found;
    // Ties are ordered by ids, not by rows, which depend on the order of import.
    let mut sessions = sessions::features(all, &evidence, found)
        .into_iter()
        .map(|(session, first_key, features)| {
            let score = weighted(&features, &WEIGHTS.sessions);
            (SessionScore { session, score, features }, first_key)
        })
        .collect::<Vec<_>>();
    sessions.sort_by(|a, b| b.0.score.total_cmp(&a.0.score).then(a.1.cmp(&b.1)));
    let best = sessions.first().map(|(score, _)| score.session);
    let most = largest(sessions.iter().map(|(score, _)| score.score));
    let shares: HashMap<i64, f32> =
        sessions.iter().map(|(score, _)| (score.session, score.score.max(0.0) / most)).collect();
    let mut passages: Vec<PassageScore> = passages::features(all, &evidence, &shares)
        .into_iter()
        .enumerate()
        .map(|(candidate, features)| {
            let score = weighted(&features, &WEIGHTS.passages);
            PassageScore { candidate, score, features }
        })
        .collect();
    put_behind(all, &mut passages);
    // A tool's output beside an answer is not an answer, unless a command was asked for.
    passages.retain(|score| {
        let one = &all[score.candidate];
        !score.is_beside() || one.kind.is_prose() || found.commands.binary_search(&one.row).is_ok()
    });
    passages.sort_by(|a, b| {
        b.score.total_cmp(&a.score).then_with(|| all[a.candidate].key.cmp(&all[b.candidate].key))
    });
    let sessions: Vec<SessionScore> = sessions.into_iter().map(|(score, _)| score).collect();
    let confidence = confidence(candidates, &evidence, found, best);
    Ranking {
        is_enough: holds_enough(candidates, found)
            || leads(candidates, found, &sessions, &passages, confidence),
        confidence,
        passages,
        sessions,
    }
}

/// The maximum distance at which a passage counts as beside another.
const BESIDE: u32 = 2;
/// The difference in score between the two.
const BEHIND: f32 = 0.01;

/// Ranks a passage that is only beside an answer below that answer, however much its position in the
/// session and its speaker add. `scores` are in the order of the candidates.
fn put_behind(all: &[Candidate], scores: &mut [PassageScore]) {
    let answers: HashMap<(i64, u32), f32> = scores
        .iter()
        .filter(|score| !score.is_beside())
        .map(|score| (&all[score.candidate], score.score))
        .map(|(candidate, score)| ((candidate.source, candidate.ordinal), score))
        .collect();
    for score in scores.iter_mut().filter(|score| score.is_beside()) {
        let candidate = &all[score.candidate];
        let around = candidate.ordinal.saturating_sub(BESIDE)..=candidate.ordinal + BESIDE;
        let best = around.filter_map(|ordinal| answers.get(&(candidate.source, ordinal)));
        let best = best.copied().fold(f32::MIN, f32::max);
        score.score = score.score.min(best - BEHIND);
    }
}

/// A feature with its share of a score.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Part {
    /// The name of the feature.
    pub name: &'static str,
    /// The value of the feature, from 0 to 1 (counts may be larger).
    pub value: f32,
    /// The weight.
    pub weight: f32,
}

impl Part {
    /// Returns its contribution to the score.
    pub fn contribution(&self) -> f32 {
        self.value * self.weight
    }
}

impl PassageScore {
    /// Returns true if it is only beside a hit: it shares neither words nor meaning with the question.
    pub fn is_beside(&self) -> bool {
        self.words() == 0.0 && self.meaning() == 0.0
    }

    /// Returns the words of the question that it holds, as a share of the most.
    pub(crate) const fn words(&self) -> f32 {
        self.features[passages::WORDS]
    }

    /// Returns how near its meaning is to the question, as a share of the nearest.
    pub(crate) const fn meaning(&self) -> f32 {
        self.features[passages::MEANING]
    }

    /// Returns how much its turn has to do with the question, as a share of the most.
    pub(crate) const fn turn(&self) -> f32 {
        self.features[passages::TURN]
    }

    /// Returns true if it is the last that the agent said in its turn.
    pub(crate) fn is_last_words(&self) -> bool {
        self.features[passages::LAST_WORDS] > 0.0
    }

    /// Returns the parts of the score, the largest contributions first, without those that are zero.
    pub fn parts(&self) -> Vec<Part> {
        parts(&PASSAGE_FEATURES, &self.features, &WEIGHTS.passages)
    }
}

impl SessionScore {
    /// Returns how near the session as a whole is to the question, as a share of the nearest; 0 where meaning was not compared.
    pub(crate) const fn nearness(&self) -> f32 {
        self.features[sessions::CENTROID]
    }

    /// See [`PassageScore::parts`].
    pub fn parts(&self) -> Vec<Part> {
        parts(&SESSION_FEATURES, &self.features, &WEIGHTS.sessions)
    }
}

fn parts(names: &[&'static str], features: &[f32], weights: &[f32]) -> Vec<Part> {
    let all = names.iter().zip(features).zip(weights);
    let mut parts: Vec<Part> = all
        .map(|((name, value), weight)| Part { name, value: *value, weight: *weight })
        .filter(|part| part.contribution() != 0.0)
        .collect();
    parts.sort_by(|a, b| b.contribution().abs().total_cmp(&a.contribution().abs()));
    parts
}

fn weighted(features: &[f32], weights: &[f32]) -> f32 {
    features.iter().zip(weights).map(|(feature, weight)| feature * weight).sum()
}

/// The largest value, never zero, because it is a divisor.
pub(crate) fn largest(values: impl IntoIterator<Item = f32>) -> f32 {
    values.into_iter().fold(f32::MIN_POSITIVE, f32::max)
}

/// Divides by the largest value, so that the best is 1.
fn as_shares(values: &mut [f32]) {
    let best = largest(values.iter().copied());
    values.iter_mut().for_each(|value| *value /= best);
}

#[cfg(test)]
mod tests {
    use thru_core::PassageKind;

    use super::*;

    fn candidate(
        session: i64,
        ordinal: u32,
        kind: PassageKind,
        contributions: &[f32],
    ) -> Candidate {
        Candidate {
            row: session * 100 + i64::from(ordinal),
            key: u64::from(ordinal),
            session,
            source: session,
            ordinal,
            turn: ordinal / 4 + 1,
            length: 50,
            kind,
            is_subagent: false,
            is_echo: false,
            at: 0,
            text_key: None,
            contributions: contributions.to_vec(),
            proximity: 0.0,
        }
    }

    fn order(found: Vec<Candidate>, similarity: Vec<Option<f32>>) -> Vec<(i64, u32)> {
        let candidates = Candidates { idf: vec![1.0; 2], found, documents: 3 };
        let found = Found { similarity, ..Found::default() };
        rank(&candidates, &found)
            .passages
            .iter()
            .map(|score| &candidates.found[score.candidate])
            .map(|candidate| (candidate.session, candidate.ordinal))
            .collect()
    }

    #[test]
    fn what_is_said_stands_above_what_a_tool_printed() {
        let found = vec![
            candidate(1, 0, PassageKind::Tool, &[2.0, 0.0]),
            candidate(1, 9, PassageKind::Assistant, &[1.8, 0.0]),
        ];
        assert_eq!(order(found, vec![]), [(1, 9), (1, 0)]);
    }

    #[test]
    fn a_neighbourhood_that_holds_the_rest_of_the_query_lifts_a_passage() {
        let found = vec![
            candidate(1, 1, PassageKind::Assistant, &[1.0, 0.0]),
            candidate(1, 2, PassageKind::Assistant, &[0.0, 1.0]),
            candidate(2, 1, PassageKind::Assistant, &[1.0, 0.0]),
        ];
        assert_eq!(order(found, vec![])[2], (2, 1));
    }

    #[test]
    fn what_means_the_same_is_found_without_a_word_of_the_question() {
        let found = vec![
            candidate(1, 1, PassageKind::Assistant, &[0.1, 0.0]),
            candidate(2, 1, PassageKind::Assistant, &[0.0, 0.0]),
            candidate(3, 1, PassageKind::Assistant, &[1.0, 0.0]),
        ];
        assert_eq!(order(found.clone(), vec![])[..2], [(3, 1), (1, 1)]);
        let by_both = order(found, vec![Some(0.2), Some(0.8), Some(0.75)]);
        assert_eq!(by_both, [(3, 1), (2, 1), (1, 1)]);
    }

    #[test]
    fn what_is_of_the_time_that_is_asked_about_comes_first() {
        let mut then = candidate(2, 1, PassageKind::Assistant, &[1.5, 1.5]);
        then.at = 5;
        let found = vec![candidate(1, 1, PassageKind::Assistant, &[2.0, 2.0]), then];
        let candidates = Candidates { idf: vec![1.0; 2], found, documents: 3 };
        let first = |when| {
            let ranking = rank(&candidates, &Found { when, ..Found::default() });
            candidates.found[ranking.passages[0].candidate].session
        };
        assert_eq!(first(Some((5, 6))), 2);
        assert_eq!(first(None), 1);
    }

    #[test]
    fn what_stands_beside_an_answer_comes_behind_it() {
        let found = vec![
            candidate(1, 1, PassageKind::Human, &[0.0, 0.0]),
            candidate(1, 2, PassageKind::Tool, &[2.0, 1.0]),
            candidate(2, 7, PassageKind::Tool, &[0.2, 0.0]),
        ];
        assert_eq!(order(found, vec![]), [(1, 2), (1, 1), (2, 7)]);
    }

    #[test]
    fn what_repeats_memory_stands_below_what_it_repeats() {
        let mut echo = candidate(2, 1, PassageKind::Tool, &[2.0, 2.0]);
        echo.is_echo = true;
        let found = vec![candidate(1, 1, PassageKind::Tool, &[1.0, 0.0]), echo];
        assert_eq!(order(found, vec![]), [(1, 1), (2, 1)]);
    }

    #[test]
    fn a_question_to_memory_stands_below_what_it_asks_about() {
        let mut asked = candidate(2, 1, PassageKind::Human, &[2.0, 2.0]);
        let mut retold = candidate(2, 3, PassageKind::Assistant, &[2.0, 2.0]);
        (asked.is_echo, retold.is_echo) = (true, true);
        let found = vec![candidate(1, 1, PassageKind::Tool, &[1.0, 0.5]), asked, retold];
        assert_eq!(order(found.clone(), vec![Some(0.5), Some(0.9), Some(0.9)])[0], (1, 1));
        assert_eq!(order(found, vec![])[0], (1, 1));
    }

    #[test]
    fn nothing_found_is_no_confidence() {
        let nothing = rank(&Candidates::default(), &Found::default());
        assert_eq!(nothing, Ranking::default());
    }
}
