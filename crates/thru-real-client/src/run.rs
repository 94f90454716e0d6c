//! A run of a program with a time limit.

use std::fs::File;
use std::io::{self, Read, Seek};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

/// The time limit. A run takes less than a second, so one that takes this long hangs.
const LONGEST: Duration = Duration::from_secs(90);

/// The interval at which a running program is checked.
const LOOK: Duration = Duration::from_millis(1);

/// The exit code, output and duration of a finished program.
#[derive(Clone, Debug)]
pub struct Run {
    /// The exit code; `None` if a signal ended the program.
    pub code: Option<i32>,
    /// The standard output.
    pub stdout: String,
    /// The standard error.
    pub stderr: String,
    /// The time from start to end.
    pub took: Duration,
}

impl Run {
    /// Returns the lines of the output that are JSON.
    pub fn events(&self) -> impl Iterator<Item = Value> {
        self.stdout.lines().filter_map(|line| serde_json::from_str(line).ok())
    }

    /// Returns the client's final report on the run; null if it printed none.
    pub fn result(&self) -> Value {
        self.events().filter(|event| event["type"] == "result").last().unwrap_or_default()
    }

    /// Returns the id of the session; empty if there was none.
    pub fn session(&self) -> String {
        self.result()["session_id"].as_str().unwrap_or_default().to_owned()
    }
}

/// Runs a command to its end, and kills it if it hangs.
///
/// Output goes through files. With a pipe, a process that a hook left behind and that holds the pipe
/// would block this function, although it does not block the client.
///
/// # Errors
/// Fails if the command cannot be started or hangs.
pub fn finish(command: &mut Command) -> io::Result<Run> {
    let (mut stdout, mut stderr) = (tempfile::tempfile()?, tempfile::tempfile()?);
    command.stdin(Stdio::null()).stdout(stdout.try_clone()?).stderr(stderr.try_clone()?);
    let started = Instant::now();
    let mut child = command.spawn()?;
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if started.elapsed() > LONGEST {
            child.kill()?;
            child.wait()?;
            let said = (text(&mut stdout)?, text(&mut stderr)?);
            return Err(io::Error::other(format!("{command:?} hangs: {said:?}")));
        }
        thread::sleep(LOOK);
    };
    let took = started.elapsed();
    Ok(Run { code: status.code(), stdout: text(&mut stdout)?, stderr: text(&mut stderr)?, took })
}

fn text(file: &mut File) -> io::Result<String> {
    let mut bytes = Vec::new();
    file.rewind()?;
    file.read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn what_a_run_said_is_kept() {
        let says = r#"echo '{"type":"result","session_id":"s"}'; echo no >&2; exit 3"#;
        let run = finish(Command::new("sh").args(["-c", says])).unwrap();
        assert_eq!((run.code, run.stderr.as_str()), (Some(3), "no\n"));
        assert_eq!(run.session(), "s");
    }
}
