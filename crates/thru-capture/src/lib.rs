//! The work of a hook process: take one event of an agent in, keep it, and leave notes for the hooks
//! that follow. Each hook is a process of its own; what they know of each other lies in small files
//! below `run/`, none of which is ever the only copy of anything.
//!
//! It must not open the store, wait for a daemon, start threads, or fail in a way that the agent
//! notices. It prints nothing: what the agent is answered is the caller's business.

pub mod failures;
pub mod lost;
mod notes;
pub mod pause;
mod record;
pub mod rules;
pub mod session;
pub mod timings;

pub use record::{Recorded, Recorder, Skip, begin_turn, event_id, record_key, session_key};
