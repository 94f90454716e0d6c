//! Distilling: from a session's passages to observations and a summary, without a model.
//!
//! Structured evidence first (tool calls joined with their results), shaped prose second; every
//! statement cites the passages it was taken from. Pure functions: this crate must not read or write
//! anything, must not know the store or any agent's format, and returns the same result for the same
//! passages every time. [`refine`] is the counterpart for models: it builds the questions and decides
//! which parts of the answers to believe. It asks no model itself.

mod agent_text;
mod answered;
mod answers;
mod antecedent;
mod cause;
mod checks;
mod choice;
mod commits;
mod course;
mod cue;
mod decisions;
mod declined;
mod dialogs;
mod discovery;
mod ending;
mod event;
mod exchange;
mod fixes;
mod gate;
mod git;
mod lacking;
mod landing;
mod merge;
mod moment;
mod object;
mod outcome;
mod outside;
mod pattern;
mod pending;
mod phrase;
mod plans;
mod points;
mod proposal;
mod proposed;
mod prose;
pub mod refine;
mod remaining;
mod reply;
mod report;
mod request;
mod restated;
mod rules;
mod scope;
mod segment;
mod session;
mod shell;
mod snapshot;
mod subject;
mod summary;
mod tasks;
mod text;
mod title;
mod undone;
mod verbs;
mod verdict;
mod wording;
mod work;

#[cfg(test)]
mod tests;

pub use course::{CheckRun, Step};
pub use git::GitStep;
pub use moment::{Distiller, Moment, wants_text};
pub use outcome::Failure;
pub use request::title_of as title_of_request;
pub use snapshot::{SnapshotMaker, snapshot_wants_text};
pub use summary::UNTITLED;

/// Must change whenever the same passages give different observations: sessions are then distilled
/// again.
pub const VERSION: u32 = 18;
