//! What is known of each candidate, in shares of the best: the words of the question in it and around it,
//! how near its meaning is, and what its turn and its session hold.

use std::collections::HashMap;

use thru_store::index::{Candidate, Candidates};

use super::as_shares;

/// How many passages to either side belong to the neighbourhood. A neighbour counts less the further
/// it is away: 1 − distance / (reach + 1).
const WINDOW_REACH: u32 = 5;

/// Cosines below this mean nothing: so near is everything in one language.
const UNRELATED: f32 = 0.2;

/// How much of a cosine means anything.
pub(crate) fn related(similarity: Option<f32>) -> f32 {
    (similarity.unwrap_or(0.0) - UNRELATED).max(0.0)
}

/// What a passage's evidence counts by who speaks: the person, the agent, a tool.
const BY_SPEAKER: [f32; 3] = [1.5, 1.15, 1.0];
/// … and what a subagent's counts, whoever speaks in it. What matters of it the agent that started it says
/// again in its own words.
const OF_SUBAGENT: f32 = 0.75;
/// What nearness of neighbouring words counts beside the words themselves.
const PROXIMITY: f32 = 0.4;
/// What the best three passages of a session count, best first.
const BEST: [f32; 3] = [1.0, 0.5, 0.25];

/// What was found out about the candidates besides their words.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Found {
    /// For each candidate the cosine of its text's vector and the question's; none where it has no vector. Empty
    /// where nothing has one.
    pub similarity: Vec<Option<f32>>,
    /// For each candidate whether it touched a file that the question names. Empty where none does.
    pub named_file: Vec<bool>,
    /// The time that the question speaks of, in milliseconds since 1970: from, until.
    pub when: Option<(i64, i64)>,
}

/// What is known of each candidate. All lists are in the order of the candidates; all values are shares of
/// the largest, so that they lie between 0 and 1.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Evidence {
    /// BM25.
    pub words: Vec<f32>,
    /// BM25 of the passage with its neighbours, each word counted where it is best.
    pub window: Vec<f32>,
    /// Nearness of neighbouring words of the question.
    pub proximity: Vec<f32>,
    /// Likeness of meaning.
    pub meaning: Vec<f32>,
    /// The largest of `meaning` and of `words` in the passage's turn.
    pub turn_meaning: Vec<f32>,
    /// See `turn_meaning`.
    pub turn_words: Vec<f32>,
    /// Words and meaning together, by who speaks. Not a share.
    pub both: Vec<f32>,
    /// The largest of `both` in the turn.
    pub turn: Vec<f32>,
    /// The best three of `both` in the session.
    pub session: Vec<f32>,
    /// Whether it touched a file that the question names.
    pub named_file: Vec<f32>,
    /// Whether it is of the time that the question speaks of.
    pub when: Vec<f32>,
    /// The largest BM25, which `words` are shares of.
    pub best_words: f32,
}

/// What the words of a passage count that only shows what is remembered: so little that it stands below
/// whatever it repeats, and is found where nothing else is.
fn of_echo(candidate: &Candidate) -> f32 {
    if candidate.is_echo { 0.1 } else { 1.0 }
}

/// What passages and their words count by who speaks.
pub(super) fn by_speaker(candidate: &Candidate) -> f32 {
    match candidate.is_subagent {
        true => OF_SUBAGENT,
        false => BY_SPEAKER[usize::from(candidate.kind.code()).min(2)],
    }
}

/// What meaning counts by who speaks: only whether that is a subagent.
pub(super) fn by_thread(candidate: &Candidate) -> f32 {
    if candidate.is_subagent { OF_SUBAGENT } else { 1.0 }
}

/// Words and how near they stand, by who speaks.
pub(super) fn spoken_words(candidate: &Candidate, words: f32, proximity: f32) -> f32 {
    by_speaker(candidate) * (words + PROXIMITY * proximity)
}

/// Words and meaning of each candidate: what neighbours are looked for by, before the rest is worth gathering.
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
    /// Gathers it.
    pub(crate) fn of(all: &[Candidate], similarity: &[Option<f32>]) -> Self {
        let mut words: Vec<f32> =
            all.iter().map(|c| of_echo(c) * c.contributions.iter().sum::<f32>()).collect();
        let best_words = words.iter().copied().fold(0.0, f32::max);
        as_shares(&mut words);
        let mut proximity: Vec<f32> = all.iter().map(|c| c.proximity).collect();
        as_shares(&mut proximity);
        let mut meaning = vec![0.0; all.len()];
        for (meaning, similarity) in meaning.iter_mut().zip(similarity) {
            *meaning = (similarity.unwrap_or(0.0) - UNRELATED).max(0.0);
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
    /// Gathers it.
    pub fn of(candidates: &Candidates, found: &Found) -> Self {
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

/// For each candidate the largest value in its group.
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

/// For each candidate what the best three of its session make together.
fn best_three(all: &[Candidate], values: &[f32]) -> Vec<f32> {
    let mut best: HashMap<i64, [f32; 3]> = HashMap::new();
    for (candidate, value) in all.iter().zip(values) {
        insert(best.entry(candidate.session).or_default(), *value);
    }
    let sum = |three: &[f32; 3]| three.iter().zip(BEST).map(|(value, weight)| value * weight).sum();
    all.iter().map(|candidate| best.get(&candidate.session).map_or(0.0, sum)).collect()
}

/// Puts a value where it belongs among the largest three.
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

/// The largest cosine of all, as far as there are any.
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
