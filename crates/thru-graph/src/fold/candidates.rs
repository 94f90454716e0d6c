//! What only a model says: it is told where no record says the same.

use thru_core::{Fact, Relation};

use super::{Facts, SessionOpening, Statement};
use crate::opening::Claim;

/// The remark on it.
const OF_MODEL: &str = "as a model says";

/// Adds the candidates to the facts that the records of their key made.
pub(super) fn fold(facts: &mut Facts, openings: &[SessionOpening]) {
    for SessionOpening { opening, .. } in openings {
        let Claim::Candidate { subject, relation, object } = &opening.claim else { continue };
        let is_same = |fact: &Fact| {
            // What mended a problem is known where its check says so.
            let is_mended = *relation == Relation::FixedBy && fact.note != OF_MODEL;
            let is_alike = fact.subject == *subject && fact.relation == *relation;
            is_alike && (fact.object == *object || is_mended)
        };
        if facts.made.iter().any(is_same) {
            continue;
        }
        let states = Statement::new(subject, *relation, object, OF_MODEL);
        facts.begin(states, opening.at, opening.passage);
    }
}
