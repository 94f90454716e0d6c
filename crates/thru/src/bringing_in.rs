//! Bringing in what hooks recorded and what transcripts say: the same steps, whoever takes them: `thru
//! intake`, the daemon, a close, a question.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::SystemTime;

use anyhow::Result;
use jiff::SignedDuration;
use thru_agents::{Discovery, agents};
use thru_capture::pause;
use thru_capture::session::Session;
use thru_core::{Agent, SessionKey, SourceKind};
use thru_intake::{How, ImportReport, Intake, IntakeLock, Which};
use thru_store::{JobKind, JobRow, Store};

use crate::commands::import::Exclusions;
use crate::commands::shared;
use crate::environment::Environment;
use crate::surviving;

/// How far back sessions are looked at again. What is older was brought in long ago, or is by
/// `thru import`.
pub(crate) const RECENT: SignedDuration = SignedDuration::from_hours(48);

/// Transcripts with more bytes than this are brought into the text index at once.
const INDEXED_AT_ONCE: u64 = 512 * 1024;

/// Where to look for transcripts.
#[derive(Clone, Debug)]
pub(crate) enum Where {
    /// Where the hooks of the last days said that they are.
    Recorded,
    /// There, and at what a watcher saw change.
    Changed(BTreeSet<PathBuf>),
    /// Everywhere that agents keep them.
    Everywhere,
    /// Here, and nowhere else.
    Found(Discovery),
}

/// How thoroughly.
#[derive(Clone, Copy)]
pub(crate) struct Effort<'a> {
    /// Which sessions are distilled and indexed.
    pub(crate) which: Which<'a>,
    /// Bring the text index up to date, and tidy up.
    pub(crate) thorough: bool,
}

impl<'a> Effort<'a> {
    /// What somebody who asks for these sessions waits for, where so many bytes of theirs are new.
    pub(crate) const fn of(sessions: &'a [SessionKey], bytes: u64) -> Self {
        Self { which: Which::These(sessions), thorough: bytes > INDEXED_AT_ONCE }
    }
}

/// What was brought in.
#[derive(Debug, Default)]
pub(crate) struct BroughtIn {
    /// Events of hooks.
    pub(crate) events: u64,
    /// What came of transcripts and sessions.
    pub(crate) report: ImportReport,
}

/// Brings in what is new. Whoever had the lock before may have forgotten sessions or changed rules: all of
/// that is read here, with the lock in hand.
pub(crate) fn bring_in(
    environment: &Environment,
    lock: &IntakeLock,
    place: Where,
    effort: Effort<'_>,
    cancelled: &AtomicBool,
) -> Result<BroughtIn> {
    let intake = environment.intake()?;
    thru_capture::rules::write(&environment.layout, intake.rules())?;
    let exclusions = Exclusions::of(environment)?;
    let excluded = |directory: &Path| exclusions.apply_to(directory);
    // First what hooks recorded, which says where the transcripts are.
    let events = intake.take_events(lock, &mut shared::migration_progress(environment))?;
    forget_in_hooks(environment, &intake)?;
    let found = match may_read_transcripts(environment) {
        true => {
            let mut found = discover(environment, &exclusions, place)?;
            add(&mut found, queued(environment)?);
            found.sources.retain(|source| !exclusions.apply_to_file(&source.path));
            found
        }
        false => Discovery::default(),
    };
    let plan = intake.plan(found, Some(&excluded))?;
    let how = How { excluded: &excluded, distil: effort.which, index: effort.thorough };
    let progress = &mut shared::migration_progress(environment);
    let report = intake.import(lock, plan, &how, cancelled, progress, &mut |_| {})?;
    // Somebody who waits for one session does not wait for others.
    if !matches!(effort.which, Which::These(_)) {
        surviving::complete(environment, lock)?;
    }
    if effort.thorough {
        intake.seal_journal(lock)?;
        thru_capture::session::forget_old(&environment.layout, SystemTime::now());
    }
    Ok(BroughtIn { events, report })
}

/// Whether transcripts may be read without being told to: not while recording pauses, nor where the user
/// does not want sessions tracked.
pub(crate) fn may_read_transcripts(environment: &Environment) -> bool {
    environment.config.tracking_enabled()
        && pause::current(&environment.layout, environment.clock.now()).is_none()
}

/// Tells hooks of sessions that the user had forgotten.
fn forget_in_hooks(environment: &Environment, intake: &Intake) -> Result<()> {
    for session in intake.forgotten() {
        let session = Session::of(&environment.layout, session);
        if !session.is_forgotten() {
            session.set_forgotten()?;
        }
    }
    Ok(())
}

fn discover(environment: &Environment, exclusions: &Exclusions, place: Where) -> Result<Discovery> {
    let skip = |path: &Path| exclusions.apply_to_file(path);
    let watched = || environment.config.watch_directories().iter().map(Path::new);
    let mut found = match place {
        Where::Found(found) => found,
        Where::Recorded => recorded_anywhere(environment)?,
        Where::Changed(changed) => {
            let mut found = recorded_anywhere(environment)?;
            let paths = changed.iter().map(PathBuf::as_path);
            add(&mut found, agents::discover_changed(&environment.homes, paths, &skip));
            for path in changed.iter().filter(|path| watched().any(|own| path.starts_with(own))) {
                add(&mut found, agents::discover_path(path));
            }
            found
        }
        Where::Everywhere => return Ok(everywhere(environment, exclusions)),
    };
    found.sources.retain(|source| !skip(&source.path));
    Ok(found)
}

/// All transcripts that agents keep, and those in the directories that the user named.
pub(crate) fn everywhere(environment: &Environment, exclusions: &Exclusions) -> Discovery {
    let skip = |path: &Path| exclusions.apply_to_file(path);
    let mut found = Discovery::default();
    for agent in Agent::ALL {
        found.append(agents::discover(agent, &environment.homes, &skip));
    }
    for own in environment.config.watch_directories() {
        add(&mut found, agents::discover_path(Path::new(own)));
    }
    found.sources.retain(|source| !skip(&source.path));
    found
}

/// The transcripts that hooks of the last days told of; of these projects, if any are named.
pub(crate) fn recorded(
    environment: &Environment,
    store: &Store,
    projects: Option<&[i64]>,
) -> Result<Discovery> {
    Ok(Intake::recorded_sources(store, environment.clock.now() - RECENT, projects)?)
}

fn recorded_anywhere(environment: &Environment) -> Result<Discovery> {
    match Store::open_if_there(&environment.layout)? {
        Some(store) => recorded(environment, &store, None),
        None => Ok(Discovery::default()),
    }
}

/// Adds what is not there yet.
pub(crate) fn add(found: &mut Discovery, more: Discovery) {
    let known: BTreeSet<PathBuf> = found.sources.iter().map(|source| source.path.clone()).collect();
    found.sources.extend(more.sources.into_iter().filter(|one| !known.contains(&one.path)));
    found.problems.extend(more.problems);
}

/// Where the session's transcript lies, with what belongs to it.
pub(crate) fn of_session(store: &Store, session: i64) -> Result<Discovery> {
    let key = store.session_key(session)?;
    let told = store.sources_of_session(session)?;
    let path = told
        .iter()
        .filter(|source| matches!(source.kind, SourceKind::Hooks | SourceKind::Main))
        .map(|source| source.path.as_str())
        .find(|path| !path.is_empty());
    Ok(match (key, path) {
        (Some(key), Some(path)) => agents::discover_session(key.agent, Path::new(path), &key.id),
        _ => Discovery::default(),
    })
}

/// The transcripts of sessions that could not be indexed and are to be tried again: what could not be read
/// then has not changed since.
fn queued(environment: &Environment) -> Result<Discovery> {
    let mut found = Discovery::default();
    let Some(store) = Store::open_if_there(&environment.layout)? else { return Ok(found) };
    let now = environment.clock.now();
    let mut jobs = store.jobs()?;
    let is_index = |job: &JobRow| job.kind == Some(JobKind::Index);
    jobs.retain(|job| is_index(job) && job.attempts > 0 && job.is_due(now));
    for job in jobs {
        add(&mut found, of_session(&store, job.session)?);
    }
    Ok(found)
}
