//! The application: every question and every action as a request and a typed answer, for all surfaces.
//!
//! A surface (command line, MCP, hooks, the daemon) turns its input into a request, hands it to a function here with
//! an [`App`] and a [`Call`], and words the answer. Answers are clean text in structs that serialize; errors are
//! [`Trouble`] with a typed [`Remedy`].
//!
//! *Must not* know clap, a terminal, or the variables of the process (the binary reads them into a [`Machine`]), and
//! must not print.

pub mod answer;
pub mod app;
pub mod ask;
pub mod backend;
pub mod background;
pub mod call;
pub mod compaction;
pub mod deliver;
pub mod disk;
pub mod embedding;
pub mod fresh;
pub mod health;
pub mod hook;
pub mod idle;
pub mod ingest;
pub mod keep;
pub mod machine;
pub mod models;
mod owner;
pub mod setup;
pub mod trouble;
pub mod vault;
pub mod wording;
pub mod words;

pub use app::App;
pub use backend::Backend;
pub use call::{Call, Patience, Progress, Unit};
pub use machine::{Machine, Places};
pub use trouble::{Context, Listing, MemoryAction, Remedy, Result, Trouble, TroubleKind};
