//! The evidence for each candidate, in shares of the best: the words of the question in it and around it,
//! the similarity of its meaning, and the evidence of its turn and its session.

use std::collections::HashMap;

use thru_store::index::{Candidate, Candidates};

use super::as_shares;

/// Passages to either side that belong to the neighbourhood. A neighbour counts less the further away it
/// is: 1 − distance / (reach + 1).
const WINDOW_REACH: u32 = 5;

/// Cosines below this mean nothing: all texts in one language are that near.
const UNRELATED: f32 = 0.2;

/// The meaningful part of a cosine.
pub(crate) fn related(similarity: Option<f32>) -> f32 {
    (similarity.unwrap_or(0.0) - UNRELATED).max(0.0)
}

/// The weight of a passage by speaker: the person, the agent, a tool.
const BY_SPEAKER: [f32; 3] = [1.5, 1.15, 1.0];
/// … and of a subagent's passage, whatever the speaker. The agent that started it repeats the important
/// parts in its own words.
const OF_SUBAGENT: f32 = 0.75;
/// The weight of the nearness of neighbouring words, relative to the words.
const PROXIMITY: f32 = 0.4;
/// The weights of the best three passages of a session, best first.
const BEST: [f32; 3] = [1.0, 0.5, 0.25];

/// Evidence about the candidates beside their words.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Found {
    /// Rows of tool calls that may be the command that is asked for, sorted.
    pub commands: Vec<i64>,
    /// For each candidate the cosine of its text's vector and the question's; `None` if it has no vector.
    /// Empty if none has one.
    pub similarity: Vec<Option<f32>>,
    /// For each candidate, true if it touched a file that the question names. Empty if it names none.
    pub named_file: Vec<bool>,
    /// The terms of the question that are names.
    pub names: Vec<usize>,
    /// The number of words of the question as typed.
    pub typed: usize,
    /// The time that the question is about, from and until, in milliseconds since 1970.
    pub when: Option<(i64, i64)>,
    /// By session, for the best of them: what their memories have to do with the question.
    pub sessions: HashMap<i64, SessionMeaning>,
    /// True if the question is not in English, the language that the model knows.
    pub is_foreign: bool,
    /// The mean cosine of the nearest titles of work; `None` if none is near.
    pub titles: Option<f32>,
}

/// The cosines of the question and the memories of a session.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SessionMeaning {
    /// Their mean: the question beside the centroid of all that the session did.
    pub centroid: f32,
    /// That of the session's summary.
    pub summary: f32,
    /// The largest.
    pub nearest: f32,
    /// That of the nearest title of its commits and pull requests.
    pub title: f32,
}

/// The evidence for each candidate. All lists are in the order of the candidates; all values are shares of
/// the largest, from 0 to 1.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Evidence {
    /// BM25.
    pub words: Vec<f32>,
    /// BM25 of the passage with its neighbours, each word counted in its best passage.
    pub window: Vec<f32>,
    /// Nearness of neighbouring words of the question.
    pub proximity: Vec<f32>,
    /// Similarity of meaning.
    pub meaning: Vec<f32>,
    /// The largest of `meaning` and of `words` in the passage's turn.
    pub turn_meaning: Vec<f32>,
    /// See `turn_meaning`.
    pub turn_words: Vec<f32>,
    /// Words and meaning together, weighted by speaker. Not a share.
    pub both: Vec<f32>,
    /// The largest of `both` in the turn.
    pub turn: Vec<f32>,
    /// The weighted sum of the best three of `both` in the session.
    pub session: Vec<f32>,
    /// 1 if it touched a file that the question names.
    pub named_file: Vec<f32>,
    /// 1 if it is from the time that the question is about.
    pub when: Vec<f32>,
    /// The largest BM25, of which `words` are shares.
    pub best_words: f32,
}

/// The weight of the words and the meaning of a passage that only repeats memories: so low that it ranks below whatever it
/// repeats, and is found only if nothing else is.
pub(super) fn of_echo(candidate: &Candidate) -> f32 {
    if candidate.is_echo { 0.1 } else { 1.0 }
}

/// The weight of a passage and its words by speaker.
pub(super) fn by_speaker(candidate: &Candidate) -> f32 {
    match candidate.is_subagent {
        true => OF_SUBAGENT,
        false => BY_SPEAKER[usize::from(candidate.kind.code()).min(2)],
    }
}

/// The weight of meaning by speaker: only subagents differ.
pub(super) fn by_thread(candidate: &Candidate) -> f32 {
    if candidate.is_subagent { OF_SUBAGENT } else { 1.0 }
}

/// Words and their nearness, weighted by speaker.
pub(super) fn spoken_words(candidate: &Candidate, words: f32, proximity: f32) -> f32 {
    by_speaker(candidate) * (words + PROXIMITY * proximity)
}

/// Words and meaning of each candidate, which choose the neighbours to look up before the rest is computed.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Own {
    words: Vec<f32>,
    proximity: Vec<f32>,
    meaning: Vec<f32>,
    /// See [`Evidence::both`].
    pub(crate) both: Vec<f32>,
    best_words: f32,
}

impl Own {
    /// Computes the evidence of each candidate alone.
    pub(crate) fn of(all: &[Candidate], similarity: &[Option<f32>]) -> Self {
        let mut words: Vec<f32> = all.iter().map(|c| of_echo(c) * c.held()).collect();
        let best_words = words.iter().copied().fold(0.0, f32::max);
        as_shares(&mut words);
        let mut proximity: Vec<f32> = all.iter().map(|c| of_echo(c) * c.proximity).collect();
        as_shares(&mut proximity);
        let mut meaning = vec![0.0; all.len()];
        for ((meaning, similarity), candidate) in meaning.iter_mut().zip(similarity).zip(all) {
            *meaning = of_echo(candidate) * (similarity.unwrap_or(0.0) - UNRELATED).max(0.0);
        }
        as_shares(&mut meaning);
        let both = (0..all.len())
            .map(|at| {
                spoken_words(&all[at], words[at], proximity[at]) + by_thread(&all[at]) * meaning[at]
            })
            .collect();
        Self { words, proximity, meaning, both, best_words }
    }
}

impl Evidence {
    /// Computes all evidence.
    pub(super) fn of(candidates: &Candidates, found: &Found) -> Self {
        let all = &candidates.found;
        let Own { words, proximity, meaning, both, best_words } = Own::of(all, &found.similarity);
        let mut window = windows(all);
        as_shares(&mut window);
        let turn =
            |candidate: &Candidate| (candidate.source, candidate.turn, candidate.is_subagent);
        let mut of_turn = best_of_group(all, &both, turn);
        as_shares(&mut of_turn);
        let mut session = best_three(all, &both);
        as_shares(&mut session);
        let flags = |flags: &[bool]| {
            let mut values = vec![0.0; all.len()];
            values.iter_mut().zip(flags).for_each(|(value, flag)| *value = f32::from(*flag));
            values
        };
        let is_then: Vec<bool> = found.when.map_or_else(Vec::new, |(from, until)| {
            all.iter().map(|candidate| (from..until).contains(&candidate.at)).collect()
        });
        Self {
            turn_meaning: best_of_group(all, &meaning, turn),
            turn_words: best_of_group(all, &words, turn),
            named_file: flags(&found.named_file),
            when: flags(&is_then),
            turn: of_turn,
            words,
            window,
            proximity,
            meaning,
            both,
            session,
            best_words,
        }
    }
}

/// For each candidate, the largest value in its group.
fn best_of_group<K: std::hash::Hash + Eq>(
    all: &[Candidate],
    values: &[f32],
    group: impl Fn(&Candidate) -> K,
) -> Vec<f32> {
    let mut best: HashMap<K, f32> = HashMap::new();
    for (candidate, value) in all.iter().zip(values) {
        let best = best.entry(group(candidate)).or_insert(*value);
        *best = best.max(*value);
    }
    all.iter().map(|candidate| best.get(&group(candidate)).copied().unwrap_or(0.0)).collect()
}

/// For each candidate, the weighted sum of the best three values in its session.
fn best_three(all: &[Candidate], values: &[f32]) -> Vec<f32> {
    let mut best: HashMap<i64, [f32; 3]> = HashMap::new();
    for (candidate, value) in all.iter().zip(values) {
        insert(best.entry(candidate.session).or_default(), *value);
    }
    let sum = |three: &[f32; 3]| three.iter().zip(BEST).map(|(value, weight)| value * weight).sum();
    all.iter().map(|candidate| best.get(&candidate.session).map_or(0.0, sum)).collect()
}

/// Inserts a value into the largest three.
pub(super) fn insert(three: &mut [f32; 3], value: f32) {
    let place = three.iter().position(|known| value > *known);
    if let Some(place) = place {
        three[place..].rotate_right(1);
        three[place] = value;
    }
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
            let mut best: Vec<f32> =
                candidate.contributions.iter().map(|one| of_echo(candidate) * one).collect();
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
                    let neighbour = &found[neighbour];
                    let weight = weight * of_echo(neighbour);
                    for (best, contribution) in best.iter_mut().zip(&neighbour.contributions) {
                        *best = best.max(weight * contribution);
                    }
                }
            }
            best.iter().sum()
        })
        .collect()
}

/// The largest cosine, or 0 without any.
pub(super) fn best_similarity(found: &Found) -> f32 {
    found.similarity.iter().flatten().copied().fold(0.0, f32::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_three_are_kept_in_order() {
        let mut three = [0.0; 3];
        for value in [0.2, 0.5, 0.1, 0.5, 0.3] {
            insert(&mut three, value);
        }
        assert_eq!(three, [0.5, 0.5, 0.3]);
    }
}
