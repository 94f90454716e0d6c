//! Deliveries to an MCP server that the user named.
//!
//! [`Sink::connect`] checks the settings; [`Sink::deliver`] calls one tool, over streamable HTTP or over
//! the pipes of a program, and returns a [`SinkError`] that says if trying again makes sense. An
//! unanswered delivery may have arrived: trying again may deliver twice.
//!
//! This crate must not know the meaning of a delivery, keep a queue, read the environment, or talk to
//! another machine unless that was allowed.

mod error;
mod events;
mod http;
mod message;
mod program;
mod sink;

pub use error::{ConnectError, SinkError};
pub use sink::{Delivery, Settings, Sink, Transport};
pub use thru_outside::{Key, Retry};
