//! What a session shows, before it is put together with what others show.

use serde::{Deserialize, Serialize};
use thru_core::{Entity, Id, Object, Relation, Timestamp};

/// The key of facts that are made together: the openings of one key are all that its facts depend on.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct FoldKey(String);

impl FoldKey {
    /// Returns the key made of these parts.
    pub(crate) fn new(parts: &[&str]) -> Self {
        Self(parts.join("\u{1f}"))
    }

    /// Returns a short form of it, for the store.
    pub fn hash(&self) -> Id {
        Id::derive(&[b"fold", self.0.as_bytes()])
    }
}

/// One thing that a passage shows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Opening {
    /// The key of the facts that it bears on.
    pub key: FoldKey,
    /// The time at which it was recorded.
    pub at: Timestamp,
    /// The passage.
    pub passage: Id,
    /// The thing.
    pub claim: Claim,
}

/// The thing that an opening claims.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Claim {
    /// Something happened, and stays so.
    Event {
        /// The entity that it is about.
        subject: Entity,
        /// The relation.
        relation: Relation,
        /// The other end.
        object: Object,
        /// A remark.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        note: String,
    },
    /// A value holds from now on, where only one can hold at a time; `None` if none does.
    Value {
        /// The entity that it is about.
        subject: Entity,
        /// The relation.
        relation: Relation,
        /// The value.
        object: Option<Object>,
        /// The limits within which it holds.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        scope: String,
        /// A remark.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        note: String,
    },
    /// A model says so: it ends nothing, and adds nothing to what a record says.
    Candidate {
        /// The entity that it is about.
        subject: Entity,
        /// The relation.
        relation: Relation,
        /// The other end.
        object: Object,
    },
    /// A check came to an end.
    Run {
        /// The command.
        command: Entity,
        /// The folder that it ran in, within its project; empty for the project itself.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        folder: String,
        /// The branch that it ran on; empty where that is not known.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        branch: String,
        /// What narrowed it.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        filter: String,
        /// True if it passed.
        passed: bool,
        /// What it failed with.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        failures: Vec<Problem>,
        /// True if the failures are all that there were.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        is_whole: bool,
        /// Edits of the session since the last run of the command in it.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        edits: Vec<Edit>,
        /// True if something ran since then that may have changed what the check sees.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        acted: bool,
        /// The commit that the session made next, before the command ran again.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        commit: Option<Commit>,
    },
}

/// One thing that a check failed with.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Problem {
    /// The error, or the test.
    pub entity: Entity,
    /// The key of the file that it lies in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
}

/// An edit between two runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Edit {
    /// The file.
    pub file: Entity,
    /// The passage.
    pub passage: Id,
    /// Its time.
    pub at: Timestamp,
}

/// A commit that followed a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Commit {
    /// The commit.
    pub commit: Entity,
    /// The passage.
    pub passage: Id,
    /// Its time.
    pub at: Timestamp,
}

impl Opening {
    /// Passes every text that people or tools wrote to `each`.
    pub fn texts(&mut self, each: &mut dyn FnMut(&mut String)) {
        each(&mut self.key.0);
        match &mut self.claim {
            Claim::Event { subject, object, note, .. } => {
                entity(subject, each);
                one_object(object, each);
                each(note);
            }
            Claim::Value { subject, object, scope, note, .. } => {
                entity(subject, each);
                object.iter_mut().for_each(|object| one_object(object, each));
                each(scope);
                each(note);
            }
            Claim::Candidate { subject, object, .. } => {
                entity(subject, each);
                one_object(object, each);
            }
            Claim::Run { command, folder, branch, filter, failures, edits, commit, .. } => {
                entity(command, each);
                [folder, branch, filter].into_iter().for_each(&mut *each);
                for problem in failures {
                    entity(&mut problem.entity, each);
                    problem.file.iter_mut().for_each(&mut *each);
                }
                edits.iter_mut().for_each(|edit| entity(&mut edit.file, each));
                commit.iter_mut().for_each(|made| entity(&mut made.commit, each));
            }
        }
    }
}

fn entity(entity: &mut Entity, each: &mut dyn FnMut(&mut String)) {
    each(&mut entity.key);
    each(&mut entity.name);
}

fn one_object(object: &mut Object, each: &mut dyn FnMut(&mut String)) {
    match object {
        Object::Entity(one) => entity(one, each),
        Object::Value(value) => each(value),
    }
}
