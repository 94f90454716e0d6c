//! The memory in a terminal: search as you type, read, correct, forget, resume.
//!
//! The screen is a pure state machine: `State::update` takes an event and returns effects, `draw` shows a state. Around it,
//! `terminal.rs` reads keys and carries effects out, and `worker.rs` asks the application on a thread of its own.
//!
//! *Must not* open the store itself, let a key wait for an answer, or show recorded text that was not made printable.

mod ask;
mod draw;
mod editor;
pub mod fold;
mod input;
mod state;
pub mod table;
mod terminal;
pub mod text;
mod tone;
mod worker;

#[cfg(test)]
mod tests;

pub use ask::Wording;
pub use state::Leave;
pub use terminal::{Options, run};
pub use tone::Tone;
