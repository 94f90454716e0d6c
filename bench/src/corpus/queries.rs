//! Things to ask of a synthetic history, of several kinds, that are really in it.

use super::words::Writer;
use crate::rng::Rng;

/// The number of queries.
const QUERIES: usize = 200;

/// Kinds of queries.
const KINDS: usize = 6;

/// Collects queries while the history is written.
pub(super) struct Queries {
    kinds: [Vec<String>; KINDS],
    every: usize,
}

impl Queries {
    pub(super) fn new(sessions: usize) -> Self {
        // Some sessions have no query of every kind, so more are looked at.
        Self { kinds: Default::default(), every: (sessions * KINDS * 4 / (QUERIES * 5)).max(1) }
    }

    /// Looks at what session number `number` holds.
    pub(super) fn offer(&mut self, number: usize, rng: &mut Rng, texts: &Writer<'_>) {
        let said = &texts.said;
        if !number.is_multiple_of(self.every) || said.len() < 4 {
            return;
        }
        let start = rng.below(said.len() - 3);
        let question: Vec<&str> = said.iter().skip(start).step_by(2).take(5).copied().collect();
        let found = [
            texts.rare_word().to_owned(),
            said[start..start + 3].join(" "),
            format!("why did we {} in the end", question.join(" ")),
            texts.identifier.to_owned(),
            texts.error_code.clone(),
            format!("qz{:08x}", rng.next() >> 32),
        ];
        for (kind, query) in self.kinds.iter_mut().zip(found) {
            if !query.is_empty() {
                kind.push(query);
            }
        }
    }

    /// The queries, kinds mixed.
    pub(super) fn finish(self) -> Vec<String> {
        let longest = self.kinds.iter().map(Vec::len).max().unwrap_or(0);
        let mixed =
            (0..longest).flat_map(|at| self.kinds.iter().filter_map(move |kind| kind.get(at)));
        mixed.take(QUERIES).cloned().collect()
    }
}
