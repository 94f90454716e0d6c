//! Codex: where its rollouts are, what they say, what in them is private, where they go back to.
//! Everything that is known about its files is known in this folder only.
//!
//! A rollout is the record of one thread. The format is internal to Codex: 0.140 tells what a person
//! said in `user_message` events, 0.169 in completed items; both are read.

mod discover;
mod hearing;
mod hooks;
mod meta;
mod names;
mod reader;
mod record;
mod tools;

pub(crate) use discover::{
    at, discover, discover_changed, discover_recent, discover_session, settle,
};
pub(crate) use hearing::heard;
pub(crate) use hooks::HOOKS;
pub(crate) use meta::directory_of;
pub(crate) use names::restore_path;
pub(crate) use reader::Reader;
