//! Merging of observations that say nearly the same.

use std::collections::{BTreeSet, HashMap};

use thru_core::{Certainty, Id, Merged, Observation, ObservationType, WorkRecord};

use crate::work::FACTS;

/// Most sources that a merged observation keeps.
const SOURCES: usize = 40;

/// The key that near-duplicate observations share: type, ruling or not, and the significant words of the
/// title.
type Likeness = (ObservationType, bool, Vec<String>);

/// Merges near-duplicate observations. Those in `kept_apart` are left alone.
pub(crate) fn merged(
    observations: Vec<Observation>,
    kept_apart: &BTreeSet<Id>,
) -> Vec<Observation> {
    let mut kept: Vec<Observation> = Vec::with_capacity(observations.len());
    let mut known: HashMap<Likeness, usize> = HashMap::new();
    for observation in observations {
        let likeness = likeness(&observation);
        let is_apart = observation.title.is_empty() || kept_apart.contains(&observation.id);
        match known.get(&likeness).and_then(|&at| kept.get_mut(at)) {
            Some(first) if !is_apart && fits(first, &observation) => absorb(first, observation),
            _ => {
                known.entry(likeness).or_insert(kept.len());
                kept.push(observation);
            }
        }
    }
    kept
}

fn likeness(observation: &Observation) -> Likeness {
    const EMPTY: [&str; 14] = [
        "the", "a", "an", "of", "to", "in", "for", "on", "and", "with", "is", "are", "please", "ok",
    ];
    // In their order and with their signs: tabs over spaces is not spaces over tabs, nor C++ C#.
    let words: Vec<String> = observation
        .title
        .to_lowercase()
        .split_whitespace()
        .map(|word| word.trim_matches(|c: char| ".,:;!?'\"`()[]…".contains(c)))
        .filter(|word| !word.is_empty() && !EMPTY.contains(word))
        .map(str::to_owned)
        .collect();
    (observation.kind, observation.is_rule, words)
}

/// Returns true if merging the two would lose nothing that must be said.
fn fits(first: &Observation, other: &Observation) -> bool {
    let added =
        other.facts.iter().filter(|fact| !first.facts.iter().any(|known| known.text == fact.text));
    let added: Vec<_> = added.collect();
    // Merging must stay cheap, however often the same is said.
    let is_large =
        first.merged.len() >= 50 || first.files_modified.len() + other.files_modified.len() > 500;
    if is_large {
        return false;
    }
    let is_needed = |text: &str| {
        let is_commit = WorkRecord::of(text) == Some(WorkRecord::Commit);
        is_commit || text.starts_with('`') || text.contains(" → ")
    };
    first.facts.len() + added.len() <= FACTS || !added.iter().any(|fact| is_needed(&fact.text))
}

fn absorb(first: &mut Observation, other: Observation) {
    for fact in other.facts {
        if first.facts.len() < FACTS && !first.facts.iter().any(|known| known.text == fact.text) {
            first.facts.push(fact);
        }
    }
    add_new(&mut first.files_read, other.files_read, crate::work::READ);
    add_new(&mut first.files_modified, other.files_modified, usize::MAX);
    let changed: BTreeSet<&String> = first.files_modified.iter().collect();
    first.files_read.retain(|file| !changed.contains(file));
    add_new(&mut first.sources, other.sources, SOURCES);
    first.concepts.extend(other.concepts);
    first.narrative = first.narrative.take().or(other.narrative);
    first.asked = first.asked.take().or(other.asked);
    // The later report knows more.
    first.report = other.report.or(first.report.take());
    first.at = first.at.max(other.at);
    first.raw_tokens = first.raw_tokens.saturating_add(other.raw_tokens);
    if other.certainty == Certainty::High {
        first.certainty = Certainty::High;
    }
    first.merged.extend(other.merged);
    first.merged.push(Merged { id: other.id, title: other.title });
}

fn add_new<T: PartialEq + Ord + Clone>(known: &mut Vec<T>, added: Vec<T>, limit: usize) {
    let mut seen: BTreeSet<T> = known.iter().cloned().collect();
    for one in added {
        if known.len() >= limit {
            break;
        }
        if seen.insert(one.clone()) {
            known.push(one);
        }
    }
}
