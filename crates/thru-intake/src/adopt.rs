//! Adopts decisions that people made on another machine, from an export.
//!
//! The records keep their keys, so a decision that is already known is not recorded twice, and a recorded memory
//! has the same id everywhere. An import never removes text here: forgotten sessions and redaction rules are
//! left out and counted.

use std::collections::{BTreeMap, HashSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use thru_core::{Id, Timestamp};
use thru_journal::journal::{Durability, Entry};
use thru_redact::{Redactor, Report};

use crate::{Intake, IntakeLock, Operation, Result};

/// One decision, as an export holds it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Exported {
    /// The key of its record.
    pub key: Id,
    /// The time of the decision.
    pub at: Timestamp,
    /// The kind of the decision.
    pub kind: String,
    /// The decision, as in the journal.
    pub decision: Value,
}

/// Counts of the decisions that [`Intake::adopt`] saw.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Adopted {
    /// New decisions, by kind.
    pub new: BTreeMap<String, u64>,
    /// Decisions that were already known.
    pub known: u64,
    /// Decisions left out because they would remove something here, by kind.
    pub left_out: BTreeMap<String, u64>,
    /// Decisions that this version does not understand.
    pub not_understood: u64,
}

impl Intake {
    /// Records and applies decisions made elsewhere, except those that would remove something here.
    ///
    /// # Errors
    /// Fails if the journal or the store cannot be written.
    pub fn adopt(&self, _lock: &IntakeLock, decisions: &[Exported]) -> Result<Adopted> {
        let mut outcome = Adopted::default();
        let (store, _) = self.catch_up()?;
        let known: HashSet<String> = store.operations()?.into_iter().map(|row| row.key).collect();
        drop(store);
        let mut accepted: HashSet<String> = known.clone();
        for exported in decisions {
            let key = exported.key.to_string();
            let Some(operation) = Operation::read(&exported.kind, &exported.decision) else {
                outcome.not_understood += 1;
                continue;
            };
            if !may_adopt(&operation, &accepted) {
                *outcome.left_out.entry(exported.kind.clone()).or_default() += 1;
                continue;
            }
            accepted.insert(key.clone());
            if known.contains(&key) {
                outcome.known += 1;
                continue;
            }
            // Only the parts we understood are recorded, cleaned as if they had been recorded here.
            let (kind, body) = operation.written();
            let body = Redactor::builtin().clean_value(body, &mut Report::default());
            let at = exported.at;
            *outcome.new.entry(kind.clone()).or_default() += 1;
            self.journal.append(&Entry { key, at, kind, body }, Durability::Buffered)?;
        }
        if !outcome.new.is_empty() {
            self.journal.sync(&Default::default())?;
            self.catch_up()?;
        }
        Ok(outcome)
    }
}

/// Returns true if a decision made elsewhere may hold here. An undo may if the operation it undoes may.
fn may_adopt(operation: &Operation, accepted: &HashSet<String>) -> bool {
    match operation {
        Operation::MemoryRecorded(_)
        | Operation::MemoryEdited { .. }
        | Operation::MemoryForgotten { .. }
        | Operation::MemorySeparated { .. }
        | Operation::ProjectRenamed { .. }
        | Operation::ProjectMerged { .. }
        | Operation::NoteLineChanged { .. }
        | Operation::NoteHidden { .. }
        | Operation::NotePromoted { .. }
        | Operation::FactHidden { .. }
        | Operation::GraphCleared { .. }
        | Operation::NoteArchived { .. }
        | Operation::NoteUnarchived { .. } => true,
        Operation::OperationUndone { operation } => accepted.contains(operation),
        Operation::DirectoryPlaced { .. }
        | Operation::RuleAdded { .. }
        | Operation::RuleRemoved { .. }
        | Operation::SessionForgotten { .. }
        | Operation::SessionClosed { .. }
        | Operation::EpisodeRetired(_)
        | Operation::QuestionAsked(_)
        | Operation::QuestionSettled { .. }
        | Operation::TurnRefined(_)
        | Operation::SessionRefined(_)
        | Operation::Delivered { .. }
        | Operation::CommitsSeen { .. }
        | Operation::MemoryImported(_) => false,
    }
}
