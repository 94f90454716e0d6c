//! `thru daemon run`: being the daemon.

use std::sync::Arc;
use thru_app::App;
use thru_app::Trouble;

use thru_app::{Context, Result};
use thru_daemon::{
    End, Log, MEMORY, Program, RunError, Settings, Setup, Stopper, detach, let_others_go_first,
};
use thru_http::Viewing;

use super::Outcome;
use crate::environment::Environment;
use thru_app::background::control::{identity, start_detached};
use thru_app::background::service::SocketTools;
use thru_app::background::work::Ingesting;
use thru_app::background::{listens_always, paths};

pub(super) fn run(detached: bool, environment: &Environment) -> Result<Outcome> {
    if MEMORY.iter().any(|(name, _)| !environment.machine.has_variable(name)) {
        begin_again(detached, environment);
    }
    if detached {
        detach();
    }
    let_others_go_first();
    let paths = paths(environment);
    let clock = Arc::clone(&environment.clock);
    let log = Arc::new(match environment.terminal.errors && !detached {
        true => Log::to_stderr(clock),
        false => Log::open(&paths.log, clock)
            .with_context(|| format!("{} cannot be written", paths.log.display()))?,
    });
    quiet_panics(&log);
    let stopper = Stopper::new();
    let on_signal = stopper.clone();
    ctrlc::set_handler(move || on_signal.stop())
        .map_err(|error| Trouble::failed(format!("signals cannot be caught: {error}")))?;

    let chooser = Arc::default();
    let in_use = stopper.clone();
    let for_trouble = Arc::clone(&log);
    let viewing = Arc::new(Viewing::new(
        move || in_use.note_request(),
        move |trouble| for_trouble.warn(&format!("the page cannot be served: {trouble}")),
    ));
    let defaults = Settings::default();
    let setup = Setup {
        settings: Settings {
            // A service manager would start it again or miss it.
            // Nor do clients of the page start it again.
            idle_exit: (detached && !listens_always(&environment.config))
                .then(|| environment.config.daemon.idle_exit_minutes.duration()),
            check_interval: environment.config.session_tracking.check_interval.duration(),
            tools_enabled: environment.config.hooks.socket_enabled,
            ..defaults
        },
        identity: identity(environment),
        program: environment
            .machine
            .program
            .as_deref()
            .and_then(|program| Program::at(program).ok()),
        clock: Arc::clone(&environment.clock),
        stopper,
        service: Arc::new(
            SocketTools::new(environment, &chooser).with_viewer(Arc::clone(&viewing) as _),
        ),
        paths,
    };
    let ended = thru_daemon::run(setup, &mut Ingesting::new(environment, &chooser, &log), &log);
    viewing.end(matches!(ended, Ok(End::Replaced | End::Renewed)));
    if matches!(ended, Ok(End::Renewed)) {
        begin_again(detached, environment);
    }
    match ended {
        Ok(End::Requested | End::Idle | End::Removed) => Ok(Outcome::Done),
        // Under a service manager the failure has it started again, as the new program.
        Ok(End::Replaced | End::Renewed) if !detached => Ok(Outcome::Wrong),
        Ok(End::Replaced | End::Renewed) => {
            if let Err(error) = start_detached(environment) {
                log.warn(&format!("the new program cannot be started: {error}"));
            }
            Ok(Outcome::Done)
        }
        Ok(End::Panicked) => Ok(Outcome::Wrong),
        Err(RunError::AlreadyRunning) if detached => Ok(Outcome::Nothing),
        Err(error @ RunError::AlreadyRunning) => {
            Err(Trouble::busy(error.to_string()).run("daemon stop", "ends it"))
        }
        Err(error) => {
            log.error(&error.to_string());
            Err(Trouble::failed(error.to_string()))
        }
    }
}

/// Starts the program again in this process, with the C library's settings for memory, which are read when a program
/// starts: a person or a service manager that started it without them gets a daemon that returns memory all the same.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn begin_again(detached: bool, environment: &App) {
    use std::os::unix::process::CommandExt;
    let Some(program) = environment.machine.program.as_deref() else { return };
    let mut command = std::process::Command::new(program);
    command.args(["daemon", "run"]).envs(MEMORY);
    if detached {
        command.arg("--detached");
    }
    // Returns only where it could not be done: then it runs as it is.
    let _ = command.exec();
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
fn begin_again(_: bool, _: &App) {}

/// A panic is caught and counted where it happens. Its message may quote what a session said, so that
/// only its place is told.
fn quiet_panics(log: &Arc<Log>) {
    let log = Arc::clone(log);
    std::panic::set_hook(Box::new(move |panic| {
        let place = panic.location().map_or_else(String::new, |place| place.to_string());
        log.error(&format!("panicked at {place}"));
    }));
}
