//! Before a question is answered: what was recorded and not brought in yet is, and sessions that somebody
//! left are indexed, as far as that can be done in the time that a question may take. What could not
//! be done is named with the answer.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use anyhow::Result;
use serde_json::{Value, json};
use thru_agents::{Discovery, claude_code};
use thru_core::SessionKey;
use thru_intake::{Intake, Which};
use thru_lifecycle::Indexing;
use thru_store::{Course, Store};

use crate::background;
use crate::bringing_in::{self, Effort, RECENT, Where, add, bring_in};
use crate::commands::import::Exclusions;
use crate::environment::{Environment, host};
use crate::ui::{Page, Tone, plural};

/// Unindexed sessions that are looked at: the latest. There are more only where nothing was ever
/// indexed.
const LOOKED_AT: usize = 200;
/// Sessions whose transcripts tell where others of the project may lie.
const NEIGHBOURS: usize = 100;
/// How long folders are looked through for transcripts that no hook told of.
const LOOKING: Duration = Duration::from_millis(40);
/// Transcripts with more bytes than this are brought into the text index at once.
const INDEXED_AT_ONCE: u64 = 512 * 1024;

/// A session that a question may be about, and that is not indexed as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LeftOut {
    /// Which.
    pub(crate) session: SessionKey,
    /// Why.
    pub(crate) reason: String,
}

/// What was done before a question was answered.
#[derive(Clone, Debug, Default)]
pub(crate) struct Prepared {
    /// Sessions that were indexed, or brought up to date.
    pub(crate) indexed: usize,
    /// What was not done.
    pub(crate) left_out: Vec<LeftOut>,
}

impl Prepared {
    /// For programs.
    pub(crate) fn as_json(&self) -> Value {
        let left_out: Vec<Value> = self
            .left_out
            .iter()
            .map(|one| json!({ "session_id": one.session.id, "reason": one.reason }))
            .collect();
        json!({ "indexed": self.indexed, "left_out": left_out })
    }

    /// For people, below the answer.
    pub(crate) fn show(&self, page: &mut Page) {
        if self.left_out.is_empty() {
            return;
        }
        let named = self.left_out.iter().take(5).map(|one| {
            let id: String = one.session.id.as_str().chars().take(8).collect();
            format!("{id} ({})", crate::ui::printable(&one.reason))
        });
        let named = named.collect::<Vec<_>>().join(", ");
        let number = plural(self.left_out.len() as u64, "recent session");
        let line = format!("Not all of {number} is in this answer: {named}.");
        page.line(page.paint(Tone::Bad, &line));
    }
}

/// What there is to do.
struct ToDo {
    found: Discovery,
    sessions: Vec<SessionKey>,
    bytes: u64,
    events: bool,
}

/// Opens the store for a question about these projects (about everything where none are named).
pub(crate) fn open_for_question(
    environment: &Environment,
    store: Store,
    projects: Option<&[i64]>,
) -> Result<(Store, Prepared)> {
    let deadline = Instant::now() + environment.config.index_deadline();
    // Where nothing can be written, what is there can be asked all the same.
    let Ok(to_do) = to_do(environment, &store, projects) else {
        return Ok((store, Prepared::default()));
    };
    if to_do.sessions.is_empty() && !to_do.events {
        return Ok((store, Prepared::default()));
    }
    announce(environment, to_do.sessions.len());
    drop(store);
    let asked = to_do.sessions.clone();
    let finished = work_until(deadline, environment, to_do);
    let store = Store::open_to_read(&environment.layout)?;
    let left_out = left_out(environment, &store, &asked, finished)?;
    let indexed = asked.len().saturating_sub(left_out.len());
    Ok((store, Prepared { indexed, left_out }))
}

fn announce(environment: &Environment, sessions: usize) {
    if environment.terminal.errors && sessions > 0 {
        let sessions = plural(sessions as u64, "recent session");
        let _ = writeln!(std::io::stderr(), "Indexing {sessions} before search…");
    }
}

fn to_do(environment: &Environment, store: &Store, projects: Option<&[i64]>) -> Result<ToDo> {
    let events = Intake::news(&environment.layout, &host(), store)? > 0;
    let left = left(environment, store, projects)?;
    let intake = environment.intake()?;
    let mut found = bringing_in::recorded(environment, &intake, projects)?;
    if environment.config.tracking_enabled()
        && !background::is_watching(&environment.layout, &environment.config)
    {
        add(&mut found, unwatched(environment, store, projects)?);
    }
    let exclusions = Exclusions::of(environment)?;
    found.sources.retain(|source| !exclusions.apply_to_file(&source.path));
    let excluded = |directory: &Path| exclusions.apply_to(directory);
    let plan = intake.plan(found, Some(&excluded))?;
    let mut sessions: BTreeMap<String, SessionKey> = BTreeMap::new();
    let grown = plan
        .sources
        .iter()
        .map(|source| SessionKey { agent: source.agent, id: source.session.clone() });
    for session in grown.chain(left.into_iter().map(|course| course.key)) {
        sessions.insert(session.id.as_str().to_owned(), session);
    }
    let found = Discovery { sources: plan.sources, problems: Vec::new() };
    Ok(ToDo { found, sessions: sessions.into_values().collect(), bytes: plan.bytes, events })
}

/// Sessions that somebody left, that are not indexed, and that nobody gave up or put off.
fn left(environment: &Environment, store: &Store, projects: Option<&[i64]>) -> Result<Vec<Course>> {
    let (now, limits) = (environment.clock.now(), environment.limits());
    let mut courses = store.unindexed_sessions(projects, LOOKED_AT)?;
    courses.retain(|course| {
        let conversation = course.heard.at(now, &limits);
        course.indexing != Indexing::Failed
            && conversation.is_some_and(|conversation| conversation.left().is_some())
    });
    Ok(courses)
}

/// Transcripts that no hook told of, while nobody watches.
fn unwatched(
    environment: &Environment,
    store: &Store,
    projects: Option<&[i64]>,
) -> Result<Discovery> {
    let folders: Vec<PathBuf> = match projects {
        Some(projects) => {
            let transcripts = store.transcripts_of(projects, NEIGHBOURS)?;
            let folders = transcripts.iter().filter_map(|path| Path::new(path).parent());
            let mut folders: Vec<PathBuf> = folders.map(Path::to_owned).collect();
            folders.sort_unstable();
            folders.dedup();
            folders
        }
        None => claude_code::project_folders(&environment.claude_directory),
    };
    let until = Instant::now() + LOOKING;
    let since = environment.clock.now() - RECENT;
    let folders = folders.iter().map(PathBuf::as_path);
    Ok(claude_code::discover_recent(folders, since, &|_| false, &|| Instant::now() < until))
}

/// Does it on a thread of its own, and leaves that alone when the time is over: whatever it has not
/// committed by then is as if it had never begun (invariant I-3).
fn work_until(deadline: Instant, environment: &Environment, to_do: ToDo) -> bool {
    let (done, finished) = mpsc::channel();
    let cancelled = Arc::new(AtomicBool::new(false));
    let (flag, environment) = (Arc::clone(&cancelled), environment.clone());
    let worker = std::thread::Builder::new().spawn(move || {
        let outcome = work(&environment, to_do, deadline, &flag);
        let _ = done.send(outcome.is_ok_and(|did| did));
    });
    if worker.is_err() {
        return false;
    }
    let left = deadline.saturating_duration_since(Instant::now());
    let outcome = finished.recv_timeout(left);
    cancelled.store(true, Ordering::Relaxed);
    outcome.unwrap_or(false)
}

fn work(
    environment: &Environment,
    to_do: ToDo,
    deadline: Instant,
    cancelled: &AtomicBool,
) -> Result<bool> {
    let intake = environment.intake()?;
    let patience = deadline.saturating_duration_since(Instant::now());
    let Some(lock) = intake.try_lock(patience)? else { return Ok(false) };
    let thorough = to_do.bytes > INDEXED_AT_ONCE;
    let effort = Effort { which: Which::These(&to_do.sessions), thorough };
    bring_in(environment, &lock, Where::Found(to_do.found), effort, cancelled)?;
    Ok(true)
}

/// What of the sessions asked for is not in the store as it is.
fn left_out(
    environment: &Environment,
    store: &Store,
    asked: &[SessionKey],
    finished: bool,
) -> Result<Vec<LeftOut>> {
    let (now, limits) = (environment.clock.now(), environment.limits());
    let jobs = store.jobs()?;
    let mut left_out = Vec::new();
    for session in asked {
        let course = store.session_by_key(session)?.map(|row| store.course(row)).transpose()?;
        let reason = match course.flatten() {
            Some(course) if course.indexing == Indexing::Failed => {
                let job = jobs.iter().find(|job| job.session == course.row);
                Some(
                    job.and_then(|job| job.error.clone()).unwrap_or_else(|| "it failed".to_owned()),
                )
            }
            // One that goes on is searched as far as it is; its episode waits until it is left.
            Some(course) if finished => {
                let conversation = course.heard.at(now, &limits);
                let is_missing = course.indexing != Indexing::Indexed
                    && conversation.is_some_and(|conversation| conversation.left().is_some());
                is_missing.then(|| "not done".to_owned())
            }
            // Excluded or forgotten.
            None if finished => None,
            Some(course) if course.indexing == Indexing::Indexed => None,
            _ => Some("not in time".to_owned()),
        };
        left_out.extend(reason.map(|reason| LeftOut { session: session.clone(), reason }));
    }
    Ok(left_out)
}
