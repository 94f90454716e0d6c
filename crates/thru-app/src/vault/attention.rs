//! What a person has to do about the vault, in a sentence that a starting session can read at once.

use std::path::Path;

use thru_vault::Record;

use super::Vault;
use crate::app::App;
use crate::trouble::Result;
use crate::words::plural;

const FILE: &str = "attention";

/// Returns what a person has to do about the vault; `None` if nothing. Costs a look at a folder and a small file.
pub fn attention(app: &App) -> Option<String> {
    let path = app.config.vault.path.as_deref()?;
    let vault = Vault::at(app, Path::new(path));
    if !vault.folder.root().is_dir() {
        return Some(format!(
            "the vault {} is not there: notes of sessions wait",
            app.shown(vault.folder.root())
        ));
    }
    std::fs::read_to_string(vault.state.join(FILE)).ok().filter(|text| !text.is_empty())
}

/// Keeps the sentence for sessions that start.
pub(super) fn keep(state: &Path, record: &Record) -> Result<()> {
    let file = state.join(FILE);
    match sentence(record) {
        Some(sentence) => thru_journal::files::replace(&file, sentence.as_bytes())?,
        None => drop(thru_journal::files::remove(&file)?),
    }
    Ok(())
}

fn sentence(record: &Record) -> Option<String> {
    if record.loss.is_some() {
        return Some(
            "much of the vault disappeared at once: nothing is read in or written".to_owned(),
        );
    }
    let parts = [
        (
            record.failures.len(),
            "session note could not be compacted",
            "session notes could not be compacted",
        ),
        (
            record.left.len(),
            "note of the vault cannot be written",
            "notes of the vault cannot be written",
        ),
        (
            record.copies.len(),
            "conflict copy lies in the vault",
            "conflict copies lie in the vault",
        ),
    ];
    let parts: Vec<String> = parts
        .into_iter()
        .filter(|(number, ..)| *number > 0)
        .map(|(number, one, more)| format!("{number} {}", if number == 1 { one } else { more }))
        .collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// Returns the number of notes of the vault in words; `None` if there is no vault.
pub(crate) fn summary(app: &App) -> Option<String> {
    let path = app.config.vault.path.as_deref()?;
    let vault = Vault::at(app, Path::new(path));
    let record = Record::open(&vault.state, vault.folder.root()).ok()?;
    let notes = plural(record.notes.len() as u64, "note");
    Some(format!("{notes} in {}", app.shown(vault.folder.root())))
}
