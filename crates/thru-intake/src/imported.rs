//! Memories of other programs, as the journal holds them once they are imported.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use thru_core::{
    Concept, ForeignName, Id, Observation, ObservationType, ProjectKey, Statement, Timestamp,
};
use thru_store::NewImport;

/// A memory that was imported. Its words are no person's of this memory, so that sessions are not told it at their start.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct ImportedMemory {
    /// Its id, which stays when it is imported again.
    pub memory: Id,
    /// Its name in the program that it comes from.
    pub named: ForeignName,
    /// The hash of the memory there.
    pub content: Id,
    /// The time when it was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Timestamp>,
    /// One line.
    pub title: String,
    /// The rest of the text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The type of the observation.
    #[serde(rename = "type")]
    pub kind: ObservationType,
    /// Single facts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub facts: Vec<String>,
    /// The kinds of knowledge in it.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub concepts: BTreeSet<Concept>,
    /// The files that were read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files_read: Vec<String>,
    /// The files that were changed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files_modified: Vec<String>,
    /// The project that it is about; `None` for all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<ProjectKey>,
}

impl ImportedMemory {
    /// Converts it into an observation.
    pub(crate) fn observation(&self) -> Observation {
        let statement = |text: &String| Statement { text: text.clone(), sources: Vec::new() };
        Observation {
            narrative: self.text.as_ref().map(statement),
            facts: self.facts.iter().map(statement).collect(),
            concepts: self.concepts.clone(),
            files_read: self.files_read.clone(),
            files_modified: self.files_modified.clone(),
            at: self.at,
            ..Observation::new(self.memory, 0, self.kind, self.title.clone())
        }
    }

    pub(crate) const fn row<'r>(
        &'r self,
        key: &'r str,
        at: Timestamp,
        body: &'r Value,
    ) -> NewImport<'r> {
        let Self { memory, named, content, .. } = self;
        NewImport { memory, key, at, named, content, body }
    }
}
