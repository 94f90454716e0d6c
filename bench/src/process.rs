//! Runs `thru` and measures what it takes. Everything that depends on
//! `thru`'s command line is here.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

/// The interval at which a running process is sampled.
const LOOK: Duration = Duration::from_millis(2);

/// Ticks per second in `/proc`: fixed for user space on Linux.
const TICKS: f64 = 100.0;

/// The program that is measured.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    path: PathBuf,
    history: PathBuf,
    /// True if it may start a daemon, as it does for users.
    starts_daemons: bool,
}

/// A task of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Task<'t> {
    /// Bring in all there is.
    Import,
    /// Bring in what hooks recorded.
    Intake,
    /// Turn texts into vectors.
    Embed,
    /// Make store and index again.
    Rebuild,
    /// Check everything.
    Verify,
    /// Look for these words, everywhere.
    Search(&'t str),
    /// Say what helps with a prompt in a project of that name.
    Context { project: &'t str, prompt: &'t str },
    /// Say what a session that starts in a project of that name is given.
    Start(&'t str),
    /// List projects.
    Projects,
}

/// The resources a process used.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Usage {
    pub(crate) wall: Duration,
    /// The most memory it had, in bytes, where the system tells.
    pub(crate) memory: Option<u64>,
    /// Seconds on all processors together, where the system tells.
    pub(crate) cpu: Option<f64>,
}

impl Program {
    /// `thru` at this path. `history` stands for the agent's folder.
    pub(crate) fn new(thru: &Path, history: &Path) -> Result<Self> {
        let history = fs::canonicalize(history)
            .with_context(|| format!("cannot read {}", history.display()))?;
        let path =
            fs::canonicalize(thru).with_context(|| format!("cannot find {}", thru.display()))?;
        Ok(Self { path, history, starts_daemons: false })
    }

    /// The same program, whose hooks and commands start a daemon where none runs.
    pub(crate) fn with_daemons(&self) -> Self {
        Self { starts_daemons: true, ..self.clone() }
    }

    /// The same program for another agent's folder.
    pub(crate) fn in_history(&self, history: &Path) -> Result<Self> {
        Ok(Self { history: fs::canonicalize(history)?, ..self.clone() })
    }

    /// The agent's folder.
    pub(crate) fn history(&self) -> &Path {
        &self.history
    }

    fn command(&self, home: &Path, task: Task<'_>) -> Command {
        let mut command = self.bare(home);
        match task {
            Task::Import => command.args(["import", "--yes"]),
            Task::Intake => command.args(["intake"]),
            Task::Embed => command.args(["embed"]),
            Task::Rebuild => command.args(["rebuild"]),
            Task::Verify => command.args(["verify"]),
            Task::Search(query) => command
                .args(["search", "--all", "--limit", "10", "--"])
                .args(query.split_whitespace()),
            Task::Context { project, prompt } => command
                .args(["context", "--json", "--project", project])
                .arg(format!("--prompt={prompt}")),
            Task::Start(project) => command.args(["context", "--project", project]),
            Task::Projects => command.args(["projects", "--json"]),
        };
        command
    }

    /// The command without arguments, in surroundings where nothing of the user's is seen.
    fn bare(&self, home: &Path) -> Command {
        let mut command = Command::new(&self.path);
        command
            .env("THROUGHLINE_HOME", home)
            .env_remove("THROUGHLINE_CHILD")
            .env("CLAUDE_CONFIG_DIR", &self.history)
            // Nothing of the user's own settings.
            .env("XDG_CONFIG_HOME", home.join("no-config"))
            .current_dir(&self.history)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        // A daemon would work while something is timed, and outlive it.
        if !self.starts_daemons {
            command.env("THROUGHLINE_DAEMON", "off");
        }
        command
    }

    /// A command with these arguments, which says nothing.
    pub(crate) fn command_of(&self, home: &Path, arguments: &[&str]) -> Command {
        let mut command = self.bare(home);
        command.args(arguments).stderr(Stdio::piped());
        command
    }

    /// Starts a hook, as Claude Code does, and gives it its input.
    pub(crate) fn start_hook(&self, home: &Path, event: &str, input: &[u8]) -> Result<Child> {
        let mut child = self
            .bare(home)
            .args(["hook", "claude-code", event])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .with_context(|| format!("cannot run {}", self.path.display()))?;
        if let Some(mut stdin) = child.stdin.take() {
            // One that was killed meanwhile does not read.
            let _ = stdin.write_all(input);
        }
        Ok(child)
    }

    /// Plays a hook to its end and returns what it answered.
    pub(crate) fn hook(&self, home: &Path, event: &str, input: &[u8]) -> Result<String> {
        let output = self.start_hook(home, event, input)?.wait_with_output()?;
        if !output.status.success() {
            bail!("the hook of {event} ended with {}", output.status);
        }
        String::from_utf8(output.stdout).context("the answer is not UTF-8")
    }

    /// Starts it.
    pub(crate) fn start(&self, home: &Path, task: Task<'_>) -> Result<Child> {
        let mut command = self.command(home, task);
        command.stderr(Stdio::null());
        command.spawn().with_context(|| format!("cannot run {}", self.path.display()))
    }

    /// Runs it to its end and returns how it ended and what it said of errors.
    pub(crate) fn finish(&self, home: &Path, task: Task<'_>) -> Result<(ExitStatus, String)> {
        let output = self
            .command(home, task)
            .stdout(Stdio::piped())
            .output()
            .with_context(|| format!("cannot run {}", self.path.display()))?;
        let said = [output.stdout, output.stderr].concat();
        Ok((output.status, String::from_utf8_lossy(&said).into_owned()))
    }

    /// Runs it to its end, which must be a success.
    pub(crate) fn run(&self, home: &Path, task: Task<'_>) -> Result<()> {
        let (status, said) = self.finish(home, task)?;
        if !status.success() {
            bail!("{task:?} ended with {status}: {said}");
        }
        Ok(())
    }

    /// Runs it to its end and returns what it answered. That there was nothing to answer may well be
    /// said by the exit code.
    pub(crate) fn answer(&self, home: &Path, task: Task<'_>) -> Result<String> {
        let output = self
            .command(home, task)
            .stdout(Stdio::piped())
            .output()
            .with_context(|| format!("cannot run {}", self.path.display()))?;
        if output.status.code().is_none_or(|code| code > 1) {
            let said = String::from_utf8_lossy(&output.stderr);
            bail!("{task:?} ended with {}: {said}", output.status);
        }
        String::from_utf8(output.stdout).context("the answer is not UTF-8")
    }

    /// Runs it to its end with a stop watch.
    pub(crate) fn measure(&self, home: &Path, task: Task<'_>) -> Result<Usage> {
        let started = Instant::now();
        let (status, usage) = watch(&mut self.start(home, task)?, started)?;
        if !status.success() {
            bail!("{task:?} ended with {status}");
        }
        Ok(usage)
    }

    /// Runs it to its end and only looks at the clock.
    pub(crate) fn time(&self, home: &Path, task: Task<'_>) -> Result<Duration> {
        let started = Instant::now();
        let mut child = self.start(home, task)?;
        let status = child.wait()?;
        let wall = started.elapsed();
        // Nothing found may well be said by the exit code.
        if status.code().is_none_or(|code| code > 1) {
            bail!("{task:?} ended with {status}");
        }
        Ok(wall)
    }
}

/// Waits for a process to end, and returns its status and what it used.
pub(crate) fn watch(child: &mut Child, started: Instant) -> Result<(ExitStatus, Usage)> {
    let (mut memory, mut cpu) = (None, None);
    loop {
        // A process that ended keeps its times until it is waited for.
        let state = Stat::of(child.id());
        memory = memory.max(peak_memory(child.id()));
        cpu = state.as_ref().map(|stat| stat.cpu).or(cpu);
        let is_over = state.is_none_or(|stat| stat.is_over);
        if is_over && let Some(status) = child.try_wait()? {
            return Ok((status, Usage { wall: started.elapsed(), memory, cpu }));
        }
        std::thread::sleep(LOOK);
    }
}

/// The fields of `/proc/<pid>/stat`.
pub(crate) struct Stat {
    pub(crate) is_over: bool,
    /// Seconds on all processors together.
    pub(crate) cpu: f64,
}

impl Stat {
    pub(crate) fn of(process: u32) -> Option<Self> {
        Self::parse(&fs::read_to_string(format!("/proc/{process}/stat")).ok()?)
    }

    fn parse(text: &str) -> Option<Self> {
        // The name of the program, in brackets, may hold anything.
        let (_, rest) = text.rsplit_once(')')?;
        let fields: Vec<&str> = rest.split_whitespace().collect();
        let ticks = |at: usize| fields.get(at)?.parse::<f64>().ok();
        Some(Self { is_over: *fields.first()? == "Z", cpu: (ticks(11)? + ticks(12)?) / TICKS })
    }
}

fn peak_memory(process: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    kilobytes(&status, "VmHWM:").map(|kilobytes| kilobytes * 1024)
}

pub(crate) fn kilobytes(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find(|line| line.starts_with(name))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

/// The time that this thread has spent on a processor, where the system tells.
pub(crate) fn thread_time() -> Option<Duration> {
    let schedule = fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    schedule.split_whitespace().next()?.parse().ok().map(Duration::from_nanos)
}

/// Returns a description of the machine.
pub(crate) fn machine() -> String {
    let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let cpuinfo = read("/proc/cpuinfo");
    let model = cpuinfo
        .lines()
        .find_map(|line| line.strip_prefix("model name")?.split_once(": "))
        .map_or("unknown processor", |(_, model)| model.trim());
    let memory = kilobytes(&read("/proc/meminfo"), "MemTotal:");
    let memory = memory.map_or_else(String::new, |kb| format!(", {} GB memory", kb / 1_000_000));
    format!(
        "{} cores ({model}){memory}, {} {} {}",
        crate::home::threads(),
        std::env::consts::OS,
        read("/proc/sys/kernel/osrelease").trim(),
        std::env::consts::ARCH,
    )
}

/// Bytes of all files at or below a path.
pub(crate) fn size(path: &Path) -> u64 {
    match fs::metadata(path) {
        Ok(metadata) if metadata.is_dir() => fs::read_dir(path)
            .map(|entries| entries.flatten().map(|entry| size(&entry.path())).sum())
            .unwrap_or(0),
        Ok(metadata) => metadata.len(),
        Err(_) => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_linux_says_of_a_process_is_read() {
        let line = "7 (a) b) Z 1 7 7 0 -1 4194304 100 0 0 0 150 50 0 0 20 0 1 0 100 0 0";
        let stat = Stat::parse(line).unwrap();
        assert!(stat.is_over);
        assert_eq!(stat.cpu, 2.0);
        assert_eq!(kilobytes("VmPeak:\t 9 kB\nVmHWM:\t  1234 kB\n", "VmHWM:"), Some(1234));
    }
}
