//! How readers fill a batch, and how a result joins the passage of its call.

use thru_core::{Amendment, Diagnostic, Passage, ReadBatch};

/// Joins a result to the passage of its call. A reader does this where one read gives both; whoever
/// keeps passages must do the same, so that it never matters how a file was cut into reads.
pub fn amend(passage: &mut Passage, amendment: &Amendment) {
    if !amendment.text.is_empty() {
        if !passage.text.is_empty() {
            passage.text.push('\n');
        }
        passage.text.push_str(&amendment.text);
    }
    for file in &amendment.files {
        if !passage.files.contains(file) {
            passage.files.push(file.clone());
        }
    }
    passage.outcome = Some(amendment.outcome);
    passage.records.push(amendment.record.clone());
    passage.lines.push(amendment.line);
}

/// Notes that `line` is not as expected. One row per kind, whatever a file holds.
pub(crate) fn note(batch: &mut ReadBatch, kind: &'static str, line: u64) {
    match batch.diagnostics.iter_mut().find(|known| known.kind == kind) {
        Some(known) => known.count += 1,
        None => batch.diagnostics.push(Diagnostic { kind, line, count: 1 }),
    }
}

/// Counts a record under the name of its type.
pub(crate) fn count_type(batch: &mut ReadBatch, name: &str) {
    match batch.record_types.get_mut(name) {
        Some(count) => *count += 1,
        None => {
            batch.record_types.insert(name.to_owned(), 1);
        }
    }
}
