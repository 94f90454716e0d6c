//! The passage of an event: made by the functions that read transcripts.

use serde_json::Value;
use thru_core::{Outcome, Passage, PassageKind};

use super::super::record::Block;
use super::super::{prompt, tools};
use crate::hooks::{Event, prose, raw, text, tool_passage};

/// Returns the passage of an event, if it is one.
pub(super) fn passage(event: &Event, payload: &Value) -> Option<Passage> {
    match event {
        Event::UserPromptSubmit => {
            let typed = prompt::strip(text(payload, "prompt")?);
            let is_machine = super::is_machine_source(text(payload, "source"));
            (!typed.is_empty() && !is_machine).then(|| prose(PassageKind::Human, typed))
        }
        Event::Stop => {
            let said = prompt::without_reminders(text(payload, "last_assistant_message")?);
            let said = said.trim();
            (!said.is_empty()).then(|| prose(PassageKind::Assistant, said.to_owned()))
        }
        Event::PostToolUse | Event::PostToolUseFailure => tool(event, payload),
        _ => None,
    }
}

fn tool(event: &Event, payload: &Value) -> Option<Passage> {
    let input = raw(payload.get("tool_input"))?;
    let block = Block {
        name: text(payload, "tool_name").map(Into::into),
        input: Some(&input),
        ..Block::default()
    };
    let call = tools::call(&block)?;
    let (result, outcome) = match event {
        Event::PostToolUseFailure => {
            let error = raw(payload.get("error"));
            let block = Block { content: error.as_deref(), ..Block::default() };
            (tools::result(&block, None, true, false), Outcome::Failed)
        }
        _ => {
            let response = raw(spoken(payload.get("tool_response")));
            let block = Block::default();
            let result = tools::result(&block, response.as_deref(), true, call.asks);
            (result, Outcome::Succeeded)
        }
    };
    Some(Passage {
        tool: call.name,
        command: call.command,
        files: call.files,
        written: call.written,
        outcome: Some(outcome),
        ..tool_passage(call.text, &result.text, payload)
    })
}

/// Returns the part of a response that the model sees: of a file that was read, its content.
fn spoken(response: Option<&Value>) -> Option<&Value> {
    let response = response?;
    Some(response.get("file").filter(|file| file.is_object()).unwrap_or(response))
}
