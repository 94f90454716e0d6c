//! Helpers of tests: a loopback server, providers of models, invented transcripts, a machine with a home of its
//! own, and the content of a data directory as text.
//!
//! A dev-dependency only: nothing that is installed may depend on it. What cannot be is a failure here, as in a
//! test.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::missing_panics_doc,
    reason = "in a test, what cannot be is a failure"
)]

pub mod answers;
#[cfg(feature = "history")]
pub mod batches;
#[cfg(feature = "history")]
pub mod dump;
pub mod http;
#[cfg(feature = "history")]
pub mod machine;
pub mod provider;
pub mod records;
