//! Decisions to carry out a plan.

use thru_core::ObservationType;

use crate::answers::Plan;
use crate::decisions::by_person;
use crate::reply;
use crate::session::{Draft, Session};
use crate::text::{TITLE, uncapitalised};
use crate::title;
use crate::verbs;

/// Returns the decision to carry out a plan.
pub(crate) fn approved(session: &Session<'_>, plan: &Plan, place: usize) -> Option<Draft> {
    let name = plan.title.as_deref().or_else(|| plan.points.first().map(String::as_str))?;
    let mut observation = by_person(session, "plan", 0, place);
    observation.title = plan_decision(name, &plan.points);
    observation.narrative =
        plan.reason.as_ref().map(|reason| session.statement(reason.clone(), &[place]));
    observation.facts =
        plan.points.iter().map(|point| session.statement(point.clone(), &[place])).collect();
    Some(Draft { place, observation })
}

/// Returns the title of an approved plan: its heading, and where that only names an aim, the measures for which there is
/// room.
fn plan_decision(name: &str, points: &[String]) -> String {
    let plain = format!("Approved the plan: {name}");
    if !is_aim(name) {
        return reply::titled(&plain);
    }
    let measures = points.iter().filter_map(|point| measure(point));
    let measures: Vec<String> =
        measures.filter(|measure| reply::says_more(measure, name)).take(2).collect();
    (1..=measures.len())
        .rev()
        .map(|many| format!("{plain} — {}", measures[..many].join("; ")))
        .find(|title| title.chars().count() <= TITLE)
        .unwrap_or_else(|| reply::titled(&plain))
}

/// Returns true for a heading that says what is to become better, not by which change.
fn is_aim(heading: &str) -> bool {
    let first = heading.split(' ').next().unwrap_or_default().to_lowercase();
    let is_better =
        ["improve", "reduce", "optimize", "optimise", "enhance", "increase", "clean", "polish"];
    is_better.contains(&first.as_str()) || verbs::kind_of(heading) == Some(ObservationType::Bugfix)
}

/// Returns a point of a plan as a measure: "2. Backend: Add a cache" becomes "add a cache".
fn measure(point: &str) -> Option<String> {
    let is_order = |said: &str| {
        let first = said.split(' ').next().unwrap_or_default();
        (verbs::is_imperative(first) || reply::is_verb(first)) && !reply::is_procedure(said)
    };
    let said = title::shaped(point);
    let parts =
        [" — ", " – ", " - ", ": "].iter().filter_map(|mark| Some(said.split_once(mark)?.1));
    let order = std::iter::once(said.as_str()).chain(parts).find(|said| is_order(said))?;
    let order = order.split(" (").next().unwrap_or(order).trim_end();
    (order.split(' ').count() >= 4 && !is_checking(order)).then(|| uncapitalised(order))
}

/// Returns true for a step that only tests or documents the others.
fn is_checking(order: &str) -> bool {
    let lower = order.to_lowercase();
    ["test", "changelog", "documentation", "verif"].iter().any(|word| lower.contains(word))
}
