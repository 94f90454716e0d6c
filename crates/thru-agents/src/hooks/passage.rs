//! Passages of events, for as long as no transcript has them.

use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};
use thru_core::{Agent, Id, Passage, PassageKind, RecordId, SessionId, Timestamp};
use thru_redact::Clean;

use super::{Event, adapter};
use crate::passages::call_id;
use crate::text::{PROSE_LIMIT, cap};

/// Returns the id of the passage of the event that was recorded under this key.
pub fn passage_id(agent: Agent, key: &str) -> Id {
    Id::derive(&[agent.as_str().as_bytes(), b"hook", key.as_bytes()])
}

/// Returns the passage of a recorded event, if it is one: a prompt, a tool call, or the agent's last words
/// in a turn. The caller gives it its turn and ordinal. `key` names the record.
pub fn passage(
    agent: Agent,
    event: &Event,
    session: &SessionId,
    key: &str,
    at: Timestamp,
    payload: &Clean<Value>,
) -> Option<Clean<Passage>> {
    let capture = adapter(agent)?.capture;
    let passage = payload.derive(|payload| capture.passage(event, payload));
    let is_passage = passage.get().is_some();
    is_passage.then(|| {
        passage.map(|passage| {
            let passage = passage.unwrap_or_else(|| prose(PassageKind::Assistant, String::new()));
            Passage {
                id: passage_id(agent, key),
                session: session.clone(),
                timestamp: Some(at),
                records: vec![RecordId::named(key)],
                lines: vec![0],
                ..passage
            }
        })
    })
}

/// Returns the passage of a text.
pub(crate) fn prose(kind: PassageKind, text: String) -> Passage {
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

/// Returns the passage of a tool call of this text and result, with the ids of call and subagent.
pub(crate) fn tool_passage(call: String, result: &str, payload: &Value) -> Passage {
    let mut passage = prose(PassageKind::Tool, String::new());
    passage.text = match result.is_empty() {
        true => call,
        false => format!("{call}\n{result}"),
    };
    passage.call = text(payload, "tool_use_id").and_then(call_id);
    passage.agent_id = text(payload, "agent_id").filter(|id| !id.is_empty()).map(str::to_owned);
    passage
}

/// Returns a text at the top of a payload.
pub(crate) fn text<'p>(payload: &'p Value, name: &str) -> Option<&'p str> {
    payload.get(name).and_then(Value::as_str)
}

/// Returns a value as the text of JSON that it is.
pub(crate) fn raw(value: Option<&Value>) -> Option<Box<RawValue>> {
    to_raw_value(value?).ok()
}
