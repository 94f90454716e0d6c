//! From all openings of one key to its facts: the same for any order in which they came in.

mod candidates;
mod rules;
mod runs;
#[cfg(test)]
mod tests;
mod values;

use std::collections::BTreeSet;
use std::time::Duration;

use thru_core::{
    EndReason, Entity, Evidence, EvidenceRole, Fact, FactEnd, Id, Object, Relation, Timestamp,
};

use crate::opening::{Claim, Opening};

/// Most records that are kept to show that a fact still held: the latest.
const REPEATED: usize = 8;

/// The shortest time for which a fact holds.
const MOMENT: Duration = Duration::from_millis(1);

/// An opening with its place among all of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionOpening {
    /// A name of the session that is the same on every machine.
    pub session: String,
    /// Its place in the session.
    pub place: u32,
    /// The opening.
    pub opening: Opening,
}

/// Returns the facts of one key in one project, earliest first.
pub fn fold(project: &str, mut openings: Vec<SessionOpening>) -> Vec<Fact> {
    openings.sort_by(|one, other| {
        let place = |one: &SessionOpening| (one.opening.at, one.place);
        (place(one), &one.session).cmp(&(place(other), &other.session))
    });
    // A copy of a record in another session is the same record.
    let mut known = BTreeSet::new();
    openings.retain(|one| {
        known.insert((
            one.opening.passage,
            serde_json::to_string(&one.opening.claim).unwrap_or_default(),
        ))
    });
    let mut facts = Facts::new(project);
    let is_run = |one: &SessionOpening| matches!(one.opening.claim, Claim::Run { .. });
    let is_rule = |one: &SessionOpening| {
        matches!(one.opening.claim, Claim::Event { relation: Relation::Ruled, .. })
    };
    let (checks, others): (Vec<_>, Vec<_>) = openings.into_iter().partition(is_run);
    let (rules, others): (Vec<_>, Vec<_>) = others.into_iter().partition(is_rule);
    values::fold(&mut facts, &others);
    rules::fold(&mut facts, &rules);
    runs::fold(&mut facts, &checks);
    candidates::fold(&mut facts, &others);
    facts.made.sort_by_key(|one| (one.from, one.id));
    facts.made
}

/// The facts of a key as they are made.
struct Facts {
    project: String,
    made: Vec<Fact>,
    ids: BTreeSet<Id>,
}

/// What a new fact states.
struct Statement {
    subject: Entity,
    relation: Relation,
    object: Object,
    scope: String,
    note: String,
}

impl Statement {
    /// A statement that holds wherever.
    fn new(subject: &Entity, relation: Relation, object: &Object, note: &str) -> Self {
        Self {
            subject: subject.clone(),
            relation,
            object: object.clone(),
            scope: String::new(),
            note: note.to_owned(),
        }
    }
}

impl Facts {
    fn new(project: &str) -> Self {
        Self { project: project.to_owned(), made: Vec::new(), ids: BTreeSet::new() }
    }

    /// Begins a fact, and returns its place.
    fn begin(&mut self, states: Statement, at: Timestamp, passage: Id) -> usize {
        let Statement { subject, relation, object, scope, note } = states;
        let mut from = at;
        let mut id = self.id(&subject, relation, &object, &scope, from);
        while !self.ids.insert(id) {
            from = from.saturating_add(MOMENT).unwrap_or(Timestamp::MAX);
            id = self.id(&subject, relation, &object, &scope, from);
        }
        let evidence = vec![Evidence { role: EvidenceRole::Opened, passage }];
        self.made.push(Fact {
            id,
            subject,
            relation,
            object,
            scope,
            note,
            from,
            end: None,
            evidence,
        });
        self.made.len() - 1
    }

    fn id(
        &self,
        subject: &Entity,
        relation: Relation,
        object: &Object,
        scope: &str,
        from: Timestamp,
    ) -> Id {
        let (kind, object) = match object {
            Object::Entity(entity) => (entity.kind.code() + 1, entity.key.as_str()),
            Object::Value(value) => (0, value.as_str()),
        };
        Id::derive(&[
            b"fact",
            self.project.as_bytes(),
            &[subject.kind.code(), relation.code(), kind],
            subject.key.as_bytes(),
            object.as_bytes(),
            scope.as_bytes(),
            &from.as_millisecond().to_le_bytes(),
        ])
    }

    /// Adds a record that shows that a fact still holds.
    fn repeat(&mut self, place: usize, passage: Id) {
        let Some(fact) = self.made.get_mut(place) else { return };
        fact.evidence.push(Evidence { role: EvidenceRole::Repeated, passage });
        if fact.evidence.len() > REPEATED + 1 {
            fact.evidence.remove(1);
        }
    }

    /// Ends a fact.
    fn end(
        &mut self,
        place: usize,
        at: Timestamp,
        passage: Id,
        reason: EndReason,
        by: Option<usize>,
    ) {
        let by = by.and_then(|by| self.made.get(by)).map(|fact| fact.id);
        let Some(fact) = self.made.get_mut(place) else { return };
        let least = fact.from.saturating_add(MOMENT).unwrap_or(Timestamp::MAX);
        fact.end = Some(FactEnd { at: at.max(least), reason, by });
        fact.evidence.push(Evidence { role: EvidenceRole::Closed, passage });
    }

    /// Returns the moment at which the next value of a key may begin: after the one before.
    fn after(&self, place: Option<usize>, at: Timestamp) -> Timestamp {
        let before = place.and_then(|place| self.made.get(place));
        let least = before.map(|fact| fact.from.saturating_add(MOMENT).unwrap_or(Timestamp::MAX));
        least.map_or(at, |least| at.max(least))
    }
}
