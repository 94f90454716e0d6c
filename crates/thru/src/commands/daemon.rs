//! `thru daemon`: the process in the background that brings in what hooks recorded as it comes. What it
//! is and how it lives is `thru-daemon`'s business; what it does is in `work`.

mod control;
mod installing;
mod logs;
mod running;
mod service;

use std::time::Duration;
use thru_app::App;

use thru_app::Result;
use thru_daemon::{EnsureError, Ensured, Identity, Paths, Program, Stopped, ensure, holder, spawn};

use super::Outcome;
use crate::environment::Environment;
use thru_app::background;

/// How long somebody who uninstalls waits for its end.
const STOP: Duration = Duration::from_secs(5);

/// A process in the background that brings in what is recorded as it comes. It is started when a
/// session starts, ends by itself when there is nothing to do for long, and nothing is lost without it.
#[derive(Debug, clap::Subcommand)]
#[command(after_help = "Examples:\n  \
    thru daemon status            whether it runs, and what it does\n  \
    thru daemon stop              end it; the next session or command starts it again\n  \
    thru daemon logs --follow     what it says\n  \
    thru daemon install           have systemd or launchd look after it\n\n\
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
    /// Say whether it runs, and what it does
    Status {
        /// Answer as JSON
        #[arg(long)]
        json: bool,
    },
    /// End it, and start it again
    Restart,
    /// Be the daemon, in the foreground: for service managers
    Run {
        /// Leave the terminal, and end when there is nothing to do for long
        #[arg(long, hide = true)]
        detached: bool,
    },
    /// Show what it said
    Logs {
        /// How many lines
        #[arg(short = 'n', long, default_value_t = 50, value_name = "N")]
        lines: usize,
        /// Go on showing what it says
        #[arg(short, long)]
        follow: bool,
    },
    /// Have systemd or launchd start it when you log in
    Install {
        /// Print what would be written, and write nothing
        #[arg(long)]
        print: bool,
    },
    /// Take back what `install` wrote
    Uninstall,
}

pub(crate) fn run(command: &Command, environment: &Environment, plain: bool) -> Result<Outcome> {
    match command {
        Command::Start => control::start(environment, plain),
        Command::Stop { force } => control::stop(*force, environment, plain),
        Command::Status { json } => control::status(*json, environment, plain),
        Command::Restart => control::restart(environment, plain),
        Command::Run { detached } => running::run(*detached, environment),
        Command::Logs { lines, follow } => logs::run(*lines, *follow, &paths(environment)),
        Command::Install { print } => installing::install(*print, environment, plain),
        Command::Uninstall => installing::uninstall(environment, plain),
    }
}

/// The files of the daemon of this home.
fn paths(environment: &App) -> Paths {
    background::paths(environment)
}

/// The same, with the socket where the daemon that runs listens.
fn paths_in_use(environment: &App) -> Paths {
    let paths = paths(environment);
    let used = holder(&paths.lock).and_then(|holder| holder.socket);
    Paths { socket: used.unwrap_or_else(|| paths.socket.clone()), ..paths }
}

/// This program, as a daemon that it would start.
fn identity(environment: &App) -> Identity {
    let program =
        environment.machine.program.as_deref().and_then(|program| Program::at(program).ok());
    Identity {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        build: program.map_or_else(String::new, |program| program.build()),
    }
}

/// Makes sure that a daemon runs. See [`ensure`] for what `patience` means.
pub(crate) fn ensure_running(
    environment: &App,
    patience: Duration,
) -> Result<Ensured, EnsureError> {
    let paths = paths_in_use(environment);
    ensure(&paths, &identity(environment), patience, || start_detached(environment))
}

/// Ends the daemon, if one runs; says whether it did.
pub(crate) fn stop(environment: &Environment) -> bool {
    let stopped = thru_daemon::stop(&paths_in_use(environment), &identity(environment), STOP);
    matches!(stopped, Ok(Stopped::Ended(_) | Stopped::Ending(_)))
}

/// Starts one, whether one runs or not: it looks itself.
fn start_detached(environment: &App) -> std::io::Result<()> {
    let Some(program) = &environment.machine.program else {
        return Err(std::io::Error::other("the system does not say where this program lies"));
    };
    // We are gone long before it is; then the system waits for it.
    spawn(program, &["daemon", "run", "--detached"], environment.machine.child_variables())
        .map(drop)
}
