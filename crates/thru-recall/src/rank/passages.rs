//! The features that order passages.

use std::collections::HashMap;

use thru_core::PassageKind;
use thru_store::index::Candidate;

use super::evidence::{Evidence, of_echo};

/// Number of features.
const COUNT: usize = 16;

/// The features of a passage, in the order of [`PASSAGE_FEATURES`].
pub(super) type PassageFeatures = [f32; COUNT];

/// The names of the features. The last two are the agent's last words in a turn, which say what came of it, and the place of
/// the session in the order of sessions.
pub(super) const PASSAGE_FEATURES: [&str; COUNT] = [
    "words",
    "window",
    "session",
    "meaning",
    "turn",
    "person",
    "agent",
    "subagent",
    "person-words",
    "tool-words",
    "tool-length",
    "agent-length",
    "named-file",
    "when",
    "last-words",
    "session-score",
];

/// The indexes of some of them.
pub(super) const WORDS: usize = 0;
pub(super) const MEANING: usize = 3;
pub(super) const TURN: usize = 4;
pub(super) const LAST_WORDS: usize = 14;
const _: () = assert!(matches!(PASSAGE_FEATURES[WORDS].as_bytes(), b"words"));
const _: () = assert!(matches!(PASSAGE_FEATURES[MEANING].as_bytes(), b"meaning"));
const _: () = assert!(matches!(PASSAGE_FEATURES[TURN].as_bytes(), b"turn"));
const _: () = assert!(matches!(PASSAGE_FEATURES[LAST_WORDS].as_bytes(), b"last-words"));

/// The features of every candidate. `sessions` has the score of each session, in shares of the best.
pub(super) fn features(
    all: &[Candidate],
    evidence: &Evidence,
    sessions: &HashMap<i64, f32>,
) -> Vec<PassageFeatures> {
    let is_agent = |one: &Candidate| one.kind == PassageKind::Assistant && !one.is_subagent;
    let mut last: HashMap<(i64, u32), u32> = HashMap::new();
    for one in all.iter().filter(|one| is_agent(one) && !one.is_echo) {
        let last = last.entry((one.source, one.turn)).or_default();
        *last = (*last).max(one.ordinal);
    }
    all.iter()
        .enumerate()
        .map(|(at, candidate)| {
            let is = |kind| f32::from(candidate.kind == kind && !candidate.is_subagent);
            let said = |kind| of_echo(candidate) * is(kind);
            let (person, agent) = (said(PassageKind::Human), said(PassageKind::Assistant));
            let is_last = is_agent(candidate)
                && last.get(&(candidate.source, candidate.turn)) == Some(&candidate.ordinal);
            // From 0 to 1 for real passages: one term to some ten thousand.
            let length = ((1 + candidate.length) as f32).ln() / 10.0;
            [
                evidence.words[at],
                evidence.window[at],
                evidence.session[at],
                evidence.meaning[at],
                evidence.turn[at],
                person,
                agent,
                f32::from(candidate.is_subagent),
                person * evidence.words[at],
                said(PassageKind::Tool) * evidence.words[at],
                is(PassageKind::Tool) * length,
                agent * length,
                evidence.named_file[at],
                evidence.when[at],
                f32::from(is_last),
                sessions.get(&candidate.session).copied().unwrap_or(0.0),
            ]
        })
        .collect()
}
