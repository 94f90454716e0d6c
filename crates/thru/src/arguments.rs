//! The command line. What is written here is the help text, the completions and the man page.

use std::path::PathBuf;

use clap::{Parser, Subcommand};

use thru_config::Color;

use crate::commands;

/// Memory for coding agents: the history on this machine, archived and searchable.
#[derive(Debug, Parser)]
#[command(
    name = "thru",
    version,
    disable_help_subcommand = true,
    after_help = "Examples:\n  \
        thru up                              set everything up\n  \
        thru search why did the build fail   find where something was said or done\n  \
        thru show k3f9a                      show one memory or passage in full\n  \
        thru remember 'Use pnpm, not npm'    tell it something yourself\n  \
        thru resume                          continue the latest session here\n\n\
        `--color always`, `auto` or `never` works with every command, as does `--plain`.\n\
        Exit status: 0 found or done, 1 nothing found, 2 error."
)]
pub(crate) struct Cli {
    /// Use no colour and no pager.
    #[arg(long, global = true, display_order = 998)]
    pub(crate) plain: bool,
    /// When to use colour, in place of the setting `output.color`
    #[arg(long, global = true, hide = true, value_enum, value_name = "WHEN")]
    pub(crate) color: Option<When>,
    /// Without one, a terminal shows the state of the memory.
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

/// The time to use colour.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub(crate) enum When {
    /// On a terminal
    Auto,
    Always,
    Never,
}

impl From<When> for Color {
    fn from(when: When) -> Self {
        match when {
            When::Auto => Self::Auto,
            When::Always => Self::Always,
            When::Never => Self::Never,
        }
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Set everything up: install, import history, show what is remembered
    Up(commands::up::UpArguments),
    /// Read the history that agents left on this machine
    Import(commands::import::ImportArguments),
    /// Find where something was said or done
    Search(commands::search::SearchArguments),
    /// Show what is true of a thing now, or was true then
    Facts(commands::facts::FactsArguments),
    /// List what failed last and was not seen to pass since
    Problems(commands::problems::ProblemsArguments),
    /// Show what changed between two dates, commits or sessions
    Changed(commands::changed::ChangedArguments),
    /// Connect two things, or write facts as a graph
    #[command(subcommand)]
    Graph(commands::graph::Command),
    /// Show how a file, package or error came to be as it is
    Why(commands::why::WhyArguments),
    /// Show memories and passages in full, or the records they came from
    Show(commands::show::ShowArguments),
    /// Show what happened before and after something
    Timeline(commands::timeline::TimelineArguments),
    /// Print the context that a session starting here would get
    Context(commands::context::ContextArguments),
    /// Remember something
    Remember(commands::remember::RememberArguments),
    /// Correct a memory
    Edit(commands::edit::EditArguments),
    /// Close a session for now, and index it
    Close(commands::close::CloseArguments),
    /// List sessions, the latest first
    Sessions(commands::sessions::SessionsArguments),
    /// Show one session, or what it held
    #[command(subcommand)]
    Session(commands::session::Command),
    /// Show what compactions of a session left out
    Compaction(commands::compaction::CompactionArguments),
    /// Manage the summaries that compactions left in a project
    Summaries(commands::summaries::SummariesArguments),
    /// Keep memory as notes that you can edit, in Obsidian or any editor
    Vault(commands::vault::VaultArguments),
    /// Restore a transcript that the agent deleted
    Restore(commands::restore::RestoreArguments),
    /// Resume a session in its agent
    Resume(commands::resume::ResumeArguments),
    /// List, rename and merge projects
    Projects(commands::projects::ProjectsArguments),
    /// Remove secrets and private text, and manage your own rules
    Redact(commands::redact::RedactArguments),
    /// Forget memories, sessions or whole projects
    Forget(commands::forget::ForgetArguments),
    /// Undo a decision
    Undo(commands::undo::UndoArguments),
    /// List your decisions, and automatic merges
    Log(commands::log::LogArguments),
    /// Read and change settings
    Config(commands::config::ConfigArguments),
    /// Connect agents, so that their sessions are recorded and briefed
    Install(commands::install::InstallArguments),
    /// Remove everything that was installed from the agents' settings
    Uninstall(commands::uninstall::UninstallArguments),
    /// Show the state of everything on one screen
    Status(commands::status::StatusArguments),
    /// Open the page that shows what is remembered, and lets you correct it
    View(commands::view::ViewArguments),
    /// Search as you type, read and correct memory in the terminal
    Ui(commands::ui::UiArguments),
    /// Find problems, and fix them
    Doctor(commands::doctor::DoctorArguments),
    /// Show what briefings cost, and if they were used
    Stats(commands::stats::StatsArguments),
    /// Pause or resume recording
    #[command(subcommand)]
    Capture(commands::capture::Command),
    /// Inspect the journal
    #[command(subcommand)]
    Journal(commands::journal::Command),
    /// Export memory as JSON Lines
    Export(commands::export::ExportArguments),
    /// List pending and failed work, and retry it
    Jobs(commands::jobs::JobsArguments),
    /// Choose a model that improves memories, if any
    Models(commands::models::ModelsArguments),
    /// Embed new texts, so that search finds them by meaning
    Embed(commands::embed::EmbedArguments),
    /// Ask a model about earlier sessions, after showing the cost
    Distil(commands::distil::DistilArguments),
    /// Show which sessions are not imported yet, and import them
    SyncHistory(commands::sync_history::SyncHistoryArguments),
    /// Serve the memory to agents over MCP, on standard input and output
    Mcp(commands::mcp::McpArguments),
    /// Control the background process
    #[command(subcommand)]
    Daemon(commands::daemon::Command),
    /// Ingest what hooks recorded
    #[command(hide = true)]
    Intake(commands::intake::IntakeArguments),
    /// Check journal, archive and store for damage
    Verify(commands::verify::VerifyArguments),
    /// Rebuild store and index from journal and archive
    Rebuild(commands::rebuild::RebuildArguments),
    /// See search, an outline and a briefing on a made-up history
    Demo(commands::demo::DemoArguments),
    /// Show the version of this copy, and how to update it
    #[command(name = "self")]
    OwnCopy(commands::own_copy::OwnCopyArguments),
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
