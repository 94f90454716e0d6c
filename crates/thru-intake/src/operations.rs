//! What this crate records in the journal because it cannot be computed again.

use serde::{Deserialize, Serialize};
use thru_core::{
    Id, Made, MemoryEdit, ObservationType, ProjectKey, Question, RefinedSession, RefinedTurn,
    SessionKey, Spent, Timestamp,
};
use thru_journal::journal::{Durability, Entry};
use thru_lifecycle::content::ContentHash;
use thru_redact::{Redactor, Report};
use thru_store::{Episode, Store};

use crate::{Intake, IntakeLock, Result};

/// One thing that somebody decided, or that was found out once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", content = "body", rename_all = "kebab-case")]
pub enum Operation {
    /// A working directory was found to belong to a project.
    DirectoryPlaced {
        /// The directory.
        directory: String,
        /// The project.
        project: ProjectKey,
    },
    /// The user gave a project another name.
    ProjectRenamed {
        /// The project.
        project: ProjectKey,
        /// Its new name.
        name: String,
    },
    /// The user made one project part of another.
    ProjectMerged {
        /// The one that is no longer listed.
        from: ProjectKey,
        /// The one that takes its sessions.
        into: ProjectKey,
    },
    /// The user added a rule of redaction. One of the same name is replaced.
    RuleAdded {
        /// Its name.
        name: String,
        /// Its regular expression.
        pattern: String,
    },
    /// The user took a rule of redaction away.
    RuleRemoved {
        /// Its name.
        name: String,
    },
    /// The user had a session forgotten. Nothing of its content is kept here.
    SessionForgotten {
        /// The session.
        session: SessionKey,
    },
    /// A person, or an agent, said that a session is over for now.
    SessionClosed {
        /// The session.
        session: SessionKey,
        /// Why.
        reason: String,
    },
    /// What a session was indexed as was replaced. What it is indexed as follows from its records; what it
    /// was does not.
    EpisodeRetired(RetiredEpisode),
    /// A model is about to be asked.
    QuestionAsked(Question),
    /// What became of a question whose answer nothing was made of.
    QuestionSettled {
        /// The key of the question's record.
        question: String,
        /// What was spent.
        spent: Spent,
        /// Why it was of no use; nothing where it was only to see whether somebody answers.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<String>,
    },
    /// What a model made of a turn.
    TurnRefined(Box<Refined<RefinedTurn>>),
    /// What a model made of a session as a whole.
    SessionRefined(Box<Refined<RefinedSession>>),
    /// Something was delivered to a server of the user's choice: it is not delivered again.
    Delivered {
        /// The session that it comes from.
        session: SessionKey,
        /// What stands for each thing.
        keys: Vec<Id>,
    },
    /// A person told us something to remember.
    MemoryTold(Told),
    /// A person wrote over a memory.
    MemoryEdited {
        /// The memory.
        memory: Id,
        /// The session that it comes from; nothing where a person told it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        session: Option<SessionKey>,
        /// What was written over it.
        edit: MemoryEdit,
    },
    /// A person does not want a memory. Nothing of its content is kept here.
    MemoryForgotten {
        /// The memory.
        memory: Id,
        /// The session that it comes from; nothing where a person told it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        session: Option<SessionKey>,
    },
    /// A person took an automatic merge back: the memory is to stand for itself.
    MemorySeparated {
        /// The memory that was merged into another.
        memory: Id,
        /// The session of both.
        session: Option<SessionKey>,
    },
    /// A person took an operation back.
    OperationUndone {
        /// The key of its record.
        operation: String,
    },
}

/// What a model made of something.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Refined<T> {
    /// The key of the question's record.
    pub question: String,
    /// The session.
    pub session: SessionKey,
    /// The hash of what it is about: it holds for nothing else.
    pub content: ContentHash,
    /// What stands for all that was sent.
    pub input: Id,
    /// How it was made.
    pub made: Made,
    /// What was made.
    pub refined: T,
}

/// An episode that is no longer in use.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct RetiredEpisode {
    /// Its id.
    pub episode: Id,
    /// The session.
    pub session: SessionKey,
    /// The hash of what was in it, and the version of the filter.
    pub content: ContentHash,
    /// The version of the filter.
    pub filter: u32,
    /// How many messages it had.
    pub messages: u64,
    /// The latest record in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub as_of: Option<Timestamp>,
    /// When it was made, and what for.
    pub indexed: Timestamp,
    /// What it was made for.
    pub reason: String,
    /// When it was replaced.
    pub retired: Timestamp,
}

impl RetiredEpisode {
    pub(crate) fn of(session: &SessionKey, episode: &Episode, retired: Timestamp) -> Self {
        Self {
            episode: episode.uuid,
            session: session.clone(),
            content: episode.content,
            filter: episode.filter,
            messages: episode.messages,
            as_of: episode.as_of,
            indexed: episode.indexed,
            reason: episode.reason.clone(),
            retired,
        }
    }

    pub(crate) fn episode(&self) -> Episode {
        Episode {
            uuid: self.episode,
            content: self.content,
            filter: self.filter,
            messages: self.messages,
            as_of: self.as_of,
            indexed: self.indexed,
            reason: self.reason.clone(),
            retired: Some(self.retired),
        }
    }
}

/// What a person, or an agent, told us to remember.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Told {
    /// In a line.
    pub title: String,
    /// The rest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// What it is about.
    #[serde(rename = "type")]
    pub kind: ObservationType,
    /// Whether it is a rule.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_rule: bool,
    /// Files that it is about.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// Where it holds; everywhere where there is no project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<ProjectKey>,
    /// Whether an agent told it, on its own: then it is not what the user said.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub by_agent: bool,
}

impl Told {
    /// The id of what was told in the record with this key.
    pub fn id(key: &str) -> Id {
        Id::derive(&[b"told", key.as_bytes()])
    }
}

impl Operation {
    /// Its kind, as the journal names it.
    pub fn kind(&self) -> String {
        let written = serde_json::to_value(self).unwrap_or_default();
        written["kind"].as_str().unwrap_or_default().to_owned()
    }

    /// The operation that a record of the journal, or a row of the store's list, tells of. Kinds that
    /// are not ours are nothing.
    pub fn read(kind: &str, body: &serde_json::Value) -> Option<Self> {
        serde_json::from_value(serde_json::json!({ "kind": kind, "body": body })).ok()
    }

    /// Whether it was decided by a person: those are listed, and most can be taken back.
    pub const fn is_decision(&self) -> bool {
        !matches!(
            self,
            Self::DirectoryPlaced { .. }
                | Self::SessionClosed { .. }
                | Self::EpisodeRetired(_)
                | Self::QuestionAsked(_)
                | Self::QuestionSettled { .. }
                | Self::TurnRefined(_)
                | Self::SessionRefined(_)
                | Self::Delivered { .. }
        )
    }

    /// Whether it can be taken back. What was removed for good cannot.
    pub const fn can_be_undone(&self) -> bool {
        self.is_decision() && !matches!(self, Self::SessionForgotten { .. })
    }
}

/// The answer to a question counts once.
fn answer_id(question: &str) -> Id {
    Id::derive(&[b"answer", question.as_bytes()])
}

impl Intake {
    /// Records operations, in order and durably, and says by which keys.
    ///
    /// # Errors
    /// Where the journal cannot be written.
    pub fn record(&self, operations: &[Operation]) -> Result<Vec<String>> {
        let mut keys = Vec::new();
        for (number, operation) in operations.iter().enumerate() {
            let durability = match number + 1 == operations.len() {
                true => Durability::Synced,
                false => Durability::Buffered,
            };
            let at = self.clock.now();
            let written = serde_json::to_value(operation).unwrap_or_default();
            let kind = written["kind"].as_str().unwrap_or_default().to_owned();
            let key = match operation {
                // Found out once is enough; whatever was found first holds.
                Operation::DirectoryPlaced { directory, .. } => {
                    Id::derive(&[kind.as_bytes(), directory.as_bytes()])
                }
                Operation::EpisodeRetired(episode) => Id::derive(&[
                    kind.as_bytes(),
                    episode.episode.as_bytes(),
                    &episode.indexed.as_nanosecond().to_le_bytes(),
                ]),
                // A question has one answer.
                Operation::QuestionSettled { question, .. } => answer_id(question),
                Operation::TurnRefined(refined) => answer_id(&refined.question),
                Operation::SessionRefined(refined) => answer_id(&refined.question),
                _ => Id::derive(&[
                    kind.as_bytes(),
                    written.to_string().as_bytes(),
                    &at.as_nanosecond().to_le_bytes(),
                ]),
            };
            // The user's rules are for what others wrote: applied here they would change the names that
            // the user gave, the rules' own among them.
            let body =
                Redactor::builtin().clean_value(written["body"].clone(), &mut Report::default());
            self.journal.append(&Entry { key: key.to_string(), at, kind, body }, durability)?;
            keys.push(key.to_string());
        }
        Ok(keys)
    }

    /// Records operations and applies them to the store that there is, if there is one; says by which
    /// keys they are recorded.
    ///
    /// # Errors
    /// Where journal or store cannot be written; [`NotSwept`](crate::IntakeError::NotSwept) where it was done, and only
    /// vectors may be left.
    pub fn record_and_apply(
        &self,
        _lock: &IntakeLock,
        operations: &[Operation],
    ) -> Result<Vec<String>> {
        let keys = self.record(operations)?;
        if Store::open_if_there(&self.layout)?.is_some() {
            self.catch_up()?;
            let takes_out = |operation: &Operation| {
                matches!(
                    operation,
                    Operation::MemoryForgotten { .. } | Operation::MemoryEdited { .. }
                )
            };
            if operations.iter().any(takes_out) {
                self.sweep_vectors()?;
            }
        }
        Ok(keys)
    }

    /// Records what a person told, in a store that is made where there is none yet, and says by which
    /// key.
    ///
    /// # Errors
    /// Where journal or store cannot be written.
    pub fn tell(&self, _lock: &IntakeLock, told: Told) -> Result<String> {
        let keys = self.record(&[Operation::MemoryTold(told)])?;
        self.catch_up()?;
        Ok(keys.into_iter().next().unwrap_or_default())
    }

    /// Brings a store that an older version wrote up to this version's schema.
    ///
    /// # Errors
    /// Where it cannot be written.
    pub fn upgrade(&self, _lock: &IntakeLock, progress: thru_store::Progress<'_>) -> Result<()> {
        let mut store = self.open_store(progress)?;
        self.apply_journal(&mut store).map(drop)
    }
}
