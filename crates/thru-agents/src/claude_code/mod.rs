//! Claude Code: where its transcripts are, what they say, what in them is private, where they go
//! back to. Everything that is known about its files is known in this folder only.

mod blank;
mod calls;
mod cleaner;
mod discover;
mod history;
pub mod hooks;
pub mod install;
mod names;
mod notes;
mod prompt;
mod reader;
mod record;
mod render;
mod restore;
mod sniff;
mod state;
mod tools;

pub use cleaner::Cleaner;
pub use discover::{
    discover, discover_changed, discover_path, discover_recent, discover_session, project_folders,
};
pub use history::{HistoryBatch, HistoryReader, directory_of_prompt};
pub use reader::Reader;
pub use restore::{RestoreError, restore_path};
pub use sniff::directory_of;
pub use state::InvalidState;
