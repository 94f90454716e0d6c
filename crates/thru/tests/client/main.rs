//! What Throughline does for the real Claude Code client, which is driven by a scripted model.
//!
//! `THRU_CLAUDE` names the client; without it these tests say that they were skipped. They run it in
//! homes of their own, and nothing leaves the machine.

#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "in a test, what cannot be is a failure"
)]

mod asking;
mod closing;
mod commanding;
mod compacting;
mod facts;
mod failing;
mod installing;
mod keeping;
mod printing;
mod recalling;
mod resuming;
mod stage;
mod telling;
mod typing;
