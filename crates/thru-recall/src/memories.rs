//! Finding memories by words. They have an index of their own: passages never make room for them.

use std::collections::{HashMap, HashSet};

use thru_store::index::{Candidate, Collection, IndexFilter, QueryTerms, TextIndex};
use thru_store::{MemoryFilter, MemoryRow, Result, Store};

/// Candidates that are looked at closely.
const DEPTH: usize = 200;

/// What a memory that was taken from prose by its shape counts.
const UNCERTAIN: f32 = 0.6;

/// What a summary counts: it holds words of everything, and its observations say it better.
const SUMMARY: f32 = 0.7;

/// How much the nearness of neighbouring words counts beside BM25.
const PROXIMITY: f32 = 0.3;

/// A memory that holds words of a query.
#[derive(Clone, Debug)]
pub struct MemoryHit {
    /// The memory.
    pub memory: MemoryRow,
    /// Its score; comparable within one answer.
    pub score: f32,
    /// The share of the query that it holds, words weighted by how rare they are. From 0 to 1.
    pub coverage: f32,
    /// How many of the query's words it holds.
    pub words: usize,
}

/// The memories that answer a query, best first.
pub fn find_memories(
    store: &Store,
    index: &TextIndex,
    terms: &QueryTerms,
    filter: &IndexFilter,
    limit: usize,
) -> Result<Vec<MemoryHit>> {
    if terms.terms.is_empty() || limit == 0 {
        return Ok(Vec::new());
    }
    let candidates = index.candidates(terms, filter, DEPTH)?;
    let whole: f32 = candidates.idf.iter().sum::<f32>().max(f32::MIN_POSITIVE);
    let rows: Vec<i64> = candidates.found.iter().map(|candidate| candidate.row).collect();
    let filter = MemoryFilter { rows: Some(rows), ..MemoryFilter::default() };
    let mut memories: HashMap<i64, MemoryRow> =
        store.memories(&filter)?.into_iter().map(|memory| (memory.row, memory)).collect();
    let mut hits: Vec<(u64, MemoryHit)> = candidates
        .found
        .iter()
        .filter_map(|candidate| {
            let memory = memories.remove(&candidate.row)?;
            Some((candidate.key, hit(memory, candidate, &candidates.idf, whole)))
        })
        .collect();
    hits.sort_by(|a, b| b.1.score.total_cmp(&a.1.score).then(a.0.cmp(&b.0)));
    // A session's summary is often called what its main observation is called.
    let mut seen = HashSet::new();
    hits.retain(|(_, hit)| seen.insert((hit.memory.session, normal(&hit.memory.title))));
    hits.truncate(limit);
    Ok(hits.into_iter().map(|(_, hit)| hit).collect())
}

/// A title as far as it tells two memories apart.
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

fn hit(memory: MemoryRow, candidate: &Candidate, idf: &[f32], whole: f32) -> MemoryHit {
    let held = |(_, contribution): &(&f32, &f32)| **contribution > 0.0;
    let matched = || idf.iter().zip(&candidate.contributions).filter(held);
    let weight = match (memory.flags.is_uncertain, memory.kind) {
        (true, _) => UNCERTAIN,
        (_, thru_core::MemoryKind::Summary) => SUMMARY,
        _ => 1.0,
    };
    let bm25: f32 = candidate.contributions.iter().sum();
    MemoryHit {
        memory,
        score: weight * (bm25 + PROXIMITY * candidate.proximity),
        coverage: matched().map(|(idf, _)| idf).sum::<f32>() / whole,
        words: matched().count(),
    }
}
