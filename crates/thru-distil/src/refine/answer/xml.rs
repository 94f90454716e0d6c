//! Answers in the tags of other observers: `<observation>` and `<summary>`.

use super::json::lines;
use super::{
    ClaimedFact, ClaimedObservation, FACTS, FILES, LIST, OBSERVATIONS, SessionAnswer, TurnAnswer,
    TurnSummary, bounded, concept_of, kind_of, without_cites,
};
use crate::text::find_ignoring_case;

/// Reads an answer about a turn, if it has anything in known tags.
pub(super) fn turn(text: &str) -> Option<TurnAnswer> {
    let blocks = elements(text, "observation", OBSERVATIONS);
    let observations: Vec<ClaimedObservation> =
        blocks.into_iter().filter_map(observation).collect();
    let summary = elements(text, "summary", 1).first().map(|block| summary(block));
    match summary {
        None if observations.is_empty() => None,
        summary => Some(TurnAnswer { observations, summary: summary.unwrap_or_default() }),
    }
}

/// Reads an answer about a session.
pub(super) fn session(text: &str) -> Option<SessionAnswer> {
    let block = elements(text, "summary", 1).first().copied()?;
    let list =
        |name| elements(block, name, LIST).into_iter().flat_map(said_lines).take(LIST).collect();
    Some(SessionAnswer {
        title: one(block, "title"),
        summary: summary(block),
        topics: list("topic"),
        outcomes: list("outcomes"),
        context: list("notes"),
        ..SessionAnswer::default()
    })
}

fn observation(block: &str) -> Option<ClaimedObservation> {
    let title = one(block, "title");
    let mut narrative = one(block, "narrative");
    if narrative.is_empty() {
        narrative = one(block, "subtitle");
    }
    if title.is_empty() && narrative.is_empty() {
        return None;
    }
    let all = |name, most| elements(block, name, most).into_iter().map(said);
    let facts = all("fact", FACTS).filter(|fact| !fact.is_empty()).map(|fact| {
        let (text, cite) = without_cites(&fact);
        ClaimedFact { text: text.to_owned(), cite }
    });
    let files = |name| -> Vec<String> {
        let Some(block) = elements(block, name, 1).first().copied() else { return Vec::new() };
        elements(block, "file", FILES).into_iter().map(said).collect()
    };
    Some(ClaimedObservation {
        kind: kind_of(&one(block, "type")),
        facts: facts.collect(),
        concepts: all("concept", LIST).filter_map(|name| concept_of(&name)).collect(),
        files_read: files("files_read"),
        files_modified: files("files_modified"),
        relations: Vec::new(),
        cite: Vec::new(),
        title,
        narrative,
    })
}

fn summary(block: &str) -> TurnSummary {
    let list =
        |name| elements(block, name, 1).into_iter().flat_map(said_lines).take(LIST).collect();
    TurnSummary {
        request: one(block, "request"),
        investigated: list("investigated"),
        learned: list("learned"),
        completed: list("completed"),
        next_steps: list("next_steps"),
    }
}

fn said_lines(block: &str) -> Vec<String> {
    lines(&said(block), LIST)
}

fn one(block: &str, name: &str) -> String {
    elements(block, name, 1).into_iter().next().map(said).unwrap_or_default()
}

/// Returns the text of an element.
fn said(inside: &str) -> String {
    let text = bounded(inside);
    if !text.contains('&') {
        return text.to_owned();
    }
    text.replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&quot;", "\"")
        .replace("&apos;", "'")
        .replace("&amp;", "&")
}

/// Returns the contents of the first elements with that name. An unclosed element ends where the next
/// one begins.
fn elements<'t>(text: &'t str, name: &str, most: usize) -> Vec<&'t str> {
    let (open, close) = (format!("<{name}"), format!("</{name}"));
    let mut found = Vec::new();
    let mut rest = text;
    while found.len() < most
        && let Some(at) = find_ignoring_case(rest, &open)
    {
        let after = &rest[at + open.len()..];
        // `<fact>` is not `<facts>`.
        if !after.starts_with(|c: char| c == '>' || c == '/' || c.is_whitespace()) {
            rest = after;
            continue;
        }
        let Some(start) = after.find('>') else { break };
        let inside = &after[start + 1..];
        let end = find_ignoring_case(inside, &close);
        let next = find_ignoring_case(inside, &open);
        let end = match (end, next) {
            (Some(end), _) => end,
            (None, Some(next)) => next,
            (None, None) => inside.len(),
        };
        found.push(&inside[..end]);
        rest = &inside[end..];
    }
    found
}
