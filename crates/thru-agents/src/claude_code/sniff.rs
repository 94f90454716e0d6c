//! Detects the type of a file from its beginning, for files whose names do not tell it.

use std::io;
use std::ops::ControlFlow;
use std::path::Path;

use thru_core::SessionId;

use super::history::Entry;
use super::notes::is_known_type;
use super::record::Record;
use crate::names::is_session_id;
use crate::opening;

/// The detected type of a file.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Sniffed {
    /// A transcript, with the session that its records name.
    Transcript(Option<SessionId>),
    /// A list of prompts.
    History,
    /// Any other file.
    Other,
}

/// Detects the type of the file at `path`.
pub(super) fn sniff(path: &Path) -> io::Result<Sniffed> {
    let mut is_transcript = false;
    let found = opening::search(path, |line| {
        if !is_transcript && Entry::parse(line).is_some_and(|entry| entry.is_history()) {
            return ControlFlow::Break(Some(Sniffed::History));
        }
        let Some(record) = Record::parse(line).ok().filter(is_record) else {
            return ControlFlow::Continue(());
        };
        is_transcript = true;
        match record.session_id.filter(|id| is_session_id(id)) {
            Some(id) => ControlFlow::Break(Some(Sniffed::Transcript(Some(SessionId::new(id))))),
            None => ControlFlow::Continue(()),
        }
    })?;
    Ok(found.unwrap_or(if is_transcript { Sniffed::Transcript(None) } else { Sniffed::Other }))
}

/// Returns the directory in which a transcript's session started, as recorded near its beginning. `None`
/// if the file cannot be read or does not say.
pub fn directory_of(path: &Path) -> Option<String> {
    let found =
        opening::search(path, |line| match Record::parse(line).ok().and_then(|one| one.cwd) {
            Some(directory) => ControlFlow::Break(Some(directory.into_owned())),
            None => ControlFlow::Continue(()),
        });
    found.ok()?
}

fn is_record(record: &Record<'_>) -> bool {
    let Some(kind) = record.kind.as_deref() else {
        return false;
    };
    let is_named = record.uuid.is_some() || record.session_id.is_some();
    is_known_type(kind) && (is_named || matches!(kind, "summary" | "file-history-snapshot"))
}
