//! A process that answers once: its input goes in, its output comes out, and it and everything it
//! started are gone afterwards, however it ended.
//!
//! On Unix the process leads a group of its own, which is killed as a whole. Descendants that leave the
//! group are not followed. If we are killed ourselves, the process survives; it then writes to a pipe
//! without a reader.

use std::io::{self, Read, Write};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::http::Limits;

/// Interval at which the process is polled.
const LOOK: Duration = Duration::from_millis(20);

/// Time for a process to exit after it was asked to.
#[cfg(unix)]
const ENDING: Duration = Duration::from_secs(1);

/// Time to wait for the rest of the output after the group is gone. Only a descendant that left the
/// group can still hold the pipe.
const REST: Duration = Duration::from_millis(500);

/// Most bytes kept of its error output.
const LONGEST_COMPLAINT: usize = 8 * 1024;

/// The exit status and the output of a process.
#[derive(Debug)]
pub struct Output {
    /// The exit status.
    pub status: ExitStatus,
    /// Its output.
    pub stdout: Vec<u8>,
    /// The beginning of its error output.
    pub stderr: Vec<u8>,
}

/// The reason a process gave no answer.
#[derive(Debug, thiserror::Error)]
pub enum ProcessError {
    /// It could not be started.
    #[error("it cannot be started: {0}")]
    Start(io::Error),
    /// The time limit was exceeded, and it was killed.
    #[error("no answer within {} s", .0.as_secs_f32())]
    Timeout(Duration),
    /// The `stop` flag was set, and it was killed.
    #[error("stopped")]
    Stopped,
    /// Its output was longer than this many bytes, and it was killed.
    #[error("the answer is longer than {0} bytes")]
    TooLong(usize),
    /// Waiting for it failed.
    #[error("it cannot be waited for: {0}")]
    Wait(io::Error),
}

/// Runs a command to its end.
///
/// # Errors
///
/// Returns [`ProcessError`] if it cannot be started, exceeds a limit, or `stop` was set.
pub fn run(
    command: &mut Command,
    input: &[u8],
    limits: Limits,
    stop: &AtomicBool,
) -> Result<Output, ProcessError> {
    let started = Instant::now();
    let mut process = Group::start(command).map_err(ProcessError::Start)?;
    if let Some(stdin) = process.stdin() {
        let input = input.to_vec();
        // A process that does not read its input ends sooner or later, and this thread with it.
        thread::spawn(move || write(stdin, &input));
    }
    let stdout = Collector::start(process.child.stdout.take(), limits.size);
    let stderr = Collector::start(process.child.stderr.take(), LONGEST_COMPLAINT);
    loop {
        if process.has_ended().map_err(ProcessError::Wait)? {
            break;
        }
        if stop.load(Ordering::Relaxed) {
            return Err(ProcessError::Stopped);
        }
        if stdout.is_over() {
            return Err(ProcessError::TooLong(limits.size));
        }
        if started.elapsed() > limits.time {
            return Err(ProcessError::Timeout(limits.time));
        }
        thread::sleep(LOOK);
    }
    let status = process.end().map_err(ProcessError::Wait)?;
    let (stdout, is_over) = stdout.finish();
    if is_over {
        return Err(ProcessError::TooLong(limits.size));
    }
    Ok(Output { status, stdout, stderr: stderr.finish().0 })
}

fn write(mut stdin: ChildStdin, input: &[u8]) {
    // A process that closes its input has read enough.
    _ = stdin.write_all(input);
}

/// A process and everything it starts. Killed as a whole on drop.
pub struct Group {
    /// The leader of the group.
    child: Child,
    is_gone: bool,
}

impl Group {
    /// Starts a command with pipes for input, output and errors.
    ///
    /// # Errors
    ///
    /// Returns an error if it cannot be started.
    pub fn start(command: &mut Command) -> io::Result<Self> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(command, 0);
        Ok(Self { child: command.spawn()?, is_gone: false })
    }

    /// Takes the pipe to its input; `None` the second time.
    pub fn stdin(&mut self) -> Option<ChildStdin> {
        self.child.stdin.take()
    }

    /// Takes the pipe from its output; `None` the second time.
    pub fn stdout(&mut self) -> Option<std::process::ChildStdout> {
        self.child.stdout.take()
    }

    /// Takes the pipe from its error output; `None` the second time.
    pub fn stderr(&mut self) -> Option<std::process::ChildStderr> {
        self.child.stderr.take()
    }

    /// Returns true if the process has ended. It is not reaped yet, so that the id of its group cannot
    /// be reused.
    ///
    /// # Errors
    ///
    /// Returns an error if its state cannot be read.
    #[cfg(unix)]
    pub fn has_ended(&mut self) -> io::Result<bool> {
        use rustix::process::{WaitId, WaitIdOptions, waitid};
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
        let Some(number) = self.number() else { return Ok(true) };
        loop {
            match waitid(WaitId::Pid(number), options) {
                Ok(ended) => return Ok(ended.is_some()),
                Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Returns true if the process has ended.
    ///
    /// # Errors
    ///
    /// Returns an error if its state cannot be read.
    #[cfg(not(unix))]
    pub fn has_ended(&mut self) -> io::Result<bool> {
        Ok(self.child.try_wait()?.is_some())
    }

    /// Kills the rest of the group, and returns the exit status of the process.
    ///
    /// # Errors
    ///
    /// Returns an error if it cannot be waited for.
    pub fn end(&mut self) -> io::Result<ExitStatus> {
        self.end_members();
        self.is_gone = true;
        self.child.wait()
    }

    #[cfg(unix)]
    fn end_members(&mut self) {
        use rustix::process::{Signal, kill_process_group};
        let Some(number) = self.number() else { return };
        let asked = Instant::now();
        if !matches!(self.has_ended(), Ok(true)) && kill_process_group(number, Signal::TERM).is_ok()
        {
            while asked.elapsed() < ENDING && matches!(self.has_ended(), Ok(false)) {
                thread::sleep(LOOK);
            }
        }
        // Also if the leader has ended: its children may not have.
        _ = kill_process_group(number, Signal::KILL);
    }

    #[cfg(not(unix))]
    fn end_members(&mut self) {
        _ = self.child.kill();
    }

    #[cfg(unix)]
    fn number(&self) -> Option<rustix::process::Pid> {
        i32::try_from(self.child.id()).ok().and_then(rustix::process::Pid::from_raw)
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if !self.is_gone {
            _ = self.end();
        }
    }
}

/// Reads a pipe on a thread of its own, up to a limit.
struct Collector {
    kept: Arc<Mutex<(Vec<u8>, bool)>>,
    reading: Option<JoinHandle<()>>,
}

impl Collector {
    fn start(pipe: Option<impl Read + Send + 'static>, limit: usize) -> Self {
        let kept = Arc::new(Mutex::new((Vec::new(), false)));
        let reading = pipe.map(|mut pipe| {
            let kept = Arc::clone(&kept);
            thread::spawn(move || {
                let mut buffer = vec![0; 64 * 1024];
                while let Ok(count @ 1..) = pipe.read(&mut buffer) {
                    let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
                    let left = limit - kept.0.len();
                    kept.1 |= count > left;
                    kept.0.extend_from_slice(&buffer[..count.min(left)]);
                }
            })
        });
        Self { kept, reading }
    }

    fn is_over(&self) -> bool {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).1
    }

    /// Returns the part that was kept, and true if there was more.
    fn finish(self) -> (Vec<u8>, bool) {
        let waiting = Instant::now();
        while self.reading.as_ref().is_some_and(|reading| !reading.is_finished())
            && waiting.elapsed() < REST
        {
            thread::sleep(Duration::from_millis(2));
        }
        std::mem::take(&mut *self.kept.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;

    static GO_ON: AtomicBool = AtomicBool::new(false);

    fn limits(time: u64) -> Limits {
        Limits { time: Duration::from_millis(time), size: 10_000 }
    }

    fn shell(script: &str, input: &str, time: u64) -> Result<Output, ProcessError> {
        run(Command::new("sh").args(["-c", script]), input.as_bytes(), limits(time), &GO_ON)
    }

    /// Returns true if a process with this id runs; a zombie does not.
    fn runs(number: &str) -> bool {
        let state = Command::new("ps").args(["-o", "stat=", "-p", number.trim()]).output().unwrap();
        let state = String::from_utf8(state.stdout).unwrap();
        !state.trim().is_empty() && !state.starts_with('Z')
    }

    #[test]
    fn what_goes_in_and_comes_out() {
        let output = shell("cat; echo no >&2; exit 3", "text", 10_000).unwrap();
        assert_eq!(output.status.code(), Some(3));
        assert_eq!((&output.stdout[..], &output.stderr[..]), (&b"text"[..], &b"no\n"[..]));
    }

    #[test]
    fn who_reads_nothing_is_not_waited_for() {
        let output = shell("echo done", &"x".repeat(1_000_000), 10_000).unwrap();
        assert_eq!(output.stdout, b"done\n");
    }

    #[test]
    fn who_hangs_is_ended_with_all_that_it_started() {
        let folder = tempfile::tempdir().unwrap();
        let told = folder.path().join("told");
        let script = format!(
            "trap '' TERM; sh -c 'trap \"\" TERM; echo $$ > {0}.tmp; mv {0}.tmp {0}; while :; do sleep 1; done' & \
             while [ ! -e {0} ]; do sleep 0.01; done; while :; do sleep 1; done",
            told.display()
        );
        let stop = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| {
                while !told.exists() {
                    thread::sleep(LOOK);
                }
                stop.store(true, Ordering::Relaxed);
            });
            let ended = run(Command::new("sh").args(["-c", &script]), b"", limits(60_000), &stop);
            assert!(matches!(ended, Err(ProcessError::Stopped)), "{ended:?}");
        });
        assert!(!runs(&std::fs::read_to_string(&told).unwrap()));
    }

    #[test]
    fn what_is_left_behind_is_ended_too() {
        let output = shell("sleep 600 & echo $!", "", 10_000).unwrap();
        assert!(!runs(&String::from_utf8(output.stdout).unwrap()));
    }

    #[test]
    fn time_and_size_have_an_end() {
        assert!(matches!(shell("sleep 600", "", 200), Err(ProcessError::Timeout(_))));
        assert!(matches!(shell("yes", "", 60_000), Err(ProcessError::TooLong(10_000))));
        assert!(matches!(
            shell("head -c 10001 /dev/zero", "", 60_000),
            Err(ProcessError::TooLong(_))
        ));
        assert_eq!(shell("head -c 10000 /dev/zero", "", 60_000).unwrap().stdout.len(), 10_000);
        let missing = run(&mut Command::new("/no/such/program"), b"", limits(1), &GO_ON);
        assert!(matches!(missing, Err(ProcessError::Start(_))));
    }
}
