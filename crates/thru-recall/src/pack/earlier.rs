//! The way from a prompt to the turns of earlier sessions: what was said in a turn, and what its memories hold, taken together.
//!
//! A memory of a turn holds its end, and most of what a prompt needs was said in the middle. So the words of a turn count wherever they
//! stand, again in a title, and again where they stand together in one passage; the last days count more.

use std::collections::{BTreeMap, BTreeSet};

use thru_core::{MemoryKind, PassageKind};
use thru_store::index::{Candidate, IndexFilter, QueryTerms, TextIndex};
use thru_store::{Result, Store};

use super::PackRequest;
use super::named::of_projects;
use super::prompt::{Bearings, MANY, Way, may_be_told};
use crate::memories::MemoryHit;
use crate::query::analyse;

/// Passages that are examined.
const PASSAGES: usize = 400;
/// The turns that are weighed: the best.
const TURNS: usize = 20;
/// The evidence that is enough for a prompt of one word, in units of the rarest word there can be. It grows with the fourth
/// root of the number of words: a long prompt shares some with any turn. Fitted on labelled real prompts
/// (`thru-bench prompts`), as are the two below.
const ENOUGH: f32 = 2.9;
/// The share of evidence that is lost with age, …
const LOST: f32 = 0.25;
/// … and the days after which two thirds of that is.
const LASTS: f32 = 5.0;

/// The words of a prompt that a turn must hold, unless the prompt has fewer.
const FEWEST: usize = 2;

/// A session and one of its turns; a note stands for itself.
type Turn = (i64, u32);

/// What one turn holds of a prompt, by the places of its terms.
#[derive(Default)]
struct Evidence<'e> {
    held: BTreeSet<usize>,
    titled: BTreeSet<usize>,
    /// Its memories, the best first.
    memories: Vec<&'e MemoryHit>,
    /// The words of the passage that holds most.
    most: f32,
    /// The words of the agent's passage that does, with its row.
    telling: Option<(i64, f32)>,
    /// The proximity of words in the passage where they stand nearest together.
    nearest: f32,
    at: i64,
}

/// Finds the turns of earlier sessions that tell most of a prompt, and adds a memory of each. The value of a turn is its share of what
/// is enough.
pub(super) fn by_turns(
    (passages, memories): (&TextIndex, &TextIndex),
    store: &Store,
    request: &PackRequest<'_>,
    (terms, words): (&QueryTerms, &[String]),
    hits: &[MemoryHit],
    bearings: &mut Bearings,
) -> Result<()> {
    let mut turns: BTreeMap<Turn, Evidence<'_>> = BTreeMap::new();
    for hit in hits {
        if hit.memory.kind != MemoryKind::Summary && may_be_told(&hit.memory, request) {
            let session = hit.memory.session.unwrap_or(-hit.memory.row);
            turns.entry((session, hit.memory.turn)).or_default().remember(hit, terms);
        }
    }
    if turns.is_empty() {
        return Ok(());
    }
    let prose = PassageKind::ALL.into_iter().filter(|kind| kind.is_prose()).collect();
    let filter = IndexFilter { passages: Some(prose), ..of_projects(request) };
    let found = passages.candidates(terms, &filter, PASSAGES)?;
    for passage in found.found.iter().filter(|one| !one.is_echo) {
        if let Some(turn) = turns.get_mut(&(passage.session, passage.turn)) {
            turn.hear(passage);
        }
    }
    let rarest = rarest(found.documents);
    // What was only noted or brought in from elsewhere stands in no passage.
    let noted = rarities(memories, terms)?;
    let known = |(said, noted): (&f32, f32)| if *said > 0.0 { said / rarest } else { noted };
    let rarities: Vec<f32> = found.idf.iter().zip(noted).map(known).collect();
    let enough = ENOUGH * (terms.terms.len() as f32).powf(0.25);
    let words: Vec<BTreeSet<usize>> = words
        .iter()
        .map(|word| {
            let places = analyse(word).terms.into_iter();
            places.filter_map(|term| terms.terms.iter().position(|known| *known == term)).collect()
        })
        .collect();
    let fewest = words.len().min(FEWEST);
    let share = |turn: &Evidence<'_>| {
        if words.iter().filter(|word| !word.is_disjoint(&turn.held)).count() < fewest {
            return 0.0;
        }
        let age = request.now.as_millisecond().saturating_sub(turn.at).max(0) as f32 / 86_400_000.0;
        let kept = 1.0 - LOST + LOST * (-age / LASTS).exp();
        turn.weight(&rarities, rarest) * kept / enough
    };
    let mut turns: Vec<(f32, Evidence<'_>)> =
        turns.into_values().map(|turn| (share(&turn), turn)).collect();
    turns.sort_by(|a, b| b.0.total_cmp(&a.0));
    for (share, turn) in turns.into_iter().take(TURNS) {
        let Some(best) = turn.memories.first() else { continue };
        let held = turn.held.iter().filter_map(|at| terms.terms.get(*at));
        let held: Vec<&str> = held.map(String::as_str).collect();
        let reason = (share >= 1.0).then(|| format!("its turn holds {}", held.join(", ")));
        bearings.add(best.memory.clone(), Way::Turn, share, reason);
        if let Some((row, _)) = turn.telling.filter(|_| share >= 1.0) {
            let passage = store.passages_of_rows(&[row])?.pop();
            bearings.cite(best.memory.id, passage.map(|passage| passage.id));
        }
    }
    Ok(())
}

/// The rarity of each word of a prompt among the memories, from 0 to 1. Among few nothing is rare: there each word counts.
fn rarities(memories: &TextIndex, terms: &QueryTerms) -> Result<Vec<f32>> {
    let rarest_of_all = rarest(memories.documents());
    let trust = (rarest_of_all / rarest(MANY as u64)).min(1.0);
    let everywhere = IndexFilter::default();
    let idf = memories.ask(terms, &everywhere)?.known_idf();
    Ok(idf.into_iter().map(|idf| trust * idf / rarest_of_all + (1.0 - trust)).collect())
}

/// The inverse document frequency of a word that one of so many documents holds.
fn rarest(documents: u64) -> f32 {
    (documents.max(1) as f32 / 1.5).ln_1p()
}

impl<'e> Evidence<'e> {
    fn remember(&mut self, hit: &'e MemoryHit, terms: &QueryTerms) {
        let title = analyse(&hit.memory.title).terms;
        let titled = |at: &usize| terms.terms.get(*at).is_some_and(|term| title.contains(term));
        self.titled.extend(hit.held.iter().filter(|at| titled(at)));
        self.held.extend(&hit.held);
        self.at = self.at.max(hit.memory.at.map_or(0, |at| at.as_millisecond()));
        self.memories.push(hit);
    }

    fn hear(&mut self, passage: &Candidate) {
        let held = passage.contributions.iter().enumerate().filter(|(_, one)| **one > 0.0);
        self.held.extend(held.map(|(at, _)| at));
        let words = passage.held();
        self.most = self.most.max(words);
        self.nearest = self.nearest.max(passage.proximity);
        self.at = self.at.max(passage.at);
        let is_agent = passage.kind == PassageKind::Assistant;
        if is_agent && self.telling.is_none_or(|(_, most)| words > most) {
            self.telling = Some((passage.row, words));
        }
    }

    /// The weight of all that it holds, in units of the rarest word.
    fn weight(&self, rarities: &[f32], rarest: f32) -> f32 {
        let sum = |places: &BTreeSet<usize>| -> f32 {
            places.iter().filter_map(|at| rarities.get(*at)).sum()
        };
        // Without a passage, a memory stands for one.
        let heard = match self.most > 0.0 {
            true => (self.most + self.nearest) / rarest,
            false => sum(&self.held),
        };
        sum(&self.held) + sum(&self.titled) + heard
    }
}
