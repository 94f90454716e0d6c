//! Facts: what is true of things, from when to when, and the records that show it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Id, Timestamp, UnknownName};

/// Declares a closed list with a number for the store and a name for people and programs.
macro_rules! closed_list {
    ($(#[$about:meta])* $list:ident, $noun:literal { $($(#[$doc:meta])* $variant:ident = $code:literal, $name:literal;)* }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema, Deserialize)]
        pub enum $list {
            $($(#[$doc])* #[serde(rename = $name)] $variant,)*
        }

        impl $list {
            /// Every one, in the order of the codes.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// Returns its number in the store.
            pub const fn code(self) -> u8 {
                match self { $(Self::$variant => $code,)* }
            }

            /// Returns the one with this number.
            pub fn from_code(code: u8) -> Option<Self> {
                Self::ALL.iter().copied().find(|one| one.code() == code)
            }

            /// Returns the name shown to people and programs.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }
        }

        impl std::fmt::Display for $list {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl std::str::FromStr for $list {
            type Err = UnknownName;

            fn from_str(name: &str) -> Result<Self, Self::Err> {
                crate::memory::named($noun, name, Self::ALL, Self::as_str)
            }
        }
    };
}

closed_list! {
    /// The kind of an entity.
    EntityKind, "kind of entity" {
        /// A body of work.
        Project = 0, "project";
        /// A conversation with an agent, by the agent and its own id.
        Session = 1, "session";
        /// A file, by its path in the repository.
        File = 2, "file";
        /// A command that checks something, without what narrows it.
        Command = 3, "command";
        /// A test, by its runner's name for it.
        Test = 4, "test";
        /// An error, by its code and the words that stay the same.
        Error = 5, "error";
        /// A package, by its ecosystem and name.
        Package = 6, "package";
        /// A language or a runtime that a project is built with.
        Toolchain = 7, "toolchain";
        /// A branch, by its name.
        Branch = 8, "branch";
        /// A commit, by the first seven characters of its hash.
        Commit = 9, "commit";
        /// A pull request, by its number.
        PullRequest = 10, "pull-request";
        /// An issue, by its number.
        Issue = 11, "issue";
        /// A decision, by the id of its memory.
        Decision = 12, "decision";
        /// A rule, by the id of its memory.
        Rule = 13, "rule";
        /// A key of a configuration file, by the file and the path within it.
        ConfigKey = 14, "config-key";
        /// A function or a type, by its file and its name.
        Symbol = 15, "symbol";
    }
}

closed_list! {
    /// The relation that a fact states.
    Relation, "relation" {
        /// A command passed or failed, on one branch.
        Outcome = 0, "OUTCOME";
        /// A command failed with an error or a test.
        FailedWith = 1, "FAILED_WITH";
        /// An error or a failing test went away with a commit or an edit.
        FixedBy = 2, "FIXED_BY";
        /// A session made a commit.
        Committed = 3, "COMMITTED";
        /// A commit changed a file.
        Touches = 4, "TOUCHES";
        /// A working directory is on a branch.
        OnBranch = 5, "ON_BRANCH";
        /// A project depends on a package, in a version.
        DependsOn = 6, "DEPENDS_ON";
        /// A project is built with a version of a language or a runtime.
        Toolchain = 7, "TOOLCHAIN";
        /// A file was renamed.
        RenamedTo = 8, "RENAMED_TO";
        /// A branch or a pull request was merged.
        MergedInto = 9, "MERGED_INTO";
        /// A commit closes an issue.
        Closes = 10, "CLOSES";
        /// A person decided something.
        Decided = 11, "DECIDED";
        /// A person gave a rule.
        Ruled = 12, "RULED";
        /// A file sets a key of configuration, to a value.
        Sets = 13, "SETS";
        /// A rule took the place of another.
        Replaces = 14, "REPLACES";
        /// A file defines a function or a type.
        Defines = 15, "DEFINES";
        /// A session changed a function or a type.
        Edited = 16, "EDITED";
        /// A function or a type was moved to another file.
        MovedTo = 17, "MOVED_TO";
    }
}

impl Relation {
    /// The relations that a model may claim: links between things that the record shows. All others are states, which end one
    /// another, or come whole from the record or from a person.
    pub const CLAIMED: [Self; 5] =
        [Self::FixedBy, Self::Closes, Self::Touches, Self::RenamedTo, Self::MergedInto];

    /// Returns true for what every edit of code says: it answers questions about code only.
    pub const fn is_of_code(self) -> bool {
        matches!(self, Self::Defines | Self::Edited)
    }
}

/// A thing that facts are about: its kind and its exact key say which one it is.
#[derive(
    Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema, Deserialize,
)]
pub struct Entity {
    /// Its kind.
    pub kind: EntityKind,
    /// Its key within its project.
    pub key: String,
    /// The name shown to people; the key, if empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
}

impl Entity {
    /// Returns the entity of this kind and key, which is its name.
    pub fn new(kind: EntityKind, key: impl Into<String>) -> Self {
        Self { kind, key: key.into(), name: String::new() }
    }

    /// Sets the name shown to people.
    pub fn named(self, name: impl Into<String>) -> Self {
        Self { name: name.into(), ..self }
    }

    /// Returns the name shown to people.
    pub fn shown(&self) -> &str {
        if self.name.is_empty() { &self.key } else { &self.name }
    }
}

/// The other end of a fact.
#[derive(
    Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema, Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum Object {
    /// Another entity.
    Entity(Entity),
    /// A value: `pass`, `merged`.
    Value(String),
}

impl Object {
    /// Returns the words shown to people.
    pub fn shown(&self) -> &str {
        match self {
            Self::Entity(entity) => entity.shown(),
            Self::Value(value) => value,
        }
    }
}

/// A relation between two things as a model claims it: a candidate for a fact.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema, Deserialize)]
pub struct ClaimedRelation {
    /// The relation: one of [`Relation::CLAIMED`].
    pub relation: Relation,
    /// The name of the thing that it is about, as the record spells it.
    pub subject: String,
    /// The name of the other end.
    pub object: String,
}

closed_list! {
    /// The part that a record plays for a fact.
    EvidenceRole, "role" {
        /// It shows that the fact began to hold.
        Opened = 0, "opened";
        /// It shows that the fact still held.
        Repeated = 1, "repeated";
        /// It shows that the fact no longer held.
        Closed = 2, "closed";
    }
}

closed_list! {
    /// The reason for which a fact no longer holds.
    EndReason, "reason" {
        /// Another value took its place.
        Superseded = 0, "superseded";
        /// What it is about was removed.
        Removed = 1, "removed";
        /// The check passed after files were changed.
        Fixed = 2, "fixed";
        /// The check passed although nothing was changed.
        Flaky = 3, "flaky";
        /// The check passed, or failed with other things only; the record does not say why.
        Gone = 4, "gone";
    }
}

/// A record that shows something of a fact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Evidence {
    /// Its part.
    pub role: EvidenceRole,
    /// The passage.
    pub passage: Id,
}

/// The end of a fact.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct FactEnd {
    /// The first moment at which it no longer held.
    pub at: Timestamp,
    /// The reason.
    pub reason: EndReason,
    /// The fact that took its place, if one did.
    pub by: Option<Id>,
}

/// A statement that holds for a span of time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fact {
    /// Derived from all that it states and the moment at which it began.
    pub id: Id,
    /// The entity that it is about.
    pub subject: Entity,
    /// The relation.
    pub relation: Relation,
    /// The other end.
    pub object: Object,
    /// The limits within which it holds: the branch, the folder, the part that was checked.
    pub scope: String,
    /// A remark: `came back`, a version, the value of a rule's slot.
    pub note: String,
    /// The first moment at which it held.
    pub from: Timestamp,
    /// Its end; `None` if it still holds.
    pub end: Option<FactEnd>,
    /// The records that show it, in order.
    pub evidence: Vec<Evidence>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_and_names_are_found_again() {
        for kind in EntityKind::ALL {
            assert_eq!(EntityKind::from_code(kind.code()), Some(*kind));
            assert_eq!(kind.as_str().parse::<EntityKind>().ok(), Some(*kind));
        }
        for relation in Relation::ALL {
            assert_eq!(Relation::from_code(relation.code()), Some(*relation));
            assert_eq!(relation.as_str().parse::<Relation>().ok(), Some(*relation));
        }
        assert_eq!(Relation::from_code(200), None);
    }
}
