//! `thru hook AGENT EVENT`: what agents call, hundreds of times a day, inside somebody's work.
//!
//! Reads the event from standard input, keeps it in the journal, and prints nothing or one JSON object.
//! It ends with status 0 whatever happens, within a second, and needs nobody else to be running. What
//! goes wrong is noted for `thru doctor`.

mod briefing;
mod waiting;

use std::ffi::OsString;
use std::io::{Read, Write};
use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use thru_app::compaction;
use thru_app::ingest::exclusions::Exclusions;
use thru_app::{App, Machine, Places};

use thru_agents::hooks::{self, Adapter, Event, HookInput, HookReply};
use thru_capture::failures::{self, Failure};
use thru_capture::session::{Claim, Session};
use thru_capture::timings::{self, Timing};
use thru_capture::{
    Recorded, Recorder, begin_turn, event_id, pause, record_key, rules, session_key,
};
use thru_config::{Config, Note};
use thru_core::{Clock, SystemClock, Timestamp};
use thru_intake::Moment;
use thru_journal::journal::Journal;
use thru_redact::{Redactor, Report};

use crate::environment;
use thru_app::app::settings;
use thru_app::{background, embedding};

/// After this time the agent must not wait any longer. Agents wait longer than this by themselves.
const DEADLINE: Duration = Duration::from_secs(1);
/// An answer that is being printed at that moment gets this much more.
const LAST_WORDS: Duration = Duration::from_millis(200);
/// What a session holds before its context is compacted is read within this time, or later.
const TIME_TO_KEEP: Duration = Duration::from_millis(700);
/// … and what was read is kept within this time, or later.
const TIME_TO_HAVE_KEPT: Duration = Duration::from_millis(900);
/// The longest input. Agents shorten what is longer; an endless one must end somewhere.
const LONGEST_INPUT: u64 = 32 * 1024 * 1024;

/// How a hook was called.
#[derive(Clone)]
struct Called {
    agent: String,
    /// The agent's adapter; nothing where it has no hooks.
    adapter: Option<&'static Adapter>,
    event: String,
    /// The project that the session was begun in, as the agent says.
    project: Option<PathBuf>,
    started: Instant,
}

/// What could not be done, and the shape of what it was to be done with.
struct Trouble {
    reason: String,
    shape: String,
    /// Whether the user is told: something that happened is not kept.
    lost: bool,
}

pub(crate) fn run(words: impl Iterator<Item = OsString>) -> ExitCode {
    let started = Instant::now();
    // An agent that we started ourselves: what it does is no part of anybody's work.
    if std::env::var_os("THROUGHLINE_CHILD").is_some_and(|value| !value.is_empty()) {
        return ExitCode::SUCCESS;
    }
    let mut words = words.map(|word| word.to_string_lossy().into_owned());
    let agent = words.next().unwrap_or_default();
    let adapter = hooks::adapter_named(&agent);
    let project = adapter.and_then(|adapter| adapter.capture.project_variable());
    let called = Called {
        agent,
        adapter,
        event: words.next().unwrap_or_default(),
        project: project.and_then(std::env::var_os).map(PathBuf::from),
        started,
    };
    // Without a home there is nowhere to note even this.
    let Ok(places) = environment::places() else { return ExitCode::SUCCESS };
    let answering = Arc::new(AtomicBool::new(false));
    watch(&places, &called, &answering);
    let layout = places.layout.clone();
    // A panic may quote what it was about; only its place is kept, and the agent sees nothing of it.
    let place = Arc::new(Mutex::new(String::new()));
    let noted = Arc::clone(&place);
    std::panic::set_hook(Box::new(move |panic| {
        if let (Ok(mut noted), Some(location)) = (noted.lock(), panic.location()) {
            *noted = format!("{}:{}", location.file(), location.line());
        }
    }));
    let outcome = std::panic::catch_unwind(AssertUnwindSafe(|| {
        work(places, Arc::new(environment::machine()), &called)
    }));
    let output = match outcome {
        Ok(Ok(output)) => output,
        Ok(Err(trouble)) => {
            note(&layout, &called, &trouble.reason, trouble.shape);
            match trouble.lost {
                true => lost(&called, &trouble.reason),
                false => String::new(),
            }
        }
        Err(_) => {
            let place = place.lock().map(|place| place.clone()).unwrap_or_default();
            note(&layout, &called, &format!("a bug in Throughline, at {place}"), String::new());
            String::new()
        }
    };
    if !output.is_empty() {
        answering.store(true, Ordering::Release);
        // Nobody listens any more: the event is kept all the same.
        let mut stdout = std::io::stdout();
        let _ = stdout.write_all(output.as_bytes()).and_then(|()| stdout.flush());
    }
    let at = SystemClock.now();
    timings::note(&layout, &Timing { at, event: called.event, took: started.elapsed() });
    ExitCode::SUCCESS
}

/// Ends the process when its time is over, wherever it hangs.
fn watch(places: &Places, called: &Called, answering: &Arc<AtomicBool>) {
    let (layout, called, answering) =
        (places.layout.clone(), called.clone(), Arc::clone(answering));
    // Without a watch we go on: everything that is waited for has limits of its own.
    let _ = std::thread::Builder::new().spawn(move || {
        std::thread::sleep(DEADLINE);
        let last = Instant::now() + LAST_WORDS;
        // The disk may be what hangs.
        let noting = std::thread::Builder::new()
            .spawn(move || note(&layout, &called, "it took longer than a second", String::new()));
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

fn note(layout: &thru_core::Layout, called: &Called, reason: &str, shape: String) {
    let failure = Failure {
        at: SystemClock.now(),
        event: format!("{} {}", word(&called.agent), word(&called.event)),
        reason: reason.to_owned(),
        shape,
        version: env!("CARGO_PKG_VERSION").to_owned(),
    };
    failures::note(layout, &failure);
}

/// Tells the user that something was not kept, where anybody listens.
fn lost(called: &Called, reason: &str) -> String {
    let message = format!("Throughline could not record this: {reason}. See `thru doctor`.");
    let reply = HookReply { context: None, message: Some(message) };
    let Some(Adapter { capture, .. }) = called.adapter else { return String::new() };
    capture.answer(&capture.event(&called.event), &reply)
}

/// Keeps the event and makes the answer.
fn work(places: Places, machine: Arc<Machine>, called: &Called) -> Result<String, Trouble> {
    let raw = read_input()?;
    let refused = |reason: String| Trouble { reason, shape: failures::shape(&raw), lost: false };
    let Some(adapter) = called.adapter else {
        return Err(refused(format!(
            "there are no hooks of an agent `{}`",
            shortened(&called.agent)
        )));
    };
    let is_name = |event: &str| {
        (1..=64).contains(&event.len()) && event.bytes().all(|b| b.is_ascii_alphabetic())
    };
    if !is_name(&called.event) {
        return Err(refused("no event was named".to_owned()));
    }
    let input = HookInput::parse(adapter, &called.event, &raw)
        .map_err(|error| refused(error.to_string()))?;
    let directory = input.payload().directory().map(PathBuf::from).unwrap_or_default();
    // What must not be kept, the user said there: as long as nobody can read it, nothing is. What is
    // missing comes with the transcripts.
    let unknown = |reason: String| Trouble { lost: true, ..refused(reason) };
    let (config, notes) = settings(&places.config_file, &directory)
        .map_err(|error| unknown(shortened(&format!("{error:#}"))))?;
    if let Some(note) = notes.iter().find(|note| note.is_about_what_is_kept()) {
        return Err(unknown(reason_of(note)));
    }
    // Once a session: what else goes wrong must not drown in it.
    if input.event == Event::SessionStart {
        for wrong in notes.iter().filter(|note| !note.is_of_project()) {
            note(&places.layout, called, &reason_of(wrong), String::new());
        }
    }
    if !config.hooks_enabled() || !config.tracking_enabled() {
        return Ok(String::new());
    }
    let now = SystemClock.now();
    let redactor = rules::redactor(&places.layout, config.redact_allow());
    let session = Session::of(&places.layout, &session_key(&input));
    let app =
        App::new(places.clone(), machine.clone(), directory.clone(), config.clone(), Vec::new());
    if let Some(pause) = pause::current(&places.layout, now) {
        // Where the mark cannot be written, recording will find that out.
        let _ = begin_turn(&input, &redactor, &session);
        return Ok(briefing::paused(&input, pause));
    }
    let transcript = input.payload().transcript();
    if is_left_out(&config, &directory, transcript).map_err(unknown)? {
        return Ok(String::new());
    }
    // What a session is begun in decides as well: agents go from there to anywhere.
    if let Some(project) = called.project.as_deref().filter(|project| *project != directory) {
        let (config, _) = settings(&places.config_file, project)
            .map_err(|error| unknown(shortened(&format!("{error:#}"))))?;
        if is_left_out(&config, project, transcript).map_err(unknown)? {
            return Ok(String::new());
        }
    }
    let journal = Journal::open(places.layout.journal(), &machine.host)
        .map_err(|error| refused(error.to_string()))?;
    let recorder = Recorder {
        journal: &journal,
        redactor: &redactor,
        skip_tools: config.capture_skip_tools(),
    };
    // Somebody else finds it out, while the event is being kept.
    let meaning = briefing::meaning(&app, &input, &redactor);
    let recorded = recorder
        .record(&input, &raw, &session, now)
        .map_err(|error| Trouble { lost: true, ..refused(error.to_string()) })?;
    if input.event == Event::PreCompact
        && recorded == Recorded::Kept
        && !input.is_of_another_host()
        && let Claim::Ours { .. } = session.claim(event_id(&input, &raw), now)
    {
        let event = Compacting { input: &input, raw: &raw, session: &session, now, called };
        keep_what_survives(&app, &event, &redactor);
    }
    // Not before: it would only be in the way.
    background::poke(&app);
    if input.event == Event::SessionStart {
        background::start(&app);
    }
    let mut output = String::new();
    if input.event.ends_turn() {
        session.note_end_of_turn(now);
    }
    if input.event.takes_context()
        && recorded == Recorded::Kept
        && !input.is_of_another_host()
        && let Claim::Ours { last } = session.claim(event_id(&input, &raw), now)
    {
        let layout = places.layout.clone();
        let asked = briefing::Asked {
            input: &input,
            session: &session,
            last,
            now,
            project: called.project.as_deref(),
            started: called.started,
        };
        let meaning = embedding::awaited(meaning);
        output = briefing::brief(&app, &asked, &recorder, meaning).unwrap_or_else(|error| {
            // The event is kept; only the answer is missing.
            note(&layout, called, &format!("no context: {error:#}"), String::new());
            String::new()
        });
    } else if input.event == Event::SessionEnd && !config.async_indexing() {
        briefing::index_now(&app, &input);
    }
    Ok(output)
}

/// A compaction that begins.
struct Compacting<'a> {
    input: &'a HookInput,
    raw: &'a [u8],
    session: &'a Session,
    now: Timestamp,
    called: &'a Called,
}

/// Keeps what the session holds before its context is compacted. What is not done in time is done later.
fn keep_what_survives(app: &App, event: &Compacting<'_>, redactor: &Redactor) {
    let Compacting { input, raw, session, now, called } = *event;
    let payload = input.payload();
    let directory = payload.directory().unwrap_or_default();
    let root = called.project.as_deref().map(|root| root.to_string_lossy().into_owned());
    // What is said in a private turn is nobody's business.
    let asked = payload
        .instructions()
        .filter(|asked| !asked.trim().is_empty() && !session.is_private(payload.turn()))
        .map(|asked| redactor.clean_text(asked, &mut Report::default()).into_inner());
    let moment = Moment {
        session: session_key(input),
        event: record_key(input, raw, now).to_string(),
        at: now,
        trigger: word(payload.trigger().unwrap_or("unknown")),
        custom_instructions: asked,
        directory: root.or_else(|| Some(directory.to_owned()).filter(|cwd| !cwd.is_empty())),
        place: None,
    };
    let owned = app.clone();
    let transcript = PathBuf::from(payload.transcript().unwrap_or_default());
    let deadline = called.started + TIME_TO_KEEP;
    let kept = waiting::within(called.started + TIME_TO_HAVE_KEPT, move || {
        compaction::keep_within(&owned, moment, &transcript, deadline)
    });
    if let Some(Err(error)) = kept {
        note(&app.layout, called, &format!("no snapshot yet: {error:#}"), String::new());
    }
}

fn read_input() -> Result<Vec<u8>, Trouble> {
    let mut raw = Vec::new();
    let read = std::io::stdin().lock().take(LONGEST_INPUT + 1).read_to_end(&mut raw);
    let trouble = |reason: String, bytes: usize| Trouble {
        reason,
        shape: format!("{bytes} bytes or more"),
        lost: false,
    };
    match read {
        Err(error) => Err(trouble(format!("the input cannot be read: {error}"), raw.len())),
        Ok(_) if raw.len() as u64 > LONGEST_INPUT => {
            Err(Trouble { lost: true, ..trouble("the input is too long".to_owned(), raw.len()) })
        }
        Ok(_) => Ok(raw),
    }
}

/// Whether the user's settings leave out what happens in a directory.
///
/// # Errors
/// Where a pattern cannot be used: then nobody knows what must not be kept.
fn is_left_out(
    config: &Config,
    directory: &Path,
    transcript: Option<&str>,
) -> Result<bool, String> {
    if config.capture_off() {
        return Ok(true);
    }
    let patterns = config.capture_ignore();
    if patterns.is_empty() {
        return Ok(false);
    }
    let ignored = Exclusions::new(patterns).map_err(|error| shortened(&format!("{error:#}")))?;
    Ok(ignored.match_directory(directory)
        || transcript.is_some_and(|transcript| ignored.apply_to_file(Path::new(transcript))))
}

fn reason_of(note: &Note) -> String {
    shortened(&note.to_string())
}

/// What was named on the command line, as far as it is a name.
fn word(text: &str) -> String {
    text.chars().filter(|c| c.is_ascii_alphabetic() || *c == '-').take(40).collect()
}

fn shortened(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(200).collect()
}
