//! Claude Code's hooks: the only place that knows the fields of their input and output.

mod passage;

use serde_json::Value;
use thru_core::{Agent, Passage};

use super::prompt;
use crate::hooks::{Adapter, Capture, Event, Fields, HookInput, HookReply, context_and_message};

/// The hooks of Claude Code.
pub(crate) static HOOKS: Adapter =
    Adapter { agent: Agent::ClaudeCode, capture: &ClaudeCode, setup: &super::install::ClaudeCode };

/// Characters to which Claude Code cuts a longer context; the rest would go to a file.
const LONGEST_CONTEXT: usize = 10_000;

struct ClaudeCode;

impl Capture for ClaudeCode {
    fn fields(&self) -> &'static Fields {
        &Fields::USUAL
    }

    fn project_variable(&self) -> Option<&'static str> {
        Some("CLAUDE_PROJECT_DIR")
    }

    fn session_variable(&self) -> Option<&'static str> {
        Some("CLAUDE_CODE_SESSION_ID")
    }

    fn shell_variable(&self) -> Option<&'static str> {
        Some("CLAUDECODE")
    }

    fn is_of_machine(&self, input: &HookInput) -> bool {
        is_machine_source(input.payload().source()) || prompt::strip(input.prompt()).is_empty()
    }

    /// VS Code and Cursor read Claude Code's settings file.
    fn is_of_another_host(&self, payload: &Value) -> bool {
        const MARKS: [&str; 4] = ["cursor_version", "conversation_id", "timestamp", "sessionId"];
        MARKS.iter().any(|mark| payload.get(mark).is_some())
    }

    fn asks_user(&self, tool: &str) -> bool {
        tool == "AskUserQuestion"
    }

    fn passage(&self, event: &Event, payload: &Value) -> Option<Passage> {
        passage::passage(event, payload)
    }

    fn answer(&self, event: &Event, reply: &HookReply) -> String {
        context_and_message(event, reply, LONGEST_CONTEXT)
    }
}

/// True if a prompt comes from another sender than a person.
fn is_machine_source(source: Option<&str>) -> bool {
    source.is_some_and(|source| !matches!(source, "user" | "sdk"))
}
