//! Kills a daemon that does not answer.

use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::lock::{Holder, holder};

/// The outcome of [`kill`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Killed {
    /// The process was killed.
    Killed,
    /// The lock has another holder by now, or none: there was nothing to kill.
    Ended,
    /// The process of that number runs another program.
    NotOurs,
    /// Processes are not killed on this system.
    Unsupported,
}

/// Kills a daemon: only while it holds the lock, and only if the process of that number is one of ours. The system
/// reuses the numbers of dead processes. Waits at most `patience` for its end.
///
/// # Errors
/// Fails if the system refuses the signal.
#[cfg(unix)]
pub fn kill(named: &Holder, lock: &Path, patience: Duration) -> io::Result<Killed> {
    use rustix::process::{Pid, Signal, kill_process};
    let number = i32::try_from(named.pid).ok().and_then(Pid::from_raw);
    let Some(number) = number.filter(|_| is_ours(named.pid)) else { return Ok(Killed::NotOurs) };
    // The lock's holder is the process that was looked at, or it is too late and none has to be killed.
    if holder(lock).as_ref() != Some(named) {
        return Ok(Killed::Ended);
    }
    kill_process(number, Signal::KILL)?;
    let deadline = Instant::now() + patience;
    while holder(lock).is_some() && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(20));
    }
    Ok(Killed::Killed)
}

/// Does nothing: processes are not killed on this system.
///
/// # Errors
/// None.
#[cfg(not(unix))]
pub fn kill(_: &Holder, _: &Path, _: Duration) -> io::Result<Killed> {
    Ok(Killed::Unsupported)
}

/// True if the process of this number runs a program of our name.
#[cfg(unix)]
fn is_ours(number: u32) -> bool {
    let name = match std::fs::read_link(format!("/proc/{number}/exe")) {
        Ok(program) => program.file_name().map(|name| name.to_string_lossy().into_owned()),
        Err(_) => std::process::Command::new("ps")
            .args(["-o", "comm=", "-p", &number.to_string()])
            .output()
            .ok()
            .map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned())
            .and_then(|program| program.rsplit('/').next().map(str::to_owned)),
    };
    name.is_some_and(|name| name.starts_with("thru"))
}
