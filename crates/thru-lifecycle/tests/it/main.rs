//! The two machines from outside: tables of transitions, and any row of events.

#![allow(clippy::unwrap_used, clippy::panic, reason = "in a test, what cannot be is a failure")]

mod conversation;
mod properties;
mod seeds;
mod story;
