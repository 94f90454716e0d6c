//! Hooks while a daemon runs: how soon what they were told can be found, and what they cost, whatever
//! becomes of the daemon.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Result, bail, ensure};
use rustix::process::Signal;
use serde_json::{Value, json};
use thru_core::Layout;
use thru_recall::SearchRequest;
use thru_redact::Redactor;
use thru_store::Store;

use super::{Measure, Place, milliseconds};
use crate::metrics::{median, quantile};
use crate::process::Task;
use crate::resident::Daemon;

/// The time after which a search for an event is given up.
const PATIENCE: Duration = Duration::from_secs(30);
/// The interval between searches.
const LOOK: Duration = Duration::from_millis(2);
/// The lifetime of a daemon that is killed repeatedly.
const LIFE: Duration = Duration::from_millis(100);
/// Hooks that are called one after the other before the daemon's state is another.
const IN_A_ROW: usize = 20;

/// Events of a session of ours, each with a word that occurs nowhere else.
struct Events {
    number: usize,
}

impl Events {
    fn next(&mut self, event: &str) -> (String, Vec<u8>) {
        self.number += 1;
        // The words of other runs must not be found.
        let word = format!("mark{}x{}", std::process::id(), self.number);
        let fields = match event {
            "UserPromptSubmit" => json!({ "prompt": format!("Where does {word} come from?") }),
            _ => json!({
                "tool_name": "Bash",
                "tool_use_id": format!("toolu_{word}"),
                "tool_input": { "command": format!("grep -rn {word} src") },
                "tool_response": { "stdout": "   Compiling rocket v0.1.0\n".repeat(100) },
            }),
        };
        let mut payload = json!({
            "session_id": format!("{:08x}-da3a-4000-8000-000000000000", std::process::id()),
            "transcript_path": "/nowhere/session.jsonl",
            "cwd": "/home/ada/rocket",
            "prompt_id": word,
        });
        if let (Value::Object(payload), Value::Object(fields)) = (&mut payload, fields) {
            payload.extend(fields);
        }
        (word, payload.to_string().into_bytes())
    }
}

/// Measures the time from the start of a hook until a search finds its event.
pub(super) fn found(place: &Place<'_>, runs: usize) -> Result<Vec<Measure>> {
    place.program.run(place.home, Task::Intake)?;
    let daemon = Daemon::start(&place.program, place.home)?;
    daemon.settle()?;
    let mut events = Events { number: 0 };
    let mut measures = Vec::new();
    for event in ["PostToolUse", "UserPromptSubmit"] {
        let mut times = Vec::new();
        let mut looks = Vec::new();
        for _ in 0..runs.max(1) {
            let (word, input) = events.next(event);
            let (time, look) = time_to_find(place, event, &word, &input)?;
            times.push(time);
            looks.push(look);
            // What came before must not be what the daemon waits for.
            std::thread::sleep(Duration::from_millis(150));
        }
        let look = median(&looks).unwrap_or(f64::NAN);
        for (share, name, reach) in [(0.5, "p50", "300 ms"), (0.95, "p95", "1.5 s")] {
            let what = format!("{event} until it is found, {name}");
            let measure = Measure::of_times(what, &times, share, reach);
            let note = format!("{}; one look takes {look:.1}", measure.note);
            measures.push(measure.with_note(note));
        }
    }
    Ok(measures)
}

/// The time until a word is found, and the time that the last look took.
fn time_to_find(place: &Place<'_>, event: &str, word: &str, input: &[u8]) -> Result<(f64, f64)> {
    let layout = Layout::new(place.home);
    let redactor = Redactor::builtin();
    let request = SearchRequest { query: word.to_owned(), limit: 3, ..SearchRequest::default() };
    let started = Instant::now();
    let hook = place.program.start_hook(place.home, event, input)?;
    let mut ended = Some(hook);
    loop {
        let looking = Instant::now();
        let store = Store::open_to_read(&layout)?;
        let answer = thru_recall::search(
            &layout,
            &store,
            &redactor,
            &request,
            thru_recall::without_embedding("not measured"),
        )?;
        if !answer.sessions.is_empty() {
            let times = (milliseconds(started.elapsed()), milliseconds(looking.elapsed()));
            if let Some(hook) = ended.take() {
                hook.wait_with_output()?;
            }
            return Ok(times);
        }
        ensure!(started.elapsed() < PATIENCE, "{word} is not found");
        std::thread::sleep(LOOK);
    }
}

/// The state of the daemon.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Running,
    Stopped,
    Hung,
    Dying,
}

/// Measures hooks of tools in each state of the daemon.
pub(super) fn walls(place: &Place<'_>, runs: usize) -> Result<Vec<Measure>> {
    const STATES: [State; 4] = [State::Running, State::Stopped, State::Hung, State::Dying];
    let mut events = Events { number: 1_000_000 };
    let mut times: [Vec<f64>; 4] = Default::default();
    // In turn, so that a busy machine is busy for all of them.
    for _ in 0..runs.div_ceil(4).max(2) {
        for (state, times) in STATES.into_iter().zip(&mut times) {
            times.extend(in_state(place, state, &mut events)?);
        }
    }
    let medians: Vec<f64> = times.iter().filter_map(|times| median(times)).collect();
    let spread =
        quantile(&medians, 1.0).unwrap_or(f64::NAN) - quantile(&medians, 0.0).unwrap_or(0.0);
    let mut measures: Vec<Measure> = STATES
        .into_iter()
        .zip(&times)
        .map(|(state, times)| {
            let what = format!("PostToolUse 3 kB, daemon {state:?}, p50").to_lowercase();
            Measure::of_times(what, times, 0.5, "")
        })
        .collect();
    measures.push(Measure::new("… most that their medians differ", spread, "ms", "1 ms"));
    Ok(measures)
}

fn in_state(place: &Place<'_>, state: State, events: &mut Events) -> Result<Vec<f64>> {
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let dying = (state == State::Dying).then(|| {
            scope.spawn(|| -> Result<()> {
                while !over.load(Ordering::Acquire) {
                    let daemon = Daemon::start(&place.program, place.home)?;
                    std::thread::sleep(LIFE);
                    drop(daemon);
                }
                Ok(())
            })
        });
        let daemon = match state {
            State::Running | State::Hung => {
                let daemon = Daemon::start(&place.program, place.home)?;
                daemon.settle()?;
                Some(daemon)
            }
            State::Stopped | State::Dying => None,
        };
        if let (State::Hung, Some(daemon)) = (state, &daemon) {
            daemon.signal(Signal::STOP)?;
        }
        let timed = (0..IN_A_ROW)
            .map(|_| {
                let (_, input) = events.next("PostToolUse");
                let started = Instant::now();
                place.program.hook(place.home, "PostToolUse", &input)?;
                let time = milliseconds(started.elapsed());
                // As tools come, rather than one on the heels of the other.
                std::thread::sleep(Duration::from_millis(10));
                Ok(time)
            })
            .collect::<Result<Vec<f64>>>();
        over.store(true, Ordering::Release);
        if let Some(dying) = dying {
            dying.join().unwrap_or_else(|_| bail!("the thread that kills daemons panicked"))?;
        }
        timed
    })
}
