//! When a session is active, idle or over, and whether it is indexed: pure functions of (state, event,
//! now).
//!
//! - [`conversation`]: what the agent and the person do, from the first event to the end;
//! - [`indexing`]: our own work on a session;
//! - [`content`]: the hash by which a session that did not change is recognised;
//! - [`retry`]: when work that failed is tried again.
//!
//! The two machines meet in one place only: a conversation that was [left](Conversation::left) is
//! [asked for](indexing::Event::Asked). Whoever follows a conversation event by event sees the same in its
//! effects; who computes it anew from all its events, as intake does, asks for what it came to.
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
