//! Search for memories by words and by meaning. They have an index of their own and do not compete with
//! passages.

use std::collections::{HashMap, HashSet};

use thru_store::index::{Candidate, Collection, IndexFilter, QueryTerms, TextIndex};
use thru_store::{MemoryFilter, MemoryRow, Result, Store};

use crate::meaning::QueryMeaning;
use crate::rank::{largest, related};

/// Number of candidates by words that are examined closely.
const DEPTH: usize = 200;

/// The weight of a memory that was taken from prose by its shape.
const UNCERTAIN: f32 = 0.6;

/// The weight of a summary: it holds words of everything, and its observations say it better.
const SUMMARY: f32 = 0.7;

/// The weight of the nearness of neighbouring words, relative to words and meaning.
const PROXIMITY: f32 = 0.3;

/// The coverage, or the cosine, from which a memory is likely to answer a query: on hand-labelled prompts
/// (`thru-bench packs`) four of five such memories are right, and hardly any for prompts without an answer.
const NEAR: (f32, f32) = (0.5, 0.5);

/// … and those from which it answers the query whatever the passages: no prompt without an answer reaches
/// them.
const SURE: (f32, f32) = (0.75, 0.55);

/// A memory that holds words of a query, or means nearly the same.
#[derive(Clone, Debug)]
pub struct MemoryHit {
    /// The memory.
    pub memory: MemoryRow,
    /// Its score, comparable within one answer.
    pub score: f32,
    /// The share of the query's words that it holds, from 0 to 1, rare words weighing more.
    pub coverage: f32,
    /// The query's words that it holds, by their places in the query.
    pub(crate) held: Vec<usize>,
    /// True if it misses a name of the query: it may be about the same with another one.
    misses_name: bool,
    /// The cosine of its vector and the query's; `None` if either has none.
    pub similarity: Option<f32>,
}

impl MemoryHit {
    /// Returns the number of the query's words that it holds.
    pub const fn words(&self) -> usize {
        self.held.len()
    }

    /// Returns true if it is likely to answer the query.
    pub fn is_near(&self) -> bool {
        self.reaches(NEAR)
    }

    /// Returns true if it almost certainly answers the query.
    pub fn is_sure(&self) -> bool {
        !self.misses_name && self.reaches(SURE)
    }

    fn reaches(&self, (coverage, cosine): (f32, f32)) -> bool {
        self.coverage >= coverage || self.similarity.is_some_and(|similarity| similarity >= cosine)
    }
}

/// Finds the memories that answer a query, best first. With a `meaning`, also by the meaning of the query.
///
/// # Errors
/// Fails if the index or the store cannot be read.
pub(crate) fn find_memories(
    store: &Store,
    index: &TextIndex,
    terms: &QueryTerms,
    filter: &IndexFilter,
    meaning: Option<&QueryMeaning>,
    limit: usize,
) -> Result<Vec<MemoryHit>> {
    if limit == 0 {
        return Ok(Vec::new());
    }
    let question = index.ask(terms, filter)?;
    let mut found = match terms.terms.is_empty() {
        true => Vec::new(),
        false => question.best(DEPTH)?,
    };
    if let Some(meaning) = meaning {
        found.extend(meaning.nearest(&question)?.candidates);
        found.sort_by_key(|candidate| candidate.row);
        found.dedup_by_key(|candidate| candidate.row);
    }
    let rows = found.iter().map(|candidate| candidate.row).collect();
    let filter = MemoryFilter { rows: Some(rows), ..MemoryFilter::default() };
    let mut memories: HashMap<i64, MemoryRow> =
        store.memories(&filter)?.into_iter().map(|memory| (memory.row, memory)).collect();
    let evidence = Evidence::of(&found, meaning);
    let mut hits: Vec<(u64, MemoryHit)> = found
        .iter()
        .enumerate()
        .filter_map(|(at, candidate)| {
            let memory = memories.remove(&candidate.row)?;
            Some((candidate.key, evidence.hit(at, memory, candidate, terms, question.idf())))
        })
        .filter(|(_, hit)| hit.score > 0.0)
        .collect();
    hits.sort_by(|a, b| b.1.score.total_cmp(&a.1.score).then(a.0.cmp(&b.0)));
    // A session's summary often has the title of its main observation.
    let mut seen = HashSet::new();
    hits.retain(|(_, hit)| seen.insert((hit.memory.session, normal(&hit.memory.title))));
    hits.truncate(limit);
    Ok(hits.into_iter().map(|(_, hit)| hit).collect())
}

/// Normalises a title for the comparison of memories.
pub(crate) fn normal(title: &str) -> String {
    // Signs stay: C++ is not C#, nor == ===.
    let lower = title.to_lowercase();
    let words = lower
        .split_whitespace()
        .map(|word| word.trim_matches(|c: char| ".,:;!?'\"`()[]…".contains(c)));
    words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

/// Opens the index of memories.
pub(crate) fn open(layout: &thru_core::Layout, store: &Store) -> Result<TextIndex> {
    TextIndex::open_collection(layout, store, Collection::Memories)
}

/// The evidence for each candidate, and the maxima: shares of the best can be added up.
struct Evidence {
    words: Vec<f32>,
    similarity: Vec<Option<f32>>,
    best_words: f32,
    best_proximity: f32,
    best_meaning: f32,
}

impl Evidence {
    fn of(found: &[Candidate], meaning: Option<&QueryMeaning>) -> Self {
        let words: Vec<f32> = found.iter().map(Candidate::held).collect();
        let similarity =
            meaning.map_or_else(|| vec![None; found.len()], |meaning| meaning.similarity(found));
        Self {
            best_words: largest(words.iter().copied()),
            best_proximity: largest(found.iter().map(|candidate| candidate.proximity)),
            best_meaning: largest(similarity.iter().map(|cosine| related(*cosine))),
            words,
            similarity,
        }
    }

    fn hit(
        &self,
        at: usize,
        memory: MemoryRow,
        candidate: &Candidate,
        terms: &QueryTerms,
        idf: &[f32],
    ) -> MemoryHit {
        let holds = |at: &usize| candidate.contributions.get(*at).is_some_and(|one| *one > 0.0);
        let held = |(_, contribution): &(&f32, &f32)| **contribution > 0.0;
        let matched = || idf.iter().zip(&candidate.contributions).filter(held);
        let weight = match (memory.flags.is_uncertain, memory.kind) {
            (true, _) => UNCERTAIN,
            (_, thru_core::MemoryKind::Summary) => SUMMARY,
            _ => 1.0,
        };
        let score = self.words[at] / self.best_words
            + PROXIMITY * candidate.proximity / self.best_proximity
            + related(self.similarity[at]) / self.best_meaning;
        MemoryHit {
            memory,
            score: weight * score,
            coverage: matched().map(|(idf, _)| idf).sum::<f32>() / largest([idf.iter().sum()]),
            held: (0..idf.len()).filter(holds).collect(),
            misses_name: !terms.names.iter().all(holds),
            similarity: self.similarity[at],
        }
    }
}
