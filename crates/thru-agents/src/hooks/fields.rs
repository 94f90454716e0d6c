//! The places of the fields in an agent's payloads.

use serde_json::{Map, Value};
use thru_core::Agent;

/// Bytes kept of each detail.
const DETAIL: usize = 200;

/// JSON pointers (RFC 6901) of the fields that are read from a payload. Agents that have no such field
/// keep the usual pointer, which then finds nothing.
#[derive(Clone, Copy, Debug)]
pub struct Fields {
    /// Id of the session.
    pub session: &'static str,
    /// Working directory.
    pub directory: &'static str,
    /// Name of the project, of a program that has no directory.
    pub project: &'static str,
    /// Path of the transcript.
    pub transcript: &'static str,
    /// Text of a prompt.
    pub prompt: &'static str,
    /// Id of the prompt, or of the turn that it began.
    pub turn: &'static str,
    /// Tool that was called.
    pub tool: &'static str,
    /// Id of a tool call.
    pub call: &'static str,
    /// Reason for a start (`startup`, `resume`, `clear`, `compact`, `fork`), or sender of a prompt.
    pub source: &'static str,
    /// Reason for the end of a session.
    pub reason: &'static str,
    /// Cause of a compaction.
    pub trigger: &'static str,
    /// Words of the user on what a compaction should keep.
    pub instructions: &'static str,
    /// The agent's own summary after a compaction.
    pub summary: &'static str,
    /// The agent's last words in a turn.
    pub said: &'static str,
    /// Further fields of one word each that are kept with an event for good.
    pub details: &'static [&'static str],
    /// Fields at the top with the input and output of a tool. They may be long.
    pub long: &'static [&'static str],
}

impl Fields {
    /// The names that Claude Code gives them, which most agents share.
    pub const USUAL: Self = Self {
        session: "/session_id",
        directory: "/cwd",
        project: "/project",
        transcript: "/transcript_path",
        prompt: "/prompt",
        turn: "/prompt_id",
        tool: "/tool_name",
        call: "/tool_use_id",
        source: "/source",
        reason: "/reason",
        trigger: "/trigger",
        instructions: "/custom_instructions",
        summary: "/compact_summary",
        said: "/last_assistant_message",
        details: &[
            "error",
            "agent_id",
            "agent_type",
            "permission_mode",
            "duration_ms",
            "stop_hook_active",
            "model",
            "is_interrupt",
        ],
        long: &["tool_input", "tool_response"],
    };

    /// Names at the top of what is kept of an event in a private turn: where and when it happened, nothing
    /// that was said.
    const PLACING: [&'static str; 5] =
        ["hook_event_name", "permission_mode", "agent_id", "agent_type", "model"];

    /// True for a field that says where and when an event happened, by its name at the top.
    pub(super) fn is_placing(&self, name: &str) -> bool {
        let fields = [
            self.session,
            self.directory,
            self.project,
            self.transcript,
            self.turn,
            self.source,
            self.reason,
            self.trigger,
        ];
        Self::PLACING.contains(&name)
            || fields.iter().any(|field| field.strip_prefix('/') == Some(name))
    }
}

/// The payload of an event with the names that its agent gives to the fields.
#[derive(Clone, Copy, Debug)]
pub struct Payload<'p> {
    fields: &'static Fields,
    value: &'p Value,
}

impl<'p> Payload<'p> {
    /// Reads a payload of an agent. One without hooks has the usual names.
    pub fn new(agent: Agent, value: &'p Value) -> Self {
        let fields = super::adapter(agent).map_or(&Fields::USUAL, |known| known.capture.fields());
        Self { fields, value }
    }

    pub(super) const fn with_fields(fields: &'static Fields, value: &'p Value) -> Self {
        Self { fields, value }
    }

    /// Returns the working directory.
    pub fn directory(self) -> Option<&'p str> {
        text(self.value, self.fields.directory)
    }

    /// Returns the name of the project, of a program that has no directory.
    pub fn project(self) -> Option<&'p str> {
        text(self.value, self.fields.project)
    }

    /// Returns the path of the transcript.
    pub fn transcript(self) -> Option<&'p str> {
        text(self.value, self.fields.transcript)
    }

    /// Returns the text of a prompt.
    pub fn prompt(self) -> Option<&'p str> {
        text(self.value, self.fields.prompt)
    }

    /// Returns the id of the prompt, or of the turn that it began.
    pub fn turn(self) -> Option<&'p str> {
        text(self.value, self.fields.turn)
    }

    /// Returns the tool that was called.
    pub fn tool(self) -> Option<&'p str> {
        text(self.value, self.fields.tool)
    }

    /// Returns the id of a tool call.
    pub fn call(self) -> Option<&'p str> {
        text(self.value, self.fields.call)
    }

    /// Returns the reason for a start, or the sender of a prompt.
    pub fn source(self) -> Option<&'p str> {
        text(self.value, self.fields.source)
    }

    /// Returns the cause of a compaction.
    pub fn trigger(self) -> Option<&'p str> {
        text(self.value, self.fields.trigger)
    }

    /// Returns the words of the user on what a compaction should keep.
    pub fn instructions(self) -> Option<&'p str> {
        text(self.value, self.fields.instructions)
    }

    /// Returns the words of an event that are kept for good, as a JSON object.
    pub fn details(self) -> String {
        let Self { fields, value } = self;
        let named = [
            ("source", value.pointer(fields.source)),
            ("reason", value.pointer(fields.reason)),
            ("trigger", value.pointer(fields.trigger)),
            ("prompt_id", value.pointer(fields.turn)),
        ];
        let others = fields.details.iter().map(|name| (*name, value.get(name)));
        let mut kept = Map::new();
        for (name, value) in named.into_iter().chain(others) {
            match value {
                Some(Value::String(text)) if !text.is_empty() => {
                    let text = thru_core::head(text, DETAIL);
                    kept.insert(name.to_owned(), Value::String(text.to_owned()));
                }
                Some(value @ (Value::Number(_) | Value::Bool(_))) => {
                    kept.insert(name.to_owned(), value.clone());
                }
                _ => {}
            }
        }
        kept.extend(self.in_short());
        Value::Object(kept).to_string()
    }

    /// Returns the beginning of a prompt or of the agent's last words, the file of a call, and how many bytes its tool gave
    /// back.
    fn in_short(self) -> impl Iterator<Item = (String, Value)> {
        const FILES: [&str; 3] = ["file_path", "notebook_path", "path"];
        let input = self.value.get("tool_input");
        let file = FILES.iter().find_map(|name| input?.get(name)?.as_str());
        let short = |text: &str| Value::from(thru_core::head(text, DETAIL));
        let output = self.value.get("tool_response").filter(|output| !output.is_null());
        let length =
            |output: &Value| output.as_str().map_or_else(|| output.to_string().len(), str::len);
        let said = self.prompt().or_else(|| text(self.value, self.fields.said));
        [
            ("preview", said.map(str::trim).filter(|said| !said.is_empty()).map(short)),
            ("file", file.map(short)),
            ("output_bytes", output.map(length).map(Value::from)),
        ]
        .into_iter()
        .filter_map(|(name, value)| Some((name.to_owned(), value?)))
    }

    /// Returns what is kept of a compaction, as a JSON object: its cause, the words of the user on it, and
    /// the agent's own summary.
    pub fn compaction(self) -> String {
        let kept = [
            ("trigger", self.fields.trigger),
            ("custom_instructions", self.fields.instructions),
            ("compact_summary", self.fields.summary),
        ];
        let kept = kept.into_iter().filter_map(|(name, field)| {
            let text = text(self.value, field).filter(|text| !text.is_empty())?;
            Some((name.to_owned(), Value::String(text.to_owned())))
        });
        Value::Object(kept.collect()).to_string()
    }
}

/// Returns the text at a pointer.
pub(super) fn text<'p>(payload: &'p Value, field: &str) -> Option<&'p str> {
    payload.pointer(field).and_then(Value::as_str)
}
