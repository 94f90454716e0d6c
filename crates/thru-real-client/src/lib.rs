//! The real clients of Claude Code and Codex in isolation: each runs in a home of its own, sees nothing of
//! the machine, and talks to a [`MessagesApi`] on loopback that answers from a [`Script`]. Hooks,
//! transcripts, resume and compaction are therefore the real ones, and the requests to the model can be
//! inspected.
//!
//! For tests and measurements; not part of the product. It must not know anything of Throughline: its
//! callers decide which program the clients' hooks run.

mod api;
mod codex;
mod home;
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
pub use script::{Block, Script, ScriptedAnswer, calls, fails, message, pauses, reads, says};
pub use terminal::Terminal;
