//! How Throughline gets into Claude Code: which hooks it registers, in which files they may stand, and
//! the text of those files with our hooks put in or taken out.
//!
//! Everything here is a function of texts and paths; reading and writing is the caller's business.
//! [`install`] and [`uninstall`] are exact inverses: for every settings file in every formatting,
//! taking out gives back the bytes that were there before putting in.
//!
//! Whoever checks an installation reads the files that [`hook_files`] names, and asks [`installed`] for
//! the hooks in each, [`switches`] and [`obstacle`] for what keeps them from running, and [`events()`] for
//! those that should be there.

mod command;
mod commands;
mod document;
mod events;
mod merge;
mod places;
mod plugin;
mod servers;

pub use command::{HookForm, InstalledHook, Registration};
pub use commands::{CommandFile, CommandState, command_files, command_paths, command_state};
pub use events::{ClientVersion, events};
pub use merge::{Refusal, install, installed, uninstall};
pub use places::{
    HookFile, Obstacle, Place, Platform, Switches, hook_files, local_settings, obstacle,
    plugin_directory, state_file, switches, user_settings,
};
pub use plugin::{PLUGIN, PluginFile, SERVERS_FILE, belongs_to_plugin, plugin_files};
pub use servers::{Server, add_server, remove_server, server};
