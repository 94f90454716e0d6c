//! The application as surfaces call it: requests in a home of their own, without a process.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "in a test, what cannot be is a failure"
)]

mod answers;
mod embedding;
mod home;
mod jobs;
#[path = "../../../thru-intake/tests/it/records.rs"]
#[allow(dead_code, reason = "shared with the tests of thru-intake, which use all of it")]
mod records;
mod refining;
mod settings;
