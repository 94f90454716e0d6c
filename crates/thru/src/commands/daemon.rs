//! `thru daemon`: the process in the background that ingests what hooks recorded as it comes.

mod control;
mod installing;
mod logs;
mod running;

use thru_app::Result;

use crate::environment::Environment;
use crate::ui::Outcome;

/// A process in the background that brings in what is recorded as it comes. It is started when a
/// session starts, ends by itself when there is nothing to do for long, and nothing is lost without it.
#[derive(Debug, clap::Subcommand)]
#[command(after_help = "Examples:\n  \
    thru daemon status            if it runs, and what it does\n  \
    thru daemon stop              end it; the next session or command starts it again\n  \
    thru daemon logs --follow     its log\n  \
    thru daemon install           have systemd or launchd run it\n\n\
    Exit status of `status`: 0 it runs, 1 it does not, 2 it hangs.")]
pub(crate) enum Command {
    /// Start it, if it does not run
    Start,
    /// End it
    Stop {
        /// Kill it where it does not answer
        #[arg(long)]
        force: bool,
    },
    /// Show if it runs, and what it does
    Status {
        /// Answer as JSON
        #[arg(long)]
        json: bool,
    },
    /// End it, and start it again
    Restart,
    /// Run the daemon in the foreground, for service managers
    Run {
        /// Leave the terminal, and end when there is nothing to do for long
        #[arg(long, hide = true)]
        detached: bool,
    },
    /// Show its log
    Logs {
        /// How many lines
        #[arg(short = 'n', long, default_value_t = 50, value_name = "N")]
        lines: usize,
        /// Follow the log
        #[arg(short, long)]
        follow: bool,
    },
    /// Have systemd or launchd start it when you log in
    Install {
        /// Print what would be written, and write nothing
        #[arg(long)]
        print: bool,
    },
    /// Undo `install`
    Uninstall,
}

pub(crate) fn run(command: &Command, environment: &Environment) -> Result<Outcome> {
    match command {
        Command::Start => control::start(false, environment),
        Command::Stop { force } => control::stop(*force, environment),
        Command::Status { json } => control::status(*json, environment),
        Command::Restart => control::start(true, environment),
        Command::Run { detached } => running::run(*detached, environment),
        Command::Logs { lines, follow } => logs::run(*lines, *follow, environment),
        Command::Install { print } => installing::install(*print, environment),
        Command::Uninstall => installing::uninstall(environment),
    }
}
