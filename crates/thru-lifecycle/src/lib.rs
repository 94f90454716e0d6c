//! The lifecycle of sessions (active, idle or over) and of their indexing: pure functions of (state,
//! event, now).
//!
//! - [`conversation`]: the actions of the agent and the person, from the first event to the end;
//! - [`indexing`]: our own work on a session;
//! - [`content`]: the hash by which an unchanged session is recognised;
//! - [`retry`]: the schedule for retrying failed work.
//!
//! The two machines meet in one place only: a conversation that was [left](Conversation::left) is
//! [asked for](indexing::Event::Asked). A caller that follows a conversation event by event sees the
//! same in its effects; one that computes it from all its events, as intake does, asks for the result.
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
