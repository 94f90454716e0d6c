//! Freshness: the one way to open the store, and to bring it up to date before a question.
//!
//! New records and transcripts are ingested and sessions that were left are indexed, as far as the time of a question
//! allows. The answer names what was left out.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use crate::trouble::{Result, Trouble, TroubleKind};
use jiff::SignedDuration;
use schemars::JsonSchema;
use serde::Serialize;
use thru_agents::Discovery;
use thru_agents::agents::{self, Recent};
use thru_core::{SessionId, SessionKey};
use thru_intake::{Intake, OnLoss};
use thru_journal::journal::Journal;
use thru_lifecycle::Indexing;
use thru_recall::{SearchRequest, SearchResults};
use thru_store::{SessionState, Store, StoreError, StoreFile, index};

use crate::app::App;
use crate::background;
use crate::background::handover::{self, ROWS};
use crate::call::{Call, Patience, Unit};
use crate::embedding;
use crate::ingest::catch_up::{self, Effort, RECENT, TranscriptScope, add, ingest};
use crate::ingest::exclusions::Exclusions;
use crate::ingest::reading::{Reading, reading, watching};
use crate::words::{plural, printable};

/// Unindexed sessions that are looked at: the latest. There are more only where nothing was ever
/// indexed.
const LOOKED_AT: usize = 200;
/// Sessions whose transcripts may have gone on without a hook that told of it: those that did last.
const LATEST: usize = 100;
/// The time for looking through folders for transcripts that no hook named.
const LOOKING: Duration = Duration::from_millis(20);
/// The age up to which they are looked for where a daemon watches.
const WATCHED: SignedDuration = SignedDuration::from_mins(10);

/// A session that a question may be about, and that is not indexed as it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LeftOut {
    /// The session.
    #[serde(rename = "session_id")]
    pub session: SessionId,
    /// The reason.
    pub reason: String,
}

/// The work done before a question was answered.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct Prepared {
    /// Sessions that were indexed, or brought up to date.
    pub indexed: usize,
    /// Sessions that were not.
    pub left_out: Vec<LeftOut>,
    /// True if hooks recorded something that was not looked at.
    #[serde(rename = "records_left_out")]
    pub unread: bool,
}

impl Prepared {
    /// The gaps of the answer, a sentence each.
    pub fn sentences(&self) -> Vec<String> {
        let mut sentences = Vec::new();
        if self.unread {
            sentences.push(
                "The latest hook records are not in this answer: there was no time to read them."
                    .to_owned(),
            );
        }
        if !self.left_out.is_empty() {
            let named = self.left_out.iter().take(5).map(|one| {
                let id = one.session.short();
                format!("{id} ({})", printable(&one.reason))
            });
            let named = named.collect::<Vec<_>>().join(", ");
            let number = plural(self.left_out.len() as u64, "recent session");
            sentences.push(format!("This answer does not fully cover {number}: {named}."));
        }
        sentences
    }
}

/// The freshness that a caller wants of the store that it opens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Freshness {
    /// As it is, but for an upgrade of an older store and the first records of a home.
    AsItIs,
    /// With what hooks recorded, unless another process is writing.
    Recorded,
    /// Brought up to date about everything, as far as the time of a question allows.
    Indexed,
}

/// Sessions that are distilled before a store is opened; more are left to the next intake.
const SESSIONS: usize = 50;

/// Said where the store is made again of the journal alone.
const ARCHIVE_GONE: &str = "The store was lost and there is no archive: what transcripts held is missing until \
                            `archive/` is put back from a backup and the store is rebuilt. What agents still \
                            keep can be imported again.";

/// Opens the store to read. One that an older version wrote is upgraded first, and one that is lost is made again.
///
/// # Errors
/// Fails if there is no store and nothing to make one of, or it cannot be read.
pub fn open(app: &App, freshness: Freshness, call: Call<'_>) -> Result<Store> {
    let store = match app.open.readers.open(&app.layout) {
        Err(_) if Intake::is_lost(&app.layout)? => {
            make_again_if_lost(app, call)?;
            app.open.readers.open(&app.layout)?
        }
        // There is no archive, or the store would have been made again from it.
        Err(StoreError::Missing { .. }) if has_records(app) => {
            let intake = app.intake()?;
            let lock = call.lock(&intake)?;
            // Another process may have made it in the meantime.
            if Store::file(&app.layout) == StoreFile::None && intake.had_store()? {
                call.progress().note(ARCHIVE_GONE);
            }
            intake.drain(&lock, SESSIONS)?;
            app.open.readers.open(&app.layout)?
        }
        opened => opened?,
    };
    let store = match store.schema_version()? == thru_store::SCHEMA_VERSION {
        true => store,
        false => {
            drop(store);
            let intake = app.intake()?;
            let lock = call.lock(&intake)?;
            intake.upgrade(&lock, &mut call.upgrading())?;
            app.open.readers.open(&app.layout)?
        }
    };
    match freshness {
        Freshness::AsItIs => {}
        Freshness::Recorded => {
            // What is there can be read all the same: from a disk that cannot be written to, say.
            let _ = ingest_records(app, &store);
        }
        Freshness::Indexed => {
            let intake = app.intake_beside(&store)?;
            return Ok(for_question(app, &intake, store, None, call)?.0);
        }
    }
    Ok(store)
}

/// Makes the store again from journal and archive where it was lost, and says so.
///
/// # Errors
/// Fails if another process keeps writing, and if journal, archive or store cannot be read or written.
pub fn make_again_if_lost(app: &App, call: Call<'_>) -> Result<()> {
    if !Intake::is_lost(&app.layout)? {
        return Ok(());
    }
    let intake = app.intake()?;
    let lock = call.lock(&intake)?;
    // Another process may have done it in the meantime.
    if !Intake::is_lost(&app.layout)? {
        return Ok(());
    }
    call.progress().note("The store was lost; rebuilding it from journal and archive.");
    intake.rebuild(&lock, OnLoss::Refuse, call.cancelled(), &mut |report| {
        call.progress().step("Rebuilding", report.done as u64, report.sources as u64, Unit::Files);
    })?;
    Ok(())
}

fn has_records(app: &App) -> bool {
    let journal = Journal::open(app.layout.journal(), app.host());
    journal.and_then(|journal| journal.size()).is_ok_and(|size| size > 0)
}

fn ingest_records(app: &App, store: &Store) -> Result<()> {
    if Intake::news(&app.layout, app.host(), store)? > 0 {
        let intake = app.intake()?;
        if let Some(lock) = intake.try_lock(Duration::ZERO)? {
            intake.drain(&lock, SESSIONS)?;
        }
    }
    Ok(())
}

/// The work to do.
struct ToDo {
    /// Transcripts that grew.
    found: Discovery,
    /// The number of new bytes in them, at least.
    bytes: u64,
    /// Sessions of those, and sessions that were left and are not indexed.
    sessions: Vec<SessionKey>,
    /// Sessions that go on, and whose last turn was not distilled.
    going_on: Vec<SessionKey>,
    /// True if hooks recorded something that is not in the store.
    events: bool,
    /// True if the text indexes are further behind than a search reads without them.
    unindexed: bool,
}

impl ToDo {
    fn is_nothing(&self) -> bool {
        self.sessions.is_empty() && self.going_on.is_empty() && !self.events && !self.unindexed
    }
}

/// The interval at which a caller is asked if it still waits.
const LOOK: Duration = Duration::from_millis(20);

/// Brings an open store up to date for a question about these projects (about everything where none are named), as
/// far as the time of a question allows, and gives it back with what was done.
///
/// # Errors
/// Fails if the store cannot be opened again, or read.
pub fn for_question(
    app: &App,
    intake: &Intake,
    store: Store,
    projects: Option<&[i64]>,
    call: Call<'_>,
) -> Result<(Store, Prepared)> {
    let deadline = Instant::now() + app.config.search.index_deadline_ms.duration();
    // Where nothing can be written, what is there can be asked all the same.
    let Ok(to_do) = to_do(app, intake, &store, projects) else {
        return Ok((store, Prepared::default()));
    };
    if to_do.is_nothing() {
        return Ok((store, Prepared::default()));
    }
    if !to_do.sessions.is_empty() {
        let sessions = plural(to_do.sessions.len() as u64, "recent session");
        call.progress().remark(&format!("Indexing {sessions} before search…"));
    }
    drop(store);
    // The writer must close last, so that it leaves no log to be read again.
    app.open.readers.close();
    let done = work_until(deadline, app, projects, call);
    let store = app.open.readers.open(&app.layout)?;
    let is_finished = done.is_some();
    if !is_finished && handover::is_behind(app, &store).unwrap_or(false) {
        // The thread ends with this process, and what it has not committed by then never happened.
        handover::hand_over(app);
    }
    let asked = done.unwrap_or(to_do.sessions);
    let left_out = left_out(app, &store, &asked, is_finished)?;
    let indexed = asked.len().saturating_sub(left_out.len());
    let unread =
        !is_finished && Intake::news(&app.layout, app.host(), &store).is_ok_and(|news| news > 0);
    Ok((store, Prepared { indexed, left_out, unread }))
}

fn to_do(app: &App, intake: &Intake, store: &Store, projects: Option<&[i64]>) -> Result<ToDo> {
    let events = Intake::news(&app.layout, app.host(), store)? > 0;
    let exclusions = Exclusions::from_config(app)?;
    let mut found = Discovery::default();
    let reading = reading(app);
    if reading != Reading::Nothing {
        found = catch_up::recorded(app, store, projects)?;
        if reading == Reading::All {
            add(&mut found, unnamed(app, store, projects)?);
        }
        found.sources.retain(|source| !exclusions.apply_to_file(&source.path));
    }
    let excluded = |directory: &Path| exclusions.apply_to(directory);
    let plan = intake.plan_beside(Some(store), found, Some(&excluded))?;
    let mut sessions: BTreeMap<String, SessionKey> = BTreeMap::new();
    for source in &plan.sources {
        let session = SessionKey { agent: source.agent, id: source.session.clone() };
        sessions.insert(session.id.as_str().to_owned(), session);
    }
    let (now, limits) = (app.clock.now(), app.limits());
    let mut going_on = Vec::new();
    for state in store.unindexed_sessions(projects, LOOKED_AT)? {
        let Some(conversation) = state.lifecycle.at(now, &limits) else { continue };
        match conversation.left() {
            // What failed is tried again when its time comes, not by every question.
            Some(_) if state.indexing != Indexing::Failed && distils(app, &state) => {
                sessions.insert(state.key.id.as_str().to_owned(), state.key);
            }
            None if state.is_stale && conversation.turn().is_none() => going_on.push(state.key),
            _ => {}
        }
    }
    Ok(ToDo {
        found: Discovery { sources: plan.sources, problems: Vec::new() },
        bytes: plan.bytes,
        sessions: sessions.into_values().collect(),
        going_on,
        events,
        unindexed: index::is_missing(&app.layout, store)?
            || !background::is_running(app) && index::rows_behind(&app.layout, store)? > ROWS,
    })
}

/// True if a session can be indexed at all: while distilling is off, only one that was distilled before can.
fn distils(app: &App, state: &SessionState) -> bool {
    app.config.distil.enabled || state.content.is_some()
}

/// Transcripts that no hook named. A daemon that watches may not have come to the latest of them yet.
fn unnamed(app: &App, store: &Store, projects: Option<&[i64]>) -> Result<Discovery> {
    let known = store.latest_transcripts(projects, LATEST)?;
    let known: Vec<PathBuf> = known.into_iter().map(PathBuf::from).collect();
    let is_watched = background::is_running(app) && watching(app) == Reading::All;
    let age = if is_watched { WATCHED } else { RECENT };
    let since = app.clock.now() - age;
    let recent = Recent { since, known: &known, only_beside: projects.is_some() };
    let until = Instant::now() + LOOKING;
    let go_on = || Instant::now() < until;
    Ok(agents::discover_recent(&app.homes, recent, &|_| false, &go_on))
}

/// Works on a thread of its own, and leaves that alone when the time is over or the caller stopped waiting: what it has
/// not committed by then never happened (invariant I-3). Returns the sessions it was about if it finished.
fn work_until(
    deadline: Instant,
    app: &App,
    projects: Option<&[i64]>,
    call: Call<'_>,
) -> Option<Vec<SessionKey>> {
    let (done, finished) = mpsc::channel();
    let cancelled = Arc::new(AtomicBool::new(false));
    let (flag, app) = (Arc::clone(&cancelled), app.clone());
    let projects = projects.map(<[i64]>::to_vec);
    let worker = std::thread::Builder::new().spawn(move || {
        let outcome = work(&app, projects.as_deref(), deadline, &flag);
        let _ = done.send(outcome.ok().flatten());
    });
    worker.ok()?;
    let outcome = loop {
        let left = deadline.saturating_duration_since(Instant::now());
        match finished.recv_timeout(left.min(LOOK)) {
            Ok(outcome) => break outcome,
            Err(mpsc::RecvTimeoutError::Timeout) if left > LOOK && !call.is_cancelled() => {}
            Err(_) => break None,
        }
    };
    cancelled.store(true, Ordering::Relaxed);
    outcome
}

fn work(
    app: &App,
    projects: Option<&[i64]>,
    deadline: Instant,
    cancelled: &AtomicBool,
) -> Result<Option<Vec<SessionKey>>> {
    let intake = app.intake()?;
    let patience = deadline.saturating_duration_since(Instant::now());
    let Some(lock) = intake.try_lock(patience)? else { return Ok(None) };
    // With what hooks recorded in it, the store says what there is to do.
    intake.ingest_events(&lock, &mut |_, _, _| {})?;
    let to_do = to_do(app, &intake, &Store::open_to_read(&app.layout)?, projects)?;
    let all = [to_do.sessions.clone(), to_do.going_on].concat();
    let mut effort = Effort::for_sessions(&all, to_do.bytes);
    effort.thorough |= to_do.unindexed;
    let call = Call::unwatched(Patience::Within(Duration::ZERO), cancelled);
    ingest(app, &lock, TranscriptScope::Found(to_do.found), effort, call)?;
    Ok(Some(to_do.sessions))
}

/// Returns those of the sessions that are not in the store as they are.
fn left_out(
    app: &App,
    store: &Store,
    asked: &[SessionKey],
    finished: bool,
) -> Result<Vec<LeftOut>> {
    let (now, limits) = (app.clock.now(), app.limits());
    let jobs = store.jobs()?;
    let mut left_out = Vec::new();
    for session in asked {
        let state =
            store.session_by_key(session)?.map(|row| store.session_state(row)).transpose()?;
        let reason = match state.flatten() {
            Some(state) if state.indexing == Indexing::Failed => {
                let job = jobs.iter().find(|job| job.session == state.row);
                Some(
                    job.and_then(|job| job.error.clone()).unwrap_or_else(|| "it failed".to_owned()),
                )
            }
            // One that goes on is searched as far as it is; its episode waits until it is left.
            Some(state) if finished => {
                let is_missing = state.indexing != Indexing::Indexed
                    && state.lifecycle.left(now, &limits).is_some();
                is_missing.then(|| "not done".to_owned())
            }
            // Excluded or forgotten.
            None if finished => None,
            Some(state) if state.indexing == Indexing::Indexed => None,
            _ => Some("not in time".to_owned()),
        };
        left_out.extend(reason.map(|reason| LeftOut { session: session.id.clone(), reason }));
    }
    Ok(left_out)
}

/// Asks the text indexes. One that turns out to be damaged is removed, which a line tells, and they are asked again: the next
/// question, or a process that is left behind, makes it anew of the store.
///
/// # Errors
/// As `ask`, and where a damaged index cannot be removed.
pub fn of_whole_index<T>(app: &App, call: Call<'_>, ask: impl Fn() -> Result<T>) -> Result<T> {
    let is_suspect = |error: &Trouble| error.kind() == TroubleKind::Failed;
    index::guarded(&app.layout, ask, is_suspect, |damage| {
        let intake = app.intake()?;
        let lock = call.lock(&intake).map_err(|error| match error.is_read_only() {
            true => StoreError::from(damage).into(),
            false => error,
        })?;
        app.open.close();
        if damage.remove()? {
            call.note(&format!("The text index was damaged ({damage}); rebuilding it."));
        }
        drop(lock);
        Ok(())
    })
}

/// Searches a store that is open already.
///
/// # Errors
/// Fails if store, index or vectors cannot be read.
pub fn search_store(app: &App, store: &Store, request: &SearchRequest) -> Result<SearchResults> {
    let embedding = embedding::embed_question(app, &request.query);
    let intake = app.intake_beside(store)?;
    let results = thru_recall::search(
        &app.layout,
        store,
        intake.redactor(),
        request,
        Box::new(|| embedding.wait()),
    )?;
    Ok(results)
}
