//! Daemons in this process, with work that is only counted.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "in a test, what cannot be is a failure"
)]
#![cfg(unix)]

mod living;
mod speaking;
mod stage;
mod starting;
mod watching;
