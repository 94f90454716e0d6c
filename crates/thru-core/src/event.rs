//! What a hook recorded of a session, as the journal keeps it.

use serde::{Deserialize, Serialize};

use crate::{Agent, Id, SessionId};

/// The kind of journal record that holds a [`CapturedEvent`].
pub const HOOK_RECORD: &str = "hook";
/// The kind of journal record that tells what a session was given from memory.
pub const INJECTED_RECORD: &str = "injected";

/// One event that a hook recorded. `P` is its payload: JSON, in the agent's own form.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct CapturedEvent<P> {
    /// Whose event it is.
    pub agent: Agent,
    /// The event, by its name for all agents.
    pub event: String,
    /// The session, by the agent's own id.
    pub session: SessionId,
    /// Which prompt of the session it is, from 1, as far as hooks counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<u32>,
    /// The hash of what the agent sent, where that has no id of its own: two that are alike and come
    /// at the same time are one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hash: Option<Id>,
    /// Whether another program than the agent ran the hook: it is kept, and counts for nothing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub foreign: bool,
    /// What the agent sent.
    pub payload: P,
}

/// What a session was given from memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Injection {
    /// Whose session it is.
    pub agent: Agent,
    /// The session, by the agent's own id.
    pub session: SessionId,
    /// When it was given: `start`, `resume`, `compact`, `prompt` or `return`.
    pub occasion: String,
    /// Tokens (estimated) of the whole text.
    pub tokens: u64,
    /// The memories, in order.
    pub memories: Vec<InjectedMemory>,
}

/// One memory that a session was given.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct InjectedMemory {
    /// Which.
    pub id: Id,
    /// Why.
    pub reason: String,
}
