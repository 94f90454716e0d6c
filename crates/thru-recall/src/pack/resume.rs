//! The pack of a resuming session: the changes during its pause, in few lines, or nothing if there were
//! none.

use std::collections::BTreeMap;
use std::time::Duration;

use thru_core::{FileState, MemoryKind, Timestamp, file_name, first_names};
use thru_redact::Redactor;
use thru_store::{MemoryFilter, MemoryRow, Result, Store};

use super::render::{Section, recorded};
use super::said::{alike, day};
use super::sessions::summaries;
use super::speaker::TitleSpeaker;
use super::start::told;
use super::valued::observations;
use super::{Draft, PackRequest};
use crate::freshness::{Freshness, Presence};
use crate::session_context::{
    ContextLimits, RecentEvent, SessionContext, ago, idle_for, session_context,
};
use crate::tiers::Tier;

/// Memories of the session whose files are checked on disk, the latest …
const MEMORIES: usize = 200;
/// … and the maximum number of those files.
const FILES_LOOKED_AT: usize = 100;
/// Maximum number of files named.
const FILES_NAMED: usize = 5;
/// Maximum number of other sessions, …
const SESSIONS: usize = 4;
/// … and observations.
const OBSERVATIONS: usize = 8;
/// Maximum number of files that the session worked on last.
const LAST_FILES: usize = 3;
/// Maximum number of its last events, …
const LAST_EVENTS: usize = 5;
/// … and characters of each.
const EVENT: usize = 60;
/// The age up to which an event may be the one that the pack answers.
const OWN: Duration = Duration::from_secs(10);
/// Maximum characters of its last request.
const TASK: usize = 160;

/// The changes since the session's last activity.
pub(super) fn drafts(
    store: &Store,
    redactor: &Redactor,
    request: &PackRequest<'_>,
) -> Result<(Vec<Draft>, String)> {
    let context = context(store, redactor, request)?;
    let Some((context, since)) = context.and_then(|context| {
        let since = context.last?;
        Some((context, since))
    }) else {
        // The content of the session's context is unknown.
        return super::start::drafts(store, redactor, request);
    };
    let drafts = since_then(store, request, &context, since)?;
    let note = if drafts.is_empty() { "silent: nothing happened since" } else { "what is new" };
    Ok((drafts, note.to_owned()))
}

/// The changes while the session was idle, and its state before.
pub(super) fn on_return(
    store: &Store,
    redactor: &Redactor,
    request: &PackRequest<'_>,
    idle_for: Duration,
    prompt: &str,
) -> Result<Vec<Draft>> {
    if idle_for < request.limits.idle_timeout {
        return Ok(Vec::new());
    }
    let Some(mut context) = context(store, redactor, request)? else { return Ok(Vec::new()) };
    // A prompt that was already ingested is not the earlier task.
    context.task.take_if(|task| alike(task.get(), prompt));
    let since = request.now.checked_sub(idle_for).unwrap_or(request.now);
    since_then(store, request, &context, since)
}

fn context(
    store: &Store,
    redactor: &Redactor,
    request: &PackRequest<'_>,
) -> Result<Option<SessionContext>> {
    let Some(session) = request.session else { return Ok(None) };
    let limits = ContextLimits {
        files: LAST_FILES,
        tools: 0,
        entities: 0,
        // And the one that is answered.
        events: LAST_EVENTS + 2,
        hot: 0,
        // Its pauses are no news to it.
        idle_timeout: Duration::MAX,
    };
    let mut context = session_context(store, redactor, session, limits)?;
    context.events.retain(|event| event.at.is_none_or(|at| age(request, at) >= OWN));
    context.events.drain(..context.events.len().saturating_sub(LAST_EVENTS));
    Ok(Some(context))
}

fn age(request: &PackRequest<'_>, at: Timestamp) -> Duration {
    Duration::try_from(request.now.duration_since(at)).unwrap_or_default()
}

fn since_then(
    store: &Store,
    request: &PackRequest<'_>,
    context: &SessionContext,
    since: Timestamp,
) -> Result<Vec<Draft>> {
    let meanwhile = meanwhile(store, request, since)?;
    let own = own_memories(store, request)?;
    let files = Changes::since(since, store, request, &own)?;
    let idle = age(request, since);
    let is_idle = idle >= request.limits.idle_timeout;
    // A deleted file may be the session's own work.
    if meanwhile.is_empty() && files.changed.is_empty() && !is_idle {
        return Ok(Vec::new());
    }
    let mut drafts = Vec::new();
    let about = own.iter().find(|memory| memory.kind == MemoryKind::Summary).or(own.first());
    let line = |text: String, reason: &str| Draft {
        memory: about.cloned(),
        section: Section::Resumed,
        tier: Tier::Hot,
        text,
        reason: reason.to_owned(),
    };
    drafts.extend(was_at(context, idle, is_idle).map(|was| line(was, "what this session was at")));
    drafts.extend(
        last_events(context, request).map(|events| line(events, "what happened in it last")),
    );
    drafts.extend(files.line().map(|files| line(files, "what became of its files")));
    drafts.extend(meanwhile);
    Ok(drafts)
}

/// `This session was idle for 3 h. The user asked last: … (files: src/a.rs)`.
fn was_at(context: &SessionContext, idle: Duration, is_idle: bool) -> Option<String> {
    let mut line = String::new();
    if is_idle {
        line.push_str(&format!("This session was {}. ", idle_for(idle)));
    }
    let files: Vec<&str> = context.files.iter().map(|file| file.path.get().as_str()).collect();
    let files = files.join(", ");
    match (&context.task, files.is_empty()) {
        (Some(task), true) => {
            line.push_str(&format!("The user asked last: {}", recorded(task.get(), TASK)));
        }
        (Some(task), false) => {
            let task = recorded(task.get(), TASK);
            line.push_str(&format!("The user asked last: {task} (files: {files})"));
        }
        (None, false) => line.push_str(&format!("Its last files: {files}")),
        (None, true) => {}
    }
    Some(line.trim_end().to_owned()).filter(|line| !line.is_empty())
}

/// `Its last events: [3 h ago] prompt: Fix the lock; Edit: src/lock.rs; [2 h ago] Stop: It is fixed`: an age is that of all
/// events up to the next.
fn last_events(context: &SessionContext, request: &PackRequest<'_>) -> Option<String> {
    let mut known = String::new();
    let told = |event: &RecentEvent| {
        let name = event.tool.as_ref().map_or(event.event.as_str(), |tool| tool.get());
        let name = if name == "UserPromptSubmit" { "prompt" } else { name };
        let line = match &event.note {
            Some(note) => recorded(&format!("{name}: {}", note.get()), EVENT),
            None => name.to_owned(),
        };
        let age = event.at.map(|at| ago(age(request, at))).filter(|age| *age != known);
        match age {
            Some(age) => {
                let line = format!("[{age}] {line}");
                known = age;
                line
            }
            None => line,
        }
    };
    let events: Vec<String> = context.events.iter().map(told).collect();
    (!events.is_empty()).then(|| format!("Its last events: {}", events.join("; ")))
}

/// The work of the project's other sessions since: a line for each, then their observations.
fn meanwhile(store: &Store, request: &PackRequest<'_>, since: Timestamp) -> Result<Vec<Draft>> {
    let summaries = summaries(store, request, None, Some(since))?;
    let mut valued = observations(store, request, None, Some(since), &summaries)?;
    let is_new = |memory: &MemoryRow| !request.told.contains(&memory.id);
    let mut drafts: Vec<Draft> = summaries
        .into_iter()
        .filter(|summary| is_new(summary))
        .take(SESSIONS)
        .map(|summary| {
            let outcome = summary.outcome.map_or("", |outcome| outcome.as_str());
            let when = day(summary.at, request);
            let speaker = TitleSpeaker::of(store, &summary, &store.body_of(&summary)?)?;
            let title = speaker.mark(&recorded(&summary.title, 200));
            Ok(Draft {
                text: format!("{title} ({when}, {outcome})"),
                section: Section::Meanwhile,
                tier: Tier::at_start(summary.at, false, request.now),
                reason: "what another session did since".to_owned(),
                memory: Some(summary),
            })
        })
        .collect::<Result<_>>()?;
    // A session's summary often has the title of its main observation.
    valued.retain(|one| is_new(&one.memory) && !drafts.iter().any(|told| says(told, &one.memory)));
    valued.truncate(OBSERVATIONS);
    drafts.extend(told(store, request, valued)?);
    Ok(drafts)
}

fn says(told: &Draft, memory: &MemoryRow) -> bool {
    let told = told.memory.as_ref();
    told.is_some_and(|told| told.session == memory.session && told.title == memory.title)
}

/// The memories of the session itself, the latest first.
fn own_memories(store: &Store, request: &PackRequest<'_>) -> Result<Vec<MemoryRow>> {
    let Some(session) = request.session else { return Ok(Vec::new()) };
    store.memories(&MemoryFilter {
        session: Some(session),
        limit: Some(MEMORIES),
        ..MemoryFilter::default()
    })
}

/// The changes to the files that a session changed.
#[derive(Default)]
struct Changes {
    changed: Vec<String>,
    gone: Vec<String>,
}

impl Changes {
    /// Checks the files on disk. Changes before `since` were the session's own, or known to it.
    fn since(
        since: Timestamp,
        store: &Store,
        request: &PackRequest<'_>,
        memories: &[MemoryRow],
    ) -> Result<Self> {
        let rows: Vec<i64> = memories.iter().map(|memory| memory.row).collect();
        let mut latest: BTreeMap<String, FileState> = BTreeMap::new();
        for file in store.files_of_memories(&rows)?.into_values().flatten() {
            let is_newer = latest.get(&file.path).is_none_or(|known| known.at < file.at);
            if file.modified && is_newer {
                latest.insert(file.path.clone(), file);
            }
        }
        let sessions = request.session.as_slice();
        let place = store.places_of_sessions(sessions)?.into_values().next().unwrap_or_default();
        let root = place.directory.as_deref();
        let mut files: Vec<FileState> = latest.into_values().collect();
        files.sort_by(|a, b| b.at.cmp(&a.at).then_with(|| a.path.cmp(&b.path)));
        let mut changes = Self::default();
        for mut file in files.into_iter().take(FILES_LOOKED_AT) {
            let written = match request.disk.look(&file.path, root) {
                Presence::Unknown => continue,
                Presence::Gone => {
                    changes.gone.push(file_name(&file.path).to_owned());
                    continue;
                }
                Presence::There { modified } => modified,
            };
            file.at = Some(since);
            if written.is_some_and(|written| written > since)
                && Freshness::check(std::slice::from_ref(&file), root, request.disk).changed > 0
            {
                changes.changed.push(file_name(&file.path).to_owned());
            }
        }
        Ok(changes)
    }

    fn line(&self) -> Option<String> {
        let named = |label: &str, names: &[String]| {
            (!names.is_empty()).then(|| format!("{label}: {}", first_names(names, FILES_NAMED)))
        };
        let parts = [named("Changed on disk since", &self.changed), named("Gone", &self.gone)];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        (!parts.is_empty()).then(|| parts.join(". "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_files_are_named() {
        let names = |count: usize| (0..count).map(|number| format!("{number}.rs")).collect();
        let changes = Changes { changed: names(7), gone: names(1) };
        assert_eq!(
            changes.line().unwrap(),
            "Changed on disk since: 0.rs, 1.rs, 2.rs, 3.rs, 4.rs and 2 more. Gone: 0.rs"
        );
        assert_eq!(Changes::default().line(), None);
    }
}
