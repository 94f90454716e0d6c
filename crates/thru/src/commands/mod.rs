//! One file per command. A command turns its arguments into a call and the answer into a page.

pub(crate) mod capture;
pub(crate) mod changed;
pub(crate) mod close;
pub(crate) mod compaction;
pub(crate) mod config;
pub(crate) mod context;
pub(crate) mod daemon;
pub(crate) mod demo;
pub(crate) mod distil;
pub(crate) mod doctor;
pub(crate) mod edit;
pub(crate) mod embed;
pub(crate) mod entries;
pub(crate) mod export;
pub(crate) mod facts;
pub(crate) mod forget;
pub(crate) mod graph;
pub(crate) mod hook;
pub(crate) mod import;
mod import_foreign;
pub(crate) mod install;
pub(crate) mod intake;
pub(crate) mod jobs;
pub(crate) mod journal;
pub(crate) mod log;
pub(crate) mod man;
pub(crate) mod mcp;
pub(crate) mod models;
mod of_agents;
pub(crate) mod own_copy;
pub(crate) mod problems;
pub(crate) mod projects;
mod rank;
pub(crate) mod rebuild;
pub(crate) mod redact;
pub(crate) mod remember;
pub(crate) mod restore;
pub(crate) mod resume;
pub(crate) mod search;
pub(crate) mod session;
pub(crate) mod sessions;
pub(crate) mod setup_page;
pub(crate) mod shared;
pub(crate) mod show;
pub(crate) mod stats;
pub(crate) mod status;
pub(crate) mod summaries;
pub(crate) mod sync_history;
pub(crate) mod timeline;
pub(crate) mod ui;
pub(crate) mod undo;
pub(crate) mod uninstall;
pub(crate) mod up;
pub(crate) mod vault;
pub(crate) mod verify;
pub(crate) mod view;
pub(crate) mod why;

use thru_app::Result;

use crate::arguments::Command;
use crate::environment::Environment;
use thru_app::background;

/// The end of a command that did not fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Found, or done.
    Done,
    /// Nothing found.
    Nothing,
    /// Something is wrong, and the page says what.
    Wrong,
    /// The user stopped it.
    Interrupted,
}

impl Outcome {
    /// The exit status.
    pub(crate) const fn status(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Nothing => 1,
            Self::Wrong => 2,
            Self::Interrupted => 130,
        }
    }
}

/// Runs the command that was asked for.
pub(crate) fn run(command: Command, environment: &Environment) -> Result<Outcome> {
    // `thru config` must work when the configuration does not, and `thru doctor` says so.
    if !matches!(
        command,
        Command::Config(_)
            | Command::Completions { .. }
            | Command::Doctor(_)
            | Command::Man { .. }
            | Command::OwnCopy(_)
    ) {
        shared::refuse_settings(environment)?;
    }
    let wants_daemon = wants_daemon(&command);
    let outcome = carry_out(command, environment);
    // Behind the answer, which it must not slow down.
    if wants_daemon && environment.layout.database().exists() {
        background::poke(environment);
        background::start_if_wanted(environment);
    }
    outcome
}

/// True for commands of people who work with their memory, and so want it to be kept up to date.
const fn wants_daemon(command: &Command) -> bool {
    matches!(
        command,
        Command::Up(_)
            | Command::Import(_)
            | Command::Search(_)
            | Command::Facts(_)
            | Command::Problems(_)
            | Command::Changed(_)
            | Command::Graph(_)
            | Command::Why(_)
            | Command::Show(_)
            | Command::Ui(_)
            | Command::Timeline(_)
            | Command::Context(_)
            | Command::Remember(_)
            | Command::Close(_)
            | Command::Sessions(_)
            | Command::Session(_)
    )
}

fn carry_out(command: Command, environment: &Environment) -> Result<Outcome> {
    match command {
        Command::Import(arguments) => import::run(&arguments, environment),
        Command::Search(arguments) => search::run(&arguments, environment),
        Command::Facts(arguments) => facts::run(&arguments, environment),
        Command::Problems(arguments) => problems::run(&arguments, environment),
        Command::Graph(command) => graph::run(&command, environment),
        Command::Changed(arguments) => changed::run(&arguments, environment),
        Command::Why(arguments) => why::run(&arguments, environment),
        Command::Show(arguments) => show::run(&arguments, environment),
        Command::Timeline(arguments) => timeline::run(&arguments, environment),
        Command::Context(arguments) => context::run(&arguments, environment),
        Command::Remember(arguments) => remember::run(&arguments, environment),
        Command::Edit(arguments) => edit::run(&arguments, environment),
        Command::Close(arguments) => close::run(&arguments, environment),
        Command::Sessions(arguments) => sessions::run(&arguments, environment),
        Command::Session(command) => session::run(&command, environment),
        Command::Compaction(arguments) => compaction::run(&arguments, environment),
        Command::Summaries(arguments) => summaries::run(&arguments, environment),
        Command::Vault(arguments) => vault::run(&arguments, environment),
        Command::Restore(arguments) => restore::run(&arguments, environment),
        Command::Resume(arguments) => resume::run(&arguments, environment),
        Command::Projects(arguments) => projects::run(&arguments, environment),
        Command::Redact(arguments) => redact::run(arguments, environment),
        Command::Forget(arguments) => forget::run(&arguments, environment),
        Command::Undo(arguments) => undo::run(&arguments, environment),
        Command::Log(arguments) => log::run(&arguments, environment),
        Command::Config(arguments) => config::run(&arguments, environment),
        Command::Up(arguments) => up::run(&arguments, environment),
        Command::Install(arguments) => install::run(&arguments, environment),
        Command::Uninstall(arguments) => uninstall::run(&arguments, environment),
        Command::Status(arguments) => status::run(&arguments, environment),
        Command::Doctor(arguments) => doctor::run(&arguments, environment),
        Command::Stats(arguments) => stats::run(&arguments, environment),
        Command::Capture(command) => capture::run(&command, environment),
        Command::Journal(command) => journal::run(command, environment),
        Command::Export(arguments) => export::run(&arguments, environment),
        Command::Jobs(arguments) => jobs::run(arguments, environment),
        Command::Models(arguments) => models::run(arguments, environment),
        Command::Embed(arguments) => embed::run(&arguments, environment),
        Command::Distil(arguments) => distil::run(arguments, environment),
        Command::SyncHistory(arguments) => sync_history::run(&arguments, environment),
        Command::Mcp(arguments) => mcp::run(&arguments, environment),
        Command::Daemon(command) => daemon::run(&command, environment),
        Command::Intake(arguments) => intake::run(&arguments, environment),
        Command::View(arguments) => view::run(&arguments, environment),
        Command::Ui(arguments) => ui::run(&arguments, environment),
        Command::Verify(arguments) => verify::run(&arguments, environment),
        Command::Rebuild(arguments) => rebuild::run(&arguments, environment),
        Command::OwnCopy(arguments) => own_copy::run(&arguments, environment),
        Command::Demo(arguments) => demo::run(&arguments, environment),
        Command::Completions { shell } => man::completions(shell, environment),
        Command::Man { directory } => man::run(directory.as_deref(), environment),
    }
}
