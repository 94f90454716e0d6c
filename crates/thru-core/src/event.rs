//! The events that hooks record of a session, as kept in the journal.

use serde::{Deserialize, Serialize};

use crate::{Agent, Id, SessionId};

/// The kind of journal record that holds a [`CapturedEvent`].
pub const HOOK_RECORD: &str = "hook";
/// The kind of journal record that holds an [`Injection`].
pub const INJECTED_RECORD: &str = "injected";

/// One event that a hook recorded. `P` is its payload: JSON, in the agent's own form.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct CapturedEvent<P> {
    /// The agent of the session.
    pub agent: Agent,
    /// The name of the event, the same for all agents.
    pub event: String,
    /// The session, by the agent's own id.
    pub session: SessionId,
    /// The number of the prompt in the session, from 1, as counted by hooks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<u32>,
    /// The hash of the agent's payload, if the event has no id of its own: two equal ones at the same
    /// time are one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hash: Option<Id>,
    /// True if another program than the agent ran the hook: the event is kept, and ignored.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub foreign: bool,
    /// The agent's payload.
    pub payload: P,
}

/// An injection of memories into a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Injection {
    /// The agent of the session.
    pub agent: Agent,
    /// The session, by the agent's own id.
    pub session: SessionId,
    /// The occasion: `start`, `resume`, `compact`, `prompt` or `return`.
    pub occasion: String,
    /// Tokens (estimated) of the whole text.
    pub tokens: u64,
    /// The memories, in order.
    pub memories: Vec<InjectedMemory>,
}

/// A memory injected into a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct InjectedMemory {
    /// Its id.
    pub id: Id,
    /// The reason for choosing it.
    pub reason: String,
}
