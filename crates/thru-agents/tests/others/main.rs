//! The files of Codex and Copilot CLI as they are on disk: found, cleaned, read, put back.

#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test may stop where it is, and says where it was skipped"
)]

mod codex;
mod codex_hooks;
mod copilot;
mod discovery;
mod properties;
mod real;
mod support;

use thru_testkit::batches as common;
