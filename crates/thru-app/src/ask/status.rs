//! The state of the memory: its contents, recording, and anything that wants looking after. Looks at little; the
//! doctor looks at everything.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::SystemTime;

use schemars::JsonSchema;
use serde::Serialize;
use thru_capture::pause::{self, Pause};
use thru_capture::{lost, timings};
use thru_core::{Agent, Timestamp};
use thru_store::{SessionFilter, Store};

use crate::app::App;
use crate::call::Call;
use crate::embedding::{State, StateForm};
use crate::fresh::{self, Freshness};
use crate::health::{
    self, Daemon, DaemonForm, Sizes, held_back, hooks_found, last_space, number_left,
    recent_failures,
};
use crate::ingest::reading::{Reading, reading};
use crate::models::meters::Meters;
use crate::trouble::Result;
use crate::{answer, background};

/// The latest sessions whose phase is looked at: the rest ended long ago.
const LATEST: usize = 500;

/// The state of the memory.
#[derive(Serialize, JsonSchema)]
pub struct Status {
    /// The version of this form.
    pub version: u32,
    /// `status`.
    pub kind: &'static str,
    /// The folder of our data.
    pub directory: PathBuf,
    /// The state of recording.
    pub recording: Recording,
    /// Agents that hold the hooks back: a line for each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub held_back: Vec<String>,
    /// The end of the pause, where recording is paused for a time.
    pub paused_until: Option<Timestamp>,
    /// Events that our hooks are called for.
    pub events: usize,
    /// The same by agent.
    #[serde(skip)]
    pub events_by_agent: BTreeMap<Agent, u64>,
    /// Sessions.
    pub sessions: u64,
    /// Sessions by their agent.
    pub sessions_by_agent: BTreeMap<Agent, u64>,
    /// Projects.
    pub projects: u64,
    /// Passages.
    pub passages: u64,
    /// The number of the latest sessions that are active, idle and so on.
    pub states: BTreeMap<&'static str, u64>,
    /// Memories.
    pub memories: u64,
    /// The last event that was recorded.
    pub last_event: Option<LastEvent>,
    /// The time of the last write to the store.
    pub last_intake: Option<Timestamp>,
    /// Records of the journal that are not in the store.
    pub pending_records: u64,
    /// Sessions that were left and are not indexed.
    pub unindexed_sessions: usize,
    /// Work that is not a question to a model.
    pub jobs: JobCounts,
    /// The daemon.
    #[schemars(with = "DaemonForm<'static>")]
    pub daemon: Daemon,
    /// The address of the page, while it is served.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page: Option<String>,
    /// The transcripts that are read unasked.
    pub reading: Reading,
    /// The model that is asked about memories, and its cost.
    pub models: Option<Meters>,
    /// The vectors.
    #[schemars(with = "StateForm<'static>")]
    pub meaning: State,
    /// True if the journal grew beyond its cap.
    pub journal_alarm: bool,
    /// The journal's cap in bytes.
    #[serde(skip)]
    pub journal_cap: u64,
    /// Hooks that failed in the last day.
    pub failures_last_day: usize,
    /// Events that could not be recorded, of which no session was told yet.
    pub lost_events: u64,
    /// The bytes that are left on the disk, if there are hardly any.
    pub disk_full: Option<u64>,
    /// Bytes on disk.
    pub bytes: Sizes,
}

/// The state of recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Recording {
    /// Hooks keep what they are given.
    On,
    /// It is paused.
    Paused,
    /// It is off in this folder, by a setting.
    OffHere,
    /// It is off in this folder, because its settings cannot be understood.
    StoppedHere,
    /// It is off everywhere, by a setting.
    Off,
    /// No agent calls our hooks.
    NotConnected,
}

/// The last event that was recorded.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct LastEvent {
    /// Its name.
    pub event: String,
    /// Its time.
    pub at: Timestamp,
}

/// Jobs by their prospects.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub struct JobCounts {
    /// Jobs that wait, or failed and are tried again.
    pub waiting: usize,
    /// Jobs that were given up.
    pub dead: usize,
}

/// Looks at the memory. Where there is no store yet, none is made.
///
/// # Errors
/// Fails if the store, the journal or the settings cannot be read.
pub fn status(app: &App, call: Call<'_>) -> Result<Status> {
    let (layout, now) = (&app.layout, app.clock.now());
    fresh::make_again_if_lost(app, call)?;
    let store = match layout.database().exists() {
        true => Some(fresh::open(app, Freshness::Recorded, call)?),
        false => None,
    };
    let bytes = health::sizes(layout);
    let journal_cap = app.config.journal.alarm_mb.bytes();
    let found = hooks_found(app);
    let each: BTreeSet<_> = found.iter().map(|hook| (hook.agent, &hook.event)).collect();
    let events = each.len();
    let mut events_by_agent = BTreeMap::new();
    for (agent, _) in each {
        *events_by_agent.entry(agent).or_default() += 1;
    }
    let paused = pause::current(layout, now);
    let recording = match paused {
        Some(_) => Recording::Paused,
        None if !app.config.session_tracking.enabled || !app.config.hooks.enabled => Recording::Off,
        None if app.config.capture.off => Recording::OffHere,
        None if app.notes.iter().any(|note| note.is_about_what_is_kept()) => Recording::StoppedHere,
        None if events == 0 => Recording::NotConnected,
        None => Recording::On,
    };
    let counts = store.as_ref().map(Store::counts).transpose()?.unwrap_or_default();
    let jobs = store.as_ref().map(Store::jobs).transpose()?.unwrap_or_default();
    let (dead, waiting): (Vec<_>, Vec<_>) =
        jobs.iter().filter(|job| !job.is_question()).partition(|job| job.is_dead);
    let intake = app.intake()?;
    Ok(Status {
        version: answer::VERSION,
        kind: "status",
        directory: layout.root().to_owned(),
        recording,
        held_back: match recording {
            Recording::On => held_back(app, &found),
            _ => Vec::new(),
        },
        paused_until: paused.and_then(Pause::end),
        events,
        events_by_agent,
        sessions: counts.sessions,
        sessions_by_agent: store
            .as_ref()
            .map(Store::sessions_by_agent)
            .transpose()?
            .unwrap_or_default(),
        projects: counts.projects,
        passages: counts.passages,
        states: store.as_ref().map(|store| phases(store, app)).transpose()?.unwrap_or_default(),
        memories: store.as_ref().map(Store::memory_count).transpose()?.unwrap_or_default(),
        last_event: timings::list(layout)
            .into_iter()
            .rfind(|hook| hook.is_kept)
            .map(|hook| LastEvent { event: hook.event, at: hook.at }),
        last_intake: store.is_some().then(|| last_written(app)).flatten(),
        pending_records: intake.pending(store.as_ref())?.records,
        unindexed_sessions: match &store {
            Some(store) => number_left(store, app)?,
            None => 0,
        },
        jobs: JobCounts { waiting: waiting.len(), dead: dead.len() },
        daemon: Daemon::look(app),
        page: background::page_address(app),
        reading: reading(app),
        models: Meters::read(app, store.as_ref(), &jobs)?,
        meaning: State::look(app, &intake)?,
        journal_alarm: bytes.journal > journal_cap,
        journal_cap,
        failures_last_day: recent_failures(layout, now).len(),
        lost_events: lost::known(layout).map_or(0, |lost| lost.events),
        disk_full: last_space(layout),
        bytes,
    })
}

/// The phases of the latest sessions, with the number of each. Sessions without an event of a hook have none.
fn phases(store: &Store, app: &App) -> Result<BTreeMap<&'static str, u64>> {
    let (now, limits) = (app.clock.now(), app.limits());
    let mut phases = BTreeMap::new();
    let filter = SessionFilter { limit: Some(LATEST), ..SessionFilter::default() };
    for session in store.sessions(&filter)? {
        if let Some(conversation) = session.lifecycle.at(now, &limits) {
            *phases.entry(conversation.phase().as_str()).or_default() += 1;
        }
    }
    Ok(phases)
}

/// The time of the last write to the database.
fn last_written(app: &App) -> Option<Timestamp> {
    let database = app.layout.database();
    let modified: Option<SystemTime> = [database.with_extension("db-wal"), database]
        .iter()
        .filter_map(|file| file.metadata().ok().filter(|file| file.len() > 0)?.modified().ok())
        .max();
    Timestamp::try_from(modified?).ok()
}
