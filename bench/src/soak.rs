//! `soak`: plays real transcripts for long, faster than they were made, as hooks and as files that grow,
//! while a daemon runs. It must not grow with them, and nothing may be lost or kept twice.

mod lane;
mod samples;

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use serde_json::json;
use thru_core::Timestamp;

use self::lane::{Lane, Played};
use self::samples::Samples;
use crate::home::temporary_directory;
use crate::marks;
use crate::metrics::quantile;
use crate::process::{Program, Task, machine};
use crate::replay::sessions;
use crate::resident::Daemon;
use crate::store_dump::Dump;

/// The interval at which the daemon is sampled.
const EVERY: Duration = Duration::from_secs(10);

/// The arguments of `soak`.
#[derive(Args)]
pub(crate) struct Arguments {
    /// The program to call
    #[arg(long, value_name = "PATH")]
    thru: PathBuf,
    /// The folder of Claude Code's transcripts
    #[arg(long, value_name = "DIR")]
    transcripts: PathBuf,
    /// For how many seconds
    #[arg(long, default_value_t = 3_600, value_name = "SECONDS")]
    time: u64,
    /// The speed relative to the recorded one
    #[arg(long, default_value_t = 20.0)]
    speed: f64,
    /// Sessions that are played at the same time
    #[arg(long, default_value_t = 4)]
    sessions: usize,
    /// The longest pause between two records, in seconds
    #[arg(long, default_value_t = 5.0, value_name = "SECONDS")]
    pause: f64,
    /// Write what the daemon takes there, as it is looked at
    #[arg(long, value_name = "FILE")]
    samples: Option<PathBuf>,
    /// Print JSON instead of a table
    #[arg(long)]
    json: bool,
    /// Leave the home here, to look at it
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,
}

/// Plays, and prints a table. Fails where something is lost or there twice.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let folder = temporary_directory()?;
    let (home, claude) = (folder.path().join("home"), folder.path().join("claude"));
    let projects = claude.join("projects/soak");
    for made in [&home, &projects] {
        fs::create_dir_all(made)?;
    }
    // Hooks keep all that they are told.
    fs::write(home.join("config.toml"), "[capture]\nskip_tools = []\n")?;
    let program = Program::new(&arguments.thru, &claude)?;
    let sessions = sessions(&arguments.transcripts, &projects)?;
    ensure!(!sessions.is_empty(), "there are no transcripts");

    let began = Timestamp::now();
    let daemon = Daemon::start(&program, &home)?;
    let over = AtomicBool::new(false);
    let (next, marks) = (AtomicUsize::new(0), AtomicU64::new(1));
    let mut samples = Samples::new(arguments.samples.as_deref())?;
    let time = Duration::from_secs(arguments.time);
    let played = std::thread::scope(|scope| -> Result<Played> {
        let lane = Lane {
            program: &program,
            home: &home,
            sessions: &sessions,
            next: &next,
            marks: &marks,
            over: &over,
            speed: arguments.speed,
            longest_pause: Duration::from_secs_f64(arguments.pause),
        };
        let lanes: Vec<_> =
            (0..arguments.sessions.max(1)).map(|_| scope.spawn(move || lane.play())).collect();
        let watched =
            watch(&daemon, &mut samples, time, || lanes.iter().all(|lane| lane.is_finished()));
        over.store(true, Ordering::Release);
        let mut all = Played::default();
        for lane in lanes {
            all.add(lane.join().unwrap_or_else(|_| bail!("a session panicked"))?);
        }
        watched?;
        Ok(all)
    })?;
    daemon.settle()?;
    let brought = daemon.status()?;
    drop(daemon);
    program.run(&home, Task::Intake)?;
    program.run(&home, Task::Verify)?;
    let sent = 1..marks.load(Ordering::Acquire);
    let kept = marks::look_for(&home, began, sent)?;

    // Hooks and transcripts together give what transcripts alone give.
    program.run(&home, Task::Import)?;
    let import = folder.path().join("import");
    fs::create_dir_all(&import)?;
    program.run(&import, Task::Import)?;
    let (wanted, found) = (Dump::of(&import)?, Dump::of(&home)?);
    let without_times = regex::Regex::new(r#""(first|last)":"[^"]*",?"#)?;
    let plain = |dump: &Dump| dump.map(|line| without_times.replace_all(line, "").into_owned());
    let differing = plain(&found).differences(&plain(&wanted), usize::MAX).len();

    let p99 = quantile(&played.hooks, 0.99).unwrap_or(f64::NAN);
    match arguments.json {
        true => println!(
            "{}",
            json!({
                "version": 1,
                "kind": "soak",
                "seconds": time.as_secs(),
                "speed": arguments.speed,
                "sessions": played.sessions,
                "records": played.records,
                "hooks": kept.sent,
                "hook_p99_ms": p99,
                "lost": kept.lost,
                "doubled": kept.doubled,
                "not_in_store": kept.not_in_store,
                "late": kept.late,
                "compared": wanted.len(),
                "differing": differing,
                "daemon": samples.as_json(),
            })
        ),
        false => {
            println!("{}.\n", machine());
            println!("| what | value |\n|---|---|");
            println!("| played | {} s at {} × speed |", time.as_secs(), arguments.speed);
            println!("| sessions / records | {} / {} |", played.sessions, played.records);
            println!("| hooks / p99, ms | {} / {p99:.1} |", kept.sent);
            println!("| lost / doubled in the journal | {} / {} |", kept.lost, kept.doubled);
            println!("| not once in the store | {} |", kept.not_in_store);
            println!("| ended by their own watch | {} |", kept.late);
            println!("| compared with an import / differ | {} / {differing} |", wanted.len());
            samples.print();
            println!("\nThe daemon brought in: {}", brought["work"]);
        }
    }
    if let Some(keep) = &arguments.keep {
        let kept = folder.keep();
        fs::rename(&kept, keep).with_context(|| format!("left in {}", kept.display()))?;
    }
    let wrong = kept.doubled + kept.not_in_store + kept.lost.saturating_sub(kept.late);
    ensure!(wrong == 0, "events were lost or are there twice: {kept:?}");
    Ok(())
}

/// Looks at the daemon until the time is over, or all lanes have ended.
fn watch(
    daemon: &Daemon,
    samples: &mut Samples,
    time: Duration,
    is_over: impl Fn() -> bool,
) -> Result<()> {
    let started = Instant::now();
    let mut next = EVERY;
    while started.elapsed() < time && !is_over() {
        std::thread::sleep(Duration::from_millis(100));
        if started.elapsed() >= next {
            samples.add(started.elapsed(), daemon.look().context("the daemon is gone")?)?;
            next += EVERY;
        }
    }
    Ok(())
}
