//! The boundaries at which contexts were compacted, with what was typed and said on both sides.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;
use serde_json::Value;
use thru_agents::agents::discover_path;
use thru_core::SourceKind;

/// The beginning of the summary of a compacted conversation; old versions do not flag it.
const CONTINUED: &str = "This session is being continued from a previous conversation";

/// Beginnings of texts that a client wrote in the user's name.
const NOT_TYPED: [&str; 4] = ["<", "[Request interrupted", "Caveat: ", "Base directory for this"];

/// Uses that a session needs to be cut in the middle.
const LONG: usize = 120;

/// Tools whose input holds the body of a file.
const WITH_BODY: [&str; 2] = ["Write", "NotebookEdit"];

/// Inputs that hold a word of the tool itself.
const OF_TOOL: [&str; 8] =
    ["status", "output_mode", "subagent_type", "type", "model", "taskId", "shell_id", "task_id"];

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

/// A text that was typed or said.
#[derive(Clone, Debug)]
pub(super) struct Use {
    pub(super) by: By,
    pub(super) text: String,
}

/// The author and the position of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum By {
    Person,
    Agent,
    /// A path that a tool was given.
    Path,
    /// A command line.
    Command,
    /// Another input of a tool.
    Input,
    /// The text that an edit removes or adds.
    Edit,
    /// A person's answer to a question.
    Answer,
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
        let is = |name: &str| record[name].as_bool() == Some(true);
        if is("isSidechain") {
            return;
        }
        let content = &record["message"]["content"];
        match record["type"].as_str().unwrap_or_default() {
            "system" if record["subtype"] == "compact_boundary" => {
                self.boundaries.push((line, String::new()));
            }
            "user" => {
                let text = texts(content);
                if is("isCompactSummary") || text.starts_with(CONTINUED) {
                    match self.boundaries.last_mut() {
                        // The record behind the boundary's own.
                        Some((_, summary)) if summary.is_empty() => *summary = text,
                        _ => self.boundaries.push((line, text)),
                    }
                } else if !is("isMeta") {
                    let is_typed = !NOT_TYPED.iter().any(|start| text.starts_with(start));
                    if is_typed && record.get("toolUseResult").is_none() {
                        self.put(line, By::Person, text);
                    }
                    self.answers(line, &record["toolUseResult"]["answers"]);
                }
            }
            "attachment" if record["attachment"]["type"] == "queued_command" => {
                self.put(line, By::Person, texts(&record["attachment"]["prompt"]));
            }
            "assistant" => {
                for block in content.as_array().into_iter().flatten() {
                    match block["type"].as_str() {
                        Some("text") => {
                            let text = block["text"].as_str().unwrap_or_default();
                            self.put(line, By::Agent, text.to_owned());
                        }
                        Some("tool_use") => self.call(line, block),
                        _ => {}
                    }
                }
            }
            _ => {}
        }
    }

    fn answers(&mut self, line: usize, answers: &Value) {
        for (question, answer) in answers.as_object().into_iter().flatten() {
            let answer = answer.as_str().unwrap_or_default();
            self.put(line, By::Answer, format!("{question} {answer}"));
        }
    }

    fn call(&mut self, line: usize, block: &Value) {
        let tool = block["name"].as_str().unwrap_or_default();
        let mut inputs = Vec::new();
        strings(&block["input"], "", &mut inputs);
        for (key, text) in inputs {
            match key {
                "file_path" | "notebook_path" | "path" => {
                    self.put(line, By::Path, text.to_owned());
                }
                "command" => self.put(line, By::Command, without_documents(text)),
                "old_string" | "new_string" => self.put(line, By::Edit, text.to_owned()),
                _ if WITH_BODY.contains(&tool) || OF_TOOL.contains(&key) => {}
                _ => self.put(line, By::Input, text.to_owned()),
            }
        }
    }

    fn put(&mut self, line: usize, by: By, text: String) {
        if !text.trim().is_empty() {
            self.uses.push((line, Use { by, text }));
        }
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

/// The texts of a message.
fn texts(content: &Value) -> String {
    if let Some(text) = content.as_str() {
        return text.to_owned();
    }
    let blocks = content.as_array().into_iter().flatten();
    blocks.filter_map(|block| block["text"].as_str()).collect::<Vec<_>>().join("\n")
}

/// Every string of a value, with the key that it stands below.
fn strings<'v>(value: &'v Value, key: &'v str, found: &mut Vec<(&'v str, &'v str)>) {
    match value {
        Value::String(text) => found.push((key, text)),
        Value::Array(values) => values.iter().for_each(|value| strings(value, key, found)),
        Value::Object(members) => {
            members.iter().for_each(|(key, value)| strings(value, key, found));
        }
        _ => {}
    }
}

/// A command line without the bodies of its here-documents.
fn without_documents(line: &str) -> String {
    let mut kept = String::new();
    let mut end: Option<&str> = None;
    for line in line.lines() {
        match end {
            Some(mark) if line.trim() == mark => end = None,
            Some(_) => {}
            None => {
                kept.push_str(line);
                kept.push('\n');
                end = line.split_once("<<").map(|(_, rest)| {
                    let mark = rest.trim_start_matches(['-', '~', ' ', '\'', '"', '\\']);
                    let length = mark.find(|c: char| !c.is_alphanumeric() && c != '_');
                    &mark[..length.unwrap_or(mark.len())]
                });
                end.take_if(|mark| mark.is_empty());
            }
        }
    }
    kept
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
