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
use thru_agents::Discovery;
use thru_agents::agents::{self, Recent};
use thru_core::SessionKey;
use thru_intake::Intake;
use thru_lifecycle::Indexing;
use thru_recall::{Answer, Request};
use thru_store::{Course, Store};

use crate::background;
use crate::bringing_in::{self, Effort, RECENT, Where, add, bring_in};
use crate::commands::import::Exclusions;
use crate::embedding;
use crate::environment::{Environment, host};
use crate::ui::{Page, Tone, plural, printable};

/// Unindexed sessions that are looked at: the latest. There are more only where nothing was ever
/// indexed.
const LOOKED_AT: usize = 200;
/// Sessions whose transcripts may have gone on without a hook that told of it: those that did last.
const LATEST: usize = 100;
/// How long folders are looked through for transcripts that no hook told of.
const LOOKING: Duration = Duration::from_millis(20);

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
    /// Whether hooks recorded something that was not looked at.
    pub(crate) unread: bool,
}

impl Prepared {
    /// For programs.
    pub(crate) fn as_json(&self) -> Value {
        let left_out: Vec<Value> = self
            .left_out
            .iter()
            .map(|one| json!({ "session_id": one.session.id, "reason": one.reason }))
            .collect();
        json!({ "indexed": self.indexed, "left_out": left_out, "records_left_out": self.unread })
    }

    /// For people, below the answer.
    pub(crate) fn show(&self, page: &mut Page) {
        for line in self.sentences() {
            page.line(page.paint(Tone::Bad, &line));
        }
    }

    /// What is not in the answer, a sentence each.
    pub(crate) fn sentences(&self) -> Vec<String> {
        let mut sentences = Vec::new();
        if self.unread {
            sentences.push(
                "What hooks recorded last is not in this answer: there was no time to read it."
                    .to_owned(),
            );
        }
        if !self.left_out.is_empty() {
            let named = self.left_out.iter().take(5).map(|one| {
                let id = one.session.id.short();
                format!("{id} ({})", printable(&one.reason))
            });
            let named = named.collect::<Vec<_>>().join(", ");
            let number = plural(self.left_out.len() as u64, "recent session");
            sentences.push(format!("Not all of {number} is in this answer: {named}."));
        }
        sentences
    }
}

/// What there is to do.
struct ToDo {
    /// Transcripts that grew.
    found: Discovery,
    /// How many bytes of them are new, at least.
    bytes: u64,
    /// Sessions of those, and sessions that somebody left and that are not indexed.
    sessions: Vec<SessionKey>,
    /// Sessions that go on, and whose last turn was not distilled.
    going_on: Vec<SessionKey>,
    /// Whether hooks recorded something that is not in the store.
    events: bool,
}

impl ToDo {
    fn is_nothing(&self) -> bool {
        self.sessions.is_empty() && self.going_on.is_empty() && !self.events
    }
}

/// Whoever asks, while the question is prepared.
pub(crate) struct Asker<'a> {
    /// Is told that there is something to wait for.
    pub(crate) tell: &'a dyn Fn(&str),
    /// Becomes true when he no longer waits.
    pub(crate) is_gone: &'a AtomicBool,
}

/// How often it is looked whether anybody still waits.
const LOOK: Duration = Duration::from_millis(20);

/// Opens the store for a question about these projects (about everything where none are named).
pub(crate) fn open_for_question(
    environment: &Environment,
    intake: &Intake,
    store: Store,
    projects: Option<&[i64]>,
) -> Result<(Store, Prepared)> {
    let watches = environment.terminal.errors;
    let tell = |message: &str| {
        if watches {
            let _ = writeln!(std::io::stderr(), "{message}");
        }
    };
    let asker = Asker { tell: &tell, is_gone: &AtomicBool::new(false) };
    open_for(&asker, environment, intake, store, projects)
}

/// The same, for somebody who is elsewhere.
pub(crate) fn open_for(
    asker: &Asker<'_>,
    environment: &Environment,
    intake: &Intake,
    store: Store,
    projects: Option<&[i64]>,
) -> Result<(Store, Prepared)> {
    let deadline = Instant::now() + environment.config.index_deadline();
    // Where nothing can be written, what is there can be asked all the same.
    let Ok(to_do) = to_do(environment, intake, &store, projects) else {
        return Ok((store, Prepared::default()));
    };
    if to_do.is_nothing() {
        return Ok((store, Prepared::default()));
    }
    if !to_do.sessions.is_empty() {
        let sessions = plural(to_do.sessions.len() as u64, "recent session");
        (asker.tell)(&format!("Indexing {sessions} before search…"));
    }
    drop(store);
    let done = work_until(deadline, asker.is_gone, environment, projects);
    let store = Store::open_to_read(&environment.layout)?;
    let is_finished = done.is_some();
    let asked = done.unwrap_or(to_do.sessions);
    let left_out = left_out(environment, &store, &asked, is_finished)?;
    let indexed = asked.len().saturating_sub(left_out.len());
    let unread = !is_finished
        && Intake::news(&environment.layout, &host(), &store).is_ok_and(|news| news > 0);
    Ok((store, Prepared { indexed, left_out, unread }))
}

fn to_do(
    environment: &Environment,
    intake: &Intake,
    store: &Store,
    projects: Option<&[i64]>,
) -> Result<ToDo> {
    let events = Intake::news(&environment.layout, &host(), store)? > 0;
    let exclusions = Exclusions::of(environment)?;
    let mut found = Discovery::default();
    if bringing_in::may_read_transcripts(environment) {
        found = bringing_in::recorded(environment, store, projects)?;
        if !background::is_watching(&environment.layout, &environment.config) {
            add(&mut found, unwatched(environment, store, projects)?);
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
    let (now, limits) = (environment.clock.now(), environment.limits());
    let mut going_on = Vec::new();
    for course in store.unindexed_sessions(projects, LOOKED_AT)? {
        let Some(conversation) = course.heard.at(now, &limits) else { continue };
        match conversation.left() {
            // Who failed is tried again when its time comes, not by every question.
            Some(_) if course.indexing != Indexing::Failed && distils(environment, &course) => {
                sessions.insert(course.key.id.as_str().to_owned(), course.key);
            }
            None if course.is_stale && conversation.turn().is_none() => going_on.push(course.key),
            _ => {}
        }
    }
    Ok(ToDo {
        found: Discovery { sources: plan.sources, problems: Vec::new() },
        bytes: plan.bytes,
        sessions: sessions.into_values().collect(),
        going_on,
        events,
    })
}

/// Whether it can be indexed at all: where nothing is distilled, what was not distilled before cannot.
fn distils(environment: &Environment, course: &Course) -> bool {
    environment.config.distil_enabled() || course.content.is_some()
}

/// Transcripts that no hook told of, while nobody watches.
fn unwatched(
    environment: &Environment,
    store: &Store,
    projects: Option<&[i64]>,
) -> Result<Discovery> {
    let known = store.latest_transcripts(projects, LATEST)?;
    let known: Vec<PathBuf> = known.into_iter().map(PathBuf::from).collect();
    let since = environment.clock.now() - RECENT;
    let recent = Recent { since, known: &known, only_beside: projects.is_some() };
    let until = Instant::now() + LOOKING;
    let go_on = || Instant::now() < until;
    Ok(agents::discover_recent(&environment.homes, recent, &|_| false, &go_on))
}

/// Does it on a thread of its own, and leaves that alone when the time is over, or nobody waits any more:
/// whatever it has not committed by then is as if it had never begun (invariant I-3). Gives the sessions that it was about, if
/// it came to its end.
fn work_until(
    deadline: Instant,
    is_gone: &AtomicBool,
    environment: &Environment,
    projects: Option<&[i64]>,
) -> Option<Vec<SessionKey>> {
    let (done, finished) = mpsc::channel();
    let cancelled = Arc::new(AtomicBool::new(false));
    let (flag, environment) = (Arc::clone(&cancelled), environment.clone());
    let projects = projects.map(<[i64]>::to_vec);
    let worker = std::thread::Builder::new().spawn(move || {
        let outcome = work(&environment, projects.as_deref(), deadline, &flag);
        let _ = done.send(outcome.ok().flatten());
    });
    worker.ok()?;
    let outcome = loop {
        let left = deadline.saturating_duration_since(Instant::now());
        match finished.recv_timeout(left.min(LOOK)) {
            Ok(outcome) => break outcome,
            Err(mpsc::RecvTimeoutError::Timeout)
                if left > LOOK && !is_gone.load(Ordering::Relaxed) => {}
            Err(_) => break None,
        }
    };
    cancelled.store(true, Ordering::Relaxed);
    outcome
}

fn work(
    environment: &Environment,
    projects: Option<&[i64]>,
    deadline: Instant,
    cancelled: &AtomicBool,
) -> Result<Option<Vec<SessionKey>>> {
    let intake = environment.intake()?;
    let patience = deadline.saturating_duration_since(Instant::now());
    let Some(lock) = intake.try_lock(patience)? else { return Ok(None) };
    // With what hooks recorded in it, the store says what there is to do.
    intake.take_events(&lock, &mut |_, _, _| {})?;
    let to_do = to_do(environment, &intake, &Store::open_to_read(&environment.layout)?, projects)?;
    let all = [to_do.sessions.clone(), to_do.going_on].concat();
    let effort = Effort::of(&all, to_do.bytes);
    bring_in(environment, &lock, Where::Found(to_do.found), effort, cancelled)?;
    Ok(Some(to_do.sessions))
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
                let is_missing = course.indexing != Indexing::Indexed
                    && course.heard.left(now, &limits).is_some();
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

/// Answers a question from a store that is open already.
pub(crate) fn answer(
    environment: &Environment,
    store: &Store,
    request: &Request,
) -> Result<Answer> {
    let meaning = embedding::of_question(environment, &request.query);
    let intake = environment.intake_beside(store)?;
    let answer = thru_recall::search(
        &environment.layout,
        store,
        intake.redactor(),
        request,
        Box::new(|| meaning.wait()),
    )?;
    Ok(answer)
}
