//! Findings of a turn that changed nothing.

use thru_core::{Concept, ObservationType};

use crate::agent_text::AgentText;
use crate::event::Event;
use crate::fixes::Fix;
use crate::reply;
use crate::request::Request;
use crate::segment::{Turn, files_read};
use crate::session::{Draft, Session};
use crate::text::{TITLE, one_line};
use crate::{exchange, lacking, report, verdict, work};

/// Fewest calls of tools other than the client's that count as work.
const FOREIGN: usize = 3;

/// Length below which an answer is too short to tell anything, in bytes.
const LEAST: usize = 160;

/// Most commands listed among the facts because they failed and worked later.
const FIXES: usize = 4;

/// Returns the discovery of a turn, if the agent looked into something and came to a conclusion, or if a
/// command worked after it had failed.
pub(crate) fn observe(session: &Session<'_>, turn: &Turn) -> Option<Draft> {
    let events = session.events.get(turn.range.clone())?;
    let fixes = session.fixes.within(&turn.range);
    let found = conclusion(session, turn);
    let foreign = if found.is_none() { foreign_work(session, turn) } else { None };
    let title = match (&found, &foreign, fixes.first()) {
        (Some((_, written)), ..) => {
            named(events.first().and_then(Event::request), written).unwrap_or_default()
        }
        (None, Some((_, _, title)), _) => title.clone(),
        // Only of a check it says something about the project that the next session needs.
        (None, None, Some(fix)) if is_check(session, fix) => one_line(&fix.short, TITLE),
        (None, None, _) => return None,
    };
    let kind = match foreign {
        Some(_) => ObservationType::Change,
        None => ObservationType::Discovery,
    };
    let place = turn.range.start;
    let mut observation = session.blank("discovery", 0, place, kind);
    let found = found.or(foreign.map(|(at, written, _)| (at, written)));
    let mut used: Vec<usize> = reading_places(session, turn).take(5).collect();
    for fix in fixes.iter().take(FIXES) {
        let mut places = vec![fix.red, fix.green];
        places.extend(&fix.edits);
        observation.facts.push(session.statement(fix.fact.clone(), &places));
        used.extend([fix.red, fix.green]);
        observation.concepts.insert(Concept::Gotcha);
    }
    if let Some((at, _)) = found {
        used.push(at);
        observation.concepts.insert(match kind {
            ObservationType::Change => Concept::WhatChanged,
            _ => concept(&title),
        });
    }
    observation.title = title;
    observation.files_modified = work::files_modified(session, turn);
    observation.files_read = files_read(events, &observation.files_modified);
    observation.sources = session.ids(&used);
    observation.at = events.iter().filter_map(|event| event.at).max();
    observation.raw_tokens = events.iter().map(|event| event.tokens).sum();
    Some(Draft { place, observation })
}

/// Returns the title of an answer: its verdict, or the verdict with the question where that does not say again what was
/// asked. `None` where no sentence is sure to be the point: a side matter as a title would hide the report.
fn named(request: Option<&Request>, written: &AgentText) -> Option<String> {
    let topic = request.and_then(|request| request.topic.as_deref());
    let question = request.and_then(|request| request.text.as_deref()).unwrap_or_default();
    let verdict = verdict::sure(&written.statements, question);
    // One answer of a sentence says how two things differ, or half of it.
    if lacking::compares(question) {
        return verdict;
    }
    let answered = |topic: &str| {
        let answer = written.answer.as_deref().filter(|answer| exchange::tells(answer, topic))?;
        exchange::titled(topic, answer)
    };
    let restates = |verdict: &String| topic.is_some_and(|topic| exchange::restates(verdict, topic));
    // What has no word in common with the question needs a name to stand for itself.
    let is_own = |verdict: &String| {
        reply::is_specific(verdict) || topic.is_none_or(|topic| reply::alike(verdict, topic))
    };
    verdict.clone().filter(restates).or_else(|| answered(topic?)).or(verdict.filter(is_own))
}

/// Returns the text that concludes a turn: one that calls follow was a remark, and the turn had no end.
fn conclusion<'s>(session: &'s Session<'_>, turn: &Turn) -> Option<(usize, &'s AgentText)> {
    let texts = turn.range.clone().rev();
    let texts = texts.take_while(|at| {
        session.events.get(*at).is_some_and(|one| !one.is_tool() || one.is_subagent)
    });
    let mut written =
        texts.filter_map(|at| Some((at, session.events.get(at)?.agent_text()?))).take(3);
    let concludes = |text: &AgentText| {
        let states = text.finding.is_some() || !text.statements.is_empty();
        states && text.report.len() >= LEAST && !report::announces(&text.report)
    };
    written.find(|(_, text)| concludes(text))
}

/// Returns the work done with tools other than the client's, as the agent describes it: no file shows
/// it.
fn foreign_work<'s>(
    session: &'s Session<'_>,
    turn: &Turn,
) -> Option<(usize, &'s AgentText, String)> {
    let events = session.events.get(turn.range.clone())?;
    if events.iter().filter(|event| event.is_foreign).count() < FOREIGN {
        return None;
    }
    let (at, written) = work::reporting(session.events, turn.range.clone())?;
    let action =
        written.action.as_ref().map(|(title, _)| title.clone()).or_else(|| written.item.clone());
    let asked = || events.first()?.request()?.title.clone();
    Some((at, written, asked().or(action)?))
}

fn is_check(session: &Session<'_>, fix: &Fix) -> bool {
    session.events.get(fix.green).and_then(Event::run).is_some_and(|run| run.is_check)
}

fn reading_places<'s>(session: &'s Session<'_>, turn: &Turn) -> impl Iterator<Item = usize> + 's {
    let has_read = |at: &usize| session.events.get(*at).is_some_and(|event| !event.read.is_empty());
    turn.range.clone().filter(has_read)
}

fn concept(title: &str) -> Concept {
    const TRAP: [&str; 9] =
        ["not ", "n't ", "bug", "issue", "fail", "broken", "because", "missing", "wrong"];
    let lower = title.to_lowercase();
    match TRAP.iter().any(|word| lower.contains(word)) {
        true => Concept::Gotcha,
        false => Concept::HowItWorks,
    }
}
