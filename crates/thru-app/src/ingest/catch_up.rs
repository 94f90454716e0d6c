//! Catching up with what hooks recorded and what transcripts say: the same steps for `thru intake`, the daemon, a close
//! and a question.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::trouble::Result;
use jiff::SignedDuration;
use thru_agents::{Discovery, agents};
use thru_capture::session::Session;
use thru_core::{Agent, SessionKey, SourceKind};
use thru_intake::{DistilScope, ImportOptions, ImportReport, Intake, IntakeLock};
use thru_store::{JobKind, JobRow, Store};

use crate::app::App;
use crate::call::Call;
use crate::compaction;
use crate::ingest::exclusions::Exclusions;
use crate::ingest::reading::{Reading, reading, watching};

/// The age up to which sessions are looked at again. Older ones were ingested long ago, or are by `thru import`.
pub const RECENT: SignedDuration = SignedDuration::from_hours(48);

/// Transcripts with more bytes than this are brought into the text index at once.
const INDEXED_AT_ONCE: u64 = 512 * 1024;

/// The places to look for transcripts.
#[derive(Clone, Debug)]
pub enum TranscriptScope {
    /// Those that hooks of the last days named.
    Recorded,
    /// There, and at what a watcher saw change.
    Changed(BTreeSet<PathBuf>),
    /// Everywhere that agents keep them.
    Everywhere,
    /// Here, and nowhere else.
    Found(Discovery),
}

/// The thoroughness of a run.
#[derive(Clone, Copy)]
pub struct Effort<'a> {
    /// The sessions that are distilled and indexed.
    pub scope: DistilScope<'a>,
    /// Bring the text index up to date, and tidy up.
    pub thorough: bool,
}

impl<'a> Effort<'a> {
    /// The effort for a caller that waits for these sessions, of which this many bytes are new.
    pub const fn for_sessions(sessions: &'a [SessionKey], bytes: u64) -> Self {
        Self { scope: DistilScope::These(sessions), thorough: bytes > INDEXED_AT_ONCE }
    }
}

/// The result of a run.
#[derive(Debug, Default)]
pub struct Ingested {
    /// Events of hooks.
    pub events: u64,
    /// The report on transcripts and sessions.
    pub report: ImportReport,
}

/// Ingests what is new. The lock's last holder may have forgotten sessions or changed rules: all of that is read here,
/// with the lock in hand.
///
/// # Errors
/// Fails if settings, journal, archive or store cannot be used.
pub fn ingest(
    app: &App,
    lock: &IntakeLock,
    scope: TranscriptScope,
    effort: Effort<'_>,
    call: Call<'_>,
) -> Result<Ingested> {
    let intake = app.intake()?;
    thru_capture::rules::write(&app.layout, intake.rules())?;
    let exclusions = Exclusions::from_config(app)?;
    let excluded = |directory: &Path| exclusions.apply_to(directory);
    // First what hooks recorded, which says where the transcripts are.
    let events = intake.ingest_events(lock, &mut call.upgrading())?;
    forget_in_hooks(app, &intake)?;
    let is_watched = matches!(scope, TranscriptScope::Changed(_) | TranscriptScope::Everywhere);
    let scope = match if is_watched { watching(app) } else { reading(app) } {
        Reading::Nothing => None,
        Reading::Recorded if is_watched => Some(TranscriptScope::Recorded),
        Reading::All | Reading::Recorded => Some(scope),
    };
    let found = match scope {
        Some(scope) => {
            let mut found = discover(app, &exclusions, scope)?;
            add(&mut found, queued(app)?);
            found.sources.retain(|source| !exclusions.apply_to_file(&source.path));
            found
        }
        None => Discovery::default(),
    };
    let plan = intake.plan(found, Some(&excluded))?;
    let options =
        ImportOptions { excluded: &excluded, distil: effort.scope, index: effort.thorough };
    let progress = &mut call.upgrading();
    let report = intake.import(lock, plan, &options, call.cancelled(), progress, &mut |_| {})?;
    // A caller that waits for one session does not wait for others.
    if !matches!(effort.scope, DistilScope::These(_)) {
        compaction::complete(app, lock)?;
    }
    if effort.thorough {
        intake.seal_journal(lock)?;
        thru_capture::session::forget_old(&app.layout, app.clock.now().into());
    }
    Ok(Ingested { events, report })
}

/// Tells hooks of sessions that the user had forgotten.
fn forget_in_hooks(app: &App, intake: &Intake) -> Result<()> {
    for session in intake.forgotten() {
        let session = Session::at(&app.layout, session);
        if !session.is_forgotten() {
            session.set_forgotten()?;
        }
    }
    Ok(())
}

fn discover(app: &App, exclusions: &Exclusions, scope: TranscriptScope) -> Result<Discovery> {
    let skip = |path: &Path| exclusions.apply_to_file(path);
    let watched = || app.config.session_tracking.watch_directories.iter().map(Path::new);
    let mut found = match scope {
        TranscriptScope::Found(found) => found,
        TranscriptScope::Recorded => recorded_anywhere(app)?,
        TranscriptScope::Changed(changed) => {
            let mut found = recorded_anywhere(app)?;
            let paths = changed.iter().map(PathBuf::as_path);
            add(&mut found, agents::discover_changed(&app.homes, paths, &skip));
            for path in changed.iter().filter(|path| watched().any(|own| path.starts_with(own))) {
                add(&mut found, agents::discover_path(path));
            }
            found
        }
        TranscriptScope::Everywhere => return Ok(everywhere(app, exclusions)),
    };
    found.sources.retain(|source| !skip(&source.path));
    Ok(found)
}

/// All transcripts that agents keep, and those in the directories that the user named.
pub fn everywhere(app: &App, exclusions: &Exclusions) -> Discovery {
    let skip = |path: &Path| exclusions.apply_to_file(path);
    let mut found = Discovery::default();
    for agent in Agent::ALL {
        found.append(agents::discover(agent, &app.homes, &skip));
    }
    for own in &app.config.session_tracking.watch_directories {
        add(&mut found, agents::discover_path(Path::new(own)));
    }
    found.sources.retain(|source| !skip(&source.path));
    found
}

/// Returns the transcripts that hooks of the last days named; of these projects, if any are given.
///
/// # Errors
/// Fails if the store cannot be read.
pub fn recorded(app: &App, store: &Store, projects: Option<&[i64]>) -> Result<Discovery> {
    Ok(Intake::recorded_sources(store, app.clock.now() - RECENT, projects)?)
}

fn recorded_anywhere(app: &App) -> Result<Discovery> {
    match Store::open_if_there(&app.layout)? {
        Some(store) => recorded(app, &store, None),
        None => Ok(Discovery::default()),
    }
}

/// Adds what is not there yet.
pub fn add(found: &mut Discovery, more: Discovery) {
    let known: BTreeSet<PathBuf> = found.sources.iter().map(|source| source.path.clone()).collect();
    found.sources.extend(more.sources.into_iter().filter(|one| !known.contains(&one.path)));
    found.problems.extend(more.problems);
}

/// Finds the session's transcript, with the files that belong to it.
///
/// # Errors
/// Fails if the store cannot be read.
pub fn of_session(store: &Store, session: i64) -> Result<Discovery> {
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
fn queued(app: &App) -> Result<Discovery> {
    let mut found = Discovery::default();
    let Some(store) = Store::open_if_there(&app.layout)? else { return Ok(found) };
    let now = app.clock.now();
    let mut jobs = store.jobs()?;
    let is_index = |job: &JobRow| job.kind == Some(JobKind::Index);
    jobs.retain(|job| is_index(job) && job.attempts > 0 && job.is_due(now));
    for job in jobs {
        add(&mut found, of_session(&store, job.session)?);
    }
    Ok(found)
}
