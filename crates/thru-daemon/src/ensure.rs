//! Starts the one daemon of a home, however many processes want it at the same time, and stops it. A
//! process id never decides whether a daemon runs: the system reuses the ids of dead processes. Only a held
//! lock and an answer on the socket count.

use std::cmp::Ordering;
use std::io;
use std::thread;
use std::time::{Duration, Instant};

use crate::client::{CallError, Client};
use crate::identity::{Hello, Identity};
use crate::lock::{DaemonLock, Holder, holder, is_held};
use crate::paths::Paths;
use crate::socket::remove_stale;

/// The time for a daemon to identify itself.
const ANSWER: Duration = Duration::from_millis(500);
/// Polling interval while waiting for it.
const STEP: Duration = Duration::from_millis(20);
/// The time for a daemon to finish its work before another takes its place.
const ENDING: Duration = Duration::from_secs(5);

/// The state of the socket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Probe {
    /// A daemon of this version.
    Ready(Hello),
    /// A daemon of an older version.
    Older(Hello),
    /// A daemon of a newer version.
    Newer(Hello),
    /// A process that does not answer.
    Silent,
    /// No process.
    Absent,
}

/// The outcome of [`ensure`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ensured {
    /// A daemon was already running.
    Running(Hello),
    /// A daemon was started, and answers.
    Started(Hello),
    /// A daemon was started without waiting for its answer.
    Spawned,
    /// A daemon of a newer version runs, and is left alone.
    Newer(Hello),
    /// Another process is starting one.
    Elsewhere,
    /// A daemon holds the lock and does not answer. It may be stopped, or hang.
    Hung(Option<Holder>),
}

/// The error of starting a daemon.
#[derive(Debug, thiserror::Error)]
pub enum EnsureError {
    /// One of its files cannot be used, or the program cannot be started.
    #[error("the daemon cannot be started: {0}")]
    Io(#[from] io::Error),
    /// It was started and did not answer.
    #[error("the daemon was started and does not answer")]
    NoAnswer,
}

/// The outcome of [`stop`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// No daemon was running.
    NotRunning,
    /// The daemon ended.
    Ended(Hello),
    /// The daemon agreed to end, and has not yet.
    Ending(Hello),
    /// The daemon does not answer.
    Hung(Option<Holder>),
}

/// Checks which daemon listens on the socket.
pub fn probe(paths: &Paths, identity: &Identity) -> Probe {
    let hello = Client::connect(&paths.socket, ANSWER)
        .map_err(CallError::from)
        .and_then(|mut client| client.hello(ANSWER));
    match hello {
        // Another home was given the same socket.
        Ok(hello) if !identity.is_of_home(&hello) => Probe::Absent,
        Ok(hello) => match identity.compare(&hello) {
            Ordering::Equal => Probe::Ready(hello),
            Ordering::Less => Probe::Older(hello),
            Ordering::Greater => Probe::Newer(hello),
        },
        Err(CallError::Io(error)) => match error.kind() {
            io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => Probe::Silent,
            _ => Probe::Absent,
        },
        Err(_) => Probe::Silent,
    }
}

/// Makes sure that a daemon runs. `spawn` starts one; it is called at most once, and by one process at a
/// time. Waits up to `patience` for another process that is starting one, and for the answer of one started
/// here.
///
/// # Errors
/// Returns [`EnsureError::Io`] if the files of the daemon cannot be used or `spawn` fails, and
/// [`EnsureError::NoAnswer`] if the started daemon does not answer in time.
pub fn ensure(
    paths: &Paths,
    identity: &Identity,
    patience: Duration,
    spawn: impl FnOnce() -> io::Result<()>,
) -> Result<Ensured, EnsureError> {
    let deadline = Instant::now() + patience;
    if let Some(found) = settled(probe(paths, identity), paths) {
        return Ok(found);
    }
    paths.create()?;
    let start = loop {
        if let Some(start) = DaemonLock::try_take(&paths.start)? {
            break start;
        }
        if Instant::now() >= deadline {
            return Ok(Ensured::Elsewhere);
        }
        thread::sleep(STEP);
        if let Some(found) = settled(probe(paths, identity), paths) {
            return Ok(found);
        }
    };
    // Another process may have started one meanwhile.
    let found = probe(paths, identity);
    if let Probe::Older(hello) = &found {
        // It may hang, or refuse: that shows below.
        let asked = Client::connect(&paths.socket, ANSWER)
            .map_err(CallError::from)
            .and_then(|mut client| client.stop(ANSWER));
        if asked.is_err() || !wait_for_lock(paths, ENDING)? {
            return Ok(Ensured::Hung(holder(&paths.lock).or_else(|| Some(Holder::from(hello)))));
        }
    } else if let Some(found) = settled(found, paths) {
        return Ok(found);
    }
    // No answer. A daemon that starts, ends or is busy holds the lock for a moment; one that hangs holds it
    // for ever.
    let deadline_of_lock = Instant::now() + patience.max(ANSWER);
    while is_held(&paths.lock)? {
        if let Some(found) = settled(probe(paths, identity), paths) {
            return Ok(found);
        }
        if Instant::now() >= deadline_of_lock {
            return Ok(Ensured::Hung(holder(&paths.lock)));
        }
        thread::sleep(STEP);
    }
    remove_stale(&paths.socket)?;
    spawn()?;
    if patience.is_zero() {
        return Ok(Ensured::Spawned);
    }
    loop {
        // Holding the lock until it answers keeps other processes from starting one more.
        match probe(paths, identity) {
            Probe::Ready(hello) => {
                drop(start);
                return Ok(Ensured::Started(hello));
            }
            Probe::Newer(hello) => return Ok(Ensured::Newer(hello)),
            _ if Instant::now() >= deadline => return Err(EnsureError::NoAnswer),
            _ => thread::sleep(STEP),
        }
    }
}

/// Ends the daemon, of whatever version, and waits up to `patience` for its end.
///
/// # Errors
/// Fails if the lock file of the daemon cannot be opened or locked.
pub fn stop(paths: &Paths, identity: &Identity, patience: Duration) -> io::Result<Stopped> {
    let hello = match probe(paths, identity) {
        Probe::Ready(hello) | Probe::Older(hello) | Probe::Newer(hello) => hello,
        Probe::Silent => return Ok(Stopped::Hung(holder(&paths.lock))),
        Probe::Absent => {
            // It may have started or ended just now.
            return Ok(match wait_for_lock(paths, ANSWER)? {
                true => Stopped::NotRunning,
                false => Stopped::Hung(holder(&paths.lock)),
            });
        }
    };
    let asked = Client::connect(&paths.socket, ANSWER)
        .map_err(CallError::from)
        .and_then(|mut client| client.stop(ANSWER));
    // A daemon that ends while being asked has ended.
    Ok(match wait_for_lock(paths, patience)? {
        true => Stopped::Ended(hello),
        false if asked.is_ok() => Stopped::Ending(hello),
        false => Stopped::Hung(holder(&paths.lock)),
    })
}

/// Returns the outcome of a probe that needs no action.
fn settled(probe: Probe, paths: &Paths) -> Option<Ensured> {
    match probe {
        Probe::Ready(hello) => Some(Ensured::Running(hello)),
        Probe::Newer(hello) => Some(Ensured::Newer(hello)),
        Probe::Silent => Some(Ensured::Hung(holder(&paths.lock))),
        Probe::Older(_) | Probe::Absent => None,
    }
}

/// Waits until the lock of the daemon is free.
fn wait_for_lock(paths: &Paths, patience: Duration) -> io::Result<bool> {
    let deadline = Instant::now() + patience;
    while is_held(&paths.lock)? {
        if Instant::now() >= deadline {
            return Ok(false);
        }
        thread::sleep(STEP);
    }
    Ok(true)
}

impl From<&Hello> for Holder {
    fn from(hello: &Hello) -> Self {
        Self {
            version: hello.version.clone(),
            pid: hello.pid,
            started: hello.started,
            socket: None,
        }
    }
}
