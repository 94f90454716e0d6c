//! Installation into Claude Code: what is there, which files would change, and changing them so that
//! nothing of anybody else is lost.
//!
//! What the files should say is decided in `thru_agents::claude_code::install`, on texts. This room
//! does the reading and writing: it lies in the binary because libraries about agents write nothing.

mod client;
mod files;
mod notes;
mod plan;
mod view;

use thru_agents::claude_code::install::Platform;

pub(crate) use client::{Client, own_program};
pub(crate) use notes::{Note, elsewhere, notes};
pub(crate) use plan::{
    Form, Plan, Scope, Wanted, changed_commands, has_commands, project_root, servers,
    state_of_client, to_install, to_uninstall,
};
pub(crate) use view::{as_json, difference, tell, tell_client, tell_effect, tell_notes, tell_plan};

/// The system that we run on, as far as Claude Code differs on it.
pub(crate) const PLATFORM: Platform = if cfg!(windows) {
    Platform::Windows
} else if cfg!(target_os = "macos") {
    Platform::MacOs
} else {
    Platform::Linux
};
