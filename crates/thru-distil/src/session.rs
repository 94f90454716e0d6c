//! A session as a whole: the findings of the detectors, merged, and the summary over them.

use std::collections::BTreeSet;

use thru_core::{Agent, Distillate, Id, Observation, ObservationType, Statement};

use crate::event::Event;
use crate::fixes::Fixes;
use crate::segment::Turn;
use crate::{decisions, discovery, merge, summary, work};

/// The input of the detectors.
#[derive(Debug)]
pub(crate) struct Session<'s> {
    pub(crate) agent: Agent,
    pub(crate) id: &'s str,
    pub(crate) user_title: Option<&'s str>,
    /// May belong to another session: old clients write titles of others into a transcript.
    pub(crate) agent_title: Option<&'s str>,
    pub(crate) kept_apart: &'s BTreeSet<Id>,
    pub(crate) events: &'s [Event],
    pub(crate) turns: Vec<Turn>,
    pub(crate) fixes: Fixes,
}

/// An observation and its place in the session.
#[derive(Debug)]
pub(crate) struct Draft {
    pub(crate) place: usize,
    pub(crate) observation: Observation,
}

impl Session<'_> {
    /// Creates an observation without text, anchored at the event of this place.
    pub(crate) fn blank(
        &self,
        detector: &str,
        ordinal: usize,
        place: usize,
        kind: ObservationType,
    ) -> Observation {
        let anchor = self.events.get(place);
        let id = anchor.map_or(Id::from_bytes([0; Id::BYTES]), |event| event.id);
        let id = Id::derive(&[
            b"observation",
            self.agent.as_str().as_bytes(),
            self.id.as_bytes(),
            id.as_bytes(),
            detector.as_bytes(),
            &(ordinal as u64).to_le_bytes(),
        ]);
        let turn = anchor.map_or(0, |event| event.turn);
        Observation {
            at: anchor.and_then(|event| event.at),
            raw_tokens: anchor.map_or(0, |event| event.tokens),
            ..Observation::new(id, turn, kind, String::new())
        }
    }

    /// Builds a statement with the events that show it.
    pub(crate) fn statement(&self, text: String, places: &[usize]) -> Statement {
        Statement { text, sources: self.ids(places) }
    }

    /// Returns the passages of these events, each once, in the order of the session.
    pub(crate) fn ids(&self, places: &[usize]) -> Vec<Id> {
        let mut places = places.to_vec();
        places.sort_unstable();
        places.dedup();
        let mut ids: Vec<Id> = Vec::with_capacity(places.len());
        for event in places.into_iter().filter_map(|place| self.events.get(place)) {
            if !ids.contains(&event.id) {
                ids.push(event.id);
            }
        }
        ids
    }
}

/// Distils a session.
pub(crate) fn distil(session: &Session<'_>) -> Distillate {
    let mut drafts: Vec<Draft> = Vec::new();
    for turn in &session.turns {
        let before = drafts.len();
        for segment in &turn.segments {
            drafts.extend(work::observe(session, turn, segment));
        }
        let has_work = drafts.len() > before;
        decisions::observe(session, turn, &mut drafts);
        if !has_work {
            drafts.extend(discovery::observe(session, turn));
        }
    }
    drafts.sort_by_key(|draft| draft.place);
    let mut ids = BTreeSet::new();
    let drafts = drafts.into_iter().map(|draft| without_empty(draft.observation));
    // Passages with equal ids (in a damaged transcript) would give observations with equal ids.
    let drafts = drafts
        .filter(|observation| !observation.title.is_empty() && ids.insert(observation.id))
        .collect();
    let observations = merge::merged(drafts, session.kept_apart);
    let summary = summary::summarise(session, &observations);
    Distillate { observations, summary }
}

/// Drops statements without words.
fn without_empty(mut observation: Observation) -> Observation {
    observation.facts.retain(|fact| !fact.text.is_empty());
    observation.narrative = observation.narrative.filter(|narrative| !narrative.text.is_empty());
    observation
}
