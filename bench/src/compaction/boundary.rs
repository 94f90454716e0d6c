//! The boundaries at which contexts were compacted, with what was typed and said on both sides.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;
use serde_json::Value;
use thru_agents::agents::discover_path;
use thru_core::{Agent, SourceKind};

use crate::uses::{CONTINUED, Use, texts, uses};

/// Uses that a session needs to be cut in the middle.
const LONG: usize = 120;

/// A moment at which a context was compacted, or might have been.
pub(super) struct Boundary {
    /// The transcript.
    pub(super) path: PathBuf,
    /// The agent's id of the session.
    pub(super) session: String,
    /// The uses before it, in order …
    pub(super) before: Vec<Use>,
    /// … and after it.
    pub(super) after: Vec<Use>,
    /// The agent's own summary; none where the session was cut by us.
    pub(super) summary: Option<String>,
    /// The transcript up to it.
    pub(super) prefix: Vec<u8>,
}

/// A transcript with the lines at which its context was compacted.
struct Transcript {
    path: PathBuf,
    session: String,
    lines: Vec<Vec<u8>>,
    /// The line of each use.
    uses: Vec<(usize, Use)>,
    /// The line of each boundary, and the agent's summary.
    boundaries: Vec<(usize, String)>,
}

/// Every boundary of the sessions at or below a path. A session is read from its longest file.
pub(super) fn boundaries(folder: &Path, cuts: bool) -> Result<Vec<Boundary>> {
    let mut sources = discover_path(folder).sources;
    sources.retain(|source| source.kind == SourceKind::Main);
    sources.sort_by(|a, b| b.size.cmp(&a.size).then_with(|| a.path.cmp(&b.path)));
    let mut known = HashSet::new();
    sources.retain(|source| known.insert(source.session.clone()));
    sources.sort_by(|a, b| a.path.cmp(&b.path));
    let mut found = Vec::new();
    for source in sources {
        let transcript = Transcript::read(&source.path, source.session.as_str())?;
        transcript.boundaries(cuts, &mut found);
    }
    Ok(found)
}

impl Transcript {
    fn read(path: &Path, session: &str) -> Result<Self> {
        let content = fs::read(path)?;
        let content = content.strip_suffix(b"\n").unwrap_or(&content);
        let mut transcript = Self {
            path: path.to_owned(),
            session: session.to_owned(),
            lines: content.split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect(),
            uses: Vec::new(),
            boundaries: Vec::new(),
        };
        for line in 0..transcript.lines.len() {
            if let Ok(record) = serde_json::from_slice::<Value>(&transcript.lines[line]) {
                transcript.record(line, &record);
            }
        }
        Ok(transcript)
    }

    fn record(&mut self, line: usize, record: &Value) {
        if record["isSidechain"].as_bool() == Some(true) {
            return;
        }
        match record["type"].as_str().unwrap_or_default() {
            "system" if record["subtype"] == "compact_boundary" => {
                self.boundaries.push((line, String::new()));
            }
            "user" => {
                let text = texts(&record["message"]["content"]);
                if record["isCompactSummary"].as_bool() == Some(true) || text.starts_with(CONTINUED)
                {
                    match self.boundaries.last_mut() {
                        // The record behind the boundary's own.
                        Some((_, summary)) if summary.is_empty() => *summary = text,
                        _ => self.boundaries.push((line, text)),
                    }
                }
            }
            _ => {}
        }
        self.uses.extend(uses(Agent::ClaudeCode, record).into_iter().map(|one| (line, one)));
    }

    fn boundaries(self, cuts: bool, found: &mut Vec<Boundary>) {
        let mut places: Vec<(usize, Option<String>)> =
            self.boundaries.iter().map(|(line, text)| (*line, Some(text.clone()))).collect();
        if places.is_empty() && cuts && self.uses.len() >= LONG {
            places.push((self.uses[self.uses.len() / 2].0, None));
        }
        for (at, (line, summary)) in places.iter().enumerate() {
            let end = places.get(at + 1).map_or(usize::MAX, |(line, _)| *line);
            let side = |from: usize, to: usize| -> Vec<Use> {
                let uses = self.uses.iter().filter(|(at, _)| (from..to).contains(at));
                uses.map(|(_, one)| one.clone()).collect()
            };
            let mut prefix = self.lines[..*line].join(&b'\n');
            prefix.push(b'\n');
            found.push(Boundary {
                path: self.path.clone(),
                session: self.session.clone(),
                before: side(0, *line),
                after: side(*line, end),
                summary: summary.clone(),
                prefix,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_sides_and_the_summary_are_told_apart() {
        let folder = tempfile::tempdir().unwrap();
        let lines = [
            r#"{"type":"user","message":{"content":"Fix src/a.rs"}}"#,
            r#"{"type":"assistant","message":{"content":[{"type":"tool_use","name":"Edit","input":{"file_path":"/p/src/a.rs","old_string":"old_name"}},{"type":"tool_use","name":"Bash","input":{"command":"cat <<'E' > b\nbody\nE\ncargo test"}}]}}"#,
            r#"{"type":"user","toolUseResult":{},"message":{"content":[{"type":"tool_result","content":"printed"}]}}"#,
            r#"{"type":"system","subtype":"compact_boundary"}"#,
            r#"{"type":"user","isCompactSummary":true,"message":{"content":"This session is being continued"}}"#,
            r#"{"type":"assistant","message":{"content":[{"type":"text","text":"Going on"}]}}"#,
        ];
        let path = folder.path().join("0b54fa2c-6b51-4b7c-8a51-aa57bb0b2f10.jsonl");
        fs::write(&path, lines.join("\n")).unwrap();
        let transcript = Transcript::read(&path, "s").unwrap();
        let mut found = Vec::new();
        transcript.boundaries(true, &mut found);
        assert_eq!(found.len(), 1);
        let texts = |uses: &[Use]| uses.iter().map(|one| one.text.clone()).collect::<Vec<_>>();
        assert_eq!(
            texts(&found[0].before),
            ["Fix src/a.rs", "/p/src/a.rs", "old_name", "cat <<'E' > b\ncargo test\n"]
        );
        assert_eq!(texts(&found[0].after), ["Going on"]);
        assert_eq!(found[0].summary.as_deref(), Some("This session is being continued"));
        assert_eq!(found[0].prefix.split(|byte| *byte == b'\n').count(), 4);
    }
}
