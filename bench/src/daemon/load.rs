//! Many sessions at once while a daemon runs: nothing may be lost, nothing be there twice.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime};

use anyhow::{Result, bail, ensure};
use serde_json::{Value, json};
use thru_agents::hooks::{self, HookInput};
use thru_capture::session::Session;
use thru_capture::{Recorded, Recorder, session_key};
use thru_core::{Clock, Layout, SystemClock, Timestamp};
use thru_journal::journal::Journal;
use thru_redact::Redactor;

use super::{Measure, Place, milliseconds};
use crate::home::host;
use crate::marks::{self, Kept};
use crate::metrics::quantile;
use crate::process::Task;
use crate::resident::{Daemon, paths};

/// A rate is held if so much of it is reached.
const HELD: f64 = 0.97;

/// Marks of this run: others in the same home have others.
fn first_mark() -> u64 {
    let now = SystemTime::UNIX_EPOCH.elapsed().map_or(0, |since| since.as_micros());
    now as u64
}

/// The hooks that were called.
struct Called {
    /// Milliseconds of each event.
    times: Vec<f64>,
    took: Duration,
    /// The time the daemon took afterwards to ingest the rest.
    behind: Duration,
    kept: Kept,
}

/// Sessions of which each calls a hook again and again.
pub(super) fn hooks(
    place: &Place<'_>,
    sessions: usize,
    rate: u32,
    time: Duration,
) -> Result<Vec<Measure>> {
    let called = play(place, sessions, rate, time, &|input| {
        place.program.hook(place.home, "PostToolUse", input).map(drop)
    })?;
    Ok(measures(&called, &format!("{sessions} sessions, hooks at {rate}/s"), rate))
}

/// The same without processes: events are recorded as hooks do it.
pub(super) fn recorded(
    place: &Place<'_>,
    sessions: usize,
    rate: u32,
    time: Duration,
) -> Result<Vec<Measure>> {
    let layout = Layout::new(place.home);
    let host = host(&place.program, place.home)?;
    let redactor = Redactor::builtin();
    let socket = paths(place.home).socket;
    let called = play(place, sessions, rate, time, &|raw| {
        let input = HookInput::parse(hooks::ADAPTERS[0], "PostToolUse", raw)?;
        let session = Session::at(&layout, &session_key(&input));
        let journal = Journal::open(layout.journal(), &host)?;
        let recorder = Recorder { journal: &journal, redactor: &redactor, skip_tools: &[] };
        let recorded = recorder.record(&input, raw, &session, SystemClock.now())?;
        ensure!(recorded == Recorded::Kept, "an event was not kept: {recorded:?}");
        thru_daemon::poke(&socket);
        Ok(())
    })?;
    Ok(measures(&called, &format!("{sessions} sessions, recorded at {rate}/s"), rate))
}

fn measures(called: &Called, what: &str, rate: u32) -> Vec<Measure> {
    let Called { times, took, behind, kept } = called;
    let reached = times.len() as f64 / took.as_secs_f64();
    let is_held = reached >= HELD * f64::from(rate);
    let p99 = quantile(times, 0.99).unwrap_or(f64::NAN);
    let p50 = quantile(times, 0.5).unwrap_or(f64::NAN);
    let rate_note = if is_held { "held" } else { "not held" };
    let wrong = kept.lost + kept.doubled + kept.not_in_store;
    vec![
        Measure {
            runs: times.len(),
            note: format!(
                "{rate_note}: {reached:.0}/s for {:.0} s; p50 {p50:.1}",
                took.as_secs_f64()
            ),
            ..Measure::new(format!("{what}: p99"), p99, "ms", "20 ms")
        },
        Measure {
            runs: kept.sent,
            note: format!(
                "{} lost, {} doubled, {} not once in the store, {} late; the rest was brought in \
                 after {:.0} ms",
                kept.lost,
                kept.doubled,
                kept.not_in_store,
                kept.late,
                milliseconds(*behind)
            ),
            ..Measure::new(format!("{what}: lost or doubled"), wrong as f64, "events", "0")
        },
    ]
}

fn play(
    place: &Place<'_>,
    sessions: usize,
    rate: u32,
    time: Duration,
    call: &(dyn Fn(&[u8]) -> Result<()> + Sync),
) -> Result<Called> {
    place.program.run(place.home, Task::Intake)?;
    let daemon = Daemon::start(&place.program, place.home)?;
    daemon.settle()?;
    let first = first_mark();
    let next = AtomicU64::new(first);
    let sessions = sessions.max(1);
    let pace = Duration::from_secs_f64(sessions as f64 / f64::from(rate.max(1)));
    let each = (time.as_secs_f64() / pace.as_secs_f64()).round().max(1.0) as u32;
    let (began, since) = (Instant::now(), Timestamp::now());
    let times = std::thread::scope(|scope| -> Result<Vec<f64>> {
        let playing: Vec<_> = (0..sessions)
            .map(|number| {
                let next = &next;
                scope.spawn(move || -> Result<Vec<f64>> {
                    let offset = pace.mul_f64(number as f64 / sessions as f64);
                    let mut times = Vec::new();
                    for event in 0..each {
                        let due = began + offset + pace * event;
                        std::thread::sleep(due.saturating_duration_since(Instant::now()));
                        let input = input(first, number, next.fetch_add(1, Ordering::AcqRel));
                        let started = Instant::now();
                        call(&input)?;
                        times.push(milliseconds(started.elapsed()));
                    }
                    Ok(times)
                })
            })
            .collect();
        let mut all = Vec::new();
        for session in playing {
            all.extend(session.join().unwrap_or_else(|_| bail!("a session panicked"))?);
        }
        Ok(all)
    })?;
    let took = began.elapsed();
    let settling = Instant::now();
    daemon.settle()?;
    let behind = settling.elapsed();
    drop(daemon);
    place.program.run(place.home, Task::Intake)?;
    let kept = marks::look_for(place.home, since, first..next.load(Ordering::Acquire))?;
    Ok(Called { times, took, behind, kept })
}

fn input(run: u64, session: usize, mark: u64) -> Vec<u8> {
    let payload: Value = json!({
        "session_id": format!("{session:08x}-10ad-4000-8000-{:012x}", run & 0xffff_ffff_ffff),
        "transcript_path": "/nowhere/session.jsonl",
        "cwd": "/home/ada/rocket",
        "prompt_id": "p",
        "mark": mark,
        "tool_name": "Bash",
        "tool_use_id": format!("toolu_{mark}"),
        "tool_input": { "command": format!("make part-{mark}") },
        "tool_response": { "stdout": "   Compiling rocket v0.1.0\n".repeat(100) },
    });
    payload.to_string().into_bytes()
}
