//! A run of a program, bounded in time.

use std::fs::File;
use std::io::{self, Read, Seek};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

/// A run takes under a second; one that takes this long hangs.
const LONGEST: Duration = Duration::from_secs(90);

/// Interval between looks at a running program.
const LOOK: Duration = Duration::from_millis(1);

/// The end and the output of a program.
#[derive(Clone, Debug)]
pub struct Run {
    /// Its exit code; `None` where a signal ended it.
    pub code: Option<i32>,
    /// Its standard output.
    pub stdout: String,
    /// Its standard error.
    pub stderr: String,
    /// Time from start to end.
    pub took: Duration,
}

impl Run {
    /// Returns the output line by line as JSON; lines that are none are left out.
    pub fn events(&self) -> impl Iterator<Item = Value> {
        self.stdout.lines().filter_map(|line| serde_json::from_str(line).ok())
    }

    /// Returns the client's last word on a run; null if there is none.
    pub fn result(&self) -> Value {
        self.events().filter(|event| event["type"] == "result").last().unwrap_or_default()
    }

    /// Returns the session that was run, empty if none was.
    pub fn session(&self) -> String {
        self.result()["session_id"].as_str().unwrap_or_default().to_owned()
    }
}

/// Runs a command to its end.
///
/// # Errors
/// Returns an error if it cannot be started, or hangs: then it is killed.
///
/// Output goes through files: with pipes, a process that a hook left behind and that holds one would
/// keep us waiting where it does not keep the client waiting.
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
