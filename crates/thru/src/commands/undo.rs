//! `thru undo`: take a decision back.

use thru_app::Result;
use thru_app::keep::undo;

use crate::environment::Environment;
use crate::ui::{Outcome, Tone};

/// Takes back the last decision, or the one that `thru log` shows with this id; undoing an undo does
/// it again. With the id of a memory that was merged into another, the two stand for themselves again.
#[derive(Debug, clap::Args)]
pub(crate) struct UndoArguments {
    /// The id of a decision in `thru log`, or of a memory that was merged
    id: Option<String>,
    /// Answer as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &UndoArguments, environment: &Environment) -> Result<Outcome> {
    let undone =
        undo::undo(&environment.app, arguments.id.as_deref(), environment.progress().call())?;
    environment.answer(arguments.json, &undone, |page| {
        let Some(undone) = &undone else { return page.line("There is nothing to undo.") };
        page.line(format!("Undid: {}", undone.text.get()));
        for folder in &undone.folders_left {
            let folder = environment.shown(folder);
            page.line(format!(
                "Summaries in {folder} could not be written again: `thru summaries rebuild` does."
            ));
        }
        if undone.changes_rules {
            page.line("`thru redact --apply` applies the rules to what is stored.");
        }
        page.toned(Tone::Quiet, &format!("`thru undo {}` does it again.", undone.id));
    })?;
    Ok(Outcome::found(undone.is_some()))
}
