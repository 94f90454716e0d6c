//! The contents of a data directory, as lines that can be compared: two directories that hold the same
//! give the same lines, whatever numbers their rows have.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use anyhow::{Context, Result};
use thru_agents::Cleaner;
use thru_agents::claude_code::discover;
use thru_core::{Id, Layout, SourceKind};
use thru_intake::Intake;
use thru_journal::archive::Archive;
use thru_redact::Report;
use thru_store::{MemoryFilter, PassageFilter, SessionFilter, Store};

/// Passages, sessions, memories and archived files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Dump {
    lines: Vec<String>,
}

impl Dump {
    /// Of the data directory at this path.
    pub(crate) fn of(root: &Path) -> Result<Self> {
        let layout = Layout::new(root);
        let mut dump = Self { lines: Vec::new() };
        dump.passages(&layout)?;
        dump.memories(&layout)?;
        for (path, (lines, hash)) in archived(&layout)? {
            dump.lines.push(format!("archive {path}: {lines} lines, {hash}"));
        }
        dump.lines.sort_unstable();
        Ok(dump)
    }

    /// The same with what sessions are and were indexed as.
    pub(crate) fn with_episodes(root: &Path) -> Result<Self> {
        let mut dump = Self::of(root)?;
        let store = Store::open_to_read(&Layout::new(root))?;
        for session in store.sessions(&SessionFilter::default())? {
            for episode in store.episodes(session.row)? {
                dump.lines.push(format!(
                    "episode {} of session {}: {}, filter {}, {} messages, {}",
                    episode.uuid,
                    session.key.id,
                    episode.content,
                    episode.filter,
                    episode.messages,
                    if episode.retired.is_some() { "retired" } else { "in use" },
                ));
            }
        }
        dump.lines.sort_unstable();
        Ok(dump)
    }

    fn passages(&mut self, layout: &Layout) -> Result<()> {
        let store = Store::open_to_read(layout)?;
        let sessions: HashMap<i64, String> = store
            .sessions(&SessionFilter::default())?
            .into_iter()
            .map(|session| {
                // The facts hold counters, which show what was read twice.
                let facts = serde_json::to_string(&session.facts).unwrap_or_default();
                let project = session.project_name.unwrap_or_default();
                self.lines.push(format!(
                    "session {}: {project}, {} turns, {} passages, {facts}",
                    session.key.id, session.turns, session.passages
                ));
                (session.row, session.key.id.as_str().to_owned())
            })
            .collect();
        let sources: HashMap<i64, String> =
            store.sources()?.into_iter().map(|source| (source.row, source.entry)).collect();
        let mut from = 0;
        loop {
            let rows = store.passages(PassageFilter::After { row: from, limit: 10_000 })?;
            let Some(last) = rows.last() else { break };
            from = last.row;
            for row in &rows {
                let text = store.text_of(row)?;
                let files = store.files_of(row)?;
                let records: Vec<String> = row
                    .records
                    .iter()
                    .map(|record| format!("{}@{}", record.id, record.line))
                    .collect();
                self.lines.push(format!(
                    "passage {}: session {}, source {}, turn {}, ordinal {}, {}, {:?}, text {}, \
                     records {records:?}, files {files:?}",
                    row.id,
                    sessions.get(&row.session).map_or("?", String::as_str),
                    sources.get(&row.source).map_or("?", String::as_str),
                    row.turn,
                    row.ordinal,
                    row.kind,
                    row.outcome,
                    Id::derive(&[text.as_bytes()]),
                ));
            }
        }
        Ok(())
    }

    fn memories(&mut self, layout: &Layout) -> Result<()> {
        let store = Store::open_to_read(layout)?;
        for memory in store.memories(&MemoryFilter::default())? {
            let body = format!("{:?}", store.body_of(&memory)?);
            let files =
                format!("{:?}", store.files_of_memories(&[memory.row])?.into_values().next());
            self.lines.push(format!(
                "memory {}: turn {}, {}, {:?}, {:?}, body {}, files {}",
                memory.id,
                memory.turn,
                memory.kind,
                memory.flags,
                memory.outcome,
                Id::derive(&[body.as_bytes()]),
                Id::derive(&[files.as_bytes()]),
            ));
        }
        Ok(())
    }

    /// The same with every line changed.
    pub(crate) fn map(&self, change: impl Fn(&str) -> String) -> Self {
        Self { lines: self.lines.iter().map(|line| change(line)).collect() }
    }

    /// Returns the number of lines.
    pub(crate) fn len(&self) -> usize {
        self.lines.len()
    }

    /// Returns up to `most` lines that only one of two dumps has.
    pub(crate) fn differences(&self, other: &Self, most: usize) -> Vec<String> {
        let mut counts: BTreeMap<&str, i64> = BTreeMap::new();
        for line in &self.lines {
            *counts.entry(line).or_default() += 1;
        }
        for line in &other.lines {
            *counts.entry(line).or_default() -= 1;
        }
        let differing = counts.into_iter().filter(|(_, count)| *count != 0);
        differing
            .map(|(line, count)| if count > 0 { format!("- {line}") } else { format!("+ {line}") })
            .take(most)
            .collect()
    }
}

/// Returns the identity of a tool call in the store, whichever source reported it.
pub(crate) fn fingerprint_of_call(call: &str) -> i64 {
    let id = Id::derive(&[call.as_bytes()]);
    let half = id.as_bytes().iter().take(8);
    half.fold(0_u64, |hash, byte| hash << 8 | u64::from(*byte)).cast_signed()
}

/// The archived files by the path of their source: lines and a hash of the text.
pub(crate) fn archived(layout: &Layout) -> Result<BTreeMap<String, (u64, Id)>> {
    let archive = Archive::new(layout.archive());
    let mut found = BTreeMap::new();
    for entry in archive.entries()? {
        let mut reader = archive.reader(&entry)?.context("an entry that is not there")?;
        let Some(info) = reader.info().cloned() else { continue };
        let mut text = Vec::new();
        for block in 0..reader.blocks().len() {
            text.extend(reader.read_block(block)?.unwrap_or_default());
        }
        found.insert(info.path, (reader.lines(), Id::derive(&[&text])));
    }
    Ok(found)
}

/// Returns the expected archive of a history: the cleaned text of each transcript.
pub(crate) fn expected(history: &Path, intake: &Intake) -> Result<BTreeMap<String, (u64, Id)>> {
    let mut expected = BTreeMap::new();
    for source in discover(history, &|_| false).sources {
        if !matches!(source.kind, SourceKind::Main | SourceKind::Subagent) {
            continue;
        }
        let mut cleaner = Cleaner::resume(source.agent, source.kind, None);
        let content = std::fs::read(&source.path)?;
        let (mut text, mut lines) = (Vec::new(), 0);
        for line in content.split_inclusive(|byte| *byte == b'\n') {
            let line = line.strip_suffix(b"\n").unwrap_or(line);
            let clean = cleaner.clean(intake.redactor(), line, &mut Report::default());
            text.extend_from_slice(clean.get());
            text.push(b'\n');
            lines += 1;
        }
        let path = source.path.to_string_lossy().into_owned();
        expected.insert(path, (lines, Id::derive(&[&text])));
    }
    Ok(expected)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_what_only_one_has() {
        let dump = |lines: &[&str]| Dump { lines: lines.iter().map(|&l| l.to_owned()).collect() };
        let (a, b) = (dump(&["one", "two", "two"]), dump(&["two", "three"]));
        assert_eq!(a.differences(&b, 9), ["- one", "+ three", "- two"]);
        assert!(a.differences(&a, 9).is_empty());
    }
}
