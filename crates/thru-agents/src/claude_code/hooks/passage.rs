//! What a hook's event is as a passage, for as long as no transcript tells it better.

use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};
use thru_core::{Agent, Id, Outcome, Passage, PassageKind, RecordId, SessionId, Timestamp};
use thru_redact::Clean;

use super::super::record::Block;
use super::super::{prompt, tools};
use super::{Event, text};
use crate::passages::call_id;
use crate::text::{PROSE_LIMIT, cap};

/// The id of the passage of the event that was recorded under this key.
pub fn passage_id(key: &str) -> Id {
    Id::derive(&[Agent::ClaudeCode.as_str().as_bytes(), b"hook", key.as_bytes()])
}

/// The passage of a recorded event, if it is one: a prompt, a tool call, or what the agent said last.
/// Its turn and ordinal are for the caller to give. `key` names the record.
pub fn passage(
    event: &Event,
    session: &SessionId,
    key: &str,
    at: Timestamp,
    payload: &Clean<Value>,
) -> Option<Clean<Passage>> {
    let passage = payload.derive(|payload| match event {
        Event::UserPromptSubmit => {
            let typed = prompt::strip(text(payload, "prompt")?);
            let is_machine =
                text(payload, "source").is_some_and(|source| !matches!(source, "user" | "sdk"));
            (!typed.is_empty() && !is_machine).then(|| prose(PassageKind::Human, typed))
        }
        Event::Stop => {
            let said = prompt::without_reminders(text(payload, "last_assistant_message")?);
            let said = said.trim();
            (!said.is_empty()).then(|| prose(PassageKind::Assistant, said.to_owned()))
        }
        Event::PostToolUse | Event::PostToolUseFailure => tool(event, payload),
        _ => None,
    });
    let is_passage = passage.get().is_some();
    is_passage.then(|| {
        passage.map(|passage| {
            let passage = passage.unwrap_or_else(|| prose(PassageKind::Assistant, String::new()));
            Passage {
                id: passage_id(key),
                session: session.clone(),
                timestamp: Some(at),
                records: vec![RecordId::named(key)],
                lines: vec![0],
                ..passage
            }
        })
    })
}

fn prose(kind: PassageKind, text: String) -> Passage {
    Passage {
        id: Id::from_bytes([0; Id::BYTES]),
        session: SessionId::new(""),
        turn: 0,
        ordinal: 0,
        kind,
        agent_id: None,
        text: cap(text, PROSE_LIMIT),
        tool: None,
        call: None,
        command: None,
        files: Vec::new(),
        written: None,
        outcome: None,
        records: Vec::new(),
        lines: Vec::new(),
        timestamp: None,
        copied_from: None,
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
    let (answer, outcome) = match event {
        Event::PostToolUseFailure => {
            let error = raw(payload.get("error"));
            let block = Block { content: error.as_deref(), ..Block::default() };
            (tools::answer(&block, None, true, false), Outcome::Failed)
        }
        _ => {
            let response = raw(spoken(payload.get("tool_response")));
            let block = Block::default();
            let answer = tools::answer(&block, response.as_deref(), true, call.asks);
            (answer, Outcome::Succeeded)
        }
    };
    let mut passage = prose(PassageKind::Tool, String::new());
    passage.text = match answer.text.is_empty() {
        true => call.text,
        false => format!("{}\n{}", call.text, answer.text),
    };
    passage.tool = call.name;
    passage.call = text(payload, "tool_use_id").and_then(call_id);
    passage.agent_id = text(payload, "agent_id").filter(|id| !id.is_empty()).map(str::to_owned);
    passage.command = call.command;
    passage.files = call.files;
    passage.written = call.written;
    passage.outcome = Some(outcome);
    Some(passage)
}

/// The part of a response that the model sees: of a file that was read, its content.
fn spoken(response: Option<&Value>) -> Option<&Value> {
    let response = response?;
    Some(response.get("file").filter(|file| file.is_object()).unwrap_or(response))
}

fn raw(value: Option<&Value>) -> Option<Box<RawValue>> {
    to_raw_value(value?).ok()
}
