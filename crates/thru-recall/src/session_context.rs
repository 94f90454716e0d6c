//! The current state of a session: its task, its files and tools, the names in its prompts, its last
//! actions.
//!
//! A view of the store, made on request. Only the end of a session is read: one with ten thousand passages
//! costs as much as a short one.

use std::time::Duration;

use thru_core::{Access, Id, PassageKind, Timestamp};
use thru_redact::{Clean, Redactor, Report};
use thru_store::{EventRow, MemoryBody, MemoryFilter, Newest, PassageRow, Result, Store};

use crate::action::{describe_call, from_directory};
use crate::pack::{IDLE_TIMEOUT, cues, is_no_request, recorded};

/// Limits of a session's context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContextLimits {
    /// Maximum number of files, the latest first.
    pub files: usize,
    /// Maximum number of tools, the latest first.
    pub tools: usize,
    /// Maximum number of files, identifiers and error codes from its prompts.
    pub entities: usize,
    /// Maximum number of its last events.
    pub events: usize,
    /// Maximum number of its last actions.
    pub hot: usize,
    /// The time without activity after which it was idle, which is an event.
    pub idle_timeout: Duration,
}

impl Default for ContextLimits {
    fn default() -> Self {
        Self { files: 10, tools: 10, entities: 20, events: 50, hot: 5, idle_timeout: IDLE_TIMEOUT }
    }
}

/// Passages, from the end, that are searched for files, tools and actions.
const LOOKED_AT: usize = 200;
/// Passages, from the end, that are searched for prompts: one prompt may lead to very many.
const PROMPTS_WITHIN: usize = 2_000;
/// Maximum number of prompts that are read.
const PROMPTS: usize = 20;
/// Characters of a text that are read; far more than are shown.
const READ: usize = 4_000;
/// Characters shown of the task, of an event, and of a line of hot memory.
const TASK: usize = 320;
const NOTE: usize = 100;
const HOT: usize = 200;
/// The time within which hooks and transcripts tell of one call.
const AT_ONCE: Duration = Duration::from_mins(1);
/// Characters shown of a path or of an entity.
const NAME: usize = 200;

/// The current state of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionContext {
    /// The latest real request of a person: not "continue", a command, or a machine's turn.
    pub task: Option<Clean<String>>,
    /// Its working directory.
    pub directory: Option<Clean<String>>,
    /// The files that it worked on, the latest first, relative to its directory.
    pub files: Vec<RecentFile>,
    /// The tools that it used, the latest first.
    pub tools: Vec<Clean<String>>,
    /// Files, identifiers and error codes from its prompts, those of the latest prompt first.
    pub entities: Vec<Clean<String>>,
    /// Its last actions, one line each, the newest last.
    pub hot: Vec<HotMemory>,
    /// Its last events, the newest last.
    pub events: Vec<RecentEvent>,
    /// The time of its last activity.
    pub last: Option<Timestamp>,
}

/// A file that a session worked on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecentFile {
    /// Its path.
    pub path: Clean<String>,
    /// True if it was changed.
    pub modified: bool,
    /// The time when it was last worked on.
    pub at: Option<Timestamp>,
}

/// An action of a session: a file written or edited, a command run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HotMemory {
    /// The time of the action.
    pub at: Option<Timestamp>,
    /// The passage that shows it.
    pub passage: Id,
    /// One line that describes it.
    pub summary: Clean<String>,
}

/// An event of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecentEvent {
    /// The time of the event.
    pub at: Option<Timestamp>,
    /// The name of the event in its agent's hooks; `prompt` or `tool` if no hook recorded it.
    pub event: String,
    /// The tool that ran.
    pub tool: Option<Clean<String>>,
    /// More worth knowing: the beginning of a prompt, a reason, an error.
    pub note: Option<Clean<String>>,
}

/// Reads the current state of a session.
///
/// # Errors
/// Fails if the store cannot be read.
pub fn session_context(
    store: &Store,
    redactor: &Redactor,
    session: i64,
    limits: ContextLimits,
) -> Result<SessionContext> {
    let place = store.places_of_sessions(&[session])?.remove(&session).unwrap_or_default();
    let directory = place.directory.as_deref();
    let looked_at = LOOKED_AT.max(limits.events);
    let latest = Newest { kind: None, within: looked_at, limit: looked_at };
    let passages = store.newest_passages(session, latest)?;
    let said = Said { redactor };
    let prompts = prompts(store, &said, session)?;
    Ok(SessionContext {
        task: task(store, &said, session, &prompts)?,
        directory: directory.map(|directory| said.shown(directory, NAME)),
        files: files(store, &said, &passages, directory, limits.files)?,
        tools: tools(&said, &passages, limits.tools),
        entities: entities(&prompts, limits.entities),
        hot: hot(store, &said, &passages, directory, limits.hot)?,
        events: events(store, &said, session, &passages, limits)?,
        last: passages.first().and_then(|passage| passage.at).or(place.ended),
    })
}

/// Makes recorded text safe to show.
struct Said<'r> {
    redactor: &'r Redactor,
}

impl Said<'_> {
    /// Plain first, so that invisible characters do not keep the parts of a secret apart; cut last, so that
    /// no half of a secret is shown.
    fn clean(&self, text: &str) -> Clean<String> {
        self.redactor.clean_text(&thru_core::plain_line(text, READ), &mut Report::default())
    }

    fn shown(&self, text: &str, longest: usize) -> Clean<String> {
        self.clean(text).map(|text| recorded(&text, longest))
    }
}

/// A prompt with content.
struct Prompt {
    text: Clean<String>,
}

/// The latest requests of a person, the newest first.
fn prompts(store: &Store, said: &Said<'_>, session: i64) -> Result<Vec<Prompt>> {
    let kind = Some(PassageKind::Human);
    let newest = Newest { kind, within: PROMPTS_WITHIN, limit: PROMPTS };
    let mut prompts = Vec::new();
    for passage in store.newest_passages(session, newest)? {
        let text = store.text_of(&passage)?;
        // A subagent's prompt comes from the agent.
        if passage.agent_id.is_none() && is_no_request(&text).is_none() {
            prompts.push(Prompt { text: said.clean(&text) });
        }
    }
    Ok(prompts)
}

fn task(
    store: &Store,
    said: &Said<'_>,
    session: i64,
    prompts: &[Prompt],
) -> Result<Option<Clean<String>>> {
    if let Some(prompt) = prompts.first() {
        return Ok(Some(prompt.text.derive(|text| recorded(text, TASK))));
    }
    // The prompt is too far back; the session's summary has it.
    let summary = store.memories(&MemoryFilter {
        session: Some(session),
        kinds: Some(vec![thru_core::MemoryKind::Summary]),
        limit: Some(1),
        ..MemoryFilter::default()
    })?;
    let Some(summary) = summary.first() else { return Ok(None) };
    let MemoryBody::Summary(summary) = store.body_of(summary)? else { return Ok(None) };
    Ok(summary.digest.request.map(|request| said.shown(&request.text, TASK)))
}

fn files(
    store: &Store,
    said: &Said<'_>,
    passages: &[PassageRow],
    directory: Option<&str>,
    most: usize,
) -> Result<Vec<RecentFile>> {
    let mut files: Vec<RecentFile> = Vec::new();
    for passage in passages.iter().filter(|passage| passage.kind == PassageKind::Tool) {
        for touch in store.touches_of(passage)? {
            let path = said.shown(from_directory(&touch.file.path, directory), NAME);
            let modified = touch.file.access == Access::Modified;
            if let Some(file) = files.iter_mut().find(|file| file.path == path) {
                file.modified |= modified;
            } else if files.len() < most {
                files.push(RecentFile { path, modified, at: passage.at });
            }
        }
    }
    Ok(files)
}

fn tools(said: &Said<'_>, passages: &[PassageRow], most: usize) -> Vec<Clean<String>> {
    let mut names: Vec<&str> = Vec::new();
    for name in passages.iter().filter_map(|passage| passage.tool.as_deref()) {
        if names.len() < most && !names.contains(&name) {
            names.push(name);
        }
    }
    names.into_iter().map(|name| said.shown(name, NAME)).collect()
}

fn entities(prompts: &[Prompt], most: usize) -> Vec<Clean<String>> {
    let mut entities: Vec<Clean<String>> = Vec::new();
    for prompt in prompts {
        let names = prompt.text.derive(|text| {
            let cues = cues(text);
            let names = cues.files.iter().chain(&cues.identifiers);
            names.map(|name| recorded(name, NAME)).collect::<Vec<String>>()
        });
        for place in 0..names.get().len() {
            let name = names.derive(|names| names.get(place).cloned().unwrap_or_default());
            if entities.len() < most && !entities.contains(&name) {
                entities.push(name);
            }
        }
    }
    entities
}

fn hot(
    store: &Store,
    said: &Said<'_>,
    passages: &[PassageRow],
    directory: Option<&str>,
    most: usize,
) -> Result<Vec<HotMemory>> {
    let mut hot: Vec<HotMemory> = Vec::new();
    for passage in passages.iter().filter(|passage| passage.kind == PassageKind::Tool) {
        if hot.len() == most {
            break;
        }
        let touches = store.touches_of(passage)?;
        if passage.command.is_none()
            && !touches.iter().any(|touch| touch.file.access == Access::Modified)
        {
            continue;
        }
        // Cleaned before it is cut: half a secret would not be recognised.
        let text = match passage.command {
            Some(_) => String::new(),
            None => store.text_of(passage)?,
        };
        let text = said.redactor.clean_text(&text, &mut Report::default());
        let mut passage = passage.clone();
        passage.command = passage.command.map(|command| said.clean(&command).into_inner());
        let Some(line) = describe_call(&passage, text.get(), &touches, directory) else { continue };
        let summary = said.shown(&line, HOT);
        // A repeated action would displace all others.
        if !hot.iter().any(|action| action.summary == summary) {
            hot.push(HotMemory { at: passage.at, passage: passage.id, summary });
        }
    }
    hot.reverse();
    Ok(hot)
}

fn events(
    store: &Store,
    said: &Said<'_>,
    session: i64,
    passages: &[PassageRow],
    limits: ContextLimits,
) -> Result<Vec<RecentEvent>> {
    let recorded = store.events_of_session(session, limits.events)?;
    // Of what a transcript tells as well, once the newest event of the same is it.
    let mut unmatched: Vec<&EventRow> = recorded.iter().rev().collect();
    let mut events = Vec::new();
    let told = passages.iter().filter(|passage| passage.kind != PassageKind::Assistant);
    for passage in told.take(limits.events) {
        let fingerprint = store.fingerprint_of(passage)?;
        let same =
            |event: &&EventRow| event.fingerprint.is_some() && event.fingerprint == fingerprint;
        let same = unmatched.iter().position(same);
        if let Some(place) =
            same.or_else(|| unmatched.iter().position(|event| is_like(event, passage)))
        {
            unmatched.remove(place);
            continue;
        }
        let is_prompt = passage.kind == PassageKind::Human;
        let note = match is_prompt {
            true => Some(said.shown(&store.text_of(passage)?, NOTE)),
            false => None,
        };
        events.push(RecentEvent {
            at: passage.at,
            event: if is_prompt { "prompt" } else { "tool" }.to_owned(),
            tool: passage.tool.as_deref().map(|tool| said.shown(tool, NAME)),
            note,
        });
    }
    events.extend(recorded.into_iter().rev().map(|event| of_hook(said, event)));
    events.reverse();
    events.sort_by_key(|event| event.at);
    Ok(with_pauses(events, limits))
}

/// True if an event is probably a call that its agent gave no id to hooks.
fn is_like(event: &EventRow, passage: &PassageRow) -> bool {
    let apart = passage.at.zip(event.at).map(|(told, at)| told.duration_since(at).unsigned_abs());
    passage.tool.is_some()
        && event.tool == passage.tool
        && apart.is_some_and(|apart| apart < AT_ONCE)
}

/// The names of the events that time alone makes.
const IDLE: &str = "SessionIdle";
const RESUMED: &str = "SessionResume";

/// Puts in where the session was idle, and where it went on.
fn with_pauses(events: Vec<RecentEvent>, limits: ContextLimits) -> Vec<RecentEvent> {
    let event = |at, event: &str, note| {
        Some(RecentEvent { at: Some(at), event: event.to_owned(), tool: None, note })
    };
    let mut all: Vec<RecentEvent> = Vec::with_capacity(events.len());
    let mut before: Option<Timestamp> = None;
    for next in events {
        if let (Some(before), Some(at)) = (before, next.at)
            && let Ok(pause) = Duration::try_from(at.duration_since(before))
            && pause >= limits.idle_timeout
        {
            let since = before.checked_add(limits.idle_timeout).unwrap_or(before);
            all.extend(event(since, IDLE, None));
            let note = Redactor::builtin().clean_text(&idle_for(pause), &mut Report::default());
            all.extend(event(at, RESUMED, Some(note)));
        }
        before = next.at.or(before);
        all.push(next);
    }
    all.split_off(all.len().saturating_sub(limits.events))
}

/// `idle for 3 h`
pub(crate) fn idle_for(pause: Duration) -> String {
    format!("idle for {}", in_words(pause))
}

/// `3 h ago`
pub(crate) fn ago(age: Duration) -> String {
    match age.as_secs() {
        0..60 => "just now".to_owned(),
        _ => format!("{} ago", in_words(age)),
    }
}

/// `40 min`, `3 h`, `2 days`, rounded down.
fn in_words(time: Duration) -> String {
    let minutes = time.as_secs() / 60;
    match minutes {
        0..60 => format!("{minutes} min"),
        60..2_880 => format!("{} h", minutes / 60),
        _ => format!("{} days", minutes / 1_440),
    }
}

fn of_hook(said: &Said<'_>, event: EventRow) -> RecentEvent {
    let detail: serde_json::Value = serde_json::from_str(&event.detail).unwrap_or_default();
    let telling = ["error", "reason", "source", "trigger", "preview", "file"];
    let note = telling.iter().find_map(|name| detail.get(name)?.as_str());
    let output = detail.get("output_bytes").and_then(serde_json::Value::as_u64);
    let output = output.map(|bytes| format!("{bytes} bytes of output"));
    let note: Vec<&str> = note.into_iter().chain(output.as_deref()).collect();
    let note = Some(note.join(", ")).filter(|note| !note.is_empty());
    RecentEvent {
        at: event.at,
        event: event.event,
        tool: event.tool.map(|tool| said.shown(&tool, NAME)),
        note: note.map(|note| said.shown(&note, NOTE)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn idle_time_is_said_in_words() {
        for (minutes, words) in
            [(30, "30 min"), (60, "1 h"), (190, "3 h"), (2_879, "47 h"), (4_320, "3 days")]
        {
            assert_eq!(in_words(Duration::from_secs(minutes * 60 + 59)), words);
        }
    }

    #[test]
    fn a_pause_is_an_event_and_its_end_another() {
        let event = |minute: i64, name: &str| RecentEvent {
            at: Timestamp::from_second(minute * 60).ok(),
            event: name.to_owned(),
            tool: None,
            note: None,
        };
        let events = [event(0, "Stop"), event(29, "UserPromptSubmit"), event(200, "Stop")];
        let named = |most: usize| -> Vec<(i64, String)> {
            let limits = ContextLimits { events: most, ..ContextLimits::default() };
            let minute = |event: &RecentEvent| event.at.unwrap_or_default().as_second() / 60;
            let all = with_pauses(events.to_vec(), limits);
            all.into_iter().map(|event| (minute(&event), event.event)).collect()
        };
        let expected =
            [(0, "Stop"), (29, "UserPromptSubmit"), (59, IDLE), (200, RESUMED), (200, "Stop")]
                .map(|(minute, name)| (minute, name.to_owned()));
        assert_eq!(named(50), expected);
        assert_eq!(named(2), expected[3..]);
    }
}
