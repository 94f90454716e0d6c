//! Merging of observations that say nearly the same.

use std::collections::{BTreeSet, HashMap};

use thru_core::{Certainty, Id, Merged, Observation, ObservationType, Statement, WorkRecord};

use crate::object::names_code;
use crate::reply;
use crate::session::is_committed;
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

/// Puts a commit that holds nothing but the work of an earlier turn into that work, which it then names.
pub(crate) fn with_commits(
    observations: Vec<Observation>,
    kept_apart: &BTreeSet<Id>,
) -> Vec<Observation> {
    let mut told: Vec<Observation> = Vec::with_capacity(observations.len());
    // The places of work that is not committed yet.
    let mut open: Vec<usize> = Vec::new();
    for one in observations {
        if matches!(one.kind, ObservationType::Decision | ObservationType::Discovery) {
            told.push(one);
            continue;
        }
        let commits = is_committed(&one);
        let work = match open.as_slice() {
            [work] if !kept_apart.contains(&one.id) => told.get_mut(*work),
            _ => None,
        };
        match work.filter(|work| holds_only(&one, work)) {
            Some(work) => put_into(work, one),
            None => {
                let is_gone = one.title.starts_with("Tried, then reverted");
                if !commits && !is_gone && !one.files_modified.is_empty() {
                    open.push(told.len());
                }
                told.push(one);
            }
        }
        if commits {
            open.clear();
        }
    }
    told
}

/// Returns true if an observation is a commit, made or called for, that changed nothing itself but notes and what it
/// commits, and is about the same as the work before it.
fn holds_only(commit: &Observation, work: &Observation) -> bool {
    // The hooks of a commit may ask for a last touch.
    let only_commits = commit.asked.as_ref().is_some_and(|asked| reply::is_procedure(&asked.text));
    let is_note = |file: &String| {
        file.ends_with(".md")
            || file.ends_with(".txt")
            || only_commits && work.files_modified.contains(file)
    };
    let told = |one: &Observation| {
        let report = one.report.as_ref().map_or("", |report| report.text.as_str());
        format!("{} {report}", one.title)
    };
    let commits = commit.facts.iter().filter_map(|fact| WorkRecord::of(&fact.text));
    let is_single = match commits.filter(|record| *record == WorkRecord::Commit).count() {
        0 => commit.facts.is_empty() && commit.files_modified.is_empty(),
        commits => commits == 1,
    };
    let opens = ["Open pull request", "Merge pull request", "Tried"];
    work.turn < commit.turn
        && is_single
        && !commit.title.is_empty()
        && !opens.iter().any(|start| commit.title.starts_with(start))
        && !work.title.starts_with("Tried")
        && commit.files_modified.iter().all(is_note)
        && reply::shares(&told(work), &commit.title, 2)
}

/// Puts a commit into the work that it holds.
fn put_into(work: &mut Observation, commit: Observation) {
    let report = work.report.take();
    // The message may leave out a name that the report gives.
    let is_named = names_code(&work.title) && !names_code(&commit.title);
    if work.title.is_empty() || is_committed(&commit) && !is_named {
        work.title.clone_from(&commit.title);
    }
    if commit.kind != ObservationType::Change {
        work.kind = commit.kind;
    }
    absorb(work, commit);
    work.report = report.or(work.report.take());
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
    let is_needed = |text: &str| text.starts_with('`') || text.contains(" → ");
    first.facts.len() + added.len() <= FACTS
        || !added.iter().any(|fact| is_commit(fact) || is_needed(&fact.text))
}

pub(crate) fn absorb(first: &mut Observation, other: Observation) {
    for fact in other.facts {
        // A plan may have filled the list.
        let has_room = first.facts.len() < FACTS || is_commit(&fact);
        if has_room && !first.facts.iter().any(|known| known.text == fact.text) {
            first.facts.push(fact);
        }
    }
    add_new(&mut first.files_read, other.files_read, crate::segment::READ);
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

fn is_commit(fact: &Statement) -> bool {
    WorkRecord::of(&fact.text) == Some(WorkRecord::Commit)
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
