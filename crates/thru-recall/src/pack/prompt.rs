//! What a prompt is given: only what bears on it, and mostly nothing.

use thru_core::{Layout, MemoryKind};
use thru_store::index::{EVERYWHERE, IndexFilter};
use thru_store::{MemoryBody, MemoryFlags, Result, SessionFilter, Store};

use super::render::Section;
use super::{Draft, PackRequest};
use crate::freshness::Freshness;
use crate::memories::{MemoryHit, find_memories, open};
use crate::query::analyse;

/// Lines at most.
const MOST: usize = 4;
/// Words of a prompt that are looked for: a long one says what it is about at its beginning.
const LONGEST_PROMPT: usize = 600;
/// The share of the prompt, its words weighted by how rare they are, that a memory must hold …
const COVERAGE: f32 = 0.3;
/// … and the number of its words.
const WORDS: usize = 2;
/// Compared with the best one, what others must reach.
const SHARE_OF_BEST: f32 = 0.55;

/// Answers and nudges: they say nothing about what to remember.
const SMALL_TALK: &[&str] = &[
    "continue", "go", "on", "ahead", "please", "yes", "yep", "yeah", "y", "no", "nope", "n", "ok",
    "okay", "k", "thanks", "thank", "you", "thx", "ty", "great", "good", "nice", "perfect", "cool",
    "awesome", "done", "next", "proceed", "do", "it", "that", "this", "sure", "fine", "right",
    "correct", "lgtm", "again", "retry", "try", "stop", "wait", "hi", "hello", "hey", "keep",
    "going", "sounds", "looks", "works", "now", "and", "the", "so", "well", "job", "work", "very",
    "much", "a", "lot", "hmm", "run", "tests", "test", "commit", "push", "start", "begin", "let",
    "s", "lets", "us", "me", "all", "of", "them", "both", "first", "second", "one", "two",
    "option", "just", "what", "is", "are", "why", "how", "weiter", "ja", "nein", "danke", "gut",
    "bitte", "mach", "super", "oui", "non", "merci", "si", "gracias", "vale", "continua", "sigue",
];

/// How texts begin that a machine wrote in the user's name, and what goes to the client itself.
const NOT_PROMPTS: &[&str] = &[
    "<task-notification",
    "<system-reminder",
    "<local-command",
    "<command-",
    "<bash-",
    "<teammate-message",
    "<ide_",
    "[Request interrupted",
    "Caveat: The messages below",
    "This session is being continued",
    "/",
    "! ",
];

/// Whether a prompt is answered with silence whatever is remembered, and why.
pub fn deserves_silence(prompt: &str) -> Option<&'static str> {
    let prompt = prompt.trim();
    if prompt.is_empty() {
        return Some("an empty prompt");
    }
    if NOT_PROMPTS.iter().any(|start| prompt.starts_with(start)) && !prompt.starts_with("//") {
        return Some("a command or a machine's turn");
    }
    let words = || prompt.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    if words().all(|word| SMALL_TALK.contains(&word.to_lowercase().as_str())) {
        return Some("small talk");
    }
    None
}

pub(super) fn drafts(
    layout: &Layout,
    store: &Store,
    request: &PackRequest<'_>,
    prompt: &str,
) -> Result<(Vec<Draft>, String)> {
    if let Some(why) = deserves_silence(prompt) {
        return Ok((Vec::new(), format!("silent: {why}")));
    }
    let beginning: String = prompt.chars().take(LONGEST_PROMPT).collect();
    let terms = analyse(&beginning);
    let index = open(layout, store)?;
    let mut projects = request.projects.clone();
    projects.push(EVERYWHERE);
    let filter = IndexFilter {
        projects: Some(projects),
        kinds: (!request.limits.kinds.is_empty()).then(|| request.limits.kinds.clone()),
        concepts: (!request.limits.concepts.is_empty()).then(|| request.limits.concepts.clone()),
        ..IndexFilter::default()
    };
    let hits = find_memories(store, &index, &terms, &filter, 20)?;
    let considered = hits.len();
    let best = hits.first().map_or(0.0, |hit| hit.score);
    let mut drafts = Vec::new();
    for hit in hits.into_iter().filter(|hit| passes(hit, best, request)).take(MOST) {
        drafts.push(draft(store, request, hit)?);
    }
    let note = match drafts.is_empty() {
        true => format!("silent: none of {considered} memories bears on the prompt enough"),
        false => format!("{considered} memories weighed"),
    };
    Ok((drafts, note))
}

fn passes(hit: &MemoryHit, best: f32, request: &PackRequest<'_>) -> bool {
    // What this session did, its agent has in its context.
    let is_own = request.session.is_some() && hit.memory.session == request.session;
    !is_own
        && !hit.memory.flags.is_uncertain
        && hit.words >= WORDS
        && hit.coverage >= COVERAGE
        && hit.score >= SHARE_OF_BEST * best
}

fn draft(store: &Store, request: &PackRequest<'_>, hit: MemoryHit) -> Result<Draft> {
    let memory = hit.memory;
    let root = match memory.session {
        Some(row) => store
            .sessions(&SessionFilter { rows: Some(vec![row]), ..SessionFilter::default() })?
            .pop()
            .and_then(|session| session.facts.directory),
        None => None,
    };
    let files = store.files_of_memories(&[memory.row])?.remove(&memory.row).unwrap_or_default();
    let stale = Freshness::of(&files, root.as_deref(), request.disk).note();
    let mut text = memory.title.clone();
    let MemoryFlags { is_of_person, is_rule, .. } = memory.flags;
    if is_of_person && memory.kind != MemoryKind::Summary {
        text = format!("the user {}: \"{text}\"", if is_rule { "ruled" } else { "said" });
    }
    if let MemoryBody::Observation(body) = store.body_of(&memory)? {
        let detail = body.facts.first().or(body.narrative.as_ref());
        if let Some(detail) = detail.filter(|detail| !detail.text.contains(&memory.title)) {
            text.push_str(". ");
            text.push_str(&super::render::plain(&detail.text, 240));
        }
    }
    let at = memory.at.map(|at| at.to_zoned(request.zone.clone()).date().to_string());
    let notes: Vec<String> = at.into_iter().chain(stale).collect();
    text.push_str(&format!(" ({})", notes.join("; ")));
    Ok(Draft {
        section: Section::Relevant,
        reason: format!(
            "holds {:.0} % of the prompt ({} words), score {:.1}",
            hit.coverage * 100.0,
            hit.words,
            hit.score
        ),
        text,
        memory,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nudges_and_machine_turns_are_answered_with_silence() {
        for prompt in [
            "continue",
            "Thanks!",
            "yes, do it",
            "/clear",
            "<task-notification>x",
            "ok go ahead",
            " ",
        ] {
            assert!(deserves_silence(prompt).is_some(), "{prompt}");
        }
        for prompt in ["why does the lock fail", "fix E0502", "// TODO in main.rs"] {
            assert_eq!(deserves_silence(prompt), None, "{prompt}");
        }
    }
}
