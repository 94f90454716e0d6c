//! Rounds in which daemons, hooks and commands are killed while sessions run. Afterwards everything that
//! was acknowledged is there once, every session that was left is indexed once, as what it is, and one
//! daemon can be had, no more.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use rustix::process::Signal;
use serde_json::json;
use thru_core::{SessionId, Timestamp};
use thru_daemon::{Client, holder, is_held};
use thru_lifecycle::content::{Content, ContentHasher, Message};
use thru_lifecycle::{Indexing, Limits};
use thru_store::{PassageFilter, SessionFilter, SessionState, Store};

use super::hooks::{self, Called, Player, SESSIONS, Transcript, id_of};
use crate::home::temporary_directory;
use crate::process::{Program, Task};
use crate::resident::{OfHome, kill, kill_all_of, paths, processes_of};
use crate::rng::Rng;
use crate::store_dump::Dump;

/// Sessions that start at the same moment.
const AT_ONCE: usize = 100;
/// The time limit of work that ends by itself.
const PATIENCE: Duration = Duration::from_secs(60);
/// The interval between checks.
const LOOK: Duration = Duration::from_millis(10);

/// The state that rounds start from.
pub(super) struct Daemons {
    thru: PathBuf,
    /// The duration of a hook that is not killed.
    takes: Duration,
}

/// Counts over all rounds so far.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    hooks: hooks::Counts,
    daemons: usize,
    commands: usize,
    sessions: usize,
    episodes: usize,
    retired: usize,
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}; {} daemons and {} commands killed; {} sessions left, {} indexed as what they are, \
             {} episodes retired",
            self.hooks, self.daemons, self.commands, self.sessions, self.episodes, self.retired
        )
    }
}

impl Daemons {
    pub(super) fn prepare(thru: &Path) -> Result<Self> {
        let thru = fs::canonicalize(thru)?;
        let folder = temporary_directory()?;
        let (home, claude) = (folder.path().join("home"), folder.path().join("claude"));
        fs::create_dir_all(&claude)?;
        let program = Program::new(&thru, &claude)?;
        let started = Instant::now();
        for _ in 0..10 {
            program.hook(&home, "CwdChanged", br#"{"session_id":"first"}"#)?;
        }
        let takes = started.elapsed() / 10;
        let started = at_once(&program.with_daemons(), &home);
        let killed = kill_all_of(&home);
        println!("{AT_ONCE} sessions that start at once: {} daemon.", started?);
        killed?;
        Ok(Self { thru, takes })
    }

    /// One round, in an empty folder.
    pub(super) fn round(&self, folder: &Path, rng: &mut Rng, counts: &mut Counts) -> Result<()> {
        let home = folder.join("home");
        let outcome = self.play(folder, rng, counts);
        let killed = kill_all_of(&home);
        outcome?;
        killed
    }

    fn play(&self, folder: &Path, rng: &mut Rng, counts: &mut Counts) -> Result<()> {
        let (home, claude) = (folder.join("home"), folder.join("claude"));
        fs::create_dir_all(&home)?;
        fs::create_dir_all(claude.join("projects"))?;
        let is_async = rng.chance(0.7);
        fs::write(home.join("config.toml"), format!("[hooks]\nasync_indexing = {is_async}\n"))?;
        let alone = Program::new(&self.thru, &claude)?;
        let program = alone.with_daemons();
        let over = AtomicBool::new(false);
        let seeds: Vec<u64> = (0..=SESSIONS).map(|_| rng.next()).collect();
        let (called, disturbed) = std::thread::scope(|scope| {
            let disturber =
                scope.spawn(|| disturb(&program, &home, &over, Rng::part(seeds[SESSIONS], 0)));
            let sessions: Vec<_> = (0..SESSIONS)
                .map(|number| {
                    let player = Player {
                        program: &program,
                        home: &home,
                        claude: &claude,
                        takes: self.takes,
                        transcript: Transcript::Growing,
                    };
                    let rng = Rng::part(seeds[number], 1);
                    scope.spawn(move || player.play(number, rng))
                })
                .collect();
            let called: Vec<_> = sessions
                .into_iter()
                .map(|session| session.join().unwrap_or_else(|_| bail!("a session panicked")))
                .collect();
            over.store(true, Ordering::Release);
            (called, disturber.join().unwrap_or_else(|_| bail!("the disturber panicked")))
        });
        let (daemons, commands) = disturbed?;
        counts.daemons += daemons;
        counts.commands += commands;
        let called: Vec<Vec<Called>> = called.into_iter().collect::<Result<_>>()?;
        let ended: Vec<bool> = called
            .iter()
            .map(|session| session.last().is_some_and(|last| last.acknowledged))
            .collect();

        at_most_one(&home).context("after the kills")?;
        program.run(&home, Task::Intake)?;
        one_can_be_had(&program, &home)?;
        let late = counts.hooks.late;
        let called: Vec<Called> = called.into_iter().flatten().collect();
        hooks::check(&alone, &home, &claude, &called, &mut counts.hooks)?;
        let is_late = counts.hooks.late > late;
        self.sessions(&home, &ended, is_late, counts)?;
        none_is_left(&program, &home)?;

        let before = Dump::with_episodes(&home)?;
        alone.run(&home, Task::Rebuild)?;
        let differences = Dump::with_episodes(&home)?.differences(&before, super::SHOWN);
        ensure!(
            differences.is_empty(),
            "a rebuild gives (-) what is not what was (+):\n{}",
            differences.join("\n")
        );
        alone.run(&home, Task::Verify)?;
        self.sessions(&home, &ended, is_late, &mut Counts::default()).context("after a rebuild")
    }

    /// Every session that was left is indexed once, as what it is.
    fn sessions(
        &self,
        home: &Path,
        ended: &[bool],
        is_late: bool,
        counts: &mut Counts,
    ) -> Result<()> {
        let store = Store::open_to_read(&thru_core::Layout::new(home))?;
        let now = Timestamp::now();
        let mut left = Vec::new();
        for session in store.sessions(&SessionFilter::default())? {
            let id = session.key.id.clone();
            let Some(state) = store.session_state(session.row)? else { bail!("{id} has no state") };
            ensure!(!state.indexing.is_running(), "{id} is still being indexed");
            let episodes = store.episodes(session.row)?;
            counts.retired += episodes.iter().filter(|episode| episode.retired.is_some()).count();
            let in_use = episodes.iter().filter(|episode| episode.retired.is_none()).count();
            ensure!(in_use <= 1, "{id} is indexed as {in_use} episodes");
            if state.lifecycle.left(now, &Limits::default()).is_some() {
                counts.sessions += 1;
                counts.episodes += usize::from(is_indexed(&store, &state, in_use)?);
                left.push(id);
            }
        }
        for (number, _) in ended.iter().enumerate().filter(|(_, ended)| **ended && !is_late) {
            let id = SessionId::new(id_of(number));
            ensure!(left.contains(&id), "{id} ended unnoticed");
        }
        let jobs = store.jobs()?;
        ensure!(jobs.is_empty(), "work is left: {jobs:?}");
        Ok(())
    }
}

/// Returns true if a session that was left is indexed; it must be, unless it is empty.
fn is_indexed(store: &Store, state: &SessionState, in_use: usize) -> Result<bool> {
    let id = &state.key.id;
    ensure!(!state.is_stale, "{id} was left and is not distilled as it is");
    ensure!(state.indexing == Indexing::Indexed, "{id} was left and is {:?}", state.indexing);
    let content = content_of(store, state.row)?;
    ensure!(state.content == Some(content), "{id} is {content:?}, not {:?}", state.content);
    if content.messages == 0 {
        ensure!(in_use == 0, "{id} says nothing and is indexed");
        return Ok(false);
    }
    let episode = state.episode.as_ref().with_context(|| format!("{id} has no episode"))?;
    ensure!(in_use == 1, "{id} is indexed as {in_use} episodes");
    ensure!(
        (episode.content, episode.messages) == (content.hash, content.messages),
        "{id} is indexed as {}, and is {content:?}",
        episode.content
    );
    Ok(true)
}

/// Returns the hash of a session's passages.
fn content_of(store: &Store, session: i64) -> Result<Content> {
    let mut hasher = ContentHasher::new();
    for passage in store.passages(PassageFilter::Session(session))? {
        let text = store.text_of(&passage)?;
        let files = store.files_of(&passage)?;
        hasher.add(Message {
            kind: passage.kind,
            is_subagent: passage.agent_id.is_some(),
            text: &text,
            tool: passage.tool.as_deref(),
            command: passage.command.as_deref(),
            outcome: passage.outcome,
            files: files.iter().map(|(path, _)| path.as_str()),
        });
    }
    Ok(hasher.finish())
}

/// Kills daemons, and commands that start, end and ask them; says how many of both.
fn disturb(
    program: &Program,
    home: &Path,
    over: &AtomicBool,
    mut rng: Rng,
) -> Result<(usize, usize)> {
    let (mut daemons, mut commands) = (0, 0);
    while !over.load(Ordering::Acquire) {
        if rng.chance(0.4) {
            std::thread::sleep(Duration::from_micros(rng.below(30_000) as u64));
            daemons += usize::from(kill_daemon(home)?);
            continue;
        }
        let session = id_of(rng.below(SESSIONS));
        let work: &[&str] = match rng.below(12) {
            0..4 => &["daemon", "start"],
            4 => &["daemon", "restart"],
            5 => &["daemon", "stop"],
            6 => &["close", &session],
            7 => &["close", &session, "--reason", "again"],
            8 => &["search", "--all", "rocket"],
            9 => &["sessions", "--unindexed"],
            10 => &["rebuild"],
            _ => &["intake"],
        };
        let mut command = program.command_of(home, work);
        // What it starts must not keep us waiting.
        let mut child = command.stderr(Stdio::null()).spawn()?;
        if rng.chance(0.6) {
            std::thread::sleep(Duration::from_micros(rng.below(60_000) as u64));
            if child.try_wait()?.is_none() {
                child.kill()?;
                commands += 1;
            }
        }
        let deadline = Instant::now() + PATIENCE;
        while child.try_wait()?.is_none() {
            if Instant::now() >= deadline {
                child.kill()?;
                child.wait()?;
                bail!("`thru {}` does not end", work.join(" "));
            }
            std::thread::sleep(LOOK);
        }
    }
    Ok((daemons, commands))
}

/// Kills the daemon of a home, if there is one.
fn kill_daemon(home: &Path) -> Result<bool> {
    let Some(holder) = holder(&paths(home).lock) else { return Ok(false) };
    // The number may be another's by now.
    let found = processes_of(home)?.into_iter().find(|process| process.number == holder.pid);
    match found {
        Some(process) if process.is_daemon() => Ok(kill(process.number, Signal::KILL).is_ok()),
        _ => Ok(false),
    }
}

/// Waits until nothing works but one daemon, or none. Those that find one already end at once.
fn at_most_one(home: &Path) -> Result<usize> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let found = processes_of(home)?;
        let daemons = found.iter().filter(|process| process.is_daemon()).count();
        if daemons <= 1 && daemons == found.len() {
            return Ok(daemons);
        }
        ensure!(Instant::now() < deadline, "more than a daemon works: {found:?}");
        std::thread::sleep(LOOK);
    }
}

/// A daemon can be started, or runs, and brings in what there is. Nothing that was left is in its way.
fn one_can_be_had(program: &Program, home: &Path) -> Result<()> {
    let started = Instant::now();
    let output = program.command_of(home, &["daemon", "start"]).output()?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "no daemon can be started: {said}");
    ensure!(at_most_one(home)? == 1, "it was started and is gone");
    let patience = Duration::from_secs(2);
    let mut client = Client::connect(&paths(home).socket, patience)?;
    client.ingest(PATIENCE).context("the daemon does not bring everything in")?;
    ensure!(started.elapsed() < PATIENCE, "it took {:?}", started.elapsed());
    Ok(())
}

/// The daemon ends when it is asked to, and leaves nothing behind.
fn none_is_left(program: &Program, home: &Path) -> Result<()> {
    let output = program.command_of(home, &["daemon", "stop"]).output()?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "the daemon cannot be stopped: {said}");
    let paths = paths(home);
    ensure!(!is_held(&paths.lock)?, "it ended and holds its lock");
    ensure!(!paths.socket.exists(), "it ended and left its socket");
    let deadline = Instant::now() + Duration::from_secs(5);
    loop {
        let left: Vec<OfHome> = processes_of(home)?;
        if left.is_empty() {
            return Ok(());
        }
        ensure!(Instant::now() < deadline, "it ended, and left {left:?}");
        std::thread::sleep(LOOK);
    }
}

/// Has many sessions start at once; says how many daemons that gives.
fn at_once(program: &Program, home: &Path) -> Result<usize> {
    std::thread::scope(|scope| -> Result<()> {
        let starting: Vec<_> = (0..AT_ONCE)
            .map(|number| {
                let input = json!({
                    "session_id": format!("{number:08x}-bbbb-4bbb-8bbb-000000000000"),
                    "cwd": "/home/ada/rocket", "source": "startup",
                });
                scope
                    .spawn(move || program.hook(home, "SessionStart", input.to_string().as_bytes()))
            })
            .collect();
        for session in starting {
            session.join().unwrap_or_else(|_| bail!("a session panicked"))?;
        }
        Ok(())
    })?;
    let daemons = at_most_one(home)?;
    ensure!(daemons == 1, "{AT_ONCE} sessions started {daemons} daemons");
    Ok(daemons)
}
