//! Claude Code: where its transcripts are, what they hold, which parts are private and where they are
//! restored to. All knowledge of its files is in this folder.

mod calls;
mod discover;
mod hearing;
mod history;
mod hooks;
mod install;
mod names;
mod notes;
mod prompt;
mod reader;
mod record;
mod restore;
mod sniff;
mod state;
mod tools;

pub use discover::{discover, discover_changed, discover_session};
pub(crate) use discover::{discover_recent, file_anywhere};
pub(crate) use hearing::heard;
pub use history::{HistoryBatch, HistoryReader, directory_of_prompt};
pub(crate) use hooks::HOOKS;
pub use reader::Reader;
pub use restore::{path_by_id, restore_path};
pub use sniff::directory_of;
