//! The program as people run it: a process of its own, in a home of its own.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "in a test, what cannot be is a failure"
)]

mod agents;
mod answering;
mod asking;
mod briefing;
mod closing;
mod configuring;
mod crashing;
#[cfg(unix)]
mod daemon;
mod delivering;
mod doctoring;
mod embedding;
mod exporting;
mod facts;
mod faulting;
mod forgetting;
mod helping;
mod home;
mod hooking;
mod importing;
mod installing;
mod jobbing;
mod journalling;
mod lazily;
mod mcp;
mod merging;
mod outside;
mod projects;
mod promises;
mod redacting;
mod refining;
mod refining_faults;
mod remembering;
mod restoring;
mod resuming;
mod sessions;
mod surfaces;
mod surviving;
mod syncing;
#[cfg(unix)]
mod terminal;
mod timelines;
mod undaemoned;
mod vault_kills;
mod vaulting;
mod verifying;
mod widths;

use thru_testkit::{answers, dump, records};
