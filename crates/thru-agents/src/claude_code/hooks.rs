//! What Claude Code's hooks tell, and how they are answered. The only place that knows the fields of
//! a hook's input and output.
//!
//! Fields are looked up in the JSON as it came: every one may be absent or of another type, and what
//! is not named here is kept all the same. Nothing here reads or writes anything.

mod answer;
mod course;
mod keep;
mod passage;

use serde_json::Value;
use thru_core::SessionId;

use super::prompt;

pub use answer::{Answer, answer};
pub use course::course;
pub use keep::keep;
pub use passage::{passage, passage_id};

/// An event that Claude Code tells of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A session starts, or goes on.
    SessionStart,
    /// A person, or the machine in a person's name, said something.
    UserPromptSubmit,
    /// A tool did its work.
    PostToolUse,
    /// A tool failed.
    PostToolUseFailure,
    /// The agent ended its turn.
    Stop,
    /// An error of the provider ended the turn.
    StopFailure,
    /// A subagent came to its end.
    SubagentStop,
    /// The context is about to be compacted.
    PreCompact,
    /// The context was compacted.
    PostCompact,
    /// The session ends, as far as anybody knows.
    SessionEnd,
    /// Any other event, recorded as it is.
    Unknown(String),
}

impl Event {
    /// The events that hooks are registered for, in the order of a session.
    pub const REGISTERED: [Self; 10] = [
        Self::SessionStart,
        Self::UserPromptSubmit,
        Self::PostToolUse,
        Self::PostToolUseFailure,
        Self::Stop,
        Self::StopFailure,
        Self::SubagentStop,
        Self::PreCompact,
        Self::PostCompact,
        Self::SessionEnd,
    ];

    /// The event of this name.
    pub fn named(name: &str) -> Self {
        Self::REGISTERED
            .into_iter()
            .find(|event| event.as_str() == name)
            .unwrap_or_else(|| Self::Unknown(name.to_owned()))
    }

    /// The name that Claude Code has for it.
    pub fn as_str(&self) -> &str {
        match self {
            Self::SessionStart => "SessionStart",
            Self::UserPromptSubmit => "UserPromptSubmit",
            Self::PostToolUse => "PostToolUse",
            Self::PostToolUseFailure => "PostToolUseFailure",
            Self::Stop => "Stop",
            Self::StopFailure => "StopFailure",
            Self::SubagentStop => "SubagentStop",
            Self::PreCompact => "PreCompact",
            Self::PostCompact => "PostCompact",
            Self::SessionEnd => "SessionEnd",
            Self::Unknown(name) => name,
        }
    }

    /// Whether a tool ran.
    pub const fn is_tool_use(&self) -> bool {
        matches!(self, Self::PostToolUse | Self::PostToolUseFailure)
    }

    /// Whether Claude Code takes a context, or a word to the user, in answer to it.
    pub const fn takes_context(&self) -> bool {
        matches!(self, Self::SessionStart | Self::UserPromptSubmit)
    }

    /// Whether its record must survive a power cut: there are few of these, and much hangs on them.
    pub const fn is_momentous(&self) -> bool {
        matches!(
            self,
            Self::UserPromptSubmit
                | Self::Stop
                | Self::StopFailure
                | Self::PreCompact
                | Self::PostCompact
                | Self::SessionEnd
        )
    }
}

/// The input of one hook.
#[derive(Clone, Debug)]
pub struct Input {
    /// What it tells of.
    pub event: Event,
    /// The session.
    pub session: SessionId,
    /// All of it.
    pub payload: Value,
}

/// Why an input is none.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidInput {
    /// It is not a JSON object.
    #[error("the input is not a JSON object")]
    NotAnObject,
    /// It does not say of which session.
    #[error("the input has no session id")]
    NoSession,
    /// Its session id is none of Claude Code's.
    #[error("the session id is none")]
    NotASession,
}

/// The longest id of a session. Claude Code's are UUIDs.
const SESSION_ID: usize = 128;

impl Input {
    /// Reads the input of a hook that was called for `event`. Which event it is, the call says: the
    /// input only repeats it.
    pub fn parse(event: &str, input: &[u8]) -> Result<Self, InvalidInput> {
        // A client that cuts texts leaves halves of characters behind.
        let text = crate::json::mend(input);
        let payload: Value = serde_json::from_str(&text).map_err(|_| InvalidInput::NotAnObject)?;
        if !payload.is_object() {
            return Err(InvalidInput::NotAnObject);
        }
        let session = match payload.get("session_id") {
            Some(Value::String(id)) if is_session_id(id) => SessionId::new(id.clone()),
            Some(Value::String(_)) => return Err(InvalidInput::NotASession),
            _ => return Err(InvalidInput::NoSession),
        };
        Ok(Self { event: Event::named(event), session, payload })
    }

    /// A text of the input.
    pub fn text(&self, field: &str) -> Option<&str> {
        text(&self.payload, field)
    }

    /// The prompt of a `UserPromptSubmit`.
    pub fn prompt(&self) -> &str {
        self.text("prompt").unwrap_or_default()
    }

    /// Whether the prompt was written by a machine in the user's name: scheduled wake-ups, results of
    /// tasks in the background, messages of other sessions.
    pub fn is_of_machine(&self) -> bool {
        let is_machine_source =
            self.text("source").is_some_and(|source| !matches!(source, "user" | "sdk"));
        is_machine_source || prompt::strip(self.prompt()).is_empty()
    }

    /// Whether another program runs Claude Code's hooks: VS Code and Cursor read its settings file.
    /// Their events come by adapters of their own, or not at all.
    pub fn is_of_another_host(&self) -> bool {
        const MARKS: [&str; 4] = ["cursor_version", "conversation_id", "timestamp", "sessionId"];
        MARKS.iter().any(|mark| self.payload.get(mark).is_some())
    }

    /// What tells the event from every other one of the session, where Claude Code says it: events
    /// that are alike otherwise are one only if they come at the same time.
    pub fn identity(&self) -> Option<&str> {
        match self.event {
            Event::PostToolUse | Event::PostToolUseFailure => self.text("tool_use_id"),
            Event::UserPromptSubmit => self.text("prompt_id"),
            _ => None,
        }
        .filter(|id| !id.is_empty())
    }
}

/// A text of a payload.
fn text<'p>(payload: &'p Value, field: &str) -> Option<&'p str> {
    payload.get(field).and_then(Value::as_str)
}

/// Whether it may be the id of a session: nothing that could be mistaken for a path.
fn is_session_id(id: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    !id.is_empty() && id.len() <= SESSION_ID && id.bytes().all(is_plain) && !id.starts_with('.')
}

#[cfg(test)]
mod tests {
    use super::*;

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
            assert_eq!(Input::parse("Stop", input).unwrap_err(), error);
        }
    }

    #[test]
    fn half_a_character_does_not_cost_the_event() {
        let input = br#"{"session_id":"a-1","prompt":"cut \ud83d here"}"#;
        let input = Input::parse("UserPromptSubmit", input).unwrap();
        assert_eq!(input.prompt(), "cut \u{fffd} here");
    }

    #[test]
    fn the_call_names_the_event() {
        let input = br#"{"session_id":"a-1","hook_event_name":"Stop"}"#;
        assert_eq!(Input::parse("SessionEnd", input).unwrap().event, Event::SessionEnd);
        let other = Input::parse("CwdChanged", input).unwrap();
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
            let input = Input {
                event: Event::UserPromptSubmit,
                session: SessionId::new("s"),
                payload: serde_json::json!({ "prompt": prompt, "source": source }),
            };
            assert_eq!(input.is_of_machine(), machine, "{prompt}");
        }
    }
}
