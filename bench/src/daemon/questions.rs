//! The work before a question is answered without a daemon, and the cost of closing a session
//! again.

use std::fs;
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::{Measure, Place, fresh, milliseconds};
use crate::corpus;
use crate::home::copy;
use crate::process::{Program, Task};
use crate::resident::Daemon;

/// Sessions that were not ingested, and bytes of each.
const SESSIONS: usize = 10;
const BYTES: usize = 2_000_000;
/// A deadline that is too short for them, in milliseconds.
const SHORT: u64 = 300;
/// The time of a question without that work.
const BESIDES: u64 = 200;

/// Measures a search that indexes sessions first.
pub(super) fn index(program: &Program, runs: usize) -> Result<Vec<Measure>> {
    let (_folder, home, claude) = fresh()?;
    let written = corpus::recent(&claude, SESSIONS + 1, BYTES, 5)?;
    // One of the project is known, so that a question looks where it lies.
    let (_, known) = written.first().context("nothing was written")?;
    let aside = claude.join("aside");
    fs::create_dir_all(&aside)?;
    let rest: Vec<_> = written.iter().skip(1).map(|(_, path)| path).collect();
    for path in &rest {
        fs::rename(path, aside.join(path.file_name().context("no name")?))?;
    }
    let of_history = program.in_history(&claude)?;
    of_history.run(&home, Task::Import)?;
    for path in &rest {
        fs::rename(aside.join(path.file_name().context("no name")?), path)?;
    }
    ensure!(known.exists(), "the known session is gone");

    let mut measures = Vec::new();
    for (deadline, reach) in
        [(None, "2 s".to_owned()), (Some(SHORT), format!("{} ms", SHORT + BESIDES))]
    {
        let (mut times, mut indexed, mut left_out) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..runs.max(1) {
            let (_copied, mine, _) = fresh()?;
            copy(&home, &mine)?;
            if let Some(deadline) = deadline {
                let settings = format!("[search]\nindex_deadline_ms = {deadline}\n");
                fs::write(mine.join("config.toml"), settings)?;
            }
            let mut search = of_history.command_of(&mine, &["search", "--all", "--json", "rocket"]);
            let started = Instant::now();
            let output = search.stdout(Stdio::piped()).output()?;
            times.push(milliseconds(started.elapsed()));
            let answer: Value =
                serde_json::from_slice(&output.stdout).context("the answer is no JSON")?;
            let preparation = &answer["preparation"];
            indexed.push(preparation["indexed"].as_u64().unwrap_or(0));
            left_out.push(preparation["left_out"].as_array().map_or(0, Vec::len));
        }
        let within = deadline.map_or_else(String::new, |deadline| format!(" within {deadline} ms"));
        let what = format!("search that indexes {SESSIONS} sessions of 2 MB first{within}, worst");
        let measure = Measure::of_times(what, &times, 1.0, &reach);
        let note = format!("{}; indexed {indexed:?}, left out {left_out:?}", measure.note);
        measures.push(measure.with_note(note));
    }
    Ok(measures)
}

/// Measures closing an unchanged session.
pub(super) fn close(place: &Place<'_>, runs: usize) -> Result<Vec<Measure>> {
    let written = corpus::recent(place.claude, 1, BYTES, 7)?;
    let (id, _) = written.first().context("nothing was written")?;
    place.program.run(place.home, Task::Import)?;
    let close = || place.program.command_of(place.home, &["close", id, "--json"]);
    let first = said(&mut close())?;
    let mut measures = Vec::new();
    for with_daemon in [false, true] {
        let daemon = match with_daemon {
            true => Some(Daemon::start(&place.program, place.home)?),
            false => None,
        };
        if let Some(daemon) = &daemon {
            daemon.settle()?;
        }
        let mut times = Vec::new();
        for _ in 0..runs.max(1) {
            let started = Instant::now();
            let again = said(&mut close())?;
            times.push(milliseconds(started.elapsed()));
            ensure!(again["episode_uuid"] == first["episode_uuid"], "it is indexed as another");
            ensure!(
                again["message"].as_str().is_some_and(|said| said.contains("unchanged")),
                "it was not unchanged: {again}"
            );
        }
        let beside = if with_daemon { "beside a daemon" } else { "no daemon" };
        let what = format!("`thru close` of an unchanged session of 2 MB, {beside}, p50");
        measures.push(Measure::of_times(what, &times, 0.5, "10 ms"));
    }
    measures.push(Measure::of_times(
        "… `thru --version` beside it, p50",
        &(0..runs).map(|_| version(place)).collect::<Result<Vec<_>>>()?,
        0.5,
        "",
    ));
    Ok(measures)
}

fn said(command: &mut Command) -> Result<Value> {
    let output = command.stdout(Stdio::piped()).output()?;
    let answer: Value = serde_json::from_slice(&output.stdout).context("the answer is no JSON")?;
    ensure!(output.status.success(), "it ended with {}: {answer}", output.status);
    Ok(answer)
}

fn version(place: &Place<'_>) -> Result<f64> {
    let started = Instant::now();
    place.program.command_of(place.home, &["--version"]).output()?;
    Ok(milliseconds(started.elapsed()))
}
