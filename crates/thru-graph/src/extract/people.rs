//! Decisions and rules in a person's own words.

use std::collections::BTreeSet;

use thru_core::{Entity, EntityKind, Id, Object, Observation, ObservationType, Relation, Speaker};

use thru_distil::Step;

use super::{Extractor, project};
use crate::opening::{Claim, FoldKey, Opening};

impl Extractor {
    /// Adds what people decided in the client's own dialogues, and the rules that they gave. What they say in passing, and what
    /// the agent says it chose, makes no fact.
    pub(super) fn people(&mut self, observations: &[Observation], dialogues: &BTreeSet<Id>) {
        let of_person = |one: &&Observation| {
            one.kind == ObservationType::Decision && one.speaker == Speaker::Person
        };
        // A plan that was approved is told by the work that carried it out.
        let is_approved = |one: &&Observation| {
            !matches!(one.kind, ObservationType::Decision | ObservationType::Discovery)
                && !one.title.is_empty()
                && one.sources.iter().any(|source| dialogues.contains(source))
        };
        for one in observations.iter().filter(is_approved) {
            self.decided(one);
        }
        for one in observations.iter().filter(of_person) {
            if one.is_rule {
                // Any rule may take the place of any other: they share a key.
                let key = FoldKey::new(&["ruled"]);
                self.said(one, Relation::Ruled, key, told(EntityKind::Rule, one));
            } else if one.sources.iter().any(|source| dialogues.contains(source)) {
                self.decided(one);
            }
        }
    }

    fn decided(&mut self, one: &Observation) {
        let (key, object) = decision(one);
        self.said(one, Relation::Decided, key, object);
    }

    fn said(&mut self, one: &Observation, relation: Relation, key: FoldKey, object: Entity) {
        let (Some(at), Some(passage)) = (one.at.or(self.at), one.sources.last()) else { return };
        let claim = Claim::Event {
            subject: project(),
            relation,
            object: Object::Entity(object),
            note: String::new(),
        };
        self.openings.push(Opening { key, at, passage: *passage, claim });
    }
}

/// Returns a decision as an entity, with the key of what is known of it.
pub(super) fn decision(one: &Observation) -> (FoldKey, Entity) {
    (FoldKey::new(&["decided", &one.id.to_string()]), told(EntityKind::Decision, one))
}

/// Returns what a person said as an entity.
fn told(kind: EntityKind, one: &Observation) -> Entity {
    Entity::new(kind, one.id.to_string()).named(&one.title)
}

/// Returns the passages in which a person decided something in a dialogue of the client.
pub(super) fn dialogues(steps: &[Step]) -> BTreeSet<Id> {
    steps.iter().filter(|step| step.decides).map(|step| step.id).collect()
}
