//! Filling a batch, and joining a result to the passage of its call.

use std::collections::HashMap;

use thru_core::{Amendment, Diagnostic, Id, Passage, PassageKind, ReadBatch};

/// Joins a result to the passage of its call. A reader does this if one read has both. Code that stores
/// passages must do the same, so that the result does not depend on how a file was cut into reads.
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

/// The positions in a batch of the tool calls that a result may complete.
#[derive(Default)]
pub(crate) struct Made(HashMap<Id, usize>);

impl Made {
    /// Adds a passage to the batch.
    pub(crate) fn push(&mut self, batch: &mut ReadBatch, passage: Passage) {
        if passage.kind == PassageKind::Tool {
            self.0.insert(passage.id, batch.passages.len());
        }
        batch.passages.push(passage);
    }

    /// Joins a result to the passage of its call, or keeps it as an amendment if an earlier read made
    /// the passage.
    pub(crate) fn amend(&self, batch: &mut ReadBatch, amendment: Amendment) {
        let made = self.0.get(&amendment.passage);
        match made.and_then(|&at| batch.passages.get_mut(at)) {
            Some(passage) => amend(passage, &amendment),
            None => batch.amendments.push(amendment),
        }
    }
}

/// Notes that `line` is not as expected. A batch has one row per kind of diagnostic, which counts the
/// lines.
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
