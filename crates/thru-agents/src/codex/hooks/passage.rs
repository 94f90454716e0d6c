//! The passage of an event: made by the functions that read rollouts.

use serde_json::Value;
use thru_core::{Outcome, Passage, PassageKind};

use super::super::hearing::typed;
use super::super::record::Payload;
use super::super::tools;
use crate::blank::is_blank;
use crate::hooks::{Event, prose, raw, text, tool_passage};
use crate::text::{CALL_LIMIT, RESULT_LIMIT, cap};

/// Returns the passage of an event, if it is one.
pub(super) fn passage(event: &Event, payload: &Value) -> Option<Passage> {
    let said = |kind, words: &str| {
        let words = words.trim();
        (!is_blank(words)).then(|| prose(kind, words.to_owned()))
    };
    match event {
        Event::UserPromptSubmit => said(PassageKind::Human, typed(text(payload, "prompt")?)),
        Event::Stop => said(PassageKind::Assistant, text(payload, "last_assistant_message")?),
        Event::PostToolUse => tool(payload),
        _ => None,
    }
}

fn tool(payload: &Value) -> Option<Passage> {
    let name = text(payload, "tool_name")?;
    let input = raw(payload.get("tool_input"))?;
    // Hooks have one name for every tool that runs a shell.
    let tool = if name == "Bash" { "shell" } else { name };
    let item = Payload {
        kind: Some("function_call".into()),
        name: Some(tool.into()),
        arguments: Some(&input),
        ..Payload::default()
    };
    let call = tools::call(&item).filter(|call| !call.blanked)?;
    let response = raw(payload.get("tool_response"));
    let result = response.as_deref().map(tools::result).unwrap_or_default();
    // The response of a shell is its bare output: its exit code comes with the rollout.
    let outcome = match (result.failed, call.command.is_some()) {
        (Some(true), _) => Some(Outcome::Failed),
        (Some(false), _) | (None, false) => Some(Outcome::Succeeded),
        (None, true) => Some(Outcome::Pending),
    };
    let input = cap(format!("{}\n{}", call.tool, call.input), CALL_LIMIT);
    Some(Passage {
        tool: Some(call.tool),
        command: call.command.map(|command| cap(command, CALL_LIMIT)),
        files: call.files,
        written: call.written,
        outcome,
        ..tool_passage(input, &cap(result.text, RESULT_LIMIT), payload)
    })
}
