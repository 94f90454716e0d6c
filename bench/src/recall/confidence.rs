//! The quality of confidence: every question is asked inside its own project, and
//! inside every other one, where nothing answers it.

use std::collections::{BTreeMap, HashSet};

use anyhow::Result;
use thru_recall::CONFIDENT;
use thru_store::index::IndexFilter;

use super::engine::Engine;
use super::labelled::Asked;
use crate::metrics::{auroc, percent, quantile};

/// Prints it. `projects` are the names of each project's sessions.
pub(super) fn print(
    engine: &Engine,
    asked: &[Asked],
    projects: &BTreeMap<String, HashSet<String>>,
) -> Result<()> {
    let (mut own, mut elsewhere, mut nowhere) = (Vec::new(), Vec::new(), Vec::new());
    for Asked { query, ordered, .. } in asked {
        if query.is_unanswerable() {
            nowhere.push(f64::from(ordered.ranking.confidence));
        } else if query.is_answerable_question() {
            for (project, sessions) in projects {
                let filter = IndexFilter {
                    sessions: Some(engine.session_rows(sessions)),
                    ..IndexFilter::default()
                };
                let inside = engine.order(&query.text, filter)?;
                let confidence = f64::from(inside.ranking.confidence);
                match *project == query.project {
                    true => own.push(confidence),
                    false => elsewhere.push(confidence),
                }
            }
        }
    }
    let negatives: Vec<f64> = elsewhere.iter().chain(&nowhere).copied().collect();
    let below = |values: &[f64]| {
        let quiet = values.iter().filter(|value| **value < f64::from(CONFIDENT)).count();
        percent(Some(quiet as f64 / values.len().max(1) as f64))
    };
    let shown = |values: &[f64], share| {
        quantile(values, share).map_or_else(|| "–".to_owned(), |value| format!("{value:.2}"))
    };
    println!("| asked | n | 10 % below | median | 90 % below | \"nothing found\" |");
    println!("|---|---|---|---|---|---|");
    let rows = [
        ("questions in their own project", &own),
        ("questions in another project", &elsewhere),
        ("unanswerable, everywhere", &nowhere),
    ];
    for (name, values) in rows {
        println!(
            "| {name} | {} | {} | {} | {} | {} |",
            values.len(),
            shown(values, 0.1),
            shown(values, 0.5),
            shown(values, 0.9),
            below(values)
        );
    }
    let auroc = auroc(&own, &negatives);
    println!("\nAUROC: {}\n", auroc.map_or_else(|| "–".to_owned(), |auroc| format!("{auroc:.3}")));
    Ok(())
}
