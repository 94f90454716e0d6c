//! The real Claude Code client on a short leash: it runs in a home of its own, knows nothing of the
//! machine, and talks to a [`MessagesApi`] on loopback that answers from a [`Script`]. So hooks,
//! transcripts, resume and compaction are those that people have, and what the model would have seen
//! can be looked at.
//!
//! For tests and measurements; no part of the product. It must not know anything of Throughline: who
//! uses it says which program the client's hooks run.

mod api;
mod home;
mod http;
mod message;
mod request;
mod run;
mod script;
mod terminal;

pub use api::MessagesApi;
pub use home::SealedHome;
pub use request::Request;
pub use run::{Run, finish};
pub use script::{Answer, Block, Script, calls, fails, message, pauses, reads, says};
pub use terminal::Terminal;
