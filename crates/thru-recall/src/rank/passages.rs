//! The features that order passages.

use thru_core::PassageKind;
use thru_store::index::Candidate;

use super::evidence::{Evidence, of_echo};

/// Number of features.
const COUNT: usize = 14;

/// The features of a passage, in the order of [`PASSAGE_FEATURES`].
pub(super) type PassageFeatures = [f32; COUNT];

/// The names of the features.
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
];

/// The indexes of two of them.
pub(super) const WORDS: usize = 0;
pub(super) const MEANING: usize = 3;
const _: () = assert!(matches!(PASSAGE_FEATURES[WORDS].as_bytes(), b"words"));
const _: () = assert!(matches!(PASSAGE_FEATURES[MEANING].as_bytes(), b"meaning"));

/// The features of every candidate.
pub(super) fn features(all: &[Candidate], evidence: &Evidence) -> Vec<PassageFeatures> {
    all.iter()
        .enumerate()
        .map(|(at, candidate)| {
            let is = |kind| f32::from(candidate.kind == kind && !candidate.is_subagent);
            let said = |kind| of_echo(candidate) * is(kind);
            let (person, agent) = (said(PassageKind::Human), said(PassageKind::Assistant));
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
            ]
        })
        .collect()
}
