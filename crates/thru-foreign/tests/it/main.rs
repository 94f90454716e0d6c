//! Memories of other programs, read from files as those programs leave them.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "in a test, what cannot be is a failure"
)]

mod claude_mem;
mod notes;
