//! Rules: a later one about the same thing takes the place of an earlier one, by the same words by which packs tell that.

use thru_core::{EndReason, Entity, Object, Relation, Saying};

use super::{Facts, SessionOpening, Statement};
use crate::opening::Claim;

/// A rule in force.
struct Rule<'o> {
    /// Its fact.
    place: usize,
    entity: &'o Entity,
    saying: Saying,
}

pub(super) fn fold(facts: &mut Facts, openings: &[SessionOpening]) {
    let mut in_force: Vec<Rule<'_>> = Vec::new();
    for SessionOpening { opening, .. } in openings {
        let Claim::Event { subject, relation, object: Object::Entity(entity), note } =
            &opening.claim
        else {
            continue;
        };
        let (at, passage) = (opening.at, opening.passage);
        let saying = Saying::parse(entity.shown());
        // A rule that is told again is another memory and the same rule.
        let is_same = |rule: &&Rule<'_>| rule.entity == entity || rule.saying == saying;
        if let Some(known) = in_force.iter().find(is_same) {
            facts.repeat(known.place, passage);
            continue;
        }
        let state = |subject: &Entity, relation: Relation, object: &Entity| Statement {
            subject: subject.clone(),
            relation,
            object: Object::Entity(object.clone()),
            scope: String::new(),
            note: note.clone(),
        };
        let place = facts.begin(state(subject, *relation, entity), at, passage);
        let (over, holding) =
            in_force.into_iter().partition(|rule: &Rule<'_>| saying.supersedes(&rule.saying));
        in_force = holding;
        let over: Vec<Rule<'_>> = over;
        for rule in over {
            facts.end(rule.place, at, passage, EndReason::Superseded, Some(place));
            facts.begin(state(entity, Relation::Replaces, rule.entity), at, passage);
        }
        in_force.push(Rule { place, entity, saying });
    }
}
