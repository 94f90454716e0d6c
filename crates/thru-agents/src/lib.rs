//! What coding agents leave on disk, read as passages.
//!
//! One folder per agent knows where that agent keeps its transcripts, how to read them, what in them
//! is private and where they go back to; [`agents`] gives whoever has an [`Agent`](thru_core::Agent)
//! the right one of them. All of them answer in the vocabulary of [`thru_core`]. This
//! crate must not write anything, must not open the store, and passes no text on that is not
//! [`Clean`](thru_redact::Clean).

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
mod source;
mod state;
mod text;

pub use agents::Homes;
pub use batch::amend;
pub use cleaner::Cleaner;
pub use reader::Reader;
pub use restore::RestoreError;
pub use source::{Discovery, Problem, Source};
pub use state::InvalidState;
pub use text::{CALL_LIMIT, PROSE_LIMIT, RESULT_LIMIT};
