//! Copilot CLI: where its sessions are, what they hold, which parts are private and where they are
//! restored to. All knowledge of its files is in this folder.

mod discover;
mod names;
mod reader;
mod record;
mod tools;

pub(crate) use discover::{
    at, directory_of, discover, discover_changed, discover_recent, discover_session,
};
pub(crate) use names::restore_path;
pub(crate) use reader::{Reader, heard};
