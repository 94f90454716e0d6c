//! `thru hook AGENT EVENT`: called by agents, hundreds of times a day, in the middle of their users' work.
//!
//! Hands standard input to the application and prints its answer: nothing, or one JSON object. Ends with
//! status 0 whatever happens, within a second.

use std::ffi::OsString;
use std::io::Write;
use std::panic::AssertUnwindSafe;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use thru_app::hook::{DEADLINE, HookCall, HookReply};
use thru_core::{Clock, Layout, SystemClock};

use crate::process::Process;

/// Time beyond the deadline for an answer that is just being printed.
const LAST_WORDS: Duration = Duration::from_millis(200);

/// The answer to a person who asks what the command is for.
const HELP: &str = "\
Records an event of an agent. Agents call this; `thru install` tells them to.

Usage: thru hook AGENT EVENT < PAYLOAD
";

/// Handles one event of an agent, given the agent's name and the event's. Always succeeds.
pub fn run(words: impl Iterator<Item = OsString>, process: &Process) -> ExitCode {
    let started = Instant::now();
    // An agent that we started ourselves: its sessions are not the user's work.
    if process.variable("THROUGHLINE_CHILD").is_some() {
        return ExitCode::SUCCESS;
    }
    let mut words = words.map(|word| word.to_string_lossy().into_owned());
    let mut word = || words.next().unwrap_or_default();
    let agent = word();
    if matches!(agent.as_str(), "-h" | "--help") {
        // A person asks: no agent has such a name.
        let _ = std::io::stdout().write_all(HELP.as_bytes());
        return ExitCode::SUCCESS;
    }
    let mut call = HookCall::new(agent, word(), started);
    call.project =
        call.project_variable().and_then(|name| process.variable(name)).map(PathBuf::from);
    // Without a home there is nowhere to note even this.
    let Ok(places) = process.places() else { return ExitCode::SUCCESS };
    let layout = places.layout.clone();
    let answering = Arc::new(AtomicBool::new(false));
    watch(&layout, &call, &answering);
    // A panic may quote what it was about; only its place is kept, and the agent sees nothing of it.
    let place = Arc::new(Mutex::new(String::new()));
    let noted = Arc::clone(&place);
    std::panic::set_hook(Box::new(move |panic| {
        if let (Ok(mut noted), Some(location)) = (noted.lock(), panic.location()) {
            *noted = format!("{}:{}", location.file(), location.line());
        }
    }));
    let handled = std::panic::catch_unwind(AssertUnwindSafe(|| {
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let machine = Arc::new(process.machine());
        call.handle(&mut std::io::stdin().lock(), places, machine, &clock)
    }));
    let HookReply(output) = handled.unwrap_or_else(|_| {
        let place = place.lock().map(|place| place.clone()).unwrap_or_default();
        let reason = format!("a bug in Throughline, at {place}");
        call.note(&layout, &SystemClock, &reason, String::new());
        HookReply::default()
    });
    if !output.is_empty() {
        answering.store(true, Ordering::Release);
        // The agent may have stopped listening: the event is recorded all the same.
        let mut stdout = std::io::stdout();
        let _ = stdout.write_all(output.as_bytes()).and_then(|()| stdout.flush());
    }
    call.note_time(&layout, &SystemClock);
    ExitCode::SUCCESS
}

/// Ends the process when its time is over, wherever it hangs.
fn watch(layout: &Layout, call: &HookCall, answering: &Arc<AtomicBool>) {
    let (layout, call, answering) = (layout.clone(), call.clone(), Arc::clone(answering));
    // The hook goes on without a watch: everything that it waits for has limits of its own.
    let _ = std::thread::Builder::new().spawn(move || {
        std::thread::sleep(DEADLINE);
        let last = Instant::now() + LAST_WORDS;
        // The disk may be what hangs.
        let noting = std::thread::Builder::new().spawn(move || {
            call.expire(&layout, &SystemClock);
        });
        let is_noting = || noting.as_ref().is_ok_and(|noting| !noting.is_finished());
        while (answering.load(Ordering::Acquire) || is_noting()) && Instant::now() < last {
            std::thread::sleep(Duration::from_millis(5));
        }
        end()
    });
}

#[expect(clippy::exit, reason = "another thread hangs, and the agent must not wait for it")]
fn end() -> ! {
    std::process::exit(0)
}
