//! What coding agents leave on disk, read as passages.
//!
//! One folder per agent knows where that agent keeps its transcripts, how to read them, what in them
//! is private and where they go back to. All of them answer in the vocabulary of [`thru_core`]. This
//! crate must not write anything, must not open the store, and passes no text on that is not
//! [`Clean`](thru_redact::Clean).

mod batch;
pub mod claude_code;
mod json;
mod lines;
mod source;
mod text;

pub use batch::amend;
pub use source::{Discovery, Problem, Source};
pub use text::{CALL_LIMIT, PROSE_LIMIT, RESULT_LIMIT};
