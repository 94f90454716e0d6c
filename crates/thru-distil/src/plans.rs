//! Decisions to carry out a plan.

use thru_core::ObservationType;

use crate::answers::Plan;
use crate::decisions::by_person;
use crate::event::Event;
use crate::gate::stands_alone;
use crate::reply;
use crate::session::{Draft, Session};
use crate::subject;
use crate::text::{TITLE, uncapitalised};
use crate::title;
use crate::verbs;

/// Prompts after an approval among which a person may say that the work was reverted.
const PROMPTS: usize = 2;

/// Returns the decision to carry out a plan.
pub(crate) fn approved(session: &Session<'_>, plan: &Plan, place: usize) -> Option<Draft> {
    let name = plan.title.as_deref().or_else(|| plan.points.first().map(String::as_str))?;
    let mut observation = by_person(session, "plan", 0, place);
    observation.title = match is_reverted(session, place) {
        true => reply::titled(&format!("Reverted the work on the plan: {name}")),
        false => by_commit(session, place, name).unwrap_or_else(|| plan_decision(name, plan)),
    };
    observation.narrative =
        plan.reason.as_ref().map(|reason| session.statement(reason.clone(), &[place]));
    observation.facts =
        plan.points.iter().map(|point| session.statement(point.clone(), &[place])).collect();
    Some(Draft { place, observation })
}

/// Returns true if a person says in one of the next prompts that the work was reverted.
fn is_reverted(session: &Session<'_>, place: usize) -> bool {
    let later = session.events.iter().skip(place + 1).filter_map(Event::request);
    later.take(PROMPTS).any(|request| request.took_back.is_some())
}

/// Returns the title of an approved plan whose heading does not say what is done, by the commit that carried it out.
fn by_commit(session: &Session<'_>, place: usize, name: &str) -> Option<String> {
    if matches!(heading_kind(name), Heading::Order) {
        return None;
    }
    let mut prompts = 0;
    let later = session.events.iter().skip(place + 1).take_while(|event| {
        prompts += usize::from(event.request().is_some_and(|request| request.text.is_some()));
        prompts < PROMPTS
    });
    let mut commits = later.filter_map(Event::run).flat_map(|run| &run.commits);
    let commit = commits.next()?;
    let told = subject::of_commit(&commit.subject);
    let says = is_order(&told)
        && stands_alone(&told)
        && reply::alike(&told, name)
        && reply::says_more(&told, name);
    let title = format!("Approved the plan: {}", uncapitalised(&told));
    (says && title.chars().count() <= TITLE).then_some(title)
}

fn is_order(said: &str) -> bool {
    let first = said.split(' ').next().unwrap_or_default();
    verbs::is_imperative(first) || reply::is_verb(first)
}

/// Returns the title of an approved plan: its heading, and as much of its goal, else of its measures, as there is room for.
fn plan_decision(name: &str, plan: &Plan) -> String {
    let plain = format!("Approved the plan: {name}");
    let fits = |title: &String| title.chars().count() <= TITLE;
    let with = |more: &str| Some(format!("{plain} — {more}")).filter(fits);
    let goal = plan.goal.as_ref().filter(|goal| reply::says_more(goal, name));
    // "When both exist, x": x is the goal.
    let goals = goal.into_iter().flat_map(|goal| {
        let rest = goal.split_once(", ").map(|(_, rest)| rest);
        [Some(goal.as_str()), rest.filter(|rest| rest.split(' ').count() >= 4)]
    });
    if let Some(title) = goals.flatten().find_map(|goal| with(&uncapitalised(goal))) {
        return title;
    }
    let kind = heading_kind(name);
    let measures = plan.points.iter().filter_map(|point| match kind {
        Heading::Order => None,
        Heading::Aim => measure(point, true),
        // A longer name says enough.
        Heading::Name if name.split(' ').count() > 3 => None,
        Heading::Name => measure(point, false),
    });
    let measures: Vec<String> =
        measures.filter(|measure| reply::says_more(measure, name)).take(3).collect();
    (1..=measures.len())
        .rev()
        .find_map(|many| with(&measures[..many].join("; ")))
        .unwrap_or_else(|| reply::titled(&plain))
}

/// The kind of a heading.
enum Heading {
    /// It says what is done.
    Order,
    /// It says what is to become better, not by which change.
    Aim,
    /// It only names the work.
    Name,
}

fn heading_kind(heading: &str) -> Heading {
    let first = heading.split(' ').next().unwrap_or_default().to_lowercase();
    let is_better =
        ["improve", "reduce", "optimize", "optimise", "enhance", "increase", "clean", "polish"];
    let is_repair = verbs::kind_of(heading) == Some(ObservationType::Bugfix);
    match is_order(heading) {
        _ if is_repair || is_better.contains(&first.as_str()) => Heading::Aim,
        true => Heading::Order,
        false => Heading::Name,
    }
}

/// Returns a point of a plan as a measure: "2. Backend: Add a cache" becomes "add a cache", unless a label may be what
/// the point is about.
fn measure(point: &str, may_be_labelled: bool) -> Option<String> {
    let is_order = |said: &str| is_order(said) && !reply::is_procedure(said);
    let said = title::shaped(point);
    let parts =
        [" — ", " – ", " - ", ": "].iter().filter_map(|mark| Some(said.split_once(mark)?.1));
    let parts = parts.filter(|_| may_be_labelled);
    let order = std::iter::once(said.as_str()).chain(parts).find(|said| is_order(said))?;
    let order = order.split(" (").next().unwrap_or(order).trim_end();
    (order.split(' ').count() >= 4 && !is_checking(order)).then(|| uncapitalised(order))
}

/// Returns true for a step that only tests, documents or prepares the others.
fn is_checking(order: &str) -> bool {
    let lower = order.to_lowercase();
    ["test", "changelog", "documentation", "verif", "install ", "dependenc"]
        .iter()
        .any(|word| lower.contains(word))
}
