//! Decisions and rules in a person's own words, and the decisions that a model found.

use std::collections::BTreeSet;

use thru_core::{Entity, EntityKind, Id, Object, Observation, ObservationType, Relation, Speaker};

use thru_distil::Step;

use super::{Extractor, project};
use crate::opening::{Claim, FoldKey, Opening};

/// The remark on what only a model says.
const OF_MODEL: &str = "as a model says";

impl Extractor {
    /// Adds what people decided in the client's own dialogues, and the rules that they gave. What they say in passing, and what
    /// the agent says it chose, makes no fact.
    pub(super) fn people(&mut self, observations: &[Observation], steps: &[Step]) {
        let decides = in_dialogues(steps);
        let of_person = |one: &&Observation| {
            one.kind == ObservationType::Decision && one.speaker == Speaker::Person
        };
        for one in observations.iter().filter(of_person) {
            let (Some(at), Some(passage)) = (one.at.or(self.at), one.sources.last()) else {
                continue;
            };
            let id = one.id.to_string();
            // Any rule may take the place of any other: they share a key.
            let (kind, relation, key) = if one.is_rule {
                (EntityKind::Rule, Relation::Ruled, FoldKey::new(&["ruled"]))
            } else if one.sources.iter().any(|source| decides.contains(source)) {
                (EntityKind::Decision, Relation::Decided, FoldKey::new(&["decided", &id]))
            } else {
                continue;
            };
            let claim = Claim::Event {
                subject: project(),
                relation,
                object: Object::Entity(Entity::new(kind, &id).named(&one.title)),
                note: String::new(),
            };
            self.openings.push(Opening { key, at, passage: *passage, claim });
        }
    }

    /// Adds the decisions that a model found in the session, marked as such. They end nothing, and repeat none of a dialogue.
    pub(super) fn candidates(&mut self, refined: &[Observation], steps: &[Step]) {
        let decides = in_dialogues(steps);
        let is_new = |one: &&Observation| {
            let is_decision = one.kind == ObservationType::Decision && !one.is_rule;
            is_decision
                && !one.title.is_empty()
                && one.sources.iter().all(|id| !decides.contains(id))
        };
        for one in refined.iter().filter(is_new) {
            let (Some(at), Some(passage)) = (one.at.or(self.at), one.sources.last()) else {
                continue;
            };
            let id = one.id.to_string();
            let claim = Claim::Event {
                subject: project(),
                relation: Relation::Decided,
                object: Object::Entity(Entity::new(EntityKind::Decision, &id).named(&one.title)),
                note: OF_MODEL.to_owned(),
            };
            let key = FoldKey::new(&["decided", &id]);
            self.openings.push(Opening { key, at, passage: *passage, claim });
        }
    }
}

/// Returns the passages in which a person decided something in a dialogue of the client.
fn in_dialogues(steps: &[Step]) -> BTreeSet<Id> {
    steps.iter().filter(|step| step.decides).map(|step| step.id).collect()
}
