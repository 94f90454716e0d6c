//! Operations: the records of the journal that cannot be computed again.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use thru_core::{
    Id, Made, MemoryEdit, ObservationType, ProjectKey, Question, RefinedSession, RefinedTurn,
    SeenCommit, SessionKey, Spent, Timestamp,
};
use thru_journal::journal::{Durability, Entry};
use thru_lifecycle::content::ContentHash;
use thru_redact::{Redactor, Report};
use thru_store::{Episode, Store};

use crate::imported::ImportedMemory;
use crate::{Intake, IntakeLock, Result};

/// A decision of a person, or a fact found out once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
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
        /// The project that is no longer listed.
        from: ProjectKey,
        /// The project that takes its sessions.
        into: ProjectKey,
    },
    /// The user added a redaction rule, which replaces one of the same name.
    RuleAdded {
        /// Its name.
        name: String,
        /// Its regular expression.
        pattern: String,
    },
    /// The user removed a redaction rule.
    RuleRemoved {
        /// Its name.
        name: String,
    },
    /// The user had a session forgotten. None of its content is kept here.
    SessionForgotten {
        /// The session.
        session: SessionKey,
        /// The passages that go with it, of which other sessions may hold copies. Their ids tell nothing of what they said.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        passages: Vec<Id>,
    },
    /// A person, or an agent, said that a session is over for now.
    SessionClosed {
        /// The session.
        session: SessionKey,
        /// The reason.
        reason: String,
    },
    /// An indexed episode was replaced. A session's current episode follows from its records; its earlier
    /// ones do not.
    EpisodeRetired(RetiredEpisode),
    /// A question is about to be sent to a model.
    QuestionAsked(Question),
    /// A question was settled without a usable answer.
    QuestionSettled {
        /// The key of the question's record.
        question: String,
        /// Tokens and cost spent.
        spent: Spent,
        /// The error; `None` if the question was only a probe of the connection.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<String>,
    },
    /// The answer of a model about a turn.
    TurnRefined(Box<Refined<RefinedTurn>>),
    /// The answer of a model about a whole session.
    SessionRefined(Box<Refined<RefinedSession>>),
    /// Something was delivered to a server of the user's choice, and is not delivered again.
    Delivered {
        /// The session that it comes from.
        session: SessionKey,
        /// The key of each delivered thing.
        keys: Vec<Id>,
    },
    /// The repository of a session's directory told of commits made in its time, or in the day after.
    CommitsSeen {
        /// The session.
        session: SessionKey,
        /// The commits, earliest first.
        commits: Vec<SeenCommit>,
    },
    /// A person or an agent recorded a memory directly.
    #[serde(rename = "memory-told")]
    MemoryRecorded(RecordedMemory),
    /// A memory of another program was imported.
    MemoryImported(Box<ImportedMemory>),
    /// A person overwrote a memory.
    MemoryEdited {
        /// The memory.
        memory: Id,
        /// The session that it comes from; `None` if it was recorded directly.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        session: Option<SessionKey>,
        /// The new text.
        edit: MemoryEdit,
    },
    /// A person had a memory forgotten. None of its content is kept here.
    MemoryForgotten {
        /// The memory.
        memory: Id,
        /// The session that it comes from; `None` if it was recorded directly.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        session: Option<SessionKey>,
    },
    /// A person undid an automatic merge: the memory is to stand for itself.
    MemorySeparated {
        /// The memory that was merged into another.
        memory: Id,
        /// The session of both.
        session: Option<SessionKey>,
    },
    /// A person changed a line of a note in the vault that shows no memory, or took a line out of it.
    NoteLineChanged {
        /// The note.
        note: Id,
        /// The id of the line.
        line: String,
        /// The change.
        change: LineChange,
    },
    /// A person deleted a note of the vault.
    NoteHidden {
        /// The note.
        note: Id,
    },
    /// A person made a note of one project one of all projects.
    NotePromoted {
        /// The note.
        note: Id,
    },
    /// The note of a session was compacted into others and archived.
    NoteArchived {
        /// The session.
        session: SessionKey,
        /// The reason.
        reason: String,
    },
    /// The note of a session was taken out of the archive.
    NoteUnarchived {
        /// The session.
        session: SessionKey,
    },
    /// A fact was taken out of the graph.
    FactHidden {
        /// The fact.
        fact: Id,
    },
    /// The graph of a project was cleared: the facts that began until then are left out.
    GraphCleared {
        /// The project.
        project: ProjectKey,
    },
    /// A person undid an operation.
    OperationUndone {
        /// The key of its record.
        operation: String,
    },
}

/// A person's change to a line of a note.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LineChange {
    /// It has another text.
    Text(String),
    /// Its task is done, or open again.
    Done(bool),
    /// It is not shown in this note.
    Hidden,
}

/// A statement about two things, in the teller's words. It makes no fact and ends none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Triplet {
    /// The thing that it is about.
    pub source: String,
    /// The relation.
    pub relation: String,
    /// The other thing.
    pub target: String,
}

/// The place in the vault where a person wrote a memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct WrittenIn {
    /// The note.
    pub note: Id,
    /// The heading of the section.
    pub section: String,
    /// The number of times that the same was written there before, and taken back.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub again: u32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// The answer of a model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Refined<T> {
    /// The key of the question's record.
    pub question: String,
    /// The session.
    pub session: SessionKey,
    /// The hash of the content it is about: it holds for no other.
    pub content: ContentHash,
    /// The hash of the whole request.
    pub input: Id,
    /// The model and settings that made it.
    pub made: Made,
    /// The answer itself.
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
    /// The hash of its content.
    pub content: ContentHash,
    /// The version of the filter.
    pub filter: u32,
    /// Number of its messages.
    pub messages: u64,
    /// The time of the latest record in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub as_of: Option<Timestamp>,
    /// The time when it was indexed.
    pub indexed: Timestamp,
    /// The reason for indexing it.
    pub reason: String,
    /// The time when it was replaced.
    pub retired: Timestamp,
}

impl RetiredEpisode {
    pub(crate) fn from_episode(
        session: &SessionKey,
        episode: &Episode,
        retired: Timestamp,
    ) -> Self {
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

/// A memory that a person, or an agent, recorded directly.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct RecordedMemory {
    /// One line.
    pub title: String,
    /// The rest of the text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The type of the observation.
    #[serde(rename = "type")]
    pub kind: ObservationType,
    /// True if it is a rule.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_rule: bool,
    /// Files that it is about.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// The project it holds for; `None` for all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<ProjectKey>,
    /// True if an agent recorded it on its own: then these are not the user's words.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub by_agent: bool,
    /// The statement that its text makes, where the teller put it so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub states: Option<Triplet>,
    /// The place in the vault where a person wrote it, if it was there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub written_in: Option<WrittenIn>,
}

impl RecordedMemory {
    /// Returns the id of the memory in the record with this key.
    pub fn id(key: &str) -> Id {
        Id::derive(&[b"told", key.as_bytes()])
    }
}

impl Operation {
    /// Its kind, as the journal names it.
    pub fn kind(&self) -> String {
        self.written().0
    }

    /// Its kind and its body, as the journal holds them.
    pub(crate) fn written(&self) -> (String, Value) {
        match serde_json::to_value(self) {
            Ok(Value::Object(tagged)) => tagged.into_iter().next().unwrap_or_default(),
            _ => Default::default(),
        }
    }

    /// Parses an operation from a record of the journal, or from a row of the store's list. Returns `None`
    /// for kinds that are not operations.
    pub fn read(kind: &str, body: &Value) -> Option<Self> {
        serde_json::from_value(json!({ kind: body })).ok()
    }

    /// Returns true if a person decided it, or the vault follows from it: the store keeps a list of those, and most can
    /// be undone.
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
                | Self::CommitsSeen { .. }
                | Self::MemoryImported(_)
        )
    }

    /// Returns true if it can be undone. A removal for good cannot.
    pub const fn can_be_undone(&self) -> bool {
        self.is_decision()
            && !matches!(
                self,
                Self::SessionForgotten { .. }
                    | Self::NoteArchived { .. }
                    | Self::NoteUnarchived { .. }
            )
    }
}

/// Returns the record id of an answer, so that the answer to a question counts once.
fn answer_id(question: &str) -> Id {
    Id::derive(&[b"answer", question.as_bytes()])
}

impl Intake {
    /// Records operations in order and durably, and returns their keys.
    ///
    /// # Errors
    /// Fails if the journal cannot be written.
    pub fn record(&self, operations: &[Operation]) -> Result<Vec<String>> {
        let mut keys = Vec::new();
        for (number, operation) in operations.iter().enumerate() {
            let durability = match number + 1 == operations.len() {
                true => Durability::Synced,
                false => Durability::Buffered,
            };
            let at = self.clock.now();
            let (kind, body) = operation.written();
            let key = match operation {
                // The first finding holds.
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
                // Two machines that read one line of a note are told one thing.
                Operation::MemoryRecorded(RecordedMemory {
                    title,
                    text,
                    written_in: Some(place),
                    ..
                }) => Id::derive(&[
                    kind.as_bytes(),
                    place.note.as_bytes(),
                    title.as_bytes(),
                    text.as_deref().unwrap_or_default().as_bytes(),
                    &place.again.to_le_bytes(),
                ]),
                _ => Id::derive(&[
                    kind.as_bytes(),
                    json!({ "kind": kind, "body": body }).to_string().as_bytes(),
                    &at.as_nanosecond().to_le_bytes(),
                ]),
            };
            // The user's rules are for text from outside: applied here they would change the names that the
            // user gave, their own among them.
            let redactor = match operation {
                Operation::MemoryImported(_) => &self.redactor,
                _ => &Redactor::builtin(),
            };
            let body = redactor.clean_value(body, &mut Report::default());
            self.journal.append(&Entry { key: key.to_string(), at, kind, body }, durability)?;
            keys.push(key.to_string());
        }
        Ok(keys)
    }

    /// Records operations, applies them to the store if there is one, and returns the keys of their
    /// records.
    ///
    /// # Errors
    /// Fails if the journal or the store cannot be written. Returns
    /// [`NotSwept`](crate::IntakeError::NotSwept) if all was done, but vectors may be left.
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

    /// Imports memories of other programs, creating the store if need be.
    ///
    /// # Errors
    /// Fails if the journal or the store cannot be written.
    pub fn import_memories(&self, _lock: &IntakeLock, memories: Vec<ImportedMemory>) -> Result<()> {
        let memories = memories.into_iter().map(|one| Operation::MemoryImported(Box::new(one)));
        self.record(&memories.collect::<Vec<_>>())?;
        self.catch_up().map(drop)
    }

    /// Records a memory directly, creating store and index if need be, and returns the record's key. An index that is there
    /// is left to the next question: to wait for it would cost the caller more than all the rest.
    ///
    /// # Errors
    /// Fails if the journal or the store cannot be written.
    pub fn record_memory(&self, _lock: &IntakeLock, recorded: RecordedMemory) -> Result<String> {
        let keys = self.record(&[Operation::MemoryRecorded(recorded)])?;
        match self.layout.index().exists() {
            true => _ = self.apply_journal(&mut self.open_store(&mut |_, _, _| {})?)?,
            // The first one takes its time, which a hook has not got.
            false => _ = self.catch_up()?,
        }
        Ok(keys.into_iter().next().unwrap_or_default())
    }

    /// Upgrades a store of an older version to this version's schema.
    ///
    /// # Errors
    /// Fails if the store cannot be written.
    pub fn upgrade(&self, _lock: &IntakeLock, progress: thru_store::Progress<'_>) -> Result<()> {
        let mut store = self.open_store(progress)?;
        self.apply_journal(&mut store).map(drop)
    }

    /// [`Self::upgrade`] where there is a store of an older version.
    ///
    /// # Errors
    /// Fails if the store or the journal cannot be read or written.
    pub fn upgrade_if_older(
        &self,
        lock: &IntakeLock,
        progress: thru_store::Progress<'_>,
    ) -> Result<()> {
        match Store::open_if_there(&self.layout)? {
            Some(store) if store.schema_version()? < thru_store::SCHEMA_VERSION => {
                drop(store);
                self.upgrade(lock, progress)
            }
            _ => Ok(()),
        }
    }
}
