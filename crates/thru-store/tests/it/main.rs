//! The store through its public calls: schema, writing, index.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "in a test, what cannot be is a failure"
)]

mod graph;
mod index;
mod memories;
mod opening;
mod readers;
mod schema;
mod spending;
mod support;
mod writing;
