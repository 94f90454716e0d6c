//! The server as clients and attackers meet it: over sockets, on a home of its own.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "in a test, what cannot be is a failure"
)]

mod answering;
mod attacks;
mod browser;
mod changing;
mod described;
mod home;
mod mcp;
mod streaming;
mod worker;
