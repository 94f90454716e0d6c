//! The features that order sessions.

use std::collections::BTreeMap;

use thru_core::PassageKind;
use thru_store::index::Candidate;

use super::evidence::{Evidence, Found, by_thread, insert, spoken_words};
use super::largest;

/// Number of features.
const COUNT: usize = 20;

/// The features of a session, in the order of [`SESSION_FEATURES`].
pub(super) type SessionFeatures = [f32; COUNT];

/// The names of the features. For words, for meaning, for both together, and for both anywhere in a turn,
/// each the best three passages; in shares of the best session, except meaning, which is a share already. The last three are
/// the question beside the session's memories, and beside the titles of its commits.
pub(super) const SESSION_FEATURES: [&str; COUNT] = [
    "both-1",
    "both-2",
    "both-3",
    "words-1",
    "words-2",
    "words-3",
    "meaning-1",
    "meaning-2",
    "meaning-3",
    "turn-1",
    "turn-2",
    "turn-3",
    "passages",
    "person",
    "proximity",
    "named-file",
    "when",
    "centroid",
    "summary",
    "title",
];

/// The index of one of them.
pub(super) const CENTROID: usize = 17;
const _: () = assert!(matches!(SESSION_FEATURES[CENTROID].as_bytes(), b"centroid"));

/// Cosines of memories below this mean nothing.
const UNRELATED: f32 = 0.1;

/// The data gathered for one session.
#[derive(Default)]
struct Gathered {
    both: [f32; 3],
    words: [f32; 3],
    meaning: [f32; 3],
    turn: [f32; 3],
    passages: u32,
    person: f32,
    proximity: f32,
    named_file: f32,
    when: f32,
    /// The smallest key of its passages.
    first_key: u64,
}

/// Sessions with the smallest key of their passages, and their features.
pub(super) fn features(
    all: &[Candidate],
    evidence: &Evidence,
    found: &Found,
) -> Vec<(i64, u64, SessionFeatures)> {
    let mut sessions: BTreeMap<i64, Gathered> = BTreeMap::new();
    for (at, candidate) in all.iter().enumerate() {
        let of = sessions
            .entry(candidate.session)
            .or_insert_with(|| Gathered { first_key: u64::MAX, ..Gathered::default() });
        let weight = by_thread(candidate);
        let meaning = weight * evidence.meaning[at];
        insert(&mut of.both, evidence.both[at]);
        let words = spoken_words(candidate, evidence.words[at], evidence.proximity[at]);
        insert(&mut of.words, words);
        insert(&mut of.meaning, meaning);
        insert(&mut of.turn, weight * (evidence.turn_words[at] + evidence.turn_meaning[at]));
        of.passages += 1;
        if candidate.kind == PassageKind::Human && !candidate.is_subagent {
            of.person = of.person.max((evidence.words[at] + evidence.meaning[at]) / 2.0);
        }
        of.proximity = of.proximity.max(evidence.proximity[at]);
        of.named_file = of.named_file.max(evidence.named_file[at]);
        of.when = of.when.max(evidence.when[at]);
        of.first_key = of.first_key.min(candidate.key);
    }
    let best = |value: fn(&Gathered) -> f32| largest(sessions.values().map(value));
    let both = best(|of| of.both[0]);
    let words = best(|of| of.words[0]);
    let turn = best(|of| of.turn[0]);
    let meaning = |session: &i64| found.sessions.get(session).copied().unwrap_or_default();
    let related = |cosine: f32| (cosine - UNRELATED).max(0.0);
    let centroid = largest(sessions.keys().map(|session| related(meaning(session).centroid)));
    let summary = largest(sessions.keys().map(|session| related(meaning(session).summary)));
    let title = largest(sessions.keys().map(|session| related(meaning(session).title)));
    sessions
        .iter()
        .map(|(session, of)| {
            let about = meaning(session);
            let features = [
                of.both[0] / both,
                of.both[1] / both,
                of.both[2] / both,
                of.words[0] / words,
                of.words[1] / words,
                of.words[2] / words,
                of.meaning[0],
                of.meaning[1],
                of.meaning[2],
                of.turn[0] / turn,
                of.turn[1] / turn,
                of.turn[2] / turn,
                ((1 + of.passages) as f32).ln() / 5.0,
                of.person,
                of.proximity,
                of.named_file,
                of.when,
                related(about.centroid) / centroid,
                related(about.summary) / summary,
                related(about.title) / title,
            ];
            (*session, of.first_key, features)
        })
        .collect()
}
