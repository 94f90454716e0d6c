//! A daemon of a home of ours: started as a child, so that its number is known, looked at from outside,
//! and ended with us. And all processes of a home.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use rustix::process::{Pid, Signal, kill_process};
use thru_core::Layout;
use thru_daemon::{Client, Paths};

use crate::process::{Program, Stat, kilobytes};

/// The time a daemon has to come up, or to finish all work.
const PATIENCE: Duration = Duration::from_secs(600);
/// The time it has to answer `hello`.
const ANSWER: Duration = Duration::from_secs(2);
/// The interval between attempts to connect.
const LOOK: Duration = Duration::from_micros(500);

/// The files of the daemon of a home. Homes of ours have short paths, so that the socket lies inside.
pub(crate) fn paths(home: &Path) -> Paths {
    let layout = Layout::new(home);
    let socket = layout.run().join("daemon.sock");
    Paths::new(&layout, socket)
}

/// A daemon that runs. It is killed when dropped.
pub(crate) struct Daemon {
    child: Child,
    home: PathBuf,
}

impl Daemon {
    /// Starts one and waits until it answers.
    pub(crate) fn start(program: &Program, home: &Path) -> Result<Self> {
        let mut command = program.command_of(home, &["daemon", "run"]);
        // What it says goes to its log.
        let child = command.stderr(Stdio::null()).spawn().context("cannot start a daemon")?;
        let mut daemon = Self { child, home: home.to_owned() };
        let deadline = Instant::now() + PATIENCE;
        while !daemon.answers() {
            if let Some(status) = daemon.child.try_wait()? {
                bail!("the daemon ended with {status}");
            }
            ensure!(Instant::now() < deadline, "the daemon does not answer");
            std::thread::sleep(LOOK);
        }
        Ok(daemon)
    }

    fn answers(&self) -> bool {
        let client = Client::connect(&paths(&self.home).socket, ANSWER);
        client.is_ok_and(|mut client| client.hello(ANSWER).is_ok())
    }

    /// Waits until everything is brought in that there is.
    pub(crate) fn settle(&self) -> Result<()> {
        let mut client = Client::connect(&paths(&self.home).socket, ANSWER)?;
        client.ingest(PATIENCE).context("the daemon does not bring everything in")?;
        Ok(())
    }

    /// Returns the daemon's own status.
    pub(crate) fn status(&self) -> Result<serde_json::Value> {
        let mut client = Client::connect(&paths(&self.home).socket, ANSWER)?;
        Ok(client.status(ANSWER)?)
    }

    /// Returns the resources it uses now.
    pub(crate) fn look(&self) -> Result<Look> {
        Look::at(self.child.id())
    }

    /// Stops it in its tracks, or lets it go on.
    pub(crate) fn signal(&self, signal: Signal) -> Result<()> {
        kill(self.child.id(), signal)
    }

    /// Returns its resident bytes by mapping.
    pub(crate) fn mappings(&self) -> Result<Vec<(String, u64)>> {
        mappings(self.child.id())
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The resources of a process.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Look {
    /// Bytes of memory, with what is mapped from files.
    pub(crate) rss: u64,
    /// Bytes of it that are no file's.
    pub(crate) anonymous: u64,
    /// Seconds of processors since it started.
    pub(crate) cpu: f64,
    pub(crate) threads: u64,
    pub(crate) open_files: usize,
}

impl Look {
    fn at(process: u32) -> Result<Self> {
        let status = fs::read_to_string(format!("/proc/{process}/status"))?;
        let bytes = |name| kilobytes(&status, name).unwrap_or(0) * 1024;
        let cpu = Stat::of(process).filter(|stat| !stat.is_over).context("it has ended")?.cpu;
        Ok(Self {
            rss: bytes("VmRSS:"),
            anonymous: bytes("RssAnon:"),
            cpu,
            threads: kilobytes(&status, "Threads:").unwrap_or(0),
            open_files: fs::read_dir(format!("/proc/{process}/fd"))?.count(),
        })
    }
}

/// Resident bytes by what is mapped: the heap, the program, libraries, files of the home; most first.
fn mappings(process: u32) -> Result<Vec<(String, u64)>> {
    let text = fs::read_to_string(format!("/proc/{process}/smaps"))?;
    let mut sums: std::collections::BTreeMap<String, u64> = std::collections::BTreeMap::new();
    let mut name = String::new();
    for line in text.lines() {
        match line.strip_prefix("Rss:") {
            Some(rest) => {
                let kilobytes = rest.split_whitespace().next().and_then(|n| n.parse::<u64>().ok());
                *sums.entry(name.clone()).or_default() += kilobytes.unwrap_or(0) * 1024;
            }
            // Lines of a mapping's own fields have a name and a colon first, mappings an address.
            None if !line.split(' ').next().is_some_and(|word| word.ends_with(':')) => {
                let path = line.splitn(6, ' ').nth(5).unwrap_or("").trim();
                name = match Path::new(path).file_name() {
                    _ if path.contains("/index/") => "index".to_owned(),
                    None => "heap and stacks".to_owned(),
                    Some(_) if path.starts_with('[') => "heap and stacks".to_owned(),
                    Some(name) => name.to_string_lossy().into_owned(),
                };
            }
            None => {}
        }
    }
    let mut sums: Vec<_> = sums.into_iter().filter(|(_, bytes)| *bytes > 0).collect();
    sums.sort_by_key(|(_, bytes)| std::cmp::Reverse(*bytes));
    Ok(sums)
}

/// A process of a home.
#[derive(Clone, Debug)]
pub(crate) struct OfHome {
    pub(crate) number: u32,
    /// Its arguments.
    pub(crate) words: Vec<String>,
}

impl OfHome {
    pub(crate) fn is_daemon(&self) -> bool {
        self.words.iter().skip(1).take(2).eq(["daemon", "run"])
    }
}

/// The processes that work in a home.
pub(crate) fn processes_of(home: &Path) -> Result<Vec<OfHome>> {
    let ours = format!("THROUGHLINE_HOME={}", home.display());
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc")?.flatten() {
        let Ok(number) = entry.file_name().to_string_lossy().parse::<u32>() else { continue };
        // It may be gone by now, or not ours to look at.
        let environment = fs::read(entry.path().join("environ")).unwrap_or_default();
        if !environment.split(|byte| *byte == 0).any(|value| value == ours.as_bytes()) {
            continue;
        }
        let command = fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let words =
            command.split(|byte| *byte == 0).map(|word| String::from_utf8_lossy(word).into());
        found.push(OfHome { number, words: words.collect() });
    }
    Ok(found)
}

/// Kills what works in a home, none of which may be left.
pub(crate) fn kill_all_of(home: &Path) -> Result<()> {
    let deadline = Instant::now() + ANSWER;
    loop {
        let left = processes_of(home)?;
        if left.is_empty() {
            return Ok(());
        }
        ensure!(Instant::now() < deadline, "{left:?} cannot be killed");
        for process in left {
            // It may be gone by now.
            let _ = kill(process.number, Signal::KILL);
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Sends a signal to a process that is known to be ours.
pub(crate) fn kill(process: u32, signal: Signal) -> Result<()> {
    let number = i32::try_from(process).ok().and_then(Pid::from_raw);
    Ok(kill_process(number.context("not the number of a process")?, signal)?)
}
