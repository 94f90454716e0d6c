//! `thru daemon run`: being the daemon.

use std::sync::Arc;

use thru_app::{Context, Result, Trouble};
use thru_daemon::{
    End, Log, Program, RunError, Settings, Setup, Stopper, begin_again, detach,
    lacks_memory_settings, let_others_go_first, quiet_panics,
};
use thru_http::Viewing;

use crate::environment::Environment;
use crate::ui::Outcome;
use thru_app::background::control::{identity, start_detached};
use thru_app::background::service::SocketTools;
use thru_app::background::work::Ingesting;
use thru_app::background::{listens_always, paths};
use thru_app::ingest::reading;

pub(super) fn run(detached: bool, environment: &Environment) -> Result<Outcome> {
    let program = environment.machine.program.as_deref();
    if lacks_memory_settings(|name| environment.machine.has_variable(name)) {
        begin_again(program, detached);
    }
    match detached {
        true => detach(),
        // A person or a service manager wants it.
        false => reading::ask_to_watch(&environment.layout)?,
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
    let setup = Setup {
        settings: Settings {
            // A service manager would start it again or miss it; clients of the page do not start it.
            idle_exit: (detached && !listens_always(&environment.config))
                .then(|| environment.config.daemon.idle_exit_minutes.duration()),
            check_interval: environment.config.session_tracking.check_interval.duration(),
            tools_enabled: environment.config.hooks.socket_enabled,
            ..Settings::default()
        },
        identity: identity(environment),
        program: program.and_then(|program| Program::at(program).ok()),
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
        begin_again(program, detached);
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
