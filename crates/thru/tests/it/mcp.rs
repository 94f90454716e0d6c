//! `thru mcp`, as a client on two pipes sees it.

pub(crate) mod client;
mod faults;
mod graphiti;
mod protocol;
mod tools;
mod trust;
