//! The work of Throughline for the real clients of Claude Code and Codex, which are driven by a scripted model.
//!
//! `THRU_CLAUDE` and `THRU_CODEX` name them; without one its tests say that they were skipped. They run it in
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
mod codex;
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
