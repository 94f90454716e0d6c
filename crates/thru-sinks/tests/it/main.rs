//! Deliveries to MCP servers of our own, as real as necessary, which fail as real ones do.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "in a test, what cannot be is a failure"
)]

mod http;
mod program;

use std::sync::atomic::AtomicBool;

use serde_json::json;
use thru_sinks::Delivery;

/// A flag that is never set.
pub(crate) static GO_ON: AtomicBool = AtomicBool::new(false);

pub(crate) fn delivery() -> Delivery {
    Delivery {
        tool: "memory_add".to_owned(),
        arguments: json!({ "title": "The cellar door", "content": "It was mended.\nIt closes." }),
    }
}
