//! Hooks of every agent behind one door: what an agent reports as it works, what of that is kept, and how
//! it is answered.
//!
//! An agent that can run a program at its events has an [`Adapter`] in its own folder and a line in
//! [`ADAPTERS`]; nothing else names it. Events have one name for all agents ([`Event`]), and the fields of
//! a payload are found by a table ([`Fields`]): every field may be missing or of another type, and
//! unknown ones are kept. Nothing here reads or writes anything.

mod adapter;
mod course;
mod event;
mod fields;
mod input;
mod keep;
mod passage;
mod reply;

use thru_core::Agent;

pub use adapter::{Adapter, Capture};
pub use course::course;
pub use event::Event;
pub use fields::{Fields, Payload};
pub use input::{HookInput, InvalidInput};
pub use keep::keep;
pub use passage::{passage, passage_id};
pub use reply::HookReply;

pub(crate) use passage::{prose, raw, text, tool_passage};
pub(crate) use reply::context_and_message;

/// The agents with hooks.
pub static ADAPTERS: [&Adapter; 2] = [&crate::claude_code::HOOKS, &crate::codex::HOOKS];

/// Returns the adapter of an agent; `None` if it has no hooks.
pub fn adapter(agent: Agent) -> Option<&'static Adapter> {
    ADAPTERS.into_iter().find(|adapter| adapter.agent == agent)
}

/// Returns the adapter of the agent with this name, as hooks are called with it.
pub fn adapter_named(name: &str) -> Option<&'static Adapter> {
    ADAPTERS.into_iter().find(|adapter| adapter.agent.as_str() == name)
}
