//! `thru undo`: take a decision back.

use thru_app::Result;
use thru_app::ask::log::sentence;
use thru_app::ask::memory;
use thru_core::{IdPrefix, SessionKey};
use thru_intake::Operation;
use thru_redact::Report;
use thru_store::{OperationRow, Store};

use super::{Outcome, shared};
use crate::environment::Environment;
use crate::failure::advised;
use crate::ui::{Page, Tone, printable};
use thru_app::compaction;

/// Takes back the last decision, or the one that `thru log` shows with this id; undoing an undo does
/// it again. With the id of a memory that was merged into another, the two stand for themselves again.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The id of a decision in `thru log`, or of a memory that was merged
    id: Option<String>,
}

pub(crate) fn run(
    arguments: &Arguments,
    environment: &Environment,
    plain: bool,
) -> Result<Outcome> {
    let store = shared::open_store(environment)?;
    let operations = store.operations()?;
    let mut page = Page::new(environment, plain);
    let (operation, said) = match &arguments.id {
        None => match last(&operations) {
            Some(row) => undo_of(row)?,
            None => {
                page.line("There is nothing to take back.");
                page.print()?;
                return Ok(Outcome::Nothing);
            }
        },
        Some(id) => match named(&operations, id)? {
            Some(row) => undo_of(row)?,
            None => separation(&store, id)?,
        },
    };
    let is_rule = is_about_rules(&operations, &operation);
    let session = session_of(&operations, &operation);
    drop(store);
    let intake = environment.intake()?;
    let lock = shared::lock(&intake, environment)?;
    let keys = intake.record_and_apply(&lock, &[operation])?;
    let said = intake.redactor().clean_text(&said, &mut Report::default()).into_inner();
    page.line(format!("Took back: {}", printable(&said)));
    if let Some(session) = session {
        // What was forgotten is told again, and what was told is not.
        for folder in compaction::write_again(environment, Some(&[session]))? {
            let folder = environment.shown(&folder);
            page.line(format!(
                "Summaries in {folder} could not be written again: `thru summaries rebuild` does."
            ));
        }
    }
    if is_rule {
        thru_app::keep::share_rules(environment)?;
        page.line("`thru redact --apply` applies the rules to what is kept already.");
    }
    let own: String = keys.first().map_or_else(String::new, |key| key.chars().take(6).collect());
    page.line(page.paint(Tone::Quiet, &format!("`thru undo {own}` does it again.")));
    page.print()?;
    Ok(Outcome::Done)
}

/// Whether what is taken back is a rule of redaction, or the taking back of one.
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

/// The session that a decision about a memory is of, or the one that is taken back with it.
fn session_of(operations: &[OperationRow], operation: &Operation) -> Option<SessionKey> {
    match operation {
        Operation::OperationUndone { operation } => {
            let row = operations.iter().find(|row| row.key == *operation)?;
            session_of(operations, &Operation::read(&row.kind, &row.body)?)
        }
        Operation::MemoryEdited { session, .. }
        | Operation::MemoryForgotten { session, .. }
        | Operation::MemorySeparated { session, .. } => session.clone(),
        _ => None,
    }
}

/// The last decision that holds and can be taken back.
fn last(operations: &[OperationRow]) -> Option<&OperationRow> {
    operations.iter().rev().filter(|row| row.undone.is_none()).find(|row| {
        let operation = Operation::read(&row.kind, &row.body);
        operation.is_some_and(|operation| {
            operation.can_be_undone() && !matches!(operation, Operation::OperationUndone { .. })
        })
    })
}

fn named<'r>(operations: &'r [OperationRow], id: &str) -> Result<Option<&'r OperationRow>> {
    let prefix: IdPrefix = id.parse()?;
    let found: Vec<&OperationRow> =
        operations.iter().filter(|row| row.key.starts_with(prefix.as_str())).collect();
    match found[..] {
        [] => Ok(None),
        [row] => Ok(Some(row)),
        _ => Err(advised(
            format!("several decisions start with `{id}`"),
            "write more of it; `thru log` shows them",
        )),
    }
}

fn undo_of(row: &OperationRow) -> Result<(Operation, String)> {
    let operation = Operation::read(&row.kind, &row.body);
    let said = sentence(operation.as_ref());
    if row.undone.is_some() {
        return Err(advised(
            format!("that was taken back already: {said}"),
            "`thru log` shows by what; undo that one to do it again",
        ));
    }
    if !operation.is_some_and(|operation| operation.can_be_undone()) {
        return Err(advised(
            format!("that cannot be taken back: {said}"),
            "what was removed for good is not kept anywhere",
        ));
    }
    Ok((Operation::OperationUndone { operation: row.key.clone() }, said))
}

/// The undoing of an automatic merge.
fn separation(store: &Store, id: &str) -> Result<(Operation, String)> {
    let prefix: IdPrefix = id.parse()?;
    for merge in memory::merges(store)? {
        let memory::Merge { merged, into } = merge?;
        if merged.id.to_string().starts_with(prefix.as_str()) {
            let session = memory::session_of(store, &into)?.map(|session| session.key);
            let said = format!("the merge of \"{}\" into \"{}\"", merged.title, into.title);
            return Ok((Operation::MemorySeparated { memory: merged.id, session }, said));
        }
    }
    Err(advised(format!("there is no decision `{id}`"), "`thru log` lists them with their ids"))
}
