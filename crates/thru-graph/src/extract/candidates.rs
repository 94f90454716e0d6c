//! What only a model claims: the decisions that it found, and links between things that the record shows.

use std::collections::BTreeSet;

use thru_core::{
    ClaimedRelation, Entity, EntityKind, Id, Object, Observation, ObservationType, Relation,
    Timestamp,
};

use super::{Extractor, people, project};
use crate::opening::{Claim, FoldKey, Opening};

/// Fewest characters of a part of a name that stands for the whole.
const PART: usize = 4;

/// The things that the openings of a session show, each with the key of what is known of it.
struct Known(Vec<(Entity, FoldKey)>);

/// A claim with the key of the facts that it bears on.
struct Link {
    key: FoldKey,
    subject: Entity,
    object: Entity,
}

impl Extractor {
    /// Adds the decisions that a model found in the session, except those of a dialogue, and the links that it claims. They end
    /// nothing.
    pub(super) fn candidates(&mut self, refined: &[Observation], dialogues: &BTreeSet<Id>) {
        let known = Known::of(&self.openings);
        for one in refined {
            let (Some(at), Some(passage)) = (one.at.or(self.at), one.sources.last()) else {
                continue;
            };
            let is_said = one.sources.iter().any(|id| dialogues.contains(id));
            if one.kind == ObservationType::Decision && !one.title.is_empty() && !is_said {
                let (key, object) = people::decision(one);
                let link = Link { key, subject: project(), object };
                self.candidate(link, Relation::Decided, at, *passage);
            }
            for claimed in &one.relations {
                if let Some(link) = self.link(claimed, &known) {
                    self.candidate(link, claimed.relation, at, *passage);
                }
            }
        }
    }

    fn candidate(&mut self, link: Link, relation: Relation, at: Timestamp, passage: Id) {
        let Link { key, subject, object } = link;
        let claim = Claim::Candidate { subject, relation, object: Object::Entity(object) };
        self.openings.push(Opening { key, at, passage, claim });
    }

    /// Returns the link that a claim means; `None` if it is of other kinds than its relation has, or if the session shows no
    /// such thing.
    fn link(&self, claimed: &ClaimedRelation, known: &Known) -> Option<Link> {
        let ClaimedRelation { relation, subject, object } = claimed;
        let commit = |said| known.find(EntityKind::Commit, |key| is_hash_of(said, key));
        let branch = |said: &str| known.find(EntityKind::Branch, |key| key == said);
        let (key, subject, object) = match relation {
            Relation::FixedBy => {
                let (problem, key) = known.problem(subject)?;
                let fix = commit(object).map(|(commit, _)| commit);
                (key, problem, fix.or_else(|| self.named_file(object))?)
            }
            Relation::Touches => {
                let (commit, key) = commit(subject)?;
                (key, commit, self.named_file(object)?)
            }
            Relation::Closes => {
                let (commit, key) = commit(subject)?;
                let number: u64 = object.strip_prefix('#')?.parse().ok()?;
                (key, commit, Entity::new(EntityKind::Issue, format!("#{number}")))
            }
            Relation::RenamedTo => {
                let from = self.named_file(subject)?;
                (FoldKey::new(&["renamed", &from.key]), from, self.named_file(object)?)
            }
            Relation::MergedInto => {
                let (from, _) = branch(subject)?;
                (FoldKey::new(&["merged", &from.key]), from, branch(object)?.0)
            }
            _ => return None,
        };
        (subject != object).then_some(Link { key, subject, object })
    }

    /// Returns the file that a model names: one word with an extension.
    fn named_file(&self, said: &str) -> Option<Entity> {
        let name = said.rsplit('/').next()?;
        let is_file = name.contains('.') && !said.contains(char::is_whitespace);
        is_file.then(|| self.file(said)).flatten()
    }
}

impl Known {
    fn of(openings: &[Opening]) -> Self {
        let mut known = Vec::new();
        let mut add = |entity: &Entity, key: &FoldKey| known.push((entity.clone(), key.clone()));
        for Opening { key, claim, .. } in openings {
            match claim {
                Claim::Run { failures, .. } => {
                    failures.iter().for_each(|problem| add(&problem.entity, key));
                }
                Claim::Event { object, subject, .. } => {
                    add(subject, key);
                    if let Object::Entity(object) = object {
                        add(object, key);
                    }
                }
                Claim::Value { object: Some(Object::Entity(object)), .. } => add(object, key),
                Claim::Value { .. } | Claim::Candidate { .. } => {}
            }
        }
        Self(known)
    }

    fn find(&self, kind: EntityKind, is_meant: impl Fn(&str) -> bool) -> Option<(Entity, FoldKey)> {
        let mut found = self.0.iter().filter(|(one, _)| one.kind == kind && is_meant(&one.key));
        found.next().cloned()
    }

    /// Returns the one problem that a text names whole or in part, with the key of the run that last showed it.
    fn problem(&self, said: &str) -> Option<(Entity, FoldKey)> {
        let said = said.trim().trim_matches('`');
        let is_problem = |one: &Entity| matches!(one.kind, EntityKind::Test | EntityKind::Error);
        let is_meant = |key: &str| {
            key == said
                || said.len().min(key.len()) >= PART && (key.contains(said) || said.contains(key))
        };
        let found = self.0.iter().rev();
        let mut found = found.filter(|(one, _)| is_problem(one) && is_meant(&one.key));
        let first = found.next()?;
        found.all(|(one, _)| *one == first.0).then(|| first.clone())
    }
}

/// Returns true if a text is the hash of the commit with this key, whole or cut.
fn is_hash_of(said: &str, key: &str) -> bool {
    said.bytes().all(|byte| byte.is_ascii_hexdigit()) && said.to_lowercase().starts_with(key)
}
