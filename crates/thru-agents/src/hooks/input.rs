//! The input of a hook, whichever agent called it.

use serde_json::Value;
use thru_core::SessionId;

use super::{Adapter, Event, Payload, keep};

/// The input of one hook.
#[derive(Clone, Debug)]
pub struct HookInput {
    /// The agent that called it.
    pub adapter: &'static Adapter,
    /// The event.
    pub event: Event,
    /// The session.
    pub session: SessionId,
    /// All that the agent sent.
    pub value: Value,
}

/// The reason why an input is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidInput {
    /// It is not a JSON object.
    #[error("the input is not a JSON object")]
    NotAnObject,
    /// It names no session.
    #[error("the input has no session id")]
    NoSession,
    /// Its session id has characters or a length that no agent's ids have.
    #[error("the session id is none")]
    NotASession,
}

/// Longest id of a session, in bytes. Most are UUIDs.
const SESSION_ID: usize = 128;

impl HookInput {
    /// Reads the input of a hook that an agent called for `event`. The call says which event it is; the
    /// input only repeats it.
    ///
    /// # Errors
    /// Returns [`InvalidInput`] if the input is no JSON object with the id of a session.
    pub fn parse(
        adapter: &'static Adapter,
        event: &str,
        input: &[u8],
    ) -> Result<Self, InvalidInput> {
        // A client that cuts texts leaves halves of characters behind.
        let mended = crate::json::mend(input);
        let value: Value = serde_json::from_str(&mended).map_err(|_| InvalidInput::NotAnObject)?;
        if !value.is_object() {
            return Err(InvalidInput::NotAnObject);
        }
        let session = match value.pointer(adapter.capture.fields().session) {
            Some(Value::String(id)) if is_session_id(id) => SessionId::new(id.clone()),
            Some(Value::String(_)) => return Err(InvalidInput::NotASession),
            _ => return Err(InvalidInput::NoSession),
        };
        Ok(Self { adapter, event: adapter.capture.event(event), session, value })
    }

    /// Returns the payload with the agent's names of fields.
    pub fn payload(&self) -> Payload<'_> {
        Payload::with_fields(self.adapter.capture.fields(), &self.value)
    }

    /// Returns the text of a prompt; empty for other events.
    pub fn prompt(&self) -> &str {
        self.payload().prompt().unwrap_or_default()
    }

    /// True if the prompt was written by a machine in the user's name: scheduled wake-ups, results of
    /// tasks in the background, messages of other sessions.
    pub fn is_of_machine(&self) -> bool {
        self.adapter.capture.is_of_machine(self)
    }

    /// True if another program than the agent ran the hook. Its events come by adapters of their own, or
    /// not at all.
    pub fn is_of_another_host(&self) -> bool {
        self.adapter.capture.is_of_another_host(&self.value)
    }

    /// Returns the agent's own id of the event, which tells it from every other one of the session. Events
    /// without one are the same only if they are alike and come at the same time.
    pub fn identity(&self) -> Option<&str> {
        let id = match self.event {
            Event::PostToolUse | Event::PostToolUseFailure => self.payload().call(),
            Event::UserPromptSubmit => self.payload().turn(),
            _ => None,
        };
        id.filter(|id| !id.is_empty())
    }

    /// Reduces the payload to where and when the event happened: all that is kept in a private turn.
    pub fn without_words(&self) -> Value {
        let fields = self.adapter.capture.fields();
        let mut value = self.value.clone();
        if let Some(members) = value.as_object_mut() {
            members.retain(|name, _| fields.is_placing(name));
        }
        value
    }

    /// Returns what is kept of a payload of this event.
    pub fn keep(&self, value: Value) -> Value {
        keep(self.adapter, &self.event, value)
    }
}

/// True if it may be the id of a session: nothing that could be mistaken for a path.
fn is_session_id(id: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    !id.is_empty() && id.len() <= SESSION_ID && id.bytes().all(is_plain) && !id.starts_with('.')
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::claude_code::HOOKS;

    #[test]
    fn what_is_no_input_is_refused() {
        for (input, error) in [
            (&b""[..], InvalidInput::NotAnObject),
            (b"[]", InvalidInput::NotAnObject),
            (b"{\"session_id\":7}", InvalidInput::NoSession),
            (b"{}", InvalidInput::NoSession),
            (b"{\"session_id\":\"../../x\"}", InvalidInput::NotASession),
            (b"{\"session_id\":\"\"}", InvalidInput::NotASession),
        ] {
            assert_eq!(HookInput::parse(&HOOKS, "Stop", input).unwrap_err(), error);
        }
    }

    #[test]
    fn half_a_character_does_not_cost_the_event() {
        let input = br#"{"session_id":"a-1","prompt":"cut \ud83d here"}"#;
        let input = HookInput::parse(&HOOKS, "UserPromptSubmit", input).unwrap();
        assert_eq!(input.prompt(), "cut \u{fffd} here");
    }

    #[test]
    fn the_call_names_the_event() {
        let input = br#"{"session_id":"a-1","hook_event_name":"Stop"}"#;
        assert_eq!(HookInput::parse(&HOOKS, "SessionEnd", input).unwrap().event, Event::SessionEnd);
        let other = HookInput::parse(&HOOKS, "CwdChanged", input).unwrap();
        assert_eq!(other.event, Event::Unknown("CwdChanged".to_owned()));
    }

    #[test]
    fn machines_write_prompts_too() {
        for (prompt, source, machine) in [
            ("fix it", None, false),
            ("fix it", Some("user"), false),
            ("fix it", Some("loop_wakeup"), true),
            ("<task-notification>done</task-notification>", None, true),
            ("/review x", None, false),
        ] {
            let input = HookInput {
                adapter: &HOOKS,
                event: Event::UserPromptSubmit,
                session: SessionId::new("s"),
                value: json!({ "prompt": prompt, "source": source }),
            };
            assert_eq!(input.is_of_machine(), machine, "{prompt}");
        }
    }
}
