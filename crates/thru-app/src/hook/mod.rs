//! Hooks: an agent reports an event, the event is recorded, and the start of a session or a prompt is answered
//! from memory.
//!
//! A hook runs in the middle of the user's work: it keeps first and answers then, opens no store unless it
//! answers, and needs no other process to be running. Failures are noted for the doctor. The caller watches
//! the [`DEADLINE`], for whatever hangs here.

mod brief;
pub mod report;
mod within;

use std::cell::Cell;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use thru_agents::hooks::{self, Adapter, Event, HookInput, InvalidInput};
use thru_capture::failures::{self, Failure};
use thru_capture::lost;
use thru_capture::session::{Claim, Session};
use thru_capture::timings::{self, Timing};
use thru_capture::{
    Recorded, Recorder, begin_turn, event_id, pause, record_key, rules, session_key,
};
use thru_config::{Config, Note};
use thru_core::{Clock, Layout, Timestamp};
use thru_intake::CompactionMoment;
use thru_journal::journal::Journal;
use thru_redact::{Redactor, Report};

use crate::app::settings;
use crate::ingest::exclusions::Exclusions;
use crate::ingest::reading::ask_to_watch;
use crate::words::plural;
use crate::{
    App, Call, Machine, Patience, Places, Trouble, background, compaction, embedding, fresh,
};

/// The time after which the agent must not wait any longer. Agents themselves wait longer than this.
pub const DEADLINE: Duration = Duration::from_secs(1);
/// The time to read the session before its context is compacted; the rest is read later.
const TIME_TO_KEEP: Duration = Duration::from_millis(700);
/// The time by which that snapshot is kept, or left to be made later.
const TIME_TO_HAVE_KEPT: Duration = Duration::from_millis(900);
/// The longest input, in bytes. Agents shorten what is longer; an endless one must end somewhere.
const LONGEST_INPUT: u64 = 32 * 1024 * 1024;

/// A call of a hook.
#[derive(Clone, Debug)]
pub struct HookCall {
    agent: String,
    adapter: Option<&'static Adapter>,
    event: String,
    started: Instant,
    /// The project that the session was started in, as the agent says.
    pub project: Option<PathBuf>,
    /// True if the caller hands the answer on to the session.
    answers: bool,
    /// True once the fate of the event is known: it is recorded, or not to be recorded, or its loss is counted.
    settled: Arc<AtomicBool>,
    /// True once it is recorded.
    kept: Arc<AtomicBool>,
}

/// An event that was handled.
struct Handled {
    /// The fate of its record; `None` where nothing is recorded, by a setting or a pause.
    recorded: Option<Recorded>,
    /// The answer, as the agent reads it.
    output: String,
}

impl Handled {
    /// An event of which nothing is recorded.
    const fn left_out(output: String) -> Self {
        Self { recorded: None, output }
    }
}

/// The answer to a hook: text for its standard output, empty in most cases.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HookReply(pub String);

/// The reason why an event could not be handled, with the shape of its input.
struct Failed {
    reason: String,
    shape: String,
    /// True if the event is lost and the user has to know.
    lost: bool,
}

impl HookCall {
    /// The call of a hook by an agent for an event, as both are named on the command line.
    pub fn new(agent: String, event: String, started: Instant) -> Self {
        let adapter = hooks::adapter_named(&agent);
        Self {
            agent,
            adapter,
            event,
            started,
            project: None,
            answers: true,
            settled: Arc::default(),
            kept: Arc::default(),
        }
    }

    /// Returns the variable in which the agent names the project.
    pub fn project_variable(&self) -> Option<&'static str> {
        self.adapter?.capture.project_variable()
    }

    /// Records the event and makes the answer. Never fails: failures are noted, and the user is told of an
    /// event that is lost.
    pub fn handle(
        &self,
        input: &mut dyn Read,
        places: Places,
        machine: Arc<Machine>,
        clock: &Arc<dyn Clock>,
    ) -> HookReply {
        let layout = places.layout.clone();
        let worked = self.work(input, places, machine, clock);
        self.settle();
        match worked {
            Ok(handled) => HookReply(handled.output),
            Err(failed) => {
                failures::note(&layout, &self.failure(clock.now(), &failed));
                match failed.lost {
                    true => HookReply(self.lost(&layout, clock.now(), &failed.reason)),
                    false => HookReply::default(),
                }
            }
        }
    }

    /// Notes a failure for the doctor. `shape` is that of the input, if it was read.
    pub fn note(&self, layout: &Layout, clock: &dyn Clock, reason: &str, shape: String) {
        let failed = Failed { reason: reason.to_owned(), shape, lost: false };
        failures::note(layout, &self.failure(clock.now(), &failed));
    }

    /// Notes that the call has run out of time, and counts the event if it was not recorded by then.
    pub fn expire(&self, layout: &Layout, clock: &dyn Clock) {
        let lost = !self.settle();
        if lost {
            let _ = lost::count(layout, clock.now());
        }
        let reason = "it took longer than a second".to_owned();
        let failed = Failed { reason, shape: String::new(), lost };
        failures::note(layout, &self.failure(clock.now(), &failed));
    }

    /// Marks the fate of the event as known. Returns true if it was known before.
    fn settle(&self) -> bool {
        self.settled.swap(true, Ordering::AcqRel)
    }

    fn failure(&self, at: Timestamp, failed: &Failed) -> Failure {
        Failure {
            at,
            event: format!("{} {}", word(&self.agent), word(&self.event)),
            reason: failed.reason.clone(),
            shape: failed.shape.clone(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            lost: failed.lost,
        }
    }

    /// Notes the time that the call took until now.
    pub fn note_time(self, layout: &Layout, clock: &dyn Clock) {
        let took = self.started.elapsed();
        let is_kept = self.kept.load(Ordering::Acquire);
        timings::note(layout, &Timing { at: clock.now(), event: self.event, took, is_kept });
    }

    /// Counts an event that was not recorded, and returns the message to the user, for events at which the agent
    /// shows it. Of many tool calls only the first is worth one.
    fn lost(&self, layout: &Layout, now: Timestamp, reason: &str) -> String {
        let is_first = lost::count(layout, now).is_none_or(|events| events == 1);
        let message = format!("Throughline could not record this: {reason}. See `thru doctor`.");
        let reply = hooks::HookReply { context: None, message: Some(message) };
        let Some(Adapter { capture, .. }) = self.adapter else { return String::new() };
        match capture.event(&self.event) {
            Event::PostToolUse if !is_first => String::new(),
            event => capture.answer(&event, &reply),
        }
    }

    fn work(
        &self,
        input: &mut dyn Read,
        places: Places,
        machine: Arc<Machine>,
        clock: &Arc<dyn Clock>,
    ) -> Result<Handled, Failed> {
        let raw = read(input)?;
        let refused = |reason: String| Failed { reason, shape: failures::shape(&raw), lost: false };
        let unknown = |reason: String| Failed { lost: true, ..refused(reason) };
        let input = self.parse(&raw)?;
        let app = self.open(places, machine, clock, &input).map_err(unknown)?;
        let config = &app.config;
        if !config.hooks.enabled || !config.session_tracking.enabled {
            return Ok(Handled::left_out(String::new()));
        }
        let now = clock.now();
        let redactor = rules::redactor(&app.layout, &config.redact.allow);
        let session = Session::at(&app.layout, &session_key(&input));
        if let Some(pause) = pause::current(&app.layout, now) {
            // If the mark cannot be written, recording reports it later.
            let _ = begin_turn(&input, &redactor, &session);
            let reply = brief::paused(&input.event, pause);
            return Ok(Handled::left_out(input.adapter.capture.answer(&input.event, &reply)));
        }
        if self.is_left_out(&app, input.payload().transcript()).map_err(unknown)? {
            return Ok(Handled::left_out(String::new()));
        }
        let journal = Journal::open(app.layout.journal(), app.host())
            .map_err(|error| refused(error.to_string()))?;
        let recorder = Recorder {
            journal: &journal,
            redactor: &redactor,
            skip_tools: &config.capture.skip_tools,
        };
        // Embedded on a thread of its own, while the event is being recorded.
        let embedding =
            self.answers.then(|| brief::begin_embedding(&app, &input, &redactor)).flatten();
        let recorded = recorder
            .record(&input, &raw, &session, now)
            .map_err(|error| Failed { lost: true, ..refused(error.to_string()) })?;
        // What follows is the answer, which may take its time.
        self.settle();
        self.kept.store(recorded == Recorded::Kept, Ordering::Release);
        let happened = Happened { input: &input, raw: &raw, session: &session, recorded, now };
        if input.event == Event::PreCompact && happened.claim().is_some() {
            self.take_snapshot(&app, &happened, &redactor);
        }
        // Not before: the daemon would compete for the disk.
        background::poke(&app);
        if input.event == Event::SessionStart {
            // Hooks of a project, or of a plugin, are seen from there alone.
            let _ = ask_to_watch(&app.layout);
            background::start(&app);
        }
        let reply = self.reply(&app, &happened, &recorder, embedding);
        let output = input.adapter.capture.answer(&input.event, &reply);
        Ok(Handled { recorded: Some(recorded), output })
    }

    /// Reads the input as that of an event of an agent.
    fn parse(&self, raw: &[u8]) -> Result<HookInput, Failed> {
        let refused = |reason: String| Failed { reason, shape: failures::shape(raw), lost: false };
        let Some(adapter) = self.adapter else {
            return Err(refused(format!(
                "there are no hooks of an agent `{}`",
                shortened(&self.agent)
            )));
        };
        let is_name = |event: &str| {
            (1..=64).contains(&event.len()) && event.bytes().all(|b| b.is_ascii_alphabetic())
        };
        if !is_name(&self.event) {
            return Err(refused("no event was named".to_owned()));
        }
        HookInput::parse(adapter, &self.event, raw)
            // A session without a name that can be used is the one thing that the transcript may not make good.
            .map_err(|error| Failed {
                lost: error == InvalidInput::NotASession,
                ..refused(error.to_string())
            })
    }

    /// The reply to an event that was recorded: what the session is given, and what the user is told.
    fn reply(
        &self,
        app: &App,
        happened: &Happened<'_>,
        recorder: &Recorder<'_>,
        embedding: Option<embedding::EmbeddingTask>,
    ) -> hooks::HookReply {
        let &Happened { input, session, recorded, now, .. } = happened;
        let lost = (self.answers && recorded == Recorded::Kept && input.event.takes_message())
            .then(|| self.lost_before(&app.layout, now))
            .flatten();
        if input.event.ends_turn() {
            session.note_end_of_turn(now);
        }
        let mut reply = hooks::HookReply::default();
        if self.answers
            && input.event.takes_context()
            && let Some(Claim::Ours { last }) = happened.claim()
        {
            let (project, started) = (self.project.as_deref(), self.started);
            let request = brief::BriefRequest { input, session, last, now, project, started };
            reply = self.brief(app, &request, recorder, embedding);
            if input.event == Event::SessionStart {
                // What is not done now, the next start does.
                let _ = brief::hand_over_backlog(app);
            }
        } else if input.event == Event::SessionEnd
            && !app.config.hooks.async_indexing
            && app.config.session.auto_archive_on_end
        {
            brief::index_now(app, input);
        }
        reply.message = match (lost, reply.message) {
            (Some(lost), Some(message)) => Some(format!("{lost} {message}")),
            (lost, message) => lost.or(message),
        };
        reply
    }

    /// Opens the application where the session works.
    ///
    /// # Errors
    /// Returns the reason if the settings cannot be read. They say what must not be kept: nothing is then, and what is
    /// missing comes with the transcripts.
    fn open(
        &self,
        places: Places,
        machine: Arc<Machine>,
        clock: &Arc<dyn Clock>,
        input: &HookInput,
    ) -> Result<App, String> {
        let directory = input.payload().directory().map(PathBuf::from).unwrap_or_default();
        let mut app = App::open(places, machine, directory).map_err(reason)?;
        app.refuse_foreign().map_err(reason)?;
        app.clock = Arc::clone(clock);
        if let Some(note) = app.notes.iter().find(|note| note.is_about_what_is_kept()) {
            return Err(reason_of(note));
        }
        // Once a session, so that other failures do not drown in it.
        if input.event == Event::SessionStart {
            for wrong in
                app.notes.iter().filter(|note| !note.is_of_project() && !note.is_only_a_word())
            {
                self.note(&app.layout, &**clock, &reason_of(wrong), String::new());
            }
        }
        Ok(app)
    }

    /// True if the user's settings exclude what happens here. The project that the session was started in decides as well:
    /// agents go from there to anywhere.
    ///
    /// # Errors
    /// As [`is_left_out`], and if the settings of that project cannot be read.
    fn is_left_out(&self, app: &App, transcript: Option<&str>) -> Result<bool, String> {
        if is_left_out(&app.config, &app.directory, transcript)? {
            return Ok(true);
        }
        match self.project.as_deref().filter(|project| *project != app.directory) {
            None => Ok(false),
            Some(project) => {
                let (config, _) = settings(&app.config_file, project).map_err(reason)?;
                is_left_out(&config, project, transcript)
            }
        }
    }

    /// Returns what the session is given from memory. The event is recorded, and only this is missing if it fails.
    fn brief(
        &self,
        app: &App,
        request: &brief::BriefRequest<'_>,
        recorder: &Recorder<'_>,
        embedding: Option<embedding::EmbeddingTask>,
    ) -> hooks::HookReply {
        let call = Call::unattended(Patience::Within(Duration::ZERO));
        let embedding = Cell::new(embedding);
        let briefed = fresh::of_whole_index(app, call, || {
            // The second time it is without one, and goes by words.
            brief::brief(app, request, recorder, embedding::pending(embedding.take()))
        });
        briefed.unwrap_or_else(|error| {
            let reason = format!("no context: {}", error.message());
            self.note(&app.layout, &*app.clock, &reason, String::new());
            hooks::HookReply::default()
        })
    }

    /// Returns the message to the user about events that could not be recorded before, once.
    fn lost_before(&self, layout: &Layout, now: Timestamp) -> Option<String> {
        let lost = lost::take(layout)?;
        let events = plural(lost.events, "event");
        let since = lost.first.strftime("%H:%M UTC on %d %B");
        let reason = format!("{events} could not be recorded since {since}");
        // Only where the reasons could not be noted either, as on a full disk: this is no failure of its own.
        let is_known = |failure: &Failure| failure.lost && failure.at >= lost.first;
        if !failures::list(layout).iter().any(is_known) {
            let failed = Failed { reason: reason.clone(), shape: String::new(), lost: true };
            failures::note(layout, &self.failure(now, &failed));
        }
        Some(format!(
            "Throughline: {reason}. What the transcript holds of them is read from there; `thru doctor` says why."
        ))
    }

    /// Keeps a snapshot of the session before its context is compacted. What is not done in time is done later.
    fn take_snapshot(&self, app: &App, event: &Happened<'_>, redactor: &Redactor) {
        let &Happened { input, raw, session, now, .. } = event;
        let payload = input.payload();
        let directory = payload.directory().unwrap_or_default();
        let root = self.project.as_deref().map(|root| root.to_string_lossy().into_owned());
        // Words of a private turn are not kept.
        let asked = payload
            .instructions()
            .filter(|asked| !asked.trim().is_empty() && !session.is_private(payload.turn()))
            .map(|asked| redactor.clean_text(asked, &mut Report::default()).into_inner());
        let moment = CompactionMoment {
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
        let deadline = self.started + TIME_TO_KEEP;
        let kept = within::within(self.started + TIME_TO_HAVE_KEPT, move || {
            compaction::at_hook::keep_within(&owned, moment, &transcript, deadline)
        });
        if let Some(Err(error)) = kept {
            let reason = format!("no snapshot yet: {}", error.message());
            self.note(&app.layout, &*app.clock, &reason, String::new());
        }
    }
}

/// An event that was recorded.
struct Happened<'a> {
    input: &'a HookInput,
    raw: &'a [u8],
    session: &'a Session,
    recorded: Recorded,
    now: Timestamp,
}

impl Happened<'_> {
    /// Claims the event for this process; `None` if another one acts on it, or nothing is to be done for it.
    fn claim(&self) -> Option<Claim> {
        if self.recorded != Recorded::Kept || self.input.is_of_another_host() {
            return None;
        }
        let claim = self.session.claim(event_id(self.input, self.raw), self.now);
        Some(claim).filter(|claim| matches!(claim, Claim::Ours { .. }))
    }
}

fn read(input: &mut dyn Read) -> Result<Vec<u8>, Failed> {
    let mut raw = Vec::new();
    let read = input.take(LONGEST_INPUT + 1).read_to_end(&mut raw);
    let trouble = |reason: String, bytes: usize| Failed {
        reason,
        shape: format!("{bytes} bytes or more"),
        lost: false,
    };
    match read {
        Err(error) => Err(trouble(format!("the input cannot be read: {error}"), raw.len())),
        Ok(_) if raw.len() as u64 > LONGEST_INPUT => {
            Err(Failed { lost: true, ..trouble("the input is too long".to_owned(), raw.len()) })
        }
        Ok(_) => Ok(raw),
    }
}

/// True if the user's settings exclude what happens in a directory.
///
/// # Errors
/// Returns the reason if a pattern cannot be used: then it is unknown what must not be kept.
fn is_left_out(
    config: &Config,
    directory: &Path,
    transcript: Option<&str>,
) -> Result<bool, String> {
    if config.capture.off {
        return Ok(true);
    }
    let patterns = &config.capture.ignore;
    if patterns.is_empty() {
        return Ok(false);
    }
    let ignored = Exclusions::new(patterns).map_err(reason)?;
    Ok(ignored.match_directory(directory)
        || transcript.is_some_and(|transcript| ignored.apply_to_file(Path::new(transcript))))
}

fn reason(error: Trouble) -> String {
    shortened(&error.message())
}

fn reason_of(note: &Note) -> String {
    shortened(&note.to_string())
}

/// Returns the letters of a name from the command line.
fn word(text: &str) -> String {
    text.chars().filter(|c| c.is_ascii_alphabetic() || *c == '-').take(40).collect()
}

fn shortened(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(200).collect()
}

#[cfg(test)]
mod tests {
    use thru_core::CapturedEvent;

    use super::*;

    struct Fixed(Timestamp);

    impl Clock for Fixed {
        fn now(&self) -> Timestamp {
            self.0
        }
    }

    fn call(home: &Path, agent: &str, event: &str, input: &str) -> String {
        let clock: Arc<dyn Clock> = Arc::new(Fixed(Timestamp::UNIX_EPOCH));
        let call = HookCall::new(agent.to_owned(), event.to_owned(), Instant::now());
        let machine = Arc::new(Machine { host: "test".to_owned(), ..Machine::default() });
        call.handle(&mut input.as_bytes(), Places::below(home), machine, &clock).0
    }

    #[test]
    fn every_agent_with_hooks_is_recorded_alike() {
        let home = tempfile::tempdir().unwrap();
        let input =
            r#"{"session_id":"s-1","cwd":"/w","prompt":"fix it","turn_id":"t","prompt_id":"t"}"#;
        for adapter in hooks::ADAPTERS {
            let output = call(home.path(), adapter.agent.as_str(), "UserPromptSubmit", input);
            assert_eq!(output, "", "nothing is known yet");
        }
        let journal = Journal::open(home.path().join("data/journal"), "test").unwrap();
        let entries = journal.replay().unwrap().entries;
        let recorded: Vec<CapturedEvent<serde_json::Value>> =
            entries.into_iter().map(|entry| serde_json::from_value(entry.body).unwrap()).collect();
        let agents: Vec<_> = recorded.iter().map(|event| event.agent).collect();
        assert_eq!(agents, hooks::ADAPTERS.map(|adapter| adapter.agent));
        assert!(recorded.iter().all(|event| event.event == "UserPromptSubmit"));
    }

    #[test]
    fn an_input_that_is_none_is_noted_and_not_answered() {
        let home = tempfile::tempdir().unwrap();
        for (agent, event, reason) in [
            ("copilot", "Stop", "there are no hooks of an agent `copilot`"),
            ("codex", "", "no event was named"),
            ("codex", "Stop", "the input is not a JSON object"),
        ] {
            assert_eq!(call(home.path(), agent, event, "[]"), "");
            let noted = failures::list(&Layout::new(home.path().join("data")));
            assert_eq!(noted.last().unwrap().reason, reason);
        }
    }
}
