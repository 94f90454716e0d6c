//! Starting, stopping and examining the daemon.

use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};
use thru_daemon::{
    CallError, Client, EnsureError, Ensured, Hello, Holder, Identity, Killed, Paths, Probe,
    Program, RpcError, Stopped, ensure, holder, probe,
};

use super::{is_running, page_address, paths, poke, was_page_opened};
use crate::answer;
use crate::app::App;
use crate::ingest::reading::{self, Reading};
use crate::trouble::{Remedy, Result, Trouble};

/// The time for a daemon to come up.
const START: Duration = Duration::from_secs(10);
/// The time for a daemon to finish its work.
const STOP: Duration = Duration::from_secs(30);
/// The time for a daemon to finish its work where a caller has more to do than to wait.
const STOP_IN_PASSING: Duration = Duration::from_secs(5);
/// The interval at which a port is looked at.
const STEP: Duration = Duration::from_millis(20);
/// The time for a daemon to report its state.
const STATUS: Duration = Duration::from_secs(2);

/// The files of the daemon, with the socket on which the running one listens.
fn paths_in_use(app: &App) -> Paths {
    let paths = paths(app);
    let used = holder(&paths.lock).and_then(|holder| holder.socket);
    Paths { socket: used.unwrap_or_else(|| paths.socket.clone()), ..paths }
}

/// This program, as a daemon that it would start.
pub fn identity(app: &App) -> Identity {
    let program = app.machine.program.as_deref().and_then(|program| Program::at(program).ok());
    let home = app.layout.root();
    Identity {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        build: program.map_or_else(String::new, |program| program.build()),
        home: home.canonicalize().as_deref().unwrap_or(home).to_string_lossy().into_owned(),
    }
}

/// Starts a daemon in the background; where one runs, the new one ends by itself.
///
/// # Errors
/// Fails if the system does not say which program this is, or cannot start it.
pub fn start_detached(app: &App) -> std::io::Result<()> {
    app.machine.start(&["daemon", "run", "--detached"])
}

/// Makes sure that a daemon runs. See [`ensure`] for the meaning of `patience`.
///
/// # Errors
/// Fails if the lock cannot be examined or no daemon can be started.
pub fn ensure_running(app: &App, patience: Duration) -> Result<Ensured, EnsureError> {
    ensure(&paths_in_use(app), &identity(app), patience, || start_detached(app))
}

/// Starts the daemon, and waits until it answers. It was asked for, so that it may watch transcripts.
///
/// # Errors
/// Fails if reading was stopped and cannot be taken up again, if it cannot be started, hangs, or another process is just starting it.
pub fn start(app: &App) -> Result<Ensured> {
    let read_less = reading::watching(app) != Reading::All;
    reading::resume_all(&app.layout)?;
    reading::ask_to_watch(&app.layout)?;
    if read_less {
        poke(app);
    }
    running(app)
}

/// Stops the daemon and starts one anew, which serves the page again where one was opened: pages that are open go on.
///
/// # Errors
/// As [`stop`] and [`start`].
pub fn restart(app: &App) -> Result<Ensured> {
    let (served, was_opened) = (page_address(app), was_page_opened(app));
    let begin = match end(app, false)? {
        DaemonStop::NotRunning => start,
        // It goes on with what it read.
        _ => running,
    };
    let Some(address) = served else { return begin(app) };
    let listens = || {
        let address = address.strip_prefix("http://").and_then(|it| it.parse().ok());
        address.is_some_and(|address| TcpStream::connect_timeout(&address, STEP).is_ok())
    };
    // The pages ask for that port, which is free once the last one was answered.
    let until = Instant::now() + STOP_IN_PASSING;
    while Instant::now() < until && listens() {
        sleep(STEP);
    }
    let started = begin(app)?;
    if !was_opened {
        return Ok(started);
    }
    let mut client = Client::connect(&paths_in_use(app).socket, STATUS)?;
    // No one needs the link: open pages have their token.
    let _ = client.call_tool("view", &json!({}), START);
    Ok(started)
}

fn running(app: &App) -> Result<Ensured> {
    let ensured = ensure_running(app, START).map_err(|error| {
        Trouble::failed(error.to_string()).run("daemon logs", "shows the reason")
    })?;
    match ensured {
        Ensured::Elsewhere => Err(Trouble::busy("another process is starting the daemon")
            .run("daemon status", "says if it runs by now")),
        Ensured::Hung(holder) => Err(hung(holder.as_ref())),
        ensured => Ok(ensured),
    }
}

/// Has the daemon serve the page, starts one where none runs, and returns a link that opens the page once within a minute.
///
/// # Errors
/// Fails if an agent asks for it, if the daemon is switched off, cannot be started or does not answer, and if it cannot serve the page.
pub fn view(app: &App, ends_sessions: bool) -> Result<String> {
    // What is done in the page counts as done by a person.
    if app.machine.is_in_agent_shell() {
        return Err(Trouble::refused("only a person may open the page, not an agent in its shell")
            .advise("run it in a terminal of your own"));
    }
    // One that was started by hand serves it all the same.
    if let Some(switch) = app.machine.daemon_switched_off(&app.config)
        && !is_running(app)
    {
        return Err(Trouble::refused(format!(
            "the daemon serves the page, and is switched off by `{switch}`"
        ))
        .advise(format!("change `{switch}` to use the page")));
    }
    running(app)?;
    let mut client = Client::connect(&paths_in_use(app).socket, STATUS)?;
    let arguments = json!({ "ends_sessions": ends_sessions });
    let answer = client.call_tool("view", &arguments, START).map_err(|error| match error {
        CallError::Refused { code: RpcError::REFUSED, message } => Trouble::refused(message)
            .with(Remedy::Set { key: "hooks.socket_enabled", value: Some("true".to_owned()) }),
        error => Trouble::failed(error.to_string()),
    })?;
    let answer: Value = serde_json::from_str(&answer)?;
    if let Some(link) = answer["link"].as_str() {
        return Ok(link.to_owned());
    }
    let trouble = Trouble::failed(answer["message"].as_str().unwrap_or("the daemon gave no link"));
    Err(match answer["remedy"].as_str() {
        Some(remedy) => trouble.advise(remedy),
        None => trouble,
    })
}

/// The outcome of stopping the daemon.
pub enum DaemonStop {
    /// None ran.
    NotRunning,
    /// It ended.
    Ended(Hello),
    /// It ended by itself while it was looked at.
    EndedMeanwhile,
    /// It did not answer and was killed; the number of its process.
    Killed(u32),
}

/// Stops the daemon; with `force` also one that does not answer.
///
/// # Errors
/// Fails if it is still at work after half a minute, or does not answer.
pub fn stop(app: &App, force: bool) -> Result<DaemonStop> {
    reading::stop_watching(&app.layout)?;
    end(app, force)
}

fn end(app: &App, force: bool) -> Result<DaemonStop> {
    let paths = paths_in_use(app);
    match thru_daemon::stop(&paths, &identity(app), STOP)? {
        Stopped::NotRunning => Ok(DaemonStop::NotRunning),
        Stopped::Ended(hello) => Ok(DaemonStop::Ended(hello)),
        Stopped::Ending(hello) => {
            Err(Trouble::busy(format!("the daemon is still at work: {}", described(&hello)))
                .advise("it ends when that is done"))
        }
        Stopped::Hung(Some(holder)) if force => kill(&holder, &paths),
        Stopped::Hung(holder) => Err(hung(holder.as_ref())),
    }
}

/// Stops the daemon, if one runs, and does not wait long. Returns true if one ran.
pub fn stop_in_passing(app: &App) -> bool {
    let stopped = thru_daemon::stop(&paths_in_use(app), &identity(app), STOP_IN_PASSING);
    matches!(stopped, Ok(Stopped::Ended(_) | Stopped::Ending(_)))
}

fn kill(named: &Holder, paths: &Paths) -> Result<DaemonStop> {
    match thru_daemon::kill(named, &paths.lock, STATUS)? {
        Killed::Killed => Ok(DaemonStop::Killed(named.pid)),
        Killed::Ended => Ok(DaemonStop::EndedMeanwhile),
        Killed::NotOurs => {
            let message =
                format!("process {} does not look like a daemon of Throughline", named.pid);
            Err(Trouble::refused(message).advise("look at the process, and end it yourself"))
        }
        Killed::Unsupported => {
            Err(Trouble::failed(format!("process {} does not answer", named.pid))
                .advise(format!("`taskkill /F /PID {}` ends it", named.pid)))
        }
    }
}

fn hung(holder: Option<&Holder>) -> Trouble {
    let which = holder.map_or_else(String::new, |holder| format!(" (process {})", holder.pid));
    Trouble::failed(format!("the daemon{which} does not answer"))
        .run("daemon stop --force", "ends it, if waiting does not help; nothing recorded is lost")
}

/// A running daemon in a few words.
pub fn described(hello: &Hello) -> String {
    format!("process {}, version {}", hello.pid, hello.version)
}

/// The state of the daemon's process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DaemonState {
    /// It runs and answers.
    Running,
    /// It holds its lock and does not answer.
    Hung,
    /// No daemon runs.
    NotRunning,
}

/// The daemon as it is.
#[derive(Serialize)]
pub struct DaemonStatus {
    /// The version of this form.
    pub version: u32,
    /// `daemon`.
    pub kind: &'static str,
    /// The state of its process.
    pub state: DaemonState,
    /// The holder of its lock, where it hangs.
    pub holder: Option<Holder>,
    /// Its own report; null where there is none.
    pub daemon: Value,
    /// Its socket.
    #[serde(serialize_with = "lossy")]
    pub socket: PathBuf,
    /// Its log.
    #[serde(serialize_with = "lossy")]
    pub log: PathBuf,
    /// Its greeting, with its version compared to this program's.
    #[serde(skip)]
    pub found: Probe,
}

/// Writes a path that may be no text.
fn lossy<S: serde::Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&path.to_string_lossy())
}

/// Looks at the daemon.
pub fn status(app: &App) -> DaemonStatus {
    let paths = paths_in_use(app);
    let found = probe(&paths, &identity(app));
    let lock_holder = holder(&paths.lock);
    let state = match &found {
        Probe::Ready(_) | Probe::Older(_) | Probe::Newer(_) => DaemonState::Running,
        Probe::Silent => DaemonState::Hung,
        Probe::Absent if lock_holder.is_some() => DaemonState::Hung,
        Probe::Absent => DaemonState::NotRunning,
    };
    // One that ends between two questions reports no more.
    let report = match state {
        DaemonState::Running => Client::connect(&paths.socket, STATUS)
            .ok()
            .and_then(|mut client| client.status(STATUS).ok())
            .unwrap_or(Value::Null),
        _ => Value::Null,
    };
    DaemonStatus {
        version: answer::VERSION,
        kind: "daemon",
        state,
        holder: lock_holder.filter(|_| state == DaemonState::Hung),
        daemon: report,
        socket: paths.socket,
        log: paths.log,
        found,
    }
}
