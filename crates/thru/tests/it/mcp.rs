//! `thru mcp`, as a client on two pipes sees it.

mod client;
mod faults;
mod protocol;
mod tools;
mod trust;
