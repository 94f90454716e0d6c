//! When a session is active, idle or over, and whether it is indexed: pure functions of (state, event,
//! now).
//!
//! - [`conversation`]: what the agent and the person do, from the first event to the end;
//! - [`indexing`]: our own work on a session;
//! - [`content`]: the hash by which a session that did not change is recognised;
//! - [`retry`]: when work that failed is tried again.
//!
//! The two machines meet in one place only: an [`Effect::CloseDue`](conversation::Effect::CloseDue) of
//! the conversation is an [`Event::Asked`](indexing::Event::Asked) of the indexing.
//!
//! It must not read a clock, write anything, or know the store or any agent.

pub mod content;
pub mod conversation;
pub mod indexing;
pub mod retry;

mod close;

pub use close::{Close, CloseReason, UnknownReason};
pub use conversation::{Conversation, Limits};
pub use indexing::Indexing;
