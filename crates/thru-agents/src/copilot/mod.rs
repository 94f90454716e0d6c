//! Copilot CLI: where its sessions are, what they say, what in them is private, where they go back to.
//! Everything that is known about its files is known in this folder only.

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
