//! The application as surfaces call it: requests in a home of their own, without a process.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "in a test, what cannot be is a failure"
)]

mod changing;
mod cleaning;
mod closing;
mod compacting;
mod converging;
mod embedding;
mod following;
mod foreign;
mod forgetting;
mod home;
mod jobs;
mod losing;
mod poisoning;
mod reading;
mod refining;
mod searching;
mod serving;
mod session_ends;
mod settings;
mod starting;
mod syncing;
mod trusting;
mod using;
mod vaulted;
mod vaulting;

use thru_testkit::records;
