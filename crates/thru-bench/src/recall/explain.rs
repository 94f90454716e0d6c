//! For each miss: where the gold session and the gold records ended up. Names and numbers only; no
//! text of a transcript is printed.

use std::collections::{BTreeMap, HashMap};

use thru_recall::PASSAGE_FEATURES;

use super::engine::Engine;
use super::labelled::Asked;
use crate::metrics::place;

/// Ranks within which a record counts as found.
const FOUND_WITHIN: usize = 10;

/// Prints what was missed.
pub(super) fn print(engine: &Engine, asked: &[Asked]) {
    let rows = rows_by_record(engine);
    println!("Misses:\n");
    for asked in asked.iter().filter(|asked| !asked.query.is_unanswerable()) {
        let query = &asked.query;
        let rank = place(asked.ranked.sessions.iter().map(String::as_str), &query.sessions);
        if rank != Some(0) {
            let rank =
                rank.map_or_else(|| "not found".to_owned(), |rank| format!("rank {}", rank + 1));
            let first = asked.ranked.sessions.first().map_or("nothing", String::as_str);
            println!(
                "- {} ({}): session {rank}; first: {first}",
                query.id,
                query.groups.join(", ")
            );
            let shown = asked.ordered.ranking.sessions.iter().take(3);
            let scores: Vec<String> = shown.map(|s| format!("{:.3}", s.score)).collect();
            println!("  best sessions' scores: {}", scores.join(", "));
        }
        // A record may stand in one session only of several that answer.
        let mut by_uuid: BTreeMap<&str, Option<usize>> = BTreeMap::new();
        for record in &query.records {
            let uuid = record.rsplit('#').next().unwrap_or(record);
            let rank = rows.get(record.as_str()).and_then(|row| rank_of(asked, *row));
            let best = by_uuid.entry(uuid).or_default();
            *best = rank.iter().chain(best.iter()).min().copied();
        }
        for (uuid, rank) in by_uuid {
            let known = query.records.iter().any(|r| r.ends_with(uuid) && rows.contains_key(r));
            explain_record(asked, uuid, rank, known);
        }
    }
}

fn rank_of(asked: &Asked, row: i64) -> Option<usize> {
    let found = &asked.ordered.candidates.found;
    asked.ordered.ranking.passages.iter().position(|score| found[score.candidate].row == row)
}

fn explain_record(asked: &Asked, record: &str, rank: Option<usize>, known: bool) {
    let Some(rank) = rank else {
        let why = if known { "no candidate" } else { "no passage has it" };
        println!("- {} record {record}: {why}", asked.query.id);
        return;
    };
    if rank < FOUND_WITHIN {
        return;
    }
    let score = &asked.ordered.ranking.passages[rank];
    let features = PASSAGE_FEATURES.iter().zip(score.features).filter(|(_, value)| *value != 0.0);
    let features: Vec<String> =
        features.map(|(name, value)| format!("{name} {value:.2}")).collect();
    println!(
        "- {} record {record}: rank {}, score {:.3} ({}); rank {FOUND_WITHIN} has {:.3}",
        asked.query.id,
        rank + 1,
        score.score,
        features.join(", "),
        asked.ordered.ranking.passages.get(FOUND_WITHIN - 1).map_or(0.0, |score| score.score),
    );
}

fn rows_by_record(engine: &Engine) -> HashMap<String, i64> {
    let mut rows = HashMap::new();
    for row in engine.passages.keys() {
        for record in engine.records(*row) {
            rows.insert(record, *row);
        }
    }
    rows
}
