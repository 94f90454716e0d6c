//! When a session is active, idle or over, and whether it is indexed: pure functions of (state, event,
//! now).
//!
//! It must not read a clock, write anything, or know the store or any agent.
