//! Handing what was found to an MCP server that the user named.
//!
//! [`Sink::connect`] looks at the settings; [`Sink::deliver`] calls one tool, over streamable HTTP or over
//! the pipes of a program, and says in a [`SinkError`] whether to try again. A delivery that is not answered
//! may have arrived: who tries again may deliver twice.
//!
//! It must not know what is delivered, keep a queue, read the environment, or talk to another machine unless
//! it was allowed to.

mod error;
mod events;
mod http;
mod message;
mod program;
mod sink;

pub use error::{ConnectError, SinkError};
pub use sink::{Delivery, Reach, Settings, Sink};
pub use thru_outside::{Key, Retry};
