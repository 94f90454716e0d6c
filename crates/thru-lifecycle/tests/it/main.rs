//! The two machines tested from outside: tables of transitions, and random sequences of events.

#![allow(clippy::unwrap_used, clippy::panic, reason = "in a test, what cannot be is a failure")]

mod conversation;
mod properties;
mod seeds;
mod story;
