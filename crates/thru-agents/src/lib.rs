//! The files of coding agents, read as passages, and their hooks.
//!
//! One folder per agent knows where that agent keeps its transcripts, how to read them, which parts are
//! private and where they are restored to. [`agents`] picks the folder for an
//! [`Agent`](thru_core::Agent), [`hooks`] serves agents that report as they work, and [`setup`] plans
//! installations into them. All of them use the vocabulary of [`thru_core`]. This crate must not write
//! anything, must not open the store, and passes on no text that is not [`Clean`](thru_redact::Clean).

pub mod agents;
mod batch;
mod blank;
pub mod claude_code;
mod cleaner;
mod codex;
mod copilot;
mod facts;
pub mod hooks;
mod json;
mod lines;
mod names;
mod opening;
mod passages;
mod patch;
mod reader;
mod render;
mod restore;
mod search;
pub mod setup;
mod source;
mod state;
mod text;

pub use agents::Homes;
pub use batch::amend;
pub use cleaner::Cleaner;
pub use facts::note_prompt;
pub use reader::Reader;
pub use restore::RestoreError;
pub use source::{Discovery, Problem, Source};
pub use state::InvalidState;
pub use text::{CALL_LIMIT, PROSE_LIMIT, RESULT_LIMIT};
