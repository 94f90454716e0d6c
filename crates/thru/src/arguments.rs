//! The command line. What is written here is the help text, the completions and the man page.

use std::path::PathBuf;

use clap::{Parser, Subcommand};

use crate::commands;

/// Memory for coding agents: the history on this machine, archived and searchable.
#[derive(Debug, Parser)]
#[command(
    name = "thru",
    version,
    arg_required_else_help = true,
    disable_help_subcommand = true,
    after_help = "Examples:\n  \
        thru import                          read the history that agents left on this machine\n  \
        thru search why did the build fail   find where something was said or done\n  \
        thru show k3f9a                      show one memory or passage whole\n  \
        thru context                         what a session that starts here would be given\n  \
        thru remember 'Use pnpm, not npm'    tell it something yourself\n  \
        thru session show 4f1c               outline of a session\n  \
        thru demo                            see it at work on a made-up history\n\n\
        Exit status: 0 found or done, 1 nothing found, 2 error."
)]
pub(crate) struct Arguments {
    /// Use no colour and no pager.
    #[arg(long, global = true)]
    pub(crate) plain: bool,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Set everything up: install, read the history that is there, say what is remembered
    Up(commands::up::Arguments),
    /// Read the history that agents left on this machine
    Import(commands::import::Arguments),
    /// Find where something was said or done
    Search(commands::search::Arguments),
    /// Say why something stands where it does among the answers to a question
    Why(commands::why::Arguments),
    /// Show memories and passages whole, or the records they came from
    Show(commands::show::Arguments),
    /// Show what happened before and after something
    Timeline(commands::timeline::Arguments),
    /// Print what a session that starts here now would be given
    Context(commands::context::Arguments),
    /// Tell something to remember
    Remember(commands::remember::Arguments),
    /// Correct a memory
    Edit(commands::edit::Arguments),
    /// Say that a session is over for now, and index it
    Close(commands::close::Arguments),
    /// List sessions, the latest first
    Sessions(commands::sessions::Arguments),
    /// Look into one session
    #[command(subcommand)]
    Session(commands::session::Command),
    /// What compactions of a session's context left out
    Compaction(commands::compaction::Arguments),
    /// Look after the summaries that compactions left in a project
    #[command(subcommand)]
    Summaries(commands::summaries::Command),
    /// Put a session back where its agent can resume it
    Restore(commands::restore::Arguments),
    /// List, rename and merge projects
    Projects(commands::projects::Arguments),
    /// Take out what must not be kept, and rules of your own for it
    Redact(commands::redact::Arguments),
    /// Forget memories, sessions or whole projects
    Forget(commands::forget::Arguments),
    /// Take a decision back
    Undo(commands::undo::Arguments),
    /// List what you decided, and what was merged by itself
    Log(commands::log::Arguments),
    /// Read and change settings
    #[command(subcommand)]
    Config(commands::config::Command),
    /// Connect agents, so that their sessions are recorded and briefed
    Install(commands::install::Arguments),
    /// Take every trace of the installation out of the agents' settings
    Uninstall(commands::uninstall::Arguments),
    /// How things are, in one screen
    Status(commands::status::Arguments),
    /// Find out what does not work, and mend it
    Doctor(commands::doctor::Arguments),
    /// What briefings cost, and whether they were used
    Stats(commands::stats::Arguments),
    /// Pause recording, or go on
    #[command(subcommand)]
    Capture(commands::capture::Command),
    /// Look into the journal
    #[command(subcommand)]
    Journal(commands::journal::Command),
    /// Write memory out as JSON Lines
    Export(commands::export::Arguments),
    /// List work that waits or failed, and have it tried again
    Jobs(commands::jobs::Arguments),
    /// Choose whose model makes memories better, if any
    Models(commands::models::Arguments),
    /// Make vectors of what has none yet, so that search finds what means the same
    Embed(commands::embed::Arguments),
    /// Have a model look at earlier turns and sessions, and see first what that costs
    Distil(commands::distil::Arguments),
    /// See which sessions are not remembered yet, and bring them in
    SyncHistory(commands::sync_history::Arguments),
    /// Answer agents: the memory as an MCP server on standard input and output
    Mcp(commands::mcp::Arguments),
    /// Look after the process in the background
    #[command(subcommand)]
    Daemon(commands::daemon::Command),
    /// Bring in what hooks recorded
    #[command(hide = true)]
    Intake(commands::intake::Arguments),
    /// Check that what lies on the disk is what was written
    Verify(commands::verify::Arguments),
    /// Make store and index again from journal and archive
    Rebuild(commands::rebuild::Arguments),
    /// See search, an outline and a briefing on a made-up history
    Demo(commands::demo::Arguments),
    /// Print completions for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Print the manual page, or write one page per command into a folder
    Man {
        /// The folder
        directory: Option<PathBuf>,
    },
}
