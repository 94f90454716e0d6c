//! The order of passages and of sessions.
//!
//! Both are max-normalised sums of a few features, with weights of their own; `docs/recall.md` tells
//! how each was measured. Everything is computed from the candidates alone.

use std::collections::{BTreeMap, HashMap};

use thru_store::index::{Candidate, Candidates};

/// The weights of the two orders.
#[derive(Clone, Copy, Debug)]
pub struct Weights {
    /// Sessions: proximity of neighbouring words of the query, beside BM25.
    pub proximity: f32,
    /// Sessions: what a passage counts by who speaks (human, assistant, tool).
    pub session_kind: [f32; 3],
    /// Sessions: what their best passages count, best first.
    pub best: [f32; 3],
    /// Passages: what one counts by who speaks (human, assistant, tool).
    pub passage_kind: [f32; 3],
    /// Both: what a subagent's passage counts, whoever speaks in it. What matters of it the agent that
    /// started it says again in its own words.
    pub subagent: f32,
    /// Passages: how much of the query their neighbourhood holds, beside BM25.
    pub window: f32,
    /// Passages: how well their session does, beside BM25.
    pub session: f32,
}

/// The weights in force. Round numbers from the middle of plateaus.
pub const WEIGHTS: Weights = Weights {
    proximity: 0.3,
    session_kind: [1.5, 1.25, 1.0],
    best: [1.0, 0.5, 0.25],
    passage_kind: [1.6, 1.6, 1.0],
    subagent: 0.7,
    window: 1.0,
    session: 1.0,
};

/// How many passages to either side belong to the neighbourhood. A neighbour counts less the further
/// it is away: 1 − distance / (reach + 1).
const WINDOW_REACH: u32 = 5;

/// A passage's score and what it is made of. All features lie between 0 and 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PassageScore {
    /// Its place in [`Candidates::found`].
    pub candidate: usize,
    /// The score.
    pub score: f32,
    /// BM25, as a share of the best candidate's.
    pub bm25: f32,
    /// The neighbourhood's hold on the query, as a share of the best.
    pub window: f32,
    /// The session's score, as a share of the best.
    pub session: f32,
    /// Nearness of neighbouring words of the query, as a share of the best.
    pub proximity: f32,
    /// What it counts by who speaks.
    pub kind: f32,
}

/// A session's score.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SessionScore {
    /// Its row.
    pub session: i64,
    /// The score, as a share of the best.
    pub score: f32,
}

/// An order of passages and one of sessions.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ranking {
    /// Passages, best first.
    pub passages: Vec<PassageScore>,
    /// Sessions, best first.
    pub sessions: Vec<SessionScore>,
    /// How sure we are that the best passages answer the question: the mean of the best BM25 of all
    /// and of the best of prose, by the root of the sum of the terms' inverse document frequencies. A
    /// grade, not a probability: it shifts with the size of the store.
    pub confidence: f32,
}

/// Orders candidates.
pub fn rank(candidates: &Candidates, weights: &Weights) -> Ranking {
    let found = &candidates.found;
    let bm25: Vec<f32> = found.iter().map(|c| c.contributions.iter().sum()).collect();
    let window = windows(found);
    let best_bm25 = largest(&bm25);
    let best_window = largest(&window);
    let best_proximity = largest(&found.iter().map(|c| c.proximity).collect::<Vec<_>>());

    let mut by_session: BTreeMap<i64, Vec<f32>> = BTreeMap::new();
    for (candidate, bm25) in found.iter().zip(&bm25) {
        let evidence = bm25 / best_bm25 + weights.proximity * candidate.proximity / best_proximity;
        by_session
            .entry(candidate.session)
            .or_default()
            .push(of_kind(&weights.session_kind, weights, candidate) * evidence);
    }
    let raw: BTreeMap<i64, f32> = by_session
        .into_iter()
        .map(|(session, mut scores)| {
            scores.sort_unstable_by(|a, b| b.total_cmp(a));
            let sum = scores.iter().zip(&weights.best).map(|(score, weight)| score * weight).sum();
            (session, sum)
        })
        .collect();
    let best_session = raw.values().copied().fold(f32::MIN_POSITIVE, f32::max);
    let mut sessions: Vec<SessionScore> = raw
        .iter()
        .map(|(&session, score)| SessionScore { session, score: score / best_session })
        .collect();
    // What is equal is ordered by ids, not by rows, which depend on the order of import.
    let first_key = |session| found.iter().filter(|c| c.session == session).map(|c| c.key).min();
    sessions.sort_by(|a, b| {
        b.score.total_cmp(&a.score).then_with(|| first_key(a.session).cmp(&first_key(b.session)))
    });

    let mut passages: Vec<PassageScore> = found
        .iter()
        .enumerate()
        .map(|(number, candidate)| {
            let bm25 = bm25[number] / best_bm25;
            let window = window[number] / best_window;
            let session = raw.get(&candidate.session).map_or(0.0, |score| score / best_session);
            let kind = of_kind(&weights.passage_kind, weights, candidate);
            PassageScore {
                candidate: number,
                score: kind * (bm25 + weights.window * window + weights.session * session),
                bm25,
                window,
                session,
                proximity: candidate.proximity / best_proximity,
                kind,
            }
        })
        .collect();
    passages.sort_by(|a, b| {
        b.score
            .total_cmp(&a.score)
            .then_with(|| found[a.candidate].key.cmp(&found[b.candidate].key))
    });
    let expected = candidates.idf.iter().sum::<f32>().sqrt();
    let best_prose = found
        .iter()
        .zip(&bm25)
        .filter(|(candidate, _)| candidate.kind.is_prose())
        .map(|(_, bm25)| *bm25)
        .fold(0.0, f32::max);
    let confidence = if found.is_empty() || expected <= 0.0 {
        0.0
    } else {
        f32::midpoint(best_bm25, best_prose) / expected
    };
    Ranking { passages, sessions, confidence }
}

/// For each candidate, the sum over terms of the best contribution in its neighbourhood.
fn windows(found: &[Candidate]) -> Vec<f32> {
    let places: HashMap<(i64, u32), usize> = found
        .iter()
        .enumerate()
        .map(|(number, candidate)| ((candidate.source, candidate.ordinal), number))
        .collect();
    found
        .iter()
        .map(|candidate| {
            let mut best = candidate.contributions.clone();
            for distance in 1..=WINDOW_REACH {
                let weight = 1.0 - distance as f32 / (WINDOW_REACH + 1) as f32;
                let neighbours = [
                    candidate.ordinal.checked_sub(distance),
                    candidate.ordinal.checked_add(distance),
                ];
                for ordinal in neighbours.into_iter().flatten() {
                    let Some(&neighbour) = places.get(&(candidate.source, ordinal)) else {
                        continue;
                    };
                    for (best, contribution) in best.iter_mut().zip(&found[neighbour].contributions)
                    {
                        *best = best.max(weight * contribution);
                    }
                }
            }
            best.iter().sum()
        })
        .collect()
}

/// What a passage counts by who speaks.
fn of_kind(by_kind: &[f32; 3], weights: &Weights, candidate: &Candidate) -> f32 {
    if candidate.is_subagent {
        return weights.subagent;
    }
    by_kind[usize::from(candidate.kind.code())]
}

/// The largest value, never zero: it is divided by.
fn largest(values: &[f32]) -> f32 {
    values.iter().copied().fold(f32::MIN_POSITIVE, f32::max)
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
            row: i64::from(ordinal),
            key: u64::from(ordinal),
            session,
            source: session,
            ordinal,
            kind,
            is_subagent: false,
            at: 0,
            contributions: contributions.to_vec(),
            proximity: 0.0,
        }
    }

    fn order(found: Vec<Candidate>) -> Vec<(i64, u32)> {
        let candidates = Candidates { idf: vec![1.0; 2], found };
        rank(&candidates, &WEIGHTS)
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
        assert_eq!(order(found), [(1, 9), (1, 0)]);
    }

    #[test]
    fn a_neighbourhood_that_holds_the_rest_of_the_query_lifts_a_passage() {
        let found = vec![
            candidate(1, 1, PassageKind::Human, &[1.0, 0.0]),
            candidate(1, 2, PassageKind::Human, &[0.0, 1.0]),
            candidate(2, 1, PassageKind::Human, &[1.0, 0.0]),
        ];
        assert_eq!(order(found)[2], (2, 1));
    }

    #[test]
    fn nothing_found_is_no_confidence() {
        assert_eq!(rank(&Candidates::default(), &WEIGHTS), Ranking::default());
    }
}
