//! Claude Code's files as they are on disk: found, cleaned, read.

#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test may stop where it is, and says where it was skipped"
)]

mod cleaning;
mod discovery;
mod fixtures;
mod properties;
mod real;
mod support;

use thru_testkit::batches as common;
