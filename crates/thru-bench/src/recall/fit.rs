//! Fitting the weights of the two orders, and what they are worth on projects that they were not fitted on.
//!
//! For each query the scores of its candidates become shares (softmax), and the share of what is right is
//! made as large as it will go: the mean of the logarithms of the shares. That is convex, so that there is one
//! answer; a little weight decay keeps small what does not matter.

use std::collections::BTreeSet;

use thru_recall::{PASSAGE_FEATURES, SESSION_FEATURES, WEIGHTS, Weights};

use super::engine::{Engine, Ranked};
use super::labelled::{Asked, COLUMNS, summary};
use super::labels::Query;
use crate::metrics::percent;

/// Weight decay.
const DECAY: f64 = 1e-3;
/// Steps of the optimiser (Adam), and how far one goes.
const STEPS: i32 = 200;
const STEP: f64 = 0.05;
/// What a paraphrase counts beside a question.
const PARAPHRASE: f64 = 2.0;

/// The candidates of one query: their features, and which are right.
struct Example {
    project: String,
    /// What it counts beside others.
    weight: f64,
    features: Vec<Vec<f64>>,
    right: Vec<bool>,
}

/// Prints weights and what they are worth.
pub(super) fn print(engine: &Engine, asked: &[Asked], ablate: bool) {
    let (passages, sessions) = (passages(engine, asked), sessions(engine, asked));
    let mut weights = WEIGHTS;
    let all = |_: &str| true;
    write(&mut weights.passages, &fit(&passages, &all, None));
    write(&mut weights.sessions, &fit(&sessions, &all, None));
    println!("Fitted on everything:\n");
    for (name, weight) in PASSAGE_FEATURES.iter().zip(weights.passages) {
        println!("- passages, {name}: {weight:.2}");
    }
    for (name, weight) in SESSION_FEATURES.iter().zip(weights.sessions) {
        println!("- sessions, {name}: {weight:.2}");
    }
    println!();
    heading();
    let in_force = |asked: &Asked| reordered(engine, asked, &WEIGHTS);
    row("in force", asked, in_force);
    row("fitted on everything", asked, |asked| reordered(engine, asked, &weights));
    let held_out = left_out_one(&passages, &sessions, None, None);
    row("fitted on the other projects", asked, |asked| {
        reordered(engine, asked, &held_out(&asked.query.project))
    });
    for project in projects(asked) {
        let own: Vec<&Asked> =
            asked.iter().filter(|asked| asked.query.project == project).collect();
        let label = format!("… of them, {project}");
        row_of(&label, &own, |asked| reordered(engine, asked, &held_out(&asked.query.project)));
    }
    println!();
    if !ablate {
        return;
    }
    println!("One feature left out, the others fitted on the other projects:\n");
    heading();
    for (at, name) in PASSAGE_FEATURES.iter().enumerate() {
        let held_out = left_out_one(&passages, &sessions, Some(at), None);
        row(&format!("– {name} (passages)"), asked, |asked| {
            reordered(engine, asked, &held_out(&asked.query.project))
        });
    }
    for (at, name) in SESSION_FEATURES.iter().enumerate() {
        let held_out = left_out_one(&passages, &sessions, None, Some(at));
        row(&format!("– {name} (sessions)"), asked, |asked| {
            reordered(engine, asked, &held_out(&asked.query.project))
        });
    }
    println!();
}

/// For a project the weights that were fitted without it.
fn left_out_one<'e>(
    passages: &'e [Example],
    sessions: &'e [Example],
    no_passage_feature: Option<usize>,
    no_session_feature: Option<usize>,
) -> impl Fn(&str) -> Weights + 'e {
    let all: BTreeSet<&str> = sessions.iter().map(|example| example.project.as_str()).collect();
    let fitted: Vec<(&str, Weights)> = all
        .into_iter()
        .map(|project| {
            let others = |of: &str| of != project;
            let mut weights = WEIGHTS;
            write(&mut weights.passages, &fit(passages, &others, no_passage_feature));
            write(&mut weights.sessions, &fit(sessions, &others, no_session_feature));
            (project, weights)
        })
        .collect();
    move |project| {
        let of = fitted.iter().find(|(known, _)| *known == project);
        of.map_or(WEIGHTS, |(_, weights)| *weights)
    }
}

fn reordered(engine: &Engine, asked: &Asked, weights: &Weights) -> Ranked {
    engine.reordered(&asked.ordered.candidates, &asked.ordered.found, weights)
}

fn projects(asked: &[Asked]) -> BTreeSet<String> {
    asked.iter().map(|asked| asked.query.project.clone()).collect()
}

fn heading() {
    print!("| weights |");
    for column in COLUMNS {
        print!(" {column} |");
    }
    println!(" par hit@1 | par hit@5 | par MRR | verbatim hit@1 |");
    println!("|---|{}", "---|".repeat(COLUMNS.len() + 4));
}

fn row(name: &str, asked: &[Asked], answer: impl Fn(&Asked) -> Ranked) {
    row_of(name, &asked.iter().collect::<Vec<_>>(), answer);
}

fn row_of(name: &str, asked: &[&Asked], answer: impl Fn(&Asked) -> Ranked) {
    let answers: Vec<(&Query, Ranked)> =
        asked.iter().map(|asked| (&asked.query, answer(asked))).collect();
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

fn passages(engine: &Engine, asked: &[Asked]) -> Vec<Example> {
    let questions = asked.iter().filter(|asked| asked.query.is_answerable_question());
    questions
        .map(|Asked { query, ordered, .. }| {
            let right = |row| engine.records(row).iter().any(|of| query.records.contains(of));
            let scores = &ordered.ranking.passages;
            Example {
                project: query.project.clone(),
                weight: 1.0,
                features: scores.iter().map(|score| numbers(&score.features)).collect(),
                right: scores
                    .iter()
                    .map(|score| right(ordered.candidates.found[score.candidate].row))
                    .collect(),
            }
        })
        .collect()
}

fn sessions(engine: &Engine, asked: &[Asked]) -> Vec<Example> {
    let answerable = asked.iter().filter(|asked| !asked.query.is_unanswerable());
    answerable
        .map(|Asked { query, ordered, .. }| {
            let right: BTreeSet<i64> = ordered
                .candidates
                .found
                .iter()
                .filter(|candidate| {
                    let name = engine.session_of(candidate.row);
                    name.is_some_and(|name| query.sessions.contains(name))
                })
                .map(|candidate| candidate.session)
                .collect();
            let scores = &ordered.ranking.sessions;
            // There are a third as many paraphrases as questions, and people ask like both.
            let is_paraphrase = query.groups.iter().any(|group| group == "commit paraphrases");
            Example {
                project: query.project.clone(),
                weight: if is_paraphrase { PARAPHRASE } else { 1.0 },
                features: scores.iter().map(|score| numbers(&score.features)).collect(),
                right: scores.iter().map(|score| right.contains(&score.session)).collect(),
            }
        })
        .collect()
}

fn numbers(features: &[f32]) -> Vec<f64> {
    features.iter().map(|feature| f64::from(*feature)).collect()
}

fn write(weights: &mut [f32], fitted: &[f64]) {
    for (weight, fitted) in weights.iter_mut().zip(fitted) {
        *weight = ((fitted * 100.0).round() / 100.0) as f32;
    }
}

/// The weights that make the shares of what is right largest in the projects that are chosen, one feature
/// left out if asked for.
fn fit(examples: &[Example], chosen: &dyn Fn(&str) -> bool, without: Option<usize>) -> Vec<f64> {
    let examples: Vec<&Example> = examples
        .iter()
        .filter(|example| chosen(&example.project) && example.right.contains(&true))
        .collect();
    let whole: f64 = examples.iter().map(|example| example.weight).sum();
    let count = examples.first().map_or(0, |example| example.features[0].len());
    let mut weights = vec![0.0; count];
    let (mut mean, mut square) = (vec![0.0; count], vec![0.0; count]);
    for step in 1..=STEPS {
        let mut gradient: Vec<f64> = weights.iter().map(|weight| DECAY * weight).collect();
        for example in &examples {
            add_gradient(example, &weights, example.weight / whole, &mut gradient);
        }
        for at in (0..count).filter(|at| Some(*at) != without) {
            mean[at] = 0.9 * mean[at] + 0.1 * gradient[at];
            square[at] = 0.999 * square[at] + 0.001 * gradient[at] * gradient[at];
            let direction = mean[at] / (1.0 - 0.9f64.powi(step));
            let size = (square[at] / (1.0 - 0.999f64.powi(step))).sqrt() + 1e-8;
            weights[at] -= STEP * direction / size;
        }
    }
    weights
}

/// Adds the gradient of one query's loss: what all are expected to have less what the right ones have.
fn add_gradient(example: &Example, weights: &[f64], share: f64, gradient: &mut [f64]) {
    let scores: Vec<f64> = example
        .features
        .iter()
        .map(|features| features.iter().zip(weights).map(|(f, w)| f * w).sum())
        .collect();
    let highest = scores.iter().copied().fold(f64::MIN, f64::max);
    let mut shares: Vec<f64> = scores.iter().map(|score| (score - highest).exp()).collect();
    let whole: f64 = shares.iter().sum();
    shares.iter_mut().for_each(|share| *share /= whole);
    let right = example.right.iter().filter(|right| **right).count() as f64;
    for ((features, of_all), is_right) in example.features.iter().zip(&shares).zip(&example.right) {
        let of_right = if *is_right { 1.0 / right } else { 0.0 };
        for (gradient, feature) in gradient.iter_mut().zip(features) {
            *gradient += share * (of_all - of_right) * feature;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example(project: &str, features: &[[f64; 2]], right: usize) -> Example {
        Example {
            project: project.to_owned(),
            weight: 1.0,
            features: features.iter().map(|features| features.to_vec()).collect(),
            right: (0..features.len()).map(|at| at == right).collect(),
        }
    }

    #[test]
    fn what_marks_the_right_ones_gets_weight() {
        let examples = [
            example("a", &[[1.0, 0.2], [0.2, 0.9], [0.1, 0.1]], 0),
            example("a", &[[0.3, 0.2], [0.9, 0.1], [0.1, 1.0]], 1),
            example("b", &[[0.0, 1.0], [1.0, 0.0]], 0),
        ];
        let weights = fit(&examples, &|project| project == "a", None);
        assert!(weights[0] > 1.0 && weights[0] > weights[1], "{weights:?}");
        let weights = fit(&examples, &|project| project == "a", Some(0));
        assert_eq!(weights[0], 0.0);
        let weights = fit(&examples, &|project| project == "b", None);
        assert!(weights[1] > 0.0 && weights[0] < 0.0, "{weights:?}");
    }
}
