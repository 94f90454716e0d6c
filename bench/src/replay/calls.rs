//! The hook calls that Claude Code would have made while it wrote a transcript.
//!
//! Made from the records alone, by what was measured of the real client, and without any code that
//! reads transcripts for the product: what is compared must not come from one hand.

use std::collections::HashMap;

use serde_json::{Map, Value, json};

/// One call of a hook.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Call {
    pub(crate) event: &'static str,
    pub(crate) payload: Value,
}

/// The hook calls of a record: those before it is written, and those after.
#[derive(Debug, Default)]
pub(crate) struct Calls {
    pub(crate) before: Vec<Call>,
    pub(crate) after: Vec<Call>,
}

/// The reason hooks cannot know of a tool call in a transcript.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Silent {
    /// The user said no, or there is no such tool: it never ran.
    NeverRan,
    /// It has no result: it was interrupted, or the session was killed.
    NoResult,
}

impl Silent {
    pub(crate) const fn reason(self) -> &'static str {
        match self {
            Self::NeverRan => "the tool never ran",
            Self::NoResult => "the tool never came to an end",
        }
    }
}

/// A tool that was called and has not answered yet.
struct Pending {
    name: String,
    input: Value,
}

/// Walks over the records of one session and says which hooks are called.
pub(crate) struct Caller {
    session: String,
    transcript: String,
    directory: String,
    prompt: String,
    pending: HashMap<String, Pending>,
    /// The agent's last text in its turn, if the turn stands there.
    last: Turn,
    compacting: bool,
    /// Tool calls that hooks hear nothing of.
    pub(crate) silent: HashMap<String, Silent>,
    /// Input that no hook hears of: commands of the client itself.
    pub(crate) unheard: Vec<String>,
    /// Paths that the client makes absolute.
    pub(crate) absolute: usize,
    is_started: bool,
}

/// The state of a turn.
#[derive(Debug, Default, PartialEq)]
enum Turn {
    #[default]
    None,
    /// A tool works, or the model thinks.
    UnderWay,
    /// The agent said something, and nothing came after.
    Said(Option<String>),
    Failed(String),
}

impl Caller {
    pub(crate) fn new(session: &str, transcript: &str) -> Self {
        Self {
            session: session.to_owned(),
            transcript: transcript.to_owned(),
            directory: String::new(),
            prompt: String::new(),
            pending: HashMap::new(),
            last: Turn::None,
            compacting: false,
            silent: HashMap::new(),
            unheard: Vec::new(),
            absolute: 0,
            is_started: false,
        }
    }

    /// The next record.
    pub(crate) fn record(&mut self, record: &Value) -> Calls {
        let mut calls = Calls::default();
        if let Some(directory) = text(record, "cwd") {
            directory.clone_into(&mut self.directory);
        }
        if !self.is_started && matches!(text(record, "type"), Some("user" | "assistant")) {
            self.is_started = true;
            calls.before.push(self.call("SessionStart", json!({ "source": "startup" })));
        }
        let is_aside = flag(record, "isSidechain");
        match text(record, "type") {
            Some("user") => {
                self.results(record, record.get("agentId"), None, &mut calls.after);
                if !is_aside {
                    self.typed(record, &mut calls);
                }
            }
            Some("assistant") => {
                self.answer(record);
                if !is_aside {
                    self.said(record);
                }
            }
            Some("progress") => self.progress(record, &mut calls.after),
            Some("system") if text(record, "subtype") == Some("compact_boundary") => {
                let trigger = record["compactMetadata"]["trigger"].as_str().unwrap_or("auto");
                calls.before.push(self.call("PreCompact", json!({ "trigger": trigger })));
                self.compacting = true;
            }
            _ => {}
        }
        calls
    }

    /// The end of the transcript.
    pub(crate) fn end(&mut self) -> Vec<Call> {
        let mut calls = Vec::new();
        self.end_turn(&mut calls);
        for call in std::mem::take(&mut self.pending).into_keys() {
            self.silent.insert(call, Silent::NoResult);
        }
        if self.is_started {
            calls.push(self.call("SessionEnd", json!({ "reason": "other" })));
        }
        calls
    }

    fn call(&self, event: &'static str, fields: Value) -> Call {
        let mut payload = Map::new();
        payload.insert("session_id".to_owned(), json!(self.session));
        payload.insert("transcript_path".to_owned(), json!(self.transcript));
        payload.insert("cwd".to_owned(), json!(self.directory));
        payload.insert("hook_event_name".to_owned(), json!(event));
        if event != "SessionStart" && !self.prompt.is_empty() {
            payload.insert("prompt_id".to_owned(), json!(self.prompt));
        }
        if let Value::Object(fields) = fields {
            payload.extend(fields);
        }
        Call { event, payload: Value::Object(payload) }
    }

    /// A message that a person typed, or that is written as if.
    fn typed(&mut self, record: &Value, calls: &mut Calls) {
        let Some(typed) = typed_text(&record["message"]["content"]) else { return };
        if flag(record, "isCompactSummary") || typed.starts_with("This session is being continued")
        {
            if std::mem::take(&mut self.compacting) {
                calls.after.push(self.call("SessionStart", json!({ "source": "compact" })));
                calls.after.push(self.call("PostCompact", json!({ "compact_summary": typed })));
            }
            return;
        }
        if flag(record, "isMeta") {
            return;
        }
        if typed.starts_with("[Request interrupted") {
            self.last = Turn::None;
            return;
        }
        if typed.starts_with("<local-command-") || typed.starts_with("<bash-std") {
            return;
        }
        if typed.starts_with("<command-name>") || typed.starts_with("<bash-input>") {
            self.unheard.push(typed);
            return;
        }
        self.end_turn(&mut calls.before);
        text(record, "uuid").unwrap_or_default().clone_into(&mut self.prompt);
        let prompt = match typed.starts_with("<command-message>") {
            true => command(&typed),
            false => typed,
        };
        calls.after.push(self.call("UserPromptSubmit", json!({ "prompt": prompt })));
        self.last = Turn::UnderWay;
    }

    /// The tools that a message calls.
    fn answer(&mut self, record: &Value) {
        for block in blocks(record) {
            if text(block, "type") == Some("tool_use")
                && let (Some(id), Some(name)) = (text(block, "id"), text(block, "name"))
            {
                let mut input = block.get("input").cloned().unwrap_or_default();
                self.absolute += usize::from(make_absolute(&mut input, &self.directory));
                self.pending.insert(id.to_owned(), Pending { name: name.to_owned(), input });
            }
        }
    }

    /// Handles a text of the agent in the main conversation.
    fn said(&mut self, record: &Value) {
        let texts: Vec<&str> = blocks(record)
            .iter()
            .filter(|block| text(block, "type") == Some("text"))
            .filter_map(|block| text(block, "text"))
            .collect();
        let said = texts.join("\n").trim().to_owned();
        self.last = match flag(record, "isApiErrorMessage") {
            true => Turn::Failed(said),
            false if self.is_waiting(record) => Turn::UnderWay,
            false => Turn::Said(Some(said).filter(|said| !said.is_empty())),
        };
    }

    /// Returns true if the message calls a tool.
    fn is_waiting(&self, record: &Value) -> bool {
        blocks(record).iter().any(|block| text(block, "type") == Some("tool_use"))
    }

    fn end_turn(&mut self, calls: &mut Vec<Call>) {
        match std::mem::take(&mut self.last) {
            Turn::None | Turn::UnderWay => {}
            Turn::Said(said) => {
                let mut fields = json!({ "stop_hook_active": false });
                if let Some(said) = said {
                    fields["last_assistant_message"] = json!(said);
                }
                calls.push(self.call("Stop", fields));
            }
            Turn::Failed(said) => calls.push(self.call(
                "StopFailure",
                json!({ "error": "server_error", "last_assistant_message": said }),
            )),
        }
    }

    /// Handles the work of a subagent, as its parent's transcript reports it.
    fn progress(&mut self, record: &Value, calls: &mut Vec<Call>) {
        let data = &record["data"];
        if text(data, "type") != Some("agent_progress") {
            return;
        }
        let inner = &data["message"];
        match text(inner, "type") {
            Some("assistant") => self.answer(inner),
            Some("user") => {
                let parent = text(record, "parentToolUseID").and_then(|id| self.pending.get(id));
                let kind = parent.and_then(|task| text(&task.input, "subagent_type"));
                let kind = kind.map(str::to_owned);
                self.results(inner, data.get("agentId"), kind, calls);
            }
            _ => {}
        }
    }

    /// The tools that answered.
    fn results(
        &mut self,
        record: &Value,
        agent: Option<&Value>,
        agent_type: Option<String>,
        calls: &mut Vec<Call>,
    ) {
        let results: Vec<&Value> = blocks(record)
            .iter()
            .filter(|block| text(block, "type") == Some("tool_result"))
            .collect();
        for &result in &results {
            let id = text(result, "tool_use_id").unwrap_or_default();
            let Some(Pending { name, input }) = self.pending.remove(id) else { continue };
            if agent.is_none() {
                self.last = Turn::UnderWay;
            }
            let content = said_in(&result["content"]);
            let is_error = flag(result, "is_error");
            if is_error && never_ran(&content) {
                self.silent.insert(id.to_owned(), Silent::NeverRan);
                continue;
            }
            let response = match record.get("toolUseResult") {
                Some(structured) if results.len() == 1 => structured.clone(),
                _ => result["content"].clone(),
            };
            if name == "Task" || name == "Agent" {
                let fields = json!({
                    "agent_id": response["agentId"],
                    "agent_type": input["subagent_type"],
                    "last_assistant_message": content,
                });
                calls.push(self.call("SubagentStop", fields));
            }
            let mut fields = json!({ "tool_name": name, "tool_input": input, "tool_use_id": id });
            if let Some(agent) = agent {
                fields["agent_id"] = agent.clone();
            }
            if let Some(kind) = &agent_type {
                fields["agent_type"] = json!(kind);
            }
            let event = match is_error {
                true => {
                    fields["error"] = json!(content);
                    fields["is_interrupt"] = json!(false);
                    "PostToolUseFailure"
                }
                false => {
                    fields["tool_response"] = response;
                    "PostToolUse"
                }
            };
            calls.push(self.call(event, fields));
        }
    }
}

/// Returns true if an error says that the tool was not started.
fn never_ran(error: &str) -> bool {
    const STARTS: [&str; 3] = [
        "The user doesn't want to proceed",
        "The user doesn't want to take this action",
        "<tool_use_error>Error: No such tool available",
    ];
    STARTS.iter().any(|start| error.starts_with(start))
}

/// A command of the user's as it was typed.
fn command(expanded: &str) -> String {
    let part = |tag: &str| {
        let (_, rest) = expanded.split_once(&format!("<{tag}>"))?;
        rest.split_once(&format!("</{tag}>")).map(|(part, _)| part.trim())
    };
    let name = part("command-name").unwrap_or_default();
    let name = if name.starts_with('/') { name.to_owned() } else { format!("/{name}") };
    format!("{name} {}", part("command-args").unwrap_or_default()).trim().to_owned()
}

/// The text of a message that may have been typed.
fn typed_text(content: &Value) -> Option<String> {
    let texts: Vec<&str> = match content {
        Value::String(text) => vec![text],
        Value::Array(blocks) => blocks
            .iter()
            .filter(|block| text(block, "type") == Some("text"))
            .filter_map(|block| text(block, "text"))
            .filter(|text| !text.starts_with("<ide_") && !text.starts_with("<system-reminder>"))
            .collect(),
        _ => Vec::new(),
    };
    (!texts.is_empty()).then(|| texts.join("\n"))
}

/// The text of a tool's answer.
fn said_in(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => {
            let texts: Vec<&str> = blocks.iter().filter_map(|block| text(block, "text")).collect();
            texts.join("\n")
        }
        _ => String::new(),
    }
}

/// Makes the paths of a tool's input absolute, as the client does before it calls a hook.
fn make_absolute(input: &mut Value, directory: &str) -> bool {
    let mut changed = false;
    for name in ["file_path", "notebook_path"] {
        if let Some(Value::String(path)) = input.get_mut(name)
            && !directory.is_empty()
            && !path.is_empty()
            && !path.starts_with(['/', '~'])
        {
            *path = format!("{directory}/{path}");
            changed = true;
        }
    }
    changed
}

fn blocks(record: &Value) -> &[Value] {
    record["message"]["content"].as_array().map_or(&[], Vec::as_slice)
}

fn text<'v>(value: &'v Value, field: &str) -> Option<&'v str> {
    value.get(field).and_then(Value::as_str)
}

fn flag(value: &Value, field: &str) -> bool {
    value.get(field).and_then(Value::as_bool).unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn events(records: &[Value]) -> Vec<String> {
        let mut caller = Caller::new("s", "/t.jsonl");
        let mut all = Vec::new();
        for record in records {
            let calls = caller.record(record);
            all.extend(calls.before.into_iter().chain(calls.after));
        }
        all.extend(caller.end());
        all.iter()
            .map(|call| {
                let said = ["prompt", "last_assistant_message", "error", "tool_use_id"];
                let said = said.iter().find_map(|field| text(&call.payload, field));
                format!("{} {}", call.event, said.unwrap_or_default()).trim().to_owned()
            })
            .collect()
    }

    #[test]
    fn a_turn_is_told_as_the_client_tells_it() {
        let user = |content: Value| json!({"type": "user", "message": {"content": content}});
        let agent = |content: Value| json!({"type": "assistant", "message": {"content": content}});
        let told = events(&[
            user(json!("<command-name>/clear</command-name>")),
            user(json!(
                "<command-message>x</command-message><command-name>/x</command-name><command-args>y z</command-args>"
            )),
            agent(
                json!([{"type": "tool_use", "id": "t1", "name": "Read", "input": {"file_path": "a"}}]),
            ),
            user(
                json!([{"type": "tool_result", "tool_use_id": "t1", "content": "no", "is_error": true}]),
            ),
            agent(json!([{"type": "text", "text": "done"}])),
            user(json!([{"type": "text", "text": "go on"}])),
            agent(json!([{"type": "tool_use", "id": "t2", "name": "Bash", "input": {}}])),
            user(json!([{"type": "text", "text": "[Request interrupted by user]"}])),
        ]);
        assert_eq!(
            told,
            [
                "SessionStart",
                "UserPromptSubmit /x y z",
                "PostToolUseFailure no",
                "Stop done",
                "UserPromptSubmit go on",
                "SessionEnd"
            ]
        );
    }
}
