//! Texts that were typed or said in a session: prompts, texts of the agent, and the inputs of its tool calls
//! without bodies of whole files. Read from the records of transcripts by simple means that know nothing of
//! distilling.

use serde_json::Value;
use thru_core::Agent;

/// The beginning of the summary of a compacted conversation; old versions do not flag it.
pub(crate) const CONTINUED: &str = "This session is being continued from a previous conversation";

/// Beginnings of texts that a client wrote in the user's name.
const NOT_TYPED: [&str; 5] = [
    "<",
    "[Request interrupted",
    "Caveat: ",
    "Base directory for this",
    "# AGENTS.md instructions",
];

/// Tools whose input holds the body of a file.
const WITH_BODY: [&str; 3] = ["Write", "NotebookEdit", "create"];

/// Tools that read the file that they are given.
const READING: [&str; 3] = ["Read", "view", "NotebookRead"];

/// Inputs that hold a word of the tool itself.
const OF_TOOL: [&str; 10] = [
    "status",
    "output_mode",
    "subagent_type",
    "type",
    "model",
    "taskId",
    "shell_id",
    "task_id",
    "workdir",
    "chars",
];

/// A text that was typed or said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Use {
    pub(crate) by: By,
    pub(crate) text: String,
}

/// The author and the position of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum By {
    Person,
    Agent,
    /// A path that a tool was given.
    Path,
    /// A path that a tool was given to read.
    Read,
    /// A command line.
    Command,
    /// Another input of a tool.
    Input,
    /// The text that an edit removes or adds.
    Edit,
    /// A person's answer to a question.
    Answer,
}

/// The uses in a record of an agent's transcript.
pub(crate) fn uses(agent: Agent, record: &Value) -> Vec<Use> {
    let mut found = Found::default();
    match agent {
        Agent::Codex => found.codex(record),
        Agent::Copilot => found.copilot(record),
        _ => found.claude(record),
    }
    found.0
}

/// The texts of a message.
pub(crate) fn texts(content: &Value) -> String {
    if let Some(text) = content.as_str() {
        return text.to_owned();
    }
    let blocks = content.as_array().into_iter().flatten();
    blocks.filter_map(|block| block["text"].as_str()).collect::<Vec<_>>().join("\n")
}

#[derive(Default)]
struct Found(Vec<Use>);

impl Found {
    fn put(&mut self, by: By, text: impl Into<String>) {
        let text = text.into();
        if !text.trim().is_empty() {
            self.0.push(Use { by, text });
        }
    }

    fn typed(&mut self, text: String) {
        if !NOT_TYPED.iter().any(|start| text.starts_with(start)) {
            self.put(By::Person, text);
        }
    }

    fn claude(&mut self, record: &Value) {
        let is = |name: &str| record[name].as_bool() == Some(true);
        if is("isSidechain") {
            return;
        }
        let content = &record["message"]["content"];
        match record["type"].as_str().unwrap_or_default() {
            "user" if !is("isMeta") && !is("isCompactSummary") => {
                let text = texts(content);
                if record.get("toolUseResult").is_none() && !text.starts_with(CONTINUED) {
                    self.typed(text);
                }
                self.answers(&record["toolUseResult"]["answers"]);
            }
            "attachment" if record["attachment"]["type"] == "queued_command" => {
                self.put(By::Person, texts(&record["attachment"]["prompt"]));
            }
            "assistant" => {
                for block in content.as_array().into_iter().flatten() {
                    match block["type"].as_str() {
                        Some("text") => self.put(By::Agent, string(&block["text"])),
                        Some("tool_use") => self.call(string(&block["name"]), &block["input"]),
                        _ => {}
                    }
                }
            }
            _ => {}
        }
    }

    fn codex(&mut self, record: &Value) {
        let payload = &record["payload"];
        match (string(&record["type"]), string(&payload["type"])) {
            ("event_msg", "user_message") => self.typed(string(&payload["message"]).to_owned()),
            ("event_msg", "agent_message") => self.put(By::Agent, string(&payload["message"])),
            ("response_item", "function_call") => {
                let arguments = string(&payload["arguments"]);
                let arguments: Value = serde_json::from_str(arguments).unwrap_or_default();
                self.call(string(&payload["name"]), &arguments);
            }
            ("response_item", "custom_tool_call") => self.patch(string(&payload["input"])),
            _ => {}
        }
    }

    fn copilot(&mut self, record: &Value) {
        let data = &record["data"];
        match string(&record["type"]) {
            "user.message" => self.typed(string(&data["content"]).to_owned()),
            "assistant.message" => self.put(By::Agent, string(&data["content"])),
            "tool.execution_start" => self.call(string(&data["toolName"]), &data["arguments"]),
            _ => {}
        }
    }

    fn answers(&mut self, answers: &Value) {
        for (question, answer) in answers.as_object().into_iter().flatten() {
            self.put(By::Answer, format!("{question} {}", string(answer)));
        }
    }

    fn call(&mut self, tool: &str, input: &Value) {
        let mut inputs = Vec::new();
        strings(input, "", &mut inputs);
        for (key, text) in inputs {
            match key {
                "file_path" | "notebook_path" | "path" => {
                    self.put(if READING.contains(&tool) { By::Read } else { By::Path }, text);
                }
                "command" | "cmd" => self.put(By::Command, without_documents(text)),
                "old_string" | "new_string" | "old_str" | "new_str" => self.put(By::Edit, text),
                _ if WITH_BODY.contains(&tool) || OF_TOOL.contains(&key) => {}
                _ => self.put(By::Input, text),
            }
        }
    }

    /// A patch: the files that it changes, the lines that it adds or removes in them. A file that it adds is a
    /// body.
    fn patch(&mut self, patch: &str) {
        let mut lines = String::new();
        let mut is_new = false;
        for line in patch.lines() {
            let heads =
                ["*** Update File: ", "*** Add File: ", "*** Delete File: ", "*** Move to: "];
            if let Some(path) = heads.iter().find_map(|head| line.strip_prefix(head)) {
                is_new = line.starts_with("*** Add");
                self.put(By::Path, path);
            } else if !is_new && line.starts_with(['+', '-']) {
                lines.push_str(&line[1..]);
                lines.push('\n');
            }
        }
        self.put(By::Edit, lines);
    }
}

fn string(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
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
    use serde_json::json;

    use super::*;

    #[test]
    fn calls_of_every_agent_are_read() {
        let read = |agent, record| -> Vec<(By, String)> {
            uses(agent, &record).into_iter().map(|one| (one.by, one.text)).collect()
        };
        let patch = "*** Begin Patch\n*** Update File: src/a.rs\n@@\n-old\n+new\n*** Add File: b.md\n+body\n";
        assert_eq!(
            read(
                Agent::Codex,
                json!({"type": "response_item", "payload": {"type": "custom_tool_call", "input": patch}})
            ),
            [
                (By::Path, "src/a.rs".to_owned()),
                (By::Path, "b.md".to_owned()),
                (By::Edit, "old\nnew\n".to_owned())
            ]
        );
        let arguments = r#"{"cmd":"just lint","workdir":"/p"}"#;
        assert_eq!(
            read(
                Agent::Codex,
                json!({"type": "response_item", "payload":
                    {"type": "function_call", "name": "exec_command", "arguments": arguments}})
            ),
            [(By::Command, "just lint\n".to_owned())]
        );
        assert_eq!(
            read(
                Agent::Copilot,
                json!({"type": "tool.execution_start", "data":
                    {"toolName": "view", "arguments": {"path": "/p/notes.md"}}})
            ),
            [(By::Read, "/p/notes.md".to_owned())]
        );
    }
}
