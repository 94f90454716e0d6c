//! How well confidence tells what can be answered: every question is asked inside its own project, and
//! inside every other one, where nothing answers it.

use std::collections::{BTreeMap, HashSet};

use anyhow::Result;
use thru_recall::{CONFIDENT, SIGNALS, Signals};
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
    let mut examples = Vec::new();
    for Asked { query, ordered, .. } in asked {
        if query.is_unanswerable() {
            nowhere.push(f64::from(ordered.ranking.confidence));
            examples.push((ordered.ranking.signals, false));
        } else if query.is_answerable_question() {
            for (project, sessions) in projects {
                let filter = IndexFilter {
                    sessions: Some(engine.session_rows(sessions)),
                    ..IndexFilter::default()
                };
                let inside = engine.order(&query.text, filter)?;
                let confidence = f64::from(inside.ranking.confidence);
                examples.push((inside.ranking.signals, *project == query.project));
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
    let fitted = fit(&examples);
    let named: Vec<String> =
        SIGNALS.iter().zip(fitted).map(|(name, weight)| format!("{name} {weight:.2}")).collect();
    println!("\nFitted confidence: {}, constant {:.2}", named.join(", "), fitted[SIGNALS.len()]);
    let auroc = auroc(&own, &negatives);
    println!("\nAUROC: {}\n", auroc.map_or_else(|| "–".to_owned(), |auroc| format!("{auroc:.3}")));
    Ok(())
}

/// Logistic regression by plain gradient descent, both classes weighing the same: a weight for each signal,
/// and the constant.
fn fit(examples: &[(Signals, bool)]) -> [f64; SIGNALS.len() + 1] {
    let mut weights = [0.0; SIGNALS.len() + 1];
    let right = examples.iter().filter(|(_, right)| *right).count().max(1) as f64;
    let wrong = (examples.len() as f64 - right).max(1.0);
    for _ in 0..20_000 {
        let mut gradient = [0.0; SIGNALS.len() + 1];
        for (signals, is_right) in examples {
            let mut values = [1.0; SIGNALS.len() + 1];
            values.iter_mut().zip(signals).for_each(|(value, signal)| *value = f64::from(*signal));
            let sum: f64 = values.iter().zip(&weights).map(|(value, weight)| value * weight).sum();
            let share = if *is_right { 0.5 / right } else { 0.5 / wrong };
            let error = 1.0 / (1.0 + (-sum).exp()) - f64::from(u8::from(*is_right));
            for (gradient, value) in gradient.iter_mut().zip(values) {
                *gradient += share * error * value;
            }
        }
        weights.iter_mut().zip(gradient).for_each(|(weight, gradient)| *weight -= 3.0 * gradient);
    }
    weights
}
