//! Codex: where its rollouts are, what they hold, which parts are private and where they are restored
//! to. All knowledge of its files is in this folder.
//!
//! A rollout is the record of one thread. The format is internal to Codex: 0.140 records prompts in
//! `user_message` events, 0.169 in completed items; both are read.

mod discover;
mod hearing;
mod hooks;
mod meta;
mod names;
mod reader;
mod record;
mod tools;

pub(crate) use discover::{
    at, discover, discover_changed, discover_recent, discover_session, resolve_session,
};
pub(crate) use hearing::heard;
pub(crate) use hooks::HOOKS;
pub(crate) use meta::directory_of;
pub(crate) use names::restore_path;
pub(crate) use reader::Reader;
