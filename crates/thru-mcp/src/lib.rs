//! MCP: the memory as tools, resources and prompts for agents.
//!
//! This is the surface alone: names, schemas and descriptions; arguments as agents really write them;
//! answers of the application as tables and prose, fenced and marked as recorded data. [`Server`] is
//! independent of the transport; [`serve`] runs it on two pipes.
//!
//! *Must not* open the store, read environment or clock, let recorded text leave without its fence, or write
//! anything but the protocol to the output.

mod arguments;
mod config;
mod fence;
mod graphiti;
mod http;
mod incoming;
mod pipe;
mod profile;
mod prompts;
mod queue;
mod render;
mod resources;
mod server;
mod stdio;
mod tool;
mod uri;

pub use config::{Client, NAME, UnknownClient};
pub use http::http_service;
pub use incoming::{Incoming, LONGEST_LINE, read_line};
pub use pipe::Stopper;
pub use profile::Profile;
pub use server::{INSTRUCTIONS, Server};
pub use stdio::serve;
pub use tool::{TOOLS, Tool};
