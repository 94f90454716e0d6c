//! Bringing in what people decided elsewhere, as an export tells of it.
//!
//! The records keep their keys, so what is known already is not recorded twice, and what was told has
//! the same id everywhere. What an export decides is never allowed to remove text here: sessions that
//! were forgotten and rules of redaction are left out and counted.

use std::collections::{BTreeMap, HashSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use thru_core::{Id, Timestamp};
use thru_journal::journal::{Durability, Entry};
use thru_redact::{Redactor, Report};

use crate::{Intake, IntakeLock, Operation, Result};

/// One decision, as an export tells of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Exported {
    /// The key of its record.
    pub key: Id,
    /// When it was decided.
    pub at: Timestamp,
    /// What kind of decision it is.
    pub kind: String,
    /// The decision, as in the journal.
    pub decision: Value,
}

/// What bringing decisions in came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Adopted {
    /// Decisions that were not known, by kind.
    pub new: BTreeMap<String, u64>,
    /// Decisions that were known already.
    pub known: u64,
    /// Decisions that would remove something here and were left out, by kind.
    pub left_out: BTreeMap<String, u64>,
    /// Decisions that this version does not understand.
    pub not_understood: u64,
}

impl Intake {
    /// Records what people decided elsewhere, as far as it removes nothing here, and applies it.
    ///
    /// # Errors
    /// Where journal or store cannot be written.
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
            if !may_come_in(&operation, &accepted) {
                *outcome.left_out.entry(exported.kind.clone()).or_default() += 1;
                continue;
            }
            accepted.insert(key.clone());
            if known.contains(&key) {
                outcome.known += 1;
                continue;
            }
            // Only what we understood is recorded, and it is cleaned as if it were told here.
            let mut written = serde_json::to_value(&operation).unwrap_or_default();
            let body =
                Redactor::builtin().clean_value(written["body"].take(), &mut Report::default());
            let (at, kind) = (exported.at, exported.kind.clone());
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

/// Whether a decision made elsewhere may hold here. One that takes another back may where that one may.
fn may_come_in(operation: &Operation, accepted: &HashSet<String>) -> bool {
    match operation {
        Operation::MemoryTold(_)
        | Operation::MemoryEdited { .. }
        | Operation::MemoryForgotten { .. }
        | Operation::MemorySeparated { .. }
        | Operation::ProjectRenamed { .. }
        | Operation::ProjectMerged { .. } => true,
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
        | Operation::Delivered { .. } => false,
    }
}
