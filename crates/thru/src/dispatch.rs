//! From the command that was asked for to the file that runs it.

use thru_app::{Result, background};

use crate::arguments::Command;
use crate::commands::{
    capture, changed, close, compaction, config, context, daemon, demo, distil, doctor, edit,
    embed, export, facts, forget, graph, import, install, intake, jobs, journal, log, man, mcp,
    models, own_copy, problems, projects, rebuild, redact, remember, restore, resume, search,
    session, sessions, shared, show, stats, status, summaries, sync_history, timeline, ui, undo,
    uninstall, up, vault, verify, view, why,
};
use crate::environment::Environment;
use crate::ui::Outcome;

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
