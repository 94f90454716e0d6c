//! Taking a decision back.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Serialize;
use thru_core::{Id, IdPrefix, SessionKey};
use thru_intake::Operation;
use thru_redact::{Clean, Report};
use thru_store::{OperationRow, Store};

use super::share_rules;
use crate::app::App;
use crate::ask::{log, memory};
use crate::call::Call;
use crate::fresh::{self, Freshness};
use crate::trouble::{Listing, Remedy, Result, Trouble};
use crate::words::printable;
use crate::{answer, compaction};

/// Characters of a decision's id that people are shown.
const SHORT_ID: usize = 6;

/// The decision that was taken back.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(tag = "kind", rename = "undone")]
pub struct Undone {
    version: u32,
    /// The id under which undoing this does it again.
    pub id: String,
    /// The decision in words.
    pub text: Clean<String>,
    /// The id of the memory that it is about, if it is about one.
    #[serde(skip)]
    pub memory: Option<String>,
    /// True if it is about redaction rules, which now are to be applied to what is kept already.
    #[serde(rename = "rules_changed")]
    pub changes_rules: bool,
    /// Folders of projects whose summaries could not be written again.
    pub folders_left: Vec<PathBuf>,
}

/// Takes back the decision or the automatic merge with this id, without one the last deed. Returns `None` if there is none.
///
/// # Errors
/// Fails if the id names nothing or several decisions, if the decision cannot be taken back or was already, and if the
/// journal cannot be written.
pub fn undo(app: &App, id: Option<&str>, call: Call<'_>) -> Result<Option<Undone>> {
    let store = fresh::open(app, Freshness::Recorded, call)?;
    let operations = store.operations()?;
    let (operation, text) = match id {
        None => {
            let mut holding = holding(&operations);
            let Some(latest) = holding.next() else { return Ok(None) };
            // One that stands is not passed over: an older one is undone by its id.
            undo_of(&store, &operations, latest).map_err(|trouble| {
                match holding.find_map(|row| undo_of(&store, &operations, row).ok().zip(Some(row)))
                {
                    Some(((_, text), row)) => {
                        let text = printable(&text);
                        trouble.run(
                            format!("undo {}", short(&row.key)),
                            format!("undoes the one before: {text}"),
                        )
                    }
                    None => trouble,
                }
            })?
        }
        Some(id) => match named(&operations, id)? {
            Some(row) => undo_of(&store, &operations, row)?,
            None => separation(&store, id)?,
        },
    };
    let changes_rules = is_about_rules(&operations, &operation);
    let (memory, session) = subject_of(&operations, &operation);
    drop(store);
    let intake = app.intake()?;
    let lock = call.lock(&intake)?;
    let keys = intake.record_and_apply(&lock, &[operation])?;
    let folders_left = match session {
        // What was forgotten is told again, and what was told is not.
        Some(session) => compaction::write_again(app, Some(&[session]))?,
        None => Vec::new(),
    };
    if changes_rules {
        share_rules(app)?;
    }
    Ok(Some(Undone {
        version: answer::VERSION,
        id: keys.first().map_or_else(String::new, |key| short(key)),
        text: intake.redactor().clean_text(&printable(&text), &mut Report::default()),
        memory: memory.map(|id| id.to_string()),
        changes_rules,
        folders_left,
    }))
}

/// True for the taking back of a redaction rule, or of the taking back of one.
fn is_about_rules(operations: &[OperationRow], operation: &Operation) -> bool {
    match operation {
        Operation::OperationUndone { operation } => operations
            .iter()
            .find(|row| row.key == *operation)
            .and_then(|row| Operation::read(&row.kind, &row.body))
            .is_some_and(|operation| is_about_rules(operations, &operation)),
        Operation::RuleAdded { .. } | Operation::RuleRemoved { .. } => true,
        _ => false,
    }
}

/// The memory and the session of a decision about a memory, or of the decision that is taken back with it.
fn subject_of(
    operations: &[OperationRow],
    operation: &Operation,
) -> (Option<Id>, Option<SessionKey>) {
    match operation {
        Operation::OperationUndone { operation } => operations
            .iter()
            .find(|row| row.key == *operation)
            .and_then(|row| Operation::read(&row.kind, &row.body))
            .map_or((None, None), |operation| subject_of(operations, &operation)),
        Operation::MemoryEdited { memory, session, .. }
        | Operation::MemoryForgotten { memory, session, .. }
        | Operation::MemorySeparated { memory, session, .. } => (Some(*memory), session.clone()),
        _ => (None, None),
    }
}

/// The deeds of people that hold, the latest first.
fn holding(operations: &[OperationRow]) -> impl Iterator<Item = &OperationRow> {
    operations.iter().rev().filter(|row| row.undone.is_none()).filter(|row| {
        let operation = Operation::read(&row.kind, &row.body);
        operation.is_some_and(|operation| match operation {
            Operation::OperationUndone { .. } => false,
            Operation::SessionForgotten { .. } => true,
            operation => operation.can_be_undone(),
        })
    })
}

/// The start of a decision's id, as people are shown it.
fn short(key: &str) -> String {
    key.chars().take(SHORT_ID).collect()
}

fn named<'r>(operations: &'r [OperationRow], id: &str) -> Result<Option<&'r OperationRow>> {
    let prefix: IdPrefix = id.parse()?;
    let found: Vec<&OperationRow> =
        operations.iter().filter(|row| row.key.starts_with(prefix.as_str())).collect();
    match found[..] {
        [] => Ok(None),
        [row] => Ok(Some(row)),
        _ => {
            let ids = found.iter().map(|row| row.key.clone()).collect();
            Err(Trouble::ambiguous(format!("several decisions start with `{id}`"))
                .with(Remedy::WriteMore(ids)))
        }
    }
}

fn undo_of(
    store: &Store,
    operations: &[OperationRow],
    row: &OperationRow,
) -> Result<(Operation, String)> {
    let operation = Operation::read(&row.kind, &row.body);
    let text = log::told(store, operations, row)?;
    if row.undone.is_some() {
        return Err(Trouble::refused(format!("that was undone already: {text}"))
            .run("log", "shows by what; undo that one to do it again"));
    }
    if !operation.is_some_and(|operation| operation.can_be_undone()) {
        return Err(Trouble::refused(format!("that cannot be undone: {text}"))
            .advise("what was removed for good is not kept anywhere"));
    }
    Ok((Operation::OperationUndone { operation: row.key.clone() }, text))
}

/// The undoing of an automatic merge.
fn separation(store: &Store, id: &str) -> Result<(Operation, String)> {
    let prefix: IdPrefix = id.parse()?;
    for merge in memory::merges(store)? {
        let memory::Merge { merged, into } = merge?;
        if merged.id.to_string().starts_with(prefix.as_str()) {
            let session = memory::session_of(store, &into)?.map(|session| session.key);
            let text = format!("the merge of \"{}\" into \"{}\"", merged.title, into.title);
            return Ok((Operation::MemorySeparated { memory: merged.id, session }, text));
        }
    }
    Err(Trouble::not_found(format!("there is no decision `{id}`"))
        .with(Remedy::See(Listing::Decisions)))
}
