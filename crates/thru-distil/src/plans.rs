//! Decisions to carry out a plan.

use std::collections::BTreeSet;

use thru_core::{Id, Observation, ObservationType, PLAN_APPROVED, Speaker};

use crate::answers::Plan;
use crate::decisions::by_person;
use crate::event::Event;
use crate::merge;
use crate::reply;
use crate::session::{Draft, Session};
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
        false => plan_decision(name, plan),
    };
    observation.narrative =
        plan.reason.as_ref().map(|reason| session.statement(reason.clone(), &[place]));
    observation.facts =
        plan.points.iter().map(|point| session.statement(point.clone(), &[place])).collect();
    Some(Draft { place, observation })
}

/// Puts an approved plan, and orders, into the one piece of work of the same turn that carried them out: it tells what
/// became of them.
pub(crate) fn put_into_work(drafts: &mut Vec<Draft>, from: usize, kept_apart: &BTreeSet<Id>) {
    let is_work = |one: &Observation| {
        !matches!(one.kind, ObservationType::Decision | ObservationType::Discovery)
            && !one.title.is_empty()
    };
    let mut works = drafts.iter().skip(from).map(|draft| &draft.observation);
    let mut works = works.by_ref().filter(|one| is_work(one));
    let (Some(work), None) = (works.next().map(|one| one.title.clone()), works.next()) else {
        return;
    };
    let is_done = |one: &Observation| {
        let is_own = one.kind == ObservationType::Decision
            && one.speaker == Speaker::Person
            && !one.is_rule
            && !kept_apart.contains(&one.id);
        is_own && (one.title.starts_with(PLAN_APPROVED) || is_fulfilled(&one.title, &work))
    };
    let turn = drafts.split_off(from);
    let (done, kept): (Vec<Draft>, Vec<Draft>) =
        turn.into_iter().partition(|draft| is_done(&draft.observation));
    drafts.extend(kept);
    let place = drafts.iter().skip(from).position(|draft| is_work(&draft.observation));
    let Some(work) = place.and_then(|place| drafts.get_mut(from + place)) else { return };
    for Draft { observation: mut plan, .. } in done {
        // Work that goes by the heading of the plan is told with what the plan says of it.
        let name = work.observation.title.strip_prefix("Implement ");
        let name = name.unwrap_or(&work.observation.title);
        let told = plan.title.strip_prefix(PLAN_APPROVED).filter(|told| told.starts_with(name));
        if let Some(told) = told.filter(|told| told.len() > name.len()) {
            work.observation.title = told.to_owned();
        }
        // The message of the commit is the narrative, if there is one.
        work.observation.facts.extend(plan.narrative.take());
        work.observation.facts.append(&mut plan.facts);
        merge::absorb(&mut work.observation, plan);
    }
}

/// Returns true if the title of work says that an order was carried out.
fn is_fulfilled(order: &str, work: &str) -> bool {
    let reasons = [" since ", " because ", " so that ", ", "];
    let end = reasons.iter().filter_map(|reason| order.find(reason)).min().unwrap_or(order.len());
    let wanted = reply::significant(&order[..end]);
    let done = reply::significant(work);
    let shared = wanted.iter().filter(|word| done.contains(word)).count();
    is_order(order) && shared >= 2 && shared * 3 >= wanted.len() * 2
}

/// Returns true if a person says in one of the next prompts that the work was reverted.
fn is_reverted(session: &Session<'_>, place: usize) -> bool {
    let later = session.events.iter().skip(place + 1).filter_map(Event::request);
    later.take(PROMPTS).any(|request| request.took_back.is_some())
}

fn is_order(said: &str) -> bool {
    let first = said.split(' ').next().unwrap_or_default();
    verbs::is_imperative(first) || reply::is_verb(first)
}

/// Returns the title of an approved plan: its heading, and as much of its goal, else of its measures, as there is room for.
fn plan_decision(name: &str, plan: &Plan) -> String {
    let plain = format!("{PLAN_APPROVED}{name}");
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
