//! The resources of an idle daemon, and the time it takes to come up.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use jiff::Timestamp;
use serde_json::json;

use super::{Measure, Place, milliseconds};
use crate::process::Task;
use crate::resident::Daemon;

const MIB: f64 = 1024.0 * 1024.0;
/// A daemon is idle when nothing came for longer than it waits for more.
const CALM: Duration = Duration::from_secs(15);

/// Measures the time until a daemon answers `hello`.
pub(super) fn start(place: &Place<'_>, runs: usize) -> Result<Vec<Measure>> {
    place.program.run(place.home, Task::Intake)?;
    let (mut answers, mut commands) = (Vec::new(), Vec::new());
    for _ in 0..runs.max(1) {
        let started = Instant::now();
        let daemon = Daemon::start(&place.program, place.home)?;
        answers.push(milliseconds(started.elapsed()));
        daemon.settle()?;
        drop(daemon);

        let started = Instant::now();
        let status = place.program.command_of(place.home, &["daemon", "start"]).status()?;
        commands.push(milliseconds(started.elapsed()));
        anyhow::ensure!(status.success(), "`thru daemon start` ended with {status}");
        let output = place.program.command_of(place.home, &["daemon", "stop"]).output()?;
        anyhow::ensure!(output.status.success(), "the daemon cannot be stopped");
    }
    let reach = "200 ms";
    Ok(vec![
        Measure::of_times("daemon started until it answers, p50", &answers, 0.5, reach),
        Measure::of_times("`thru daemon start`, whole process, p50", &commands, 0.5, ""),
    ])
}

/// Measures a daemon that watches many folders in which nothing happens.
pub(super) fn idle(place: &Place<'_>, folders: usize, time: Duration) -> Result<Vec<Measure>> {
    make_folders(place.claude, folders)?;
    // All that is there is known, as on a machine where it has run for long.
    place.program.run(place.home, Task::Import)?;
    let daemon = Daemon::start(&place.program, place.home)?;
    let started = Instant::now();
    daemon.settle()?;
    let first_look = started.elapsed();
    std::thread::sleep(CALM);
    let (before, began) = (daemon.look()?, Instant::now());
    std::thread::sleep(time);
    let (after, took) = (daemon.look()?, began.elapsed());
    let share = 100.0 * (after.cpu - before.cpu) / took.as_secs_f64();
    let mappings: Vec<String> = daemon
        .mappings()?
        .into_iter()
        .filter(|(_, bytes)| *bytes as f64 > 0.1 * MIB)
        .map(|(name, bytes)| format!("{name} {:.1}", bytes as f64 / MIB))
        .collect();
    let status = daemon.status()?;
    let watching = status["watching"].as_str().unwrap_or("?").to_owned();
    let what = format!("idle daemon, {folders} folders, {} s", took.as_secs());
    Ok(vec![
        Measure::new(format!("{what}: memory"), after.rss as f64 / MIB, "MiB", "40 MiB").with_note(
            format!(
                "at first {:.1}; {:.1} of it its own; MiB: {}",
                before.rss as f64 / MIB,
                after.anonymous as f64 / MIB,
                mappings.join(", ")
            ),
        ),
        Measure::new(format!("{what}: processor"), share, "% of a core", "0.2 %").with_note(
            format!(
                "watching by {watching}; {} threads; looking at everything took {:.0} ms",
                after.threads,
                milliseconds(first_look)
            ),
        ),
    ])
}

/// Project folders as Claude Code makes them, each with a short session of last year.
fn make_folders(claude: &Path, folders: usize) -> Result<()> {
    let at: Timestamp = "2025-11-03T10:00:00Z".parse()?;
    for number in 0..folders {
        let folder = claude.join(format!("projects/-home-ada-project-{number}"));
        fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
        let session = format!("{number:08x}-1d1e-4000-8000-000000000000");
        let line = |kind: &str, last: u8, content: serde_json::Value| {
            json!({
                "type": kind, "sessionId": session, "cwd": format!("/home/ada/project-{number}"),
                "uuid": format!("{number:08x}-1d1e-4000-8000-00000000000{last}"),
                "timestamp": at, "version": "2.0.1",
                "message": { "role": kind, "content": content },
            })
        };
        let said = json!([{ "type": "text", "text": format!("Part {number} is in place.") }]);
        let text = format!(
            "{}\n{}\n",
            line("user", 1, json!(format!("Please look after part {number}"))),
            line("assistant", 2, said)
        );
        fs::write(folder.join(format!("{session}.jsonl")), text)?;
    }
    Ok(())
}
