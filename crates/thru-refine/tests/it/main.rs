//! The queue and the budget, with scripted providers.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "in a test, what cannot be is a failure"
)]

#[path = "../../../thru-intake/tests/it/dump.rs"]
#[allow(dead_code, reason = "shared with the tests of thru-intake, which use all of it")]
mod dump;
#[path = "../../../thru-intake/tests/it/machine.rs"]
#[allow(dead_code, reason = "shared with the tests of thru-intake, which use all of it")]
mod machine;
mod queue;
#[path = "../../../thru-intake/tests/it/records.rs"]
#[allow(dead_code, reason = "shared with the tests of thru-intake, which use all of it")]
mod records;
mod stage;
