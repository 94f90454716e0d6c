//! The daemon as other processes see it, and the work that waits for it.

use std::time::{Duration, Instant};

use schemars::JsonSchema;
use serde::Serialize;
use thru_config::WorkerApi;
use thru_daemon::{Client, Hello, Holder, holder, is_held};
use thru_lifecycle::Indexing;
use thru_store::{SessionState, Store};

use super::finding::Finding;
use super::seen::Seen;
use crate::background::control::DaemonState;
use crate::ingest::reading::{Reading, Stop, reading, stopped, wants_daemon, watching};
use crate::words::{one_line, plural};
use crate::{App, Result, background};

/// Time for all answers of a daemon. The caller does not wait for one that hangs.
const ANSWER: Duration = Duration::from_millis(300);
/// The pause before another look at one that does not listen yet.
const STEP: Duration = Duration::from_millis(5);

/// The state of the daemon.
pub enum Daemon {
    /// It runs.
    Runs {
        /// Its process and version.
        hello: Hello,
        /// The way it watches transcripts, if it said so in time.
        watching: Option<String>,
        /// The reason why it polls.
        polling_because: Option<String>,
    },
    /// One holds the lock and does not answer.
    Hangs(Option<Holder>),
    /// None runs; one is started when it is needed.
    Absent,
    /// None runs, and none is started unasked: no hooks are installed, or the user stopped it.
    Unasked,
    /// None runs, and this keeps it from being started.
    Off(&'static str),
}

impl Daemon {
    /// Asks the daemon, for a moment at most.
    pub fn look(app: &App) -> Self {
        let paths = background::paths(app);
        if !is_held(&paths.lock).unwrap_or(false) {
            return match app.machine.daemon_switched_off(&app.config) {
                Some(switch) => Self::Off(switch),
                None if wants_daemon(app) => Self::Absent,
                None => Self::Unasked,
            };
        }
        let deadline = Instant::now() + ANSWER;
        let left = || deadline.saturating_duration_since(Instant::now());
        let mut client = loop {
            match Client::connect(&paths.socket, left()) {
                Ok(client) => break client,
                // One that was just started holds its lock before it listens.
                Err(_) if !left().is_zero() => std::thread::sleep(STEP),
                Err(_) => return Self::Hangs(holder(&paths.lock)),
            }
        };
        let Ok(hello) = client.hello(left()) else { return Self::Hangs(holder(&paths.lock)) };
        // One that is at work may have no time to say more.
        let status = client.status(left()).unwrap_or_default();
        let said = |key: &str| status[key].as_str().map(str::to_owned);
        Self::Runs { hello, watching: said("watching"), polling_because: said("polling_because") }
    }

    /// Returns the state in a line.
    pub fn line(&self) -> String {
        match self {
            Self::Runs { hello, watching, polling_because } => {
                let how = match (watching, polling_because) {
                    (_, Some(why)) => format!("; looks now and then: {why}"),
                    (Some(how), None) => format!("; watches by {how}"),
                    (None, None) => String::new(),
                };
                format!("runs: version {}, process {}{how}", hello.version, hello.pid)
            }
            Self::Hangs(holder) => {
                let which = holder
                    .as_ref()
                    .map_or_else(String::new, |holder| format!(" (process {})", holder.pid));
                format!("does not answer{which}")
            }
            Self::Absent => "does not run; it is started when it is needed".to_owned(),
            Self::Unasked => {
                "does not run, and starts only when asked to, by `thru daemon start`".to_owned()
            }
            Self::Off(switch) => format!("does not run, because of `{switch}`; nothing needs it"),
        }
    }
}

/// The state of the daemon for programs.
#[derive(Serialize, JsonSchema)]
pub(crate) struct DaemonForm<'a> {
    state: DaemonState,
    version: Option<&'a str>,
    process: Option<u32>,
    watching: Option<&'a str>,
    switched_off_by: Option<&'static str>,
}

impl Serialize for Daemon {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let none = DaemonForm {
            state: DaemonState::NotRunning,
            version: None,
            process: None,
            watching: None,
            switched_off_by: None,
        };
        let form = match self {
            Self::Runs { hello, watching, .. } => DaemonForm {
                state: DaemonState::Running,
                version: Some(&hello.version),
                process: Some(hello.pid),
                watching: watching.as_deref(),
                ..none
            },
            Self::Hangs(_) => DaemonForm { state: DaemonState::Hung, ..none },
            Self::Absent | Self::Unasked => none,
            Self::Off(switch) => DaemonForm { switched_off_by: Some(switch), ..none },
        };
        form.serialize(serializer)
    }
}

/// The state of the daemon.
pub(super) fn daemon(seen: &Seen<'_>) -> Finding {
    const CHECK: &str = "daemon";
    let daemon = Daemon::look(seen.app);
    match &daemon {
        Daemon::Runs { hello, .. } if hello.version != env!("CARGO_PKG_VERSION") => Finding::note(
            CHECK,
            format!("{}; this program is {}", daemon.line(), env!("CARGO_PKG_VERSION")),
            "`thru daemon restart` starts the daemon of this program, if it is newer",
        ),
        Daemon::Runs { polling_because: Some(_), .. } => Finding::note(
            CHECK,
            daemon.line(),
            "what sessions write is found a little later; nothing is missed",
        ),
        Daemon::Hangs(_) => Finding::problem(
            CHECK,
            daemon.line(),
            "`thru daemon stop --force` ends it; nothing recorded is lost",
        ),
        Daemon::Runs { .. } | Daemon::Absent | Daemon::Unasked | Daemon::Off(_) => {
            Finding::ok(CHECK, daemon.line())
        }
    }
}

/// Says which transcripts are read unasked, and by which process.
pub fn reading_line(app: &App, daemon: &Daemon) -> &'static str {
    match (reading(app), stopped(&app.layout)) {
        (Reading::Nothing, _) if !app.config.session_tracking.enabled => {
            "read by `thru import` only, because `session_tracking.enabled` is off"
        }
        (Reading::Nothing, Some(Stop::Uninstall)) => {
            "not read since `thru uninstall`; `thru import` reads what is new"
        }
        (Reading::Nothing, _) => "not read while recording is paused",
        (Reading::Recorded, _) => {
            "an import was stopped: only sessions with hooks are read; `thru import` finishes it"
        }
        (Reading::All, _)
            if matches!(daemon, Daemon::Runs { .. }) && watching(app) == Reading::All =>
        {
            "read as they are written, by the daemon"
        }
        (Reading::All, _) if !app.layout.database().exists() => {
            "none are read before the first `thru import`"
        }
        (Reading::All, _) => "recent ones are read before a question, all by `thru import`",
    }
}

/// The transcripts that are read unasked.
pub(super) fn transcripts(seen: &Seen<'_>) -> Finding {
    Finding::ok("transcripts", reading_line(seen.app, &Daemon::look(seen.app)))
}

/// The longest list of sessions to count.
const MOST_UNINDEXED: usize = 1_000;

/// Returns the number of sessions that were left and are not indexed, without those that failed; at most
/// `MOST_UNINDEXED`.
///
/// # Errors
/// Returns an error if the store cannot be read.
pub fn number_left(store: &Store, app: &App) -> Result<usize> {
    let (now, limits) = (app.clock.now(), app.limits());
    let states = store.unindexed_sessions(None, MOST_UNINDEXED)?;
    let is_left = |state: &&SessionState| {
        state.indexing != Indexing::Failed && state.lifecycle.left(now, &limits).is_some()
    };
    Ok(states.iter().filter(is_left).count())
}

/// Sessions that were left and are not indexed.
pub(super) fn unindexed(seen: &Seen<'_>) -> Finding {
    const CHECK: &str = "unindexed";
    let Ok(Some(store)) = &seen.store else { return Finding::ok(CHECK, "there is no session") };
    match number_left(store, seen.app) {
        Err(error) => Finding::problem(CHECK, format!("{error:#}"), "`thru verify` says more"),
        Ok(0) => Finding::ok(CHECK, "every session that was left is indexed"),
        Ok(number) if !seen.app.config.distil.enabled => Finding::note(
            CHECK,
            format!("{} not indexed", plural(number as u64, "session")),
            "none is while `distil.enabled` is off",
        ),
        Ok(number) => Finding::note(
            CHECK,
            format!("{} to be indexed", plural(number as u64, "session")),
            "the daemon does it, or the next question; `thru sessions --unindexed` lists them",
        ),
    }
}

/// Work that failed.
pub(super) fn jobs(seen: &Seen<'_>) -> Finding {
    const CHECK: &str = "jobs";
    let Ok(Some(store)) = &seen.store else { return Finding::ok(CHECK, "there is no work") };
    let jobs = match store.jobs() {
        Ok(jobs) => jobs,
        Err(error) => {
            return Finding::problem(CHECK, error.to_string(), "`thru verify` says more");
        }
    };
    let failed =
        |is_dead: bool| jobs.iter().filter(move |job| job.is_dead == is_dead && job.attempts > 0);
    let why = |job: Option<&thru_store::JobRow>| {
        let error = job.and_then(|job| job.error.as_deref()).unwrap_or("it does not say why");
        one_line(error, 80)
    };
    match (failed(true).count() as u64, failed(false).count() as u64) {
        (0, 0) => Finding::ok(CHECK, "no work failed"),
        (0, number) => Finding::note(
            CHECK,
            format!("{} failed: {}", plural(number, "job"), why(failed(false).next())),
            "tried again by itself; `thru jobs` says when",
        ),
        (number, _) => Finding::problem(
            CHECK,
            format!("{} given up: {}", plural(number, "job"), why(failed(true).next())),
            "`thru jobs` lists them, `thru jobs retry --all` tries them again",
        ),
    }
}

/// Programs that are let in without a token, where the user wants that.
pub(super) fn worker_api(seen: &Seen<'_>) -> Option<Finding> {
    let may = match seen.app.config.http.worker_api {
        WorkerApi::Off => return None,
        WorkerApi::Read => "read the memory",
        WorkerApi::Full => "read the memory and record",
    };
    let line =
        format!("every program of this machine may {may} without a token, by `http.worker_api`");
    let remedy = "`thru config set http.worker_api off` ends that";
    Some(Finding::note("worker API", line, remedy))
}

#[cfg(all(test, unix))]
mod tests {
    use std::io::{Read, Write};
    use std::os::unix::net::UnixListener;

    use serde_json::{Value, json};

    use super::*;
    use crate::machine::Machine;

    #[test]
    fn a_daemon_that_does_not_listen_yet_does_not_hang() {
        let folder = tempfile::tempdir().unwrap();
        let app = App::below(folder.path(), Machine::default());
        let paths = background::paths(&app);
        std::fs::create_dir_all(paths.lock.parent().unwrap()).unwrap();
        std::fs::create_dir_all(paths.socket.parent().unwrap()).unwrap();
        let lock = std::fs::File::create(&paths.lock).unwrap();
        lock.lock().unwrap();
        let socket = paths.socket.clone();
        let daemon = std::thread::spawn(move || {
            std::thread::sleep(STEP * 4);
            let (mut client, _) = UnixListener::bind(socket).unwrap().accept().unwrap();
            let mut length = [0; 4];
            client.read_exact(&mut length).unwrap();
            let mut asked = vec![0; u32::from_be_bytes(length) as usize];
            client.read_exact(&mut asked).unwrap();
            let asked: Value = serde_json::from_slice(&asked).unwrap();
            let started = "2026-03-01T09:00:00Z";
            let hello = json!({ "version": "1.2.3", "protocol": 1, "pid": 7, "started": started });
            let answer =
                json!({ "jsonrpc": "2.0", "id": asked["id"], "result": hello }).to_string();
            client.write_all(&(answer.len() as u32).to_be_bytes()).unwrap();
            client.write_all(answer.as_bytes()).unwrap();
        });
        let found = Daemon::look(&app);
        assert_eq!(found.line(), "runs: version 1.2.3, process 7");
        daemon.join().unwrap();
    }
}
