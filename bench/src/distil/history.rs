//! Real sessions, read as an import reads them, without a store.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::Path;

use thru_agents::Source;
use thru_agents::agents::discover_path;
use thru_agents::{Cleaner, Reader};
use thru_core::{Id, Outcome, Passage, ReadBatch, SessionFacts, SessionId, SessionKey, SourceKind};
use thru_distil::{Moment, wants_text};
use thru_redact::{Clean, Redactor, Report};

/// A session with its passages in the order in which they are distilled.
pub(super) struct Session {
    pub(super) key: SessionKey,
    pub(super) facts: SessionFacts,
    pub(super) passages: Vec<Passage>,
    /// Bytes of its files.
    pub(super) bytes: u64,
}

/// A passage with what decides which of its copies counts, and where it stands.
struct Found {
    passage: Passage,
    is_of_subagent: bool,
    entry: String,
}

/// Reads every session at or below a path. What cannot be read is said and left out.
pub(super) fn sessions(folder: &Path) -> Vec<Session> {
    let found = discover_path(folder);
    for problem in &found.problems {
        eprintln!("{}: {}", problem.path.display(), problem.message);
    }
    let redactor = Redactor::builtin();
    let mut sessions: BTreeMap<SessionId, Session> = BTreeMap::new();
    let mut passages: HashMap<Id, Found> = HashMap::new();
    for source in &found.sources {
        if !matches!(source.kind, SourceKind::Main | SourceKind::Subagent) {
            continue;
        }
        let batch = match fs::read(&source.path) {
            Ok(content) => read(source, &content, &redactor),
            Err(error) => {
                eprintln!("{}: {error}", source.path.display());
                continue;
            }
        };
        let session = sessions.entry(source.session.clone()).or_insert_with(|| Session {
            key: SessionKey { agent: source.agent, id: source.session.clone() },
            facts: SessionFacts::default(),
            passages: Vec::new(),
            bytes: 0,
        });
        session.bytes += source.size;
        session.facts.merge(batch.facts);
        for passage in batch.passages {
            let found = Found {
                passage,
                is_of_subagent: source.kind == SourceKind::Subagent,
                entry: source.archive_name.clone(),
            };
            let is_better = passages
                .get(&found.passage.id)
                .is_none_or(|known| found.precedence() < known.precedence());
            if is_better {
                passages.insert(found.passage.id, found);
            }
        }
    }
    let mut found: Vec<Found> = passages.into_values().collect();
    found.sort_by(|a, b| a.order().cmp(&b.order()));
    for Found { passage, .. } in found {
        if let Some(session) = sessions.get_mut(&passage.session) {
            session.passages.push(passage);
        }
    }
    sessions.into_values().collect()
}

/// Cleans and reads a whole file at once: every result then joins its call.
fn read(source: &Source, content: &[u8], redactor: &Redactor) -> ReadBatch {
    let mut cleaner = Cleaner::resume(source.agent, source.kind, None);
    let mut report = Report::default();
    let content = content.strip_suffix(b"\n").unwrap_or(content);
    let lines: Vec<Clean<Vec<u8>>> = content
        .split(|byte| *byte == b'\n')
        .map(|line| cleaner.clean(redactor, line, &mut report))
        .collect();
    Reader::for_source(source).read(&Clean::join(&lines, b'\n'), 1).into_inner()
}

impl Found {
    /// Of two copies, the lower one counts: the store's rule.
    fn precedence(&self) -> (bool, bool, &str, &str) {
        let Passage { copied_from, outcome, session, .. } = &self.passage;
        let is_open = *outcome == Some(Outcome::Pending);
        (copied_from.is_some(), is_open, session.as_str(), &self.entry)
    }

    /// The transcript itself, then each subagent's.
    fn order(&self) -> (bool, &str, u32) {
        (self.is_of_subagent, &self.entry, self.passage.ordinal)
    }
}

impl Session {
    /// The first characters of its id.
    pub(super) fn short(&self) -> String {
        self.key.id.short()
    }

    /// Its passages as distilling sees them.
    pub(super) fn moments(&self) -> Vec<Moment> {
        self.passages.iter().map(moment).collect()
    }
}

fn moment(passage: &Passage) -> Moment {
    let is_subagent = passage.agent_id.is_some();
    let text = match wants_text(passage.kind, passage.tool.as_deref(), passage.outcome, is_subagent)
    {
        true => passage.text.clone(),
        false => String::new(),
    };
    Moment {
        id: passage.id,
        turn: passage.turn,
        kind: passage.kind,
        is_subagent,
        tool: passage.tool.clone(),
        command: passage.command.clone(),
        outcome: passage.outcome,
        at: passage.timestamp,
        files: passage.files.clone(),
        length: passage.text.len() as u64,
        text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_of_a_session_count_once() {
        let folder = tempfile::tempdir().unwrap();
        let lock = include_str!("../../../crates/thru/demo/lock.jsonl");
        // A copy that ends before the result of its last call was written.
        let cut: String = lock.lines().take(6).map(|line| format!("{line}\n")).collect();
        fs::write(folder.path().join("a-early.jsonl"), cut).unwrap();
        fs::write(folder.path().join("b-late.jsonl"), lock).unwrap();
        let sessions = sessions(folder.path());
        assert_eq!(sessions.len(), 1);
        let session = &sessions[0];
        assert_eq!(session.short(), "5b1f0c9e");
        assert_eq!(session.facts.given_title(), Some("Lost updates in the session index"));
        let is_open = |passage: &&Passage| passage.outcome == Some(Outcome::Pending);
        assert_eq!(session.passages.iter().filter(is_open).count(), 0);
        assert_eq!(session.passages.len(), 12);
    }
}
