//! Intake as a whole, through its public calls: files of an agent in, archive, store and index out.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "in a test, what cannot be is a failure"
)]

mod cleaning;
mod commits;
mod copies;
mod embedding;
mod excluded;
mod faults;
mod forgetting;
mod graph;
mod growth;
mod healing;
mod held;
mod hooks;
mod imported;
mod loss;
mod memories;
mod models;
mod odd;
mod privacy;
mod projections;
mod prompts;
mod rewriting;
mod sessions;

use thru_testkit::{dump, machine, records};
