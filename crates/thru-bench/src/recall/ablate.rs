//! What each part of the ranking is worth: the same candidates, ordered without it.

use std::collections::{BTreeMap, HashMap};

use thru_recall::{WEIGHTS, Weights};
use thru_store::PassageRow;
use thru_store::index::Candidates;

use super::engine::{Engine, Ranked};
use super::labelled::{Asked, COLUMNS, summary};
use super::labels::Query;
use crate::metrics::percent;

/// What is done to the candidates before they are ordered.
#[derive(Clone, Copy)]
enum Change {
    None,
    /// Neighbours are those of the same conversation: subagents do not stand in between.
    Threads,
    /// What subagents said counts as if the agent had said it.
    AsSpeakers,
    /// What subagents said is left out.
    NoSubagents,
}

/// Prints a row per part that is left out.
pub(super) fn print(engine: &Engine, asked: &[Asked]) {
    let variants: [(&str, Weights, Change); 11] = [
        ("all", WEIGHTS, Change::None),
        ("– proximity", Weights { proximity: 0.0, ..WEIGHTS }, Change::None),
        ("– kind (session)", Weights { session_kind: [1.0; 3], ..WEIGHTS }, Change::None),
        ("– top 3 (best passage only)", Weights { best: [1.0, 0.0, 0.0], ..WEIGHTS }, Change::None),
        ("– kind (passage)", Weights { passage_kind: [1.0; 3], ..WEIGHTS }, Change::None),
        ("– window", Weights { window: 0.0, ..WEIGHTS }, Change::None),
        ("– session term", Weights { session: 0.0, ..WEIGHTS }, Change::None),
        ("– window – session term", Weights { window: 0.0, session: 0.0, ..WEIGHTS }, Change::None),
        ("neighbours by conversation", WEIGHTS, Change::Threads),
        ("subagents count as the agent", WEIGHTS, Change::AsSpeakers),
        ("– subagents' passages", WEIGHTS, Change::NoSubagents),
    ];
    let threads = Threads::of(engine);
    print!("| thru |");
    for column in COLUMNS {
        print!(" {column} |");
    }
    println!(" par hit@1 | par hit@5 | par MRR | verbatim hit@1 |");
    println!("|---|{}", "---|".repeat(COLUMNS.len() + 4));
    for (name, weights, change) in variants {
        let answers: Vec<(&Query, Ranked)> = asked
            .iter()
            .map(|asked| {
                let candidates = threads.changed(&asked.candidates, change);
                (&asked.query, engine.reordered(&candidates, &weights))
            })
            .collect();
        let (table, _) = summary(answers.iter().map(|(query, ranked)| (*query, ranked)));
        print!("| {name} |");
        for column in COLUMNS {
            print!(" {} |", percent(table.mean("questions", column)));
        }
        for column in ["hit@1", "hit@5", "MRR"] {
            print!(" {} |", percent(table.mean("commit paraphrases", column)));
        }
        println!(" {} |", percent(table.mean("commits verbatim", "hit@1")));
    }
    println!();
}

/// Which conversation a passage belongs to (the main one or a subagent's), and its place in it.
struct Threads {
    places: HashMap<i64, Place>,
}

struct Place {
    thread: i64,
    ordinal: u32,
}

impl Threads {
    fn of(engine: &Engine) -> Self {
        let mut by_thread: BTreeMap<_, Vec<&PassageRow>> = BTreeMap::new();
        for passage in engine.passages.values() {
            let thread = (passage.source, passage.agent_id.as_deref());
            by_thread.entry(thread).or_default().push(passage);
        }
        let mut places = HashMap::new();
        for (thread, (_, mut passages)) in by_thread.into_iter().enumerate() {
            passages.sort_by_key(|passage| passage.ordinal);
            for (ordinal, passage) in passages.into_iter().enumerate() {
                let place = Place { thread: thread as i64, ordinal: ordinal as u32 };
                places.insert(passage.row, place);
            }
        }
        Self { places }
    }

    fn changed(&self, candidates: &Candidates, change: Change) -> Candidates {
        let mut candidates = candidates.clone();
        match change {
            Change::None => return candidates,
            Change::AsSpeakers => {
                for candidate in &mut candidates.found {
                    candidate.is_subagent = false;
                }
                return candidates;
            }
            Change::Threads => {}
            Change::NoSubagents => candidates.found.retain(|candidate| !candidate.is_subagent),
        }
        // The source stands for the conversation; nothing but the window looks at it. Names of
        // sessions are looked up by row.
        for candidate in &mut candidates.found {
            if let Some(place) = self.places.get(&candidate.row) {
                candidate.source = place.thread;
                candidate.ordinal = place.ordinal;
            }
        }
        candidates
    }
}
