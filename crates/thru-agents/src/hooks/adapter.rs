//! The interface that an agent's folder implements to have hooks.

use serde_json::Value;
use thru_core::{Agent, Passage};

use super::{Event, Fields, HookInput, HookReply};
use crate::setup::Setup;

/// An agent with hooks.
pub struct Adapter {
    /// The agent.
    pub agent: Agent,
    /// Reads and answers its events.
    pub capture: &'static dyn Capture,
    /// Puts our hooks into its files.
    pub setup: &'static dyn Setup,
}

impl std::fmt::Debug for Adapter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Adapter({})", self.agent)
    }
}

/// Reads and answers the events of one agent.
pub trait Capture: Sync {
    /// The places of the fields in its payloads.
    fn fields(&self) -> &'static Fields;

    /// Returns the event that the agent calls by this name.
    fn event(&self, name: &str) -> Event {
        Event::named(name)
    }

    /// Name of the environment variable with the project that the session was started in.
    fn project_variable(&self) -> Option<&'static str> {
        None
    }

    /// Name of the environment variable with the id of the session that runs a command.
    fn session_variable(&self) -> Option<&'static str> {
        None
    }

    /// Name of the environment variable that every command of the agent has, whatever session runs it.
    fn shell_variable(&self) -> Option<&'static str> {
        self.session_variable()
    }

    /// True if a machine wrote the prompt in the user's name.
    fn is_of_machine(&self, input: &HookInput) -> bool;

    /// True if another program than the agent ran the hook. Such events are kept and counted nowhere.
    fn is_of_another_host(&self, _payload: &Value) -> bool {
        false
    }

    /// True for a tool with which the agent asks the user. Its calls are kept whatever is skipped.
    fn asks_user(&self, tool: &str) -> bool;

    /// Returns the passage of an event: a prompt, a tool call, or the last words of a turn. The caller
    /// gives it its id, session, turn and time.
    fn passage(&self, event: &Event, payload: &Value) -> Option<Passage>;

    /// Returns the output of a hook: one JSON object, or nothing. A context is only printed where the
    /// agent reads it.
    fn answer(&self, event: &Event, reply: &HookReply) -> String;
}
