//! The real clients of Claude Code and Codex on a short leash: each runs in a home of its own, knows nothing of
//! the machine, and talks to a [`MessagesApi`] on loopback that answers from a [`Script`]. So hooks,
//! transcripts, resume and compaction are those that people have, and the requests to the model can be
//! looked at.
//!
//! For tests and measurements; no part of the product. It must not know anything of Throughline: its caller
//! says which program the clients' hooks run.

mod api;
mod codex;
mod home;
mod http;
mod message;
mod request;
mod responses;
mod run;
mod script;
mod terminal;

pub use api::MessagesApi;
pub use codex::SealedCodex;
pub use home::SealedHome;
pub use request::Request;
pub use run::{Run, finish};
pub use script::{Answer, Block, Script, calls, fails, message, pauses, reads, says};
pub use terminal::Terminal;
