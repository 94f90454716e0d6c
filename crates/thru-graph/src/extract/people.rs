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
    pub(super) fn people(&mut self, observations: &[Observation], dialogues: &BTreeSet<Id>) {
        let of_person = |one: &&Observation| {
            one.kind == ObservationType::Decision && one.speaker == Speaker::Person
        };
        for one in observations.iter().filter(of_person) {
            if one.is_rule {
                // Any rule may take the place of any other: they share a key.
                self.said(one, (EntityKind::Rule, Relation::Ruled), &["ruled"], "");
            } else if one.sources.iter().any(|source| dialogues.contains(source)) {
                self.decided(one, "");
            }
        }
    }

    /// Adds the decisions that a model found in the session, marked as such. They end nothing, and repeat none of a dialogue.
    pub(super) fn candidates(&mut self, refined: &[Observation], dialogues: &BTreeSet<Id>) {
        let is_new = |one: &&Observation| {
            let is_decision = one.kind == ObservationType::Decision && !one.is_rule;
            is_decision
                && !one.title.is_empty()
                && one.sources.iter().all(|id| !dialogues.contains(id))
        };
        for one in refined.iter().filter(is_new) {
            self.decided(one, OF_MODEL);
        }
    }

    fn decided(&mut self, one: &Observation, note: &str) {
        let kind = (EntityKind::Decision, Relation::Decided);
        self.said(one, kind, &["decided", &one.id.to_string()], note);
    }

    fn said(
        &mut self,
        one: &Observation,
        (kind, relation): (EntityKind, Relation),
        key: &[&str],
        note: &str,
    ) {
        let (Some(at), Some(passage)) = (one.at.or(self.at), one.sources.last()) else { return };
        let claim = Claim::Event {
            subject: project(),
            relation,
            object: Object::Entity(Entity::new(kind, one.id.to_string()).named(&one.title)),
            note: note.to_owned(),
        };
        self.openings.push(Opening { key: FoldKey::new(key), at, passage: *passage, claim });
    }
}

/// Returns the passages in which a person decided something in a dialogue of the client.
pub(super) fn dialogues(steps: &[Step]) -> BTreeSet<Id> {
    steps.iter().filter(|step| step.decides).map(|step| step.id).collect()
}
