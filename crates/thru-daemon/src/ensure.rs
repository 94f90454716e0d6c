//! Making sure that one daemon runs, and one only, however many want it at the same time; and ending
//! it. Whether one runs is never decided by a process number: the system gives numbers to others, and
//! keeps those of the dead. Only a held lock and an answer on the socket count.

use std::cmp::Ordering;
use std::io;
use std::thread;
use std::time::{Duration, Instant};

use crate::client::{CallError, Client};
use crate::identity::{Hello, Identity};
use crate::lock::{DaemonLock, Holder, holder, is_held};
use crate::paths::Paths;
use crate::socket::remove_stale;

/// How long a daemon has to say who it is.
const ANSWER: Duration = Duration::from_millis(500);
/// How often is looked whether it is there.
const STEP: Duration = Duration::from_millis(20);
/// How long a daemon has to finish what it is doing before another takes its place.
const ENDING: Duration = Duration::from_secs(5);

/// What is found on the socket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Probe {
    /// A daemon of this version.
    Ready(Hello),
    /// A daemon of an older version.
    Older(Hello),
    /// A daemon of a newer version.
    Newer(Hello),
    /// Somebody who does not answer.
    Silent,
    /// Nobody.
    Absent,
}

/// How it came that a daemon runs, or why none does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ensured {
    /// It ran already.
    Running(Hello),
    /// It was started, and answers.
    Started(Hello),
    /// It was started; nobody waited for its answer.
    Spawned,
    /// One of a newer version runs, which is left alone.
    Newer(Hello),
    /// Somebody else is starting one.
    Elsewhere,
    /// One holds the lock and does not answer. It may be stopped, or hang.
    Hung(Option<Holder>),
}

/// Why a daemon could not be started.
#[derive(Debug, thiserror::Error)]
pub enum EnsureError {
    /// Something with its files.
    #[error("the daemon cannot be started: {0}")]
    Io(#[from] io::Error),
    /// It was started and did not come up.
    #[error("the daemon was started and does not answer")]
    NoAnswer,
}

/// How the end of a daemon came about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// There was none.
    NotRunning,
    /// It ended.
    Ended(Hello),
    /// It said that it would, and has not yet.
    Ending(Hello),
    /// It does not answer.
    Hung(Option<Holder>),
}

/// Looks who listens on the socket.
pub fn probe(paths: &Paths, identity: &Identity) -> Probe {
    let hello = Client::connect(&paths.socket, ANSWER)
        .map_err(CallError::from)
        .and_then(|mut client| client.hello(ANSWER));
    match hello {
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

/// Makes sure that a daemon runs. `spawn` starts one; it is called at most once, and by one process at
/// a time. Where somebody else is at it already, it is waited for as long as `patience` says; the same
/// goes for the answer of one that was started here.
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
    // Whoever was at it before us may have been done by now.
    let found = probe(paths, identity);
    if let Probe::Older(hello) = &found {
        // It may hang, or not want to: that shows below.
        let asked = Client::connect(&paths.socket, ANSWER)
            .map_err(CallError::from)
            .and_then(|mut client| client.stop(ANSWER));
        if asked.is_err() || !wait_for_lock(paths, ENDING)? {
            return Ok(Ensured::Hung(holder(&paths.lock).or_else(|| Some(Holder::from(hello)))));
        }
    } else if let Some(found) = settled(found, paths) {
        return Ok(found);
    }
    // Nobody answers. One that comes up, ends or has its hands full holds the lock for a moment; one
    // that hangs, for ever.
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
        // Holding the lock until it answers keeps others from starting one more.
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

/// Ends the daemon, of whatever version, and waits so long for its end.
pub fn stop(paths: &Paths, identity: &Identity, patience: Duration) -> io::Result<Stopped> {
    let hello = match probe(paths, identity) {
        Probe::Ready(hello) | Probe::Older(hello) | Probe::Newer(hello) => hello,
        Probe::Silent => return Ok(Stopped::Hung(holder(&paths.lock))),
        Probe::Absent => {
            // It may have begun or ended this moment.
            return Ok(match wait_for_lock(paths, ANSWER)? {
                true => Stopped::NotRunning,
                false => Stopped::Hung(holder(&paths.lock)),
            });
        }
    };
    let asked = Client::connect(&paths.socket, ANSWER)
        .map_err(CallError::from)
        .and_then(|mut client| client.stop(ANSWER));
    // One that ends while it is asked has ended.
    Ok(match wait_for_lock(paths, patience)? {
        true => Stopped::Ended(hello),
        false if asked.is_ok() => Stopped::Ending(hello),
        false => Stopped::Hung(holder(&paths.lock)),
    })
}

/// What a probe comes to, where nothing has to be done about it.
fn settled(probe: Probe, paths: &Paths) -> Option<Ensured> {
    match probe {
        Probe::Ready(hello) => Some(Ensured::Running(hello)),
        Probe::Newer(hello) => Some(Ensured::Newer(hello)),
        Probe::Silent => Some(Ensured::Hung(holder(&paths.lock))),
        Probe::Older(_) | Probe::Absent => None,
    }
}

/// Waits until nobody holds the lock of the daemon.
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
