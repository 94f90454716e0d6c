//! Detects the type of a file from its beginning, for files whose names do not tell it.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use thru_core::SessionId;

use super::history::Entry;
use super::notes::is_known_type;
use super::record::Record;
use crate::names::is_session_id;
use crate::{json, lines};

/// Limits of the search, in lines and bytes: the first lines can be metadata without a session, and
/// lines can be long.
const LINES: usize = 50;
const BYTES: u64 = 4 * 1024 * 1024;

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
    let mut from = BufReader::new(File::open(path)?.take(BYTES));
    let mut is_transcript = false;
    let mut line = Vec::new();
    for _ in 0..LINES {
        line.clear();
        if from.read_until(b'\n', &mut line)? == 0 {
            break;
        }
        let Some((_, content)) = lines::numbered(&line, 1).next() else {
            continue;
        };
        let text = json::mend(content);
        if !is_transcript && Entry::parse(&text).is_some_and(|entry| entry.is_history()) {
            return Ok(Sniffed::History);
        }
        let Ok(record) = Record::parse(&text) else {
            continue;
        };
        if !is_record(&record) {
            continue;
        }
        is_transcript = true;
        if let Some(id) = record.session_id.filter(|id| is_session_id(id)) {
            return Ok(Sniffed::Transcript(Some(SessionId::new(id))));
        }
    }
    Ok(if is_transcript { Sniffed::Transcript(None) } else { Sniffed::Other })
}

/// Returns the directory in which a transcript's session started, as recorded near its beginning. `None`
/// if the file cannot be read or does not say.
pub fn directory_of(path: &Path) -> Option<String> {
    let mut from = BufReader::new(File::open(path).ok()?.take(BYTES));
    let mut line = Vec::new();
    for _ in 0..LINES {
        line.clear();
        if from.read_until(b'\n', &mut line).ok()? == 0 {
            return None;
        }
        let text = json::mend(line.trim_ascii());
        if let Some(directory) = Record::parse(&text).ok().and_then(|record| record.cwd) {
            return Some(directory.into_owned());
        }
    }
    None
}

fn is_record(record: &Record<'_>) -> bool {
    let Some(kind) = record.kind.as_deref() else {
        return false;
    };
    let is_named = record.uuid.is_some() || record.session_id.is_some();
    is_known_type(kind) && (is_named || matches!(kind, "summary" | "file-history-snapshot"))
}
