//! Starts a detached process that inherits neither our files, nor our folder, nor our environment. An agent
//! waits for every process that holds its pipes, and a terminal takes its processes with it.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// Environment variables that a daemon keeps. All others belong to the project in which it was started, and
/// may be secrets of it.
const KEPT: [&str; 8] =
    ["HOME", "USER", "LOGNAME", "PATH", "LANG", "TZ", "TMPDIR", "RUST_BACKTRACE"];
const KEPT_PREFIXES: [&str; 3] = ["LC_", "XDG_", "THROUGHLINE_"];
const KEPT_ON_WINDOWS: [&str; 8] = [
    "SYSTEMROOT",
    "SYSTEMDRIVE",
    "USERPROFILE",
    "USERNAME",
    "APPDATA",
    "LOCALAPPDATA",
    "TEMP",
    "TMP",
];
/// Marks a process that we started ourselves, which does not apply to a daemon.
const CHILD: &str = "THROUGHLINE_CHILD";

/// Settings of the C library's allocator for a process that lives long and works in bursts (mallopt(3)):
/// threads share freed memory, and large blocks return to the system at once.
pub const MEMORY: [(&str, &str); 3] = [
    ("MALLOC_ARENA_MAX", "1"),
    ("MALLOC_MMAP_THRESHOLD_", "65536"),
    ("MALLOC_TRIM_THRESHOLD_", "65536"),
];

/// True if the C library has settings for memory, which it reads when a program starts, and was not given them: a person or
/// a service manager may start the daemon without.
pub fn lacks_memory_settings(is_set: impl Fn(&str) -> bool) -> bool {
    cfg!(all(target_os = "linux", target_env = "gnu"))
        && MEMORY.iter().any(|(name, _)| !is_set(name))
}

/// Starts the daemon's program again in the place of this process, with [`MEMORY`]. Returns only where that cannot be done.
pub fn begin_again(program: Option<&Path>, detached: bool) {
    #[cfg(unix)]
    if let Some(program) = program {
        use std::os::unix::process::CommandExt;
        let mut command = Command::new(program);
        command.args(["daemon", "run"]).args(detached.then_some("--detached")).envs(MEMORY);
        let _ = command.exec();
    }
    #[cfg(not(unix))]
    let _ = (program, detached);
}

/// Filters an environment to the variables that a daemon keeps: those that it needs, and these.
fn scrubbed(
    variables: impl Iterator<Item = (OsString, OsString)>,
    also: &[&str],
) -> impl Iterator<Item = (OsString, OsString)> {
    variables.filter(|(name, _)| is_kept(name) || also.iter().any(|kept| name == kept))
}

fn is_kept(name: &OsStr) -> bool {
    let Some(name) = name.to_str() else { return false };
    let kept = KEPT.contains(&name) || KEPT_PREFIXES.iter().any(|start| name.starts_with(start));
    let needed = cfg!(windows) && KEPT_ON_WINDOWS.contains(&name.to_ascii_uppercase().as_str());
    (kept && name != CHILD) || needed
}

/// Starts a program that outlives its parent and inherits of the environment only what a daemon needs, and the variables
/// named in `also`. A parent that lives on has to wait for it some day, as for any child.
///
/// # Errors
/// Fails if the program cannot be started.
pub fn spawn(
    program: &Path,
    arguments: &[&str],
    environment: impl Iterator<Item = (OsString, OsString)>,
    also: &[&str],
) -> io::Result<Child> {
    // Files that other code opened without close-on-exec must not reach the child.
    #[cfg(unix)]
    close_fds::CloseFdsBuilder::new().threadsafe(true).cloexecfrom(3);
    let mut command = Command::new(program);
    command
        .args(arguments)
        .env_clear()
        .envs(MEMORY)
        .envs(scrubbed(environment, also))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    if cfg!(unix) {
        command.current_dir("/");
    }
    #[cfg(windows)]
    {
        use std::os::windows::process::CommandExt;
        const DETACHED_PROCESS: u32 = 0x0000_0008;
        const CREATE_NEW_PROCESS_GROUP: u32 = 0x0000_0200;
        command.creation_flags(DETACHED_PROCESS | CREATE_NEW_PROCESS_GROUP);
    }
    let child = command.spawn()?;
    #[cfg(unix)]
    wait_until_detached(&child);
    Ok(child)
}

/// Waits a moment until the child has left the terminal, if this process leads the terminal's session: the system
/// hangs up on all that are still in it when the leader exits.
#[cfg(unix)]
fn wait_until_detached(child: &Child) {
    use nix::unistd::{Pid, getpid, getsid};

    // Not rustix: its session of a process is never 0, which is what the system answers where the leader runs
    // outside of our container.
    let own = getpid();
    let child = i32::try_from(child.id()).ok().map(Pid::from_raw);
    let mut left = 100;
    while left > 0 && getsid(None) == Ok(own) && getsid(child) == Ok(own) {
        std::thread::sleep(std::time::Duration::from_millis(2));
        left -= 1;
    }
}

/// Leaves the terminal. Called by the process that [`spawn`] started.
pub fn detach() {
    // Fails if we already lead a session.
    #[cfg(unix)]
    let _ = rustix::process::setsid();
}

/// Lowers our priority, unless it was changed before the start.
pub fn let_others_go_first() {
    #[cfg(unix)]
    if rustix::process::nice(0) == Ok(0) {
        let _ = rustix::process::nice(10);
    }
}

/// Gives the calling thread the lowest priority, where threads have one of their own (Linux).
pub fn lower_thread_priority() {
    #[cfg(target_os = "linux")]
    let _ = rustix::process::nice(19);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_daemon_is_given_no_more_than_it_needs() {
        let kept =
            ["HOME", "PATH", "LC_ALL", "XDG_RUNTIME_DIR", "THROUGHLINE_HOME", "CODEX_HOME", "TZ"];
        let dropped = ["THROUGHLINE_CHILD", "AWS_SECRET_ACCESS_KEY", "COPILOT_HOME", "PWD"];
        let pairs = kept.iter().chain(&dropped).map(|name| (name.into(), "x".into()));
        let names: Vec<OsString> = scrubbed(pairs, &["CODEX_HOME"]).map(|(name, _)| name).collect();
        assert_eq!(names, kept.map(OsString::from));
    }
}
