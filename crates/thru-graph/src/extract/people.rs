//! Decisions and rules in a person's own words.

use std::collections::BTreeSet;

use thru_core::{Entity, EntityKind, Id, Object, Observation, ObservationType, Relation, Speaker};

use thru_distil::Step;

use super::{Extractor, project};
use crate::opening::{Claim, FoldKey, Opening};
use crate::slot;

impl Extractor {
    /// Adds what people decided in the client's own dialogues, and the rules that they gave. What they say in passing, and what
    /// the agent says it chose, makes no fact.
    pub(super) fn people(&mut self, observations: &[Observation], steps: &[Step]) {
        let decides: BTreeSet<Id> =
            steps.iter().filter(|step| step.decides).map(|step| step.id).collect();
        let of_person = |one: &&Observation| {
            one.kind == ObservationType::Decision && one.speaker == Speaker::Person
        };
        for one in observations.iter().filter(of_person) {
            let (Some(at), Some(passage)) = (one.at.or(self.at), one.sources.last()) else {
                continue;
            };
            let id = one.id.to_string();
            let (key, claim) = if one.is_rule {
                rule(one, &id)
            } else if !one.sources.iter().any(|source| decides.contains(source)) {
                continue;
            } else {
                let decision = Entity::new(EntityKind::Decision, &id).named(&one.title);
                let claim = Claim::Event {
                    subject: project(),
                    relation: Relation::Decided,
                    object: Object::Entity(decision),
                    note: String::new(),
                };
                (FoldKey::new(&["decided", &id]), claim)
            };
            self.openings.push(Opening { key, at, passage: *passage, claim });
        }
    }
}

/// Returns a rule under the key of its slot, else of its own.
fn rule(one: &Observation, id: &str) -> (FoldKey, Claim) {
    let rule = Entity::new(EntityKind::Rule, id).named(&one.title);
    let words = one.narrative.as_ref().map_or(&one.title, |said| &said.text);
    let (slot, value) =
        slot::of_rule(&one.title).or_else(|| slot::of_rule(words)).unwrap_or_default();
    let key = match slot.is_empty() {
        true => FoldKey::new(&["ruled", "", id]),
        false => FoldKey::new(&["ruled", &slot]),
    };
    let claim = Claim::Value {
        subject: project(),
        relation: Relation::Ruled,
        object: Some(Object::Entity(rule)),
        scope: slot,
        note: value,
    };
    (key, claim)
}
