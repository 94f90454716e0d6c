//! The answer to the start of a session and to a prompt: memory for the model, and a line for the user.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use thru_agents::agents;
use thru_agents::hooks::{self, Event, HookInput};
use thru_capture::pause::Pause;
use thru_capture::session::Session;
use thru_capture::{Recorder, session_key};
use thru_core::{Id, InjectedMemory, Injection, Layout, Snapshot, Timestamp};
use thru_intake::identity::Refused;
use thru_intake::{CompactionMoment, DistilScope, Intake};
use thru_journal::journal::Journal;
use thru_recall::{Occasion, Pack, PendingEmbedding, calls_for_memory};
use thru_redact::{Clean, Redactor};
use thru_store::{SCHEMA_VERSION, Store};

use super::within::within;
use crate::ask::pack::{PackProject, Recipient, make_pack, snapshot_now};
use crate::background;
use crate::background::handover::{self, BACKLOG, SESSIONS};
use crate::embedding::{self, EmbeddingTask};
use crate::ingest::catch_up::{Effort, TranscriptScope, ingest};
use crate::words::{count, plural, size};
use crate::{App, Call, Patience, Result, compaction, vault};

/// Time that the start of a session waits for another writer …
const PATIENCE: Duration = Duration::from_millis(40);
/// … and that it waits after a compaction, when the other writer may be ingesting this very session …
const PATIENCE_AFTER_COMPACTION: Duration = Duration::from_millis(250);
/// … and that its end waits, if the user wants it indexed at once.
const PATIENCE_AT_END: Duration = Duration::from_millis(300);
/// Time, from the start of the hook, to read after a compaction what the hook before it could not. The rest
/// of its second is for the answer.
const TIME_TO_MAKE_UP: Duration = Duration::from_millis(600);

/// Returns the answer while recording is paused.
pub(super) fn paused(event: &Event, pause: Pause) -> hooks::HookReply {
    if *event != Event::SessionStart {
        return hooks::HookReply::default();
    }
    let until = match pause {
        Pause::Until(until) => format!(" until {}", until.strftime("%H:%M UTC on %d %B")),
        Pause::Open => String::new(),
    };
    let message =
        format!("Throughline: recording is paused{until}. `thru capture resume` ends it.");
    hooks::HookReply { context: None, message: Some(message) }
}

/// The event to answer.
pub(super) struct BriefRequest<'a> {
    /// The start of a session, or a prompt.
    pub(super) input: &'a HookInput,
    /// The notes of the session.
    pub(super) session: &'a Session,
    /// Time at which a turn of the session last began or ended.
    pub(super) last: Option<Timestamp>,
    /// The time.
    pub(super) now: Timestamp,
    /// The project that the session was started in, as the agent says.
    pub(super) project: Option<&'a Path>,
    /// Start of the hook.
    pub(super) started: Instant,
}

/// Begins to embed a prompt that may be answered from memory, without waiting for it.
pub(super) fn begin_embedding(
    app: &App,
    input: &HookInput,
    redactor: &Redactor,
) -> Option<EmbeddingTask> {
    let prompt = input.prompt();
    let may_be_answered = input.event == Event::UserPromptSubmit
        && !input.is_of_machine()
        && !input.is_of_another_host()
        && !app.config.context.off
        && !redactor.is_wholly_private(prompt)
        && calls_for_memory(prompt);
    may_be_answered.then(|| embedding::embed_prompt(app, prompt))
}

/// Makes the answer to the start of a session or to a prompt.
pub(super) fn brief(
    app: &App,
    request: &BriefRequest<'_>,
    recorder: &Recorder<'_>,
    embedding: PendingEmbedding<'_>,
) -> Result<hooks::HookReply> {
    let BriefRequest { input, session, .. } = *request;
    let Some(occasion) = occasion(request, app.limits().idle_timeout) else {
        return Ok(hooks::HookReply::default());
    };
    let alarm = alarm(app, &occasion, recorder.journal);
    // A new context holds nothing that was injected before.
    if input.event == Event::SessionStart && occasion != Occasion::Resume {
        session.forget_told();
    }
    let wants_word = app.config.context.message && !app.config.context.off;
    let welcome =
        (occasion == Occasion::Start && wants_word).then(|| welcome(&app.layout)).flatten();
    let told = pack_for(app, request, &occasion, recorder.redactor, embedding)?;
    let Some((pack, project, refused)) = told else {
        return Ok(hooks::HookReply { context: None, message: joined([welcome, alarm]) });
    };
    let is_start = input.event == Event::SessionStart;
    if !pack.lines.is_empty() {
        let injection = Injection {
            agent: input.adapter.agent,
            session: input.session.clone(),
            occasion: name(&occasion).to_owned(),
            tokens: pack.tokens,
            memories: memories(&pack),
        };
        recorder.injected(&injection, app.clock.now())?;
        session.tell(injection.memories.iter().map(|memory| memory.id));
    }
    let loaded = (is_start && app.config.context.message && !pack.lines.is_empty())
        .then(|| loaded(&pack, &project, &occasion, background::page_address(app)));
    let apart = refused.filter(|_| is_start).map(|refused| kept_apart(&refused));
    let vault = vault::attention(app).filter(|_| is_start);
    let vault = vault.map(|text| format!("Throughline: {text} (`thru vault`)."));
    let message = joined([loaded, welcome, apart, alarm, vault]);
    let context = Some(pack.text.into_inner()).filter(|text| !text.is_empty());
    Ok(hooks::HookReply { context, message })
}

fn joined<const N: usize>(messages: [Option<String>; N]) -> Option<String> {
    let messages: Vec<String> = messages.into_iter().flatten().collect();
    (!messages.is_empty()).then(|| messages.join(" "))
}

/// Returns the word to a new user, at the first start of a session that is recorded.
fn welcome(layout: &Layout) -> Option<String> {
    let mark = layout.run().join("welcomed");
    if mark.exists() {
        return None;
    }
    // What cannot be noted would be said at every start.
    thru_journal::files::replace(&mark, b"").ok()?;
    let message = "Throughline remembers your sessions from now on, on this machine only. Text between <private> \
                   tags is never stored. `thru search WORDS` finds what was said and done, `thru view` shows it in \
                   your browser, `thru capture pause` pauses recording.";
    Some(message.to_owned())
}

/// Returns the pack, the name of the project, and its claim that waits for a person; `None` if nothing is known or wanted.
fn pack_for(
    app: &App,
    request: &BriefRequest<'_>,
    occasion: &Occasion,
    redactor: &Redactor,
    embedding: PendingEmbedding<'_>,
) -> Result<Option<(Pack, String, Option<Refused>)>> {
    let BriefRequest { input, session, .. } = *request;
    let deadline = request.started + TIME_TO_MAKE_UP;
    if app.config.context.off || *occasion == Occasion::Compact && !reloads(app, request.project) {
        return Ok(None);
    }
    // Making it again takes its time, too.
    if Intake::is_lost(&app.layout)? {
        return Ok(None);
    }
    let is_start = input.event == Event::SessionStart;
    let mut store = Store::open_if_there(&app.layout)?;
    if store.is_none() && is_start && is_little(recorded(app)?, occasion) {
        let _ = ingest_backlog(app, occasion, deadline);
        store = Store::open_if_there(&app.layout)?;
    }
    let Some(store) = store else { return Ok(None) };
    // An upgrade takes its time: the next intake makes it.
    if store.schema_version()? != SCHEMA_VERSION {
        return Ok(None);
    }
    let store = match is_start && may_ingest_backlog(app, &store, occasion)? {
        false => store,
        true => {
            // The writer must close last, so that it leaves no log to be read again.
            drop(store);
            // What is stored can be injected all the same.
            let _ = ingest_backlog(app, occasion, deadline);
            Store::open_to_read(&app.layout)?
        }
    };
    let mut place = PackProject::here(app, &store)?;
    let project = place.name.clone();
    let told: HashSet<Id> = session.told().into_iter().collect();
    let row = store.session_by_key(&session_key(input))?;
    // Said once, to the first session there.
    let refused = place.refused.take();
    let refused = if store.has_sessions(&place.rows, row)? { None } else { refused };
    let (store, snapshot) = match (occasion, row) {
        (Occasion::Compact, Some(row)) => snapshot_of(app, store, row, input, deadline)?,
        _ => (store, None),
    };
    let recipient = Recipient { session: row, told, snapshot };
    let occasion = occasion.clone();
    let pack = make_pack(app, &store, redactor, place, occasion, recipient, embedding)?;
    Ok(Some((pack, project, refused)))
}

/// True if the snapshot of a session is injected after its context was compacted.
fn reloads(app: &App, project_root: Option<&Path>) -> bool {
    let config = &app.config;
    let root = project_root.unwrap_or(&app.directory);
    config.summaries.auto_reload
        && !compaction::folder(app, config, root).project_config().0.no_reload
}

/// Returns what a session held when its context was compacted. In most cases the hook before it kept a
/// snapshot; otherwise one is made now, as far as there is time until `deadline`.
fn snapshot_of(
    app: &App,
    mut store: Store,
    row: i64,
    input: &HookInput,
    deadline: Instant,
) -> Result<(Store, Option<Snapshot>)> {
    let last = store.compactions(row)?.pop();
    let known = last.as_ref().map(|last| store.snapshot_of(last)).transpose()?.flatten();
    if let Some(known) = known {
        let kept = as_decided(app, &store, row, known.snapshot, deadline)?;
        return Ok((store, kept));
    }
    if let Some(moment) =
        last.map(|last| CompactionMoment::from_row(&store, &last)).transpose()?.flatten()
    {
        let transcript = PathBuf::from(input.payload().transcript().unwrap_or_default());
        drop(store);
        let owned = app.clone();
        // What is stored can be injected all the same.
        let _ = within(deadline, move || {
            compaction::at_hook::keep_within(&owned, moment, &transcript, deadline)
        });
        store = Store::open_to_read(&app.layout)?;
    }
    let made = match store.newest_snapshot(row)? {
        Some(made) => as_decided(app, &store, row, made.snapshot, deadline)?,
        None if !is_in_time(&store, row, deadline)? => None,
        None => snapshot_now(&app.intake()?, &store, row, app.clock.now())?.map(Clean::into_inner),
    };
    Ok((store, made))
}

/// Returns a kept snapshot with what a model has told since, and without what the user forgot or edited since. It
/// is made again for that; without time to do so, it is left out.
fn as_decided(
    app: &App,
    store: &Store,
    session: i64,
    kept: Snapshot,
    deadline: Instant,
) -> Result<Option<Snapshot>> {
    let is_decided = store.is_decided_about(&kept.session)?;
    // Everything injected passes the redactor anyway.
    if !is_decided && !store.is_refined(session)? {
        return Ok(Some(kept));
    }
    if is_decided && !is_in_time(store, session, deadline)? {
        return Ok(None);
    }
    Ok(Some(app.intake()?.kept_snapshot(store, session, kept)?.into_inner()))
}

/// True if a snapshot of a session can be made before the agent has waited too long.
fn is_in_time(store: &Store, session: i64, deadline: Instant) -> Result<bool> {
    Ok(Instant::now() < deadline && compaction::is_quick(store, session)?)
}

/// True if the journal has a backlog that is small enough to be ingested now.
fn may_ingest_backlog(app: &App, store: &Store, occasion: &Occasion) -> Result<bool> {
    let backlog = Intake::news(&app.layout, app.host(), store)?;
    Ok(backlog > 0 && is_little(backlog, occasion))
}

/// True if a start can wait for this much to be ingested. After a compaction it is this session itself.
fn is_little(bytes: u64, occasion: &Occasion) -> bool {
    bytes <= BACKLOG || *occasion == Occasion::Compact
}

/// Returns the size of the journal in bytes.
fn recorded(app: &App) -> Result<u64> {
    Ok(Journal::open(app.layout.journal(), app.host())?.size()?)
}

/// True if no daemon may do what a hook leaves undone.
fn is_without_daemon(app: &App) -> bool {
    app.machine.daemon_switched_off(&app.config).is_some()
}

/// Leaves the work to another process if it is more than a start waits for, and no daemon does it.
pub(super) fn hand_over_backlog(app: &App) -> Result<()> {
    if !is_without_daemon(app) {
        return Ok(());
    }
    let is_behind = Intake::is_lost(&app.layout)?
        || match Store::open_if_there(&app.layout)? {
            Some(store) => handover::is_behind(app, &store)?,
            None => recorded(app)? > BACKLOG,
        };
    if is_behind {
        handover::hand_over(app);
    }
    Ok(())
}

/// Ingests the backlog: a killed session left it behind, and after a compaction it is this session itself.
/// What is not done by `deadline` is left to another process.
fn ingest_backlog(app: &App, occasion: &Occasion, deadline: Instant) -> Result<()> {
    let patience = match occasion {
        Occasion::Compact => PATIENCE_AFTER_COMPACTION,
        _ => PATIENCE,
    };
    let owned = app.clone();
    let ingested = within(deadline, move || -> Result<()> {
        let intake: Intake = owned.intake()?;
        if let Some(lock) = intake.try_lock(patience)? {
            intake.drain(&lock, SESSIONS)?;
        }
        Ok(())
    });
    ingested.unwrap_or_else(|| {
        if is_without_daemon(app) {
            handover::hand_over(app);
        }
        Ok(())
    })
}

/// Indexes a session that ended before the agent goes on, if the user wants that. What is not done in time
/// is done later.
pub(super) fn index_now(app: &App, input: &HookInput) {
    let _ = index_within(app, input);
}

fn index_within(app: &App, input: &HookInput) -> Result<()> {
    if compaction::is_to_be_upgraded(app)? {
        return Ok(());
    }
    let transcript = PathBuf::from(input.payload().transcript().unwrap_or_default());
    let found = agents::discover_session(input.adapter.agent, &transcript, &input.session);
    if let Some(lock) = app.intake()?.try_lock(PATIENCE_AT_END)? {
        let session = session_key(input);
        let scope = DistilScope::These(std::slice::from_ref(&session));
        let effort = Effort { scope, thorough: false };
        ingest(
            app,
            &lock,
            TranscriptScope::Found(found),
            effort,
            Call::unattended(Patience::Within(PATIENCE_AT_END)),
        )?;
    }
    Ok(())
}

/// Returns the occasion for a pack; `None` for prompts of machines.
fn occasion(request: &BriefRequest<'_>, idle_timeout: Duration) -> Option<Occasion> {
    let input = request.input;
    match input.event {
        Event::UserPromptSubmit if input.is_of_machine() => None,
        Event::UserPromptSubmit => {
            let prompt = input.prompt().to_owned();
            let idle_for = request.last.map(|last| request.now.duration_since(last));
            let idle_for = idle_for.and_then(|idle_for| Duration::try_from(idle_for).ok());
            Some(match idle_for {
                Some(idle_for) if idle_for >= idle_timeout => Occasion::Return { idle_for, prompt },
                _ => Occasion::Prompt(prompt),
            })
        }
        Event::SessionStart => Some(match input.payload().source() {
            Some("compact") => Occasion::Compact,
            // A fork has all that its origin had in its context.
            Some("resume" | "fork") => Occasion::Resume,
            _ => Occasion::Start,
        }),
        _ => None,
    }
}

const fn name(occasion: &Occasion) -> &'static str {
    match occasion {
        Occasion::Start => "start",
        Occasion::Resume => "resume",
        Occasion::Compact => "compact",
        Occasion::Prompt(_) => "prompt",
        Occasion::Return { .. } => "return",
    }
}

/// Returns the memories of a pack, each once: several lines may be about one.
fn memories(pack: &Pack) -> Vec<InjectedMemory> {
    let mut seen = HashSet::new();
    let lines = pack.lines.iter().filter_map(|line| Some((line, line.memory.as_ref()?.id)));
    lines
        .filter(|(_, id)| seen.insert(*id))
        .map(|(line, id)| InjectedMemory { id, reason: line.reason.clone() })
        .collect()
}

/// Returns the line about a directory that says it is part of a project that is known from elsewhere.
fn kept_apart(refused: &Refused) -> String {
    let plain = |text: &str| text.chars().filter(|c| !c.is_control()).take(100).collect::<String>();
    let name = plain(refused.claim.project.default_name());
    let from = refused.known_at.as_deref().map(|at| format!(", known from {}", plain(at)));
    format!(
        "Throughline: this directory says it is part of {name}{}. It has a memory of its own until you run `thru projects trust` here.",
        from.unwrap_or_default()
    )
}

fn loaded(pack: &Pack, project: &str, occasion: &Occasion, page: Option<String>) -> String {
    if *occasion == Occasion::Compact {
        let tokens = count(pack.tokens);
        return format!(
            "Throughline: this session got back what it held, in about {tokens} tokens (`thru session load \
             latest` shows it)."
        );
    }
    let known = plural(memories(pack).len() as u64, "memory");
    let about = match occasion {
        Occasion::Resume => format!("of {project} since you were last here"),
        _ => format!("of {project}"),
    };
    let project = about.chars().filter(|c| !c.is_control()).collect::<String>();
    let tokens = count(pack.tokens);
    let page = page.map(|address| format!(", `thru view` the page at {address}"));
    format!(
        "Throughline: {known} {project} loaded, about {tokens} tokens (`thru context` shows them{}).",
        page.unwrap_or_default()
    )
}

/// Returns the alarm at the start of a session if the journal outgrew its limit.
fn alarm(app: &App, occasion: &Occasion, journal: &Journal) -> Option<String> {
    if !matches!(occasion, Occasion::Start) {
        return None;
    }
    let taken = journal.size().ok()?;
    let allowed = app.config.journal.alarm_mb.bytes();
    (taken > allowed).then(|| {
        format!(
            "Throughline's journal takes {}, more than `journal.alarm_mb` allows ({}). Nothing is dropped; see `thru doctor`.",
            size(taken),
            size(allowed)
        )
    })
}
