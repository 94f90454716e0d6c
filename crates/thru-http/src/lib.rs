//! The memory over HTTP, on this machine alone: an API, a page that shows it, and MCP.
//!
//! Routes are requests of the application and their answers the structs that `--json` prints. Guards stand before all of
//! them: see `guard.rs`.
//!
//! *Must not* listen on an address that other machines reach, open the store itself, or let a request in before the guards.

mod access;
mod api;
mod ask;
mod assets;
mod clients;
mod connections;
mod drawing;
mod events;
mod export;
mod guard;
mod openapi;
mod problem;
mod routes;
mod server;
mod viewing;
mod worker;

pub use clients::Clients;
pub use server::Server;
pub use viewing::Viewing;
