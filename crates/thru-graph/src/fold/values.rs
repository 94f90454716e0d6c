//! Events, and values of which one holds at a time.

use std::collections::BTreeMap;

use thru_core::{EndReason, Entity, Object, Relation};

use super::{Facts, SessionOpening, Statement};
use crate::opening::Claim;

/// The mark that redaction leaves: what it replaced may have been anything.
const REDACTED: &str = "[redacted";

pub(super) fn fold(facts: &mut Facts, openings: &[SessionOpening]) {
    let mut events: BTreeMap<(&Entity, Relation, &Object), usize> = BTreeMap::new();
    let mut holds: Option<usize> = None;
    for SessionOpening { opening, .. } in openings {
        let (at, passage) = (opening.at, opening.passage);
        match &opening.claim {
            Claim::Event { subject, relation, object, note } => {
                let known = events.get(&(subject, *relation, object)).copied();
                if let Some(place) = known {
                    facts.repeat(place, passage);
                    continue;
                }
                let states = Statement::new(subject, *relation, object, note);
                events.insert((subject, *relation, object), facts.begin(states, at, passage));
            }
            Claim::Value { subject, relation, object, scope, note } => {
                let before = holds.and_then(|place| facts.made.get(place));
                let Some(object) = object else {
                    if let Some(place) = holds.take() {
                        facts.end(place, at, passage, EndReason::Removed, None);
                    }
                    continue;
                };
                let is_same = before.is_some_and(|fact| {
                    let is_redacted = object.shown().contains(REDACTED) || note.contains(REDACTED);
                    fact.object == *object && fact.note == *note && !is_redacted
                });
                if let Some(place) = holds.filter(|_| is_same) {
                    facts.repeat(place, passage);
                    continue;
                }
                let scope = scope.clone();
                let states =
                    Statement { scope, ..Statement::new(subject, *relation, object, note) };
                let at = facts.after(holds, at);
                let next = facts.begin(states, at, passage);
                if let Some(place) = holds.replace(next) {
                    facts.end(place, at, passage, EndReason::Superseded, Some(next));
                }
            }
            Claim::Candidate { .. } | Claim::Run { .. } => {}
        }
    }
}
