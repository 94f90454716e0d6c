//! The queue and the budget, with scripted providers.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "in a test, what cannot be is a failure"
)]

mod queue;
mod stage;

use thru_testkit::{machine, records};
