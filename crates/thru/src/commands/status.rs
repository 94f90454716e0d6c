//! `thru status`: how things are, in one screen.

use std::time::SystemTime;
use thru_app::App;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use thru_app::Result;
use thru_capture::pause;
use thru_capture::timings::{self, Timing};
use thru_core::{Agent, Timestamp};
use thru_store::{Counts, SessionFilter, Store};

use super::{Outcome, models, shared};
use crate::environment::Environment;
use crate::ui::{Page, Tone, age, count, day_and_time, plural, size};
use thru_app::embedding::State;
use thru_app::health::{self, Daemon, Sizes, described, hooks, number_left, recent_failures};
use thru_app::models::meters::Meters;

/// What is kept, whether recording is on, and whether anything wants looking after. Looks at little;
/// `thru doctor` looks at everything.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    thru status           how things are\n  \
    thru status --json    for a status line or a script")]
pub(crate) struct Arguments {
    /// Answer as JSON
    #[arg(long)]
    json: bool,
}

/// How things are.
struct Status {
    sizes: Sizes,
    recording: Recording,
    /// Events that our hooks are called for.
    events: usize,
    /// The same by agent.
    events_by_agent: BTreeMap<Agent, u64>,
    counts: Counts,
    /// How many of the latest sessions are active, idle and so on.
    states: BTreeMap<&'static str, u64>,
    memories: u64,
    last_hook: Option<Timing>,
    /// When the store was last written.
    last_intake: Option<Timestamp>,
    /// Records of the journal that are not in the store.
    pending: u64,
    /// Sessions that were left and are not indexed.
    unindexed: usize,
    /// Sessions in memory by the agent that they are of.
    by_agent: BTreeMap<Agent, u64>,
    /// Work that was given up.
    dead_jobs: u64,
    /// Work that failed and is tried again, or waits.
    waiting_jobs: u64,
    daemon: Daemon,
    /// The journal's cap, where it grew beyond it.
    alarm: Option<u64>,
    /// Hooks that failed in the last day.
    failures: usize,
    /// Who is asked about memories, and what that cost.
    models: Option<Meters>,
    /// Who turns texts into vectors, and how far that is.
    meaning: State,
}

/// Whether hooks keep what they are told.
enum Recording {
    On,
    Paused(pause::Pause),
    OffHere,
    NotConnected,
}

pub(crate) fn run(
    arguments: &Arguments,
    environment: &Environment,
    plain: bool,
) -> Result<Outcome> {
    let status = look(environment)?;
    let mut page = Page::new(environment, plain);
    match arguments.json {
        true => page.json(&as_json(&status, environment))?,
        false => show(&mut page, &status, environment),
    }
    page.print()?;
    Ok(Outcome::Done)
}

/// How things are, for programs.
pub(crate) fn json(environment: &Environment) -> Result<Value> {
    Ok(as_json(&look(environment)?, environment))
}

fn look(environment: &Environment) -> Result<Status> {
    let (layout, now) = (&environment.layout, environment.clock.now());
    let store = match layout.database().exists() {
        true => Some(shared::open_store(environment)?),
        false => None,
    };
    let sizes = health::sizes(layout);
    let cap = environment.config.journal.alarm_mb.bytes();
    let found = hooks::found(environment);
    let each: BTreeSet<_> = found.iter().map(|hook| (hook.agent, &hook.event)).collect();
    let events = each.len();
    let mut events_by_agent = BTreeMap::new();
    for (agent, _) in each {
        *events_by_agent.entry(agent).or_default() += 1;
    }
    let recording = match pause::current(layout, now) {
        Some(paused) => Recording::Paused(paused),
        None if environment.config.capture.off => Recording::OffHere,
        None if events == 0 => Recording::NotConnected,
        None => Recording::On,
    };
    let jobs = store.as_ref().map(Store::jobs).transpose()?.unwrap_or_default();
    let (dead_jobs, waiting_jobs): (Vec<_>, Vec<_>) =
        jobs.iter().filter(|job| !job.is_question()).partition(|job| job.is_dead);
    let intake = environment.intake()?;
    Ok(Status {
        recording,
        events,
        events_by_agent,
        counts: store.as_ref().map(Store::counts).transpose()?.unwrap_or_default(),
        states: store
            .as_ref()
            .map(|store| states(store, environment))
            .transpose()?
            .unwrap_or_default(),
        memories: store.as_ref().map(Store::memory_count).transpose()?.unwrap_or_default(),
        by_agent: store.as_ref().map(Store::sessions_by_agent).transpose()?.unwrap_or_default(),
        last_hook: timings::list(layout).pop(),
        last_intake: store.is_some().then(|| last_written(environment)).flatten(),
        pending: intake.pending(store.as_ref())?.records,
        unindexed: match &store {
            Some(store) => number_left(store, environment)?,
            None => 0,
        },
        dead_jobs: dead_jobs.len() as u64,
        waiting_jobs: waiting_jobs.len() as u64,
        daemon: Daemon::look(environment),
        alarm: (sizes.journal > cap).then_some(cap),
        failures: recent_failures(layout, now).len(),
        models: Meters::read(environment, store.as_ref(), &jobs)?,
        meaning: State::look(environment, &intake)?,
        sizes,
    })
}

/// Sessions that are looked at for where they stand: the rest ended long ago.
const LATEST: usize = 500;

/// Where the latest sessions stand, and how many of them. Sessions that no hook told of are none of these.
fn states(store: &Store, environment: &App) -> Result<BTreeMap<&'static str, u64>> {
    let (now, limits) = (environment.clock.now(), environment.limits());
    let mut states = BTreeMap::new();
    let filter = SessionFilter { limit: Some(LATEST), ..SessionFilter::default() };
    for session in store.sessions(&filter)? {
        if let Some(conversation) = session.heard.at(now, &limits) {
            *states.entry(conversation.phase().as_str()).or_default() += 1;
        }
    }
    Ok(states)
}

/// When the database was last written.
fn last_written(environment: &App) -> Option<Timestamp> {
    let database = environment.layout.database();
    let modified: Option<SystemTime> = [database.with_extension("db-wal"), database]
        .iter()
        .filter_map(|file| file.metadata().ok().filter(|file| file.len() > 0)?.modified().ok())
        .max();
    Timestamp::try_from(modified?).ok()
}

fn show(page: &mut Page, status: &Status, environment: &App) {
    let now = environment.clock.now();
    let ago = |then: Timestamp| match age(Some(then), now).as_str() {
        "now" => "just now".to_owned(),
        age => format!("{age} ago"),
    };
    let (counts, sizes) = (&status.counts, &status.sizes);
    let mut row = |name: &str, tone: Option<Tone>, text: String| {
        let name = page.paint(Tone::Quiet, &format!("{name:13}"));
        let text = tone.map_or(text.clone(), |tone| page.paint(tone, &text));
        page.line(format!("{name}{text}"));
    };
    match &status.recording {
        Recording::On => row("recording", Some(Tone::Good), "on".to_owned()),
        Recording::Paused(paused) => {
            row("recording", Some(Tone::Bad), described(*paused, environment));
        }
        Recording::OffHere => {
            row("recording", Some(Tone::Bad), "off in this folder, by `capture.off`".to_owned());
        }
        Recording::NotConnected => {
            row("recording", None, "no; `thru install` connects your agents".to_owned());
        }
    }
    if let Some(cap) = status.alarm {
        let text = format!(
            "the journal is beyond its cap of {}; nothing is dropped. `thru doctor` says more",
            size(cap)
        );
        row("alarm", Some(Tone::Bad), text);
    }
    if status.failures > 0 {
        let hooks = plural(status.failures as u64, "hook");
        let text = format!("{hooks} failed in the last day; `thru doctor` says more");
        row("failures", Some(Tone::Bad), text);
    }
    if status.dead_jobs > 0 {
        let jobs = plural(status.dead_jobs, "job");
        let text = format!("{jobs} given up after too many failures; `thru jobs` lists them");
        row("jobs", Some(Tone::Bad), text);
    } else if status.waiting_jobs > 0 {
        row("jobs", None, format!("{} waiting", plural(status.waiting_jobs, "job")));
    }
    let mut agents = Vec::new();
    for (agent, events) in &status.events_by_agent {
        agents.push(format!("{}, {}", agent.display_name(), plural(*events, "event")));
    }
    for (agent, sessions) in &status.by_agent {
        // Sessions of agents with hooks are counted with all others.
        if !status.events_by_agent.contains_key(agent) {
            agents.push(format!("{}, {}", agent.display_name(), plural(*sessions, "session")));
        }
    }
    if !agents.is_empty() {
        row("agents", None, agents.join("; "));
    }
    row(
        "memory",
        None,
        format!(
            "{} in {}, {}, {} memories",
            plural(counts.sessions, "session"),
            plural(counts.projects, "project"),
            plural(counts.passages, "passage"),
            count(status.memories),
        ),
    );
    let tone = status.meaning.current.is_err().then_some(Tone::Bad);
    row("meaning", tone, status.meaning.line());
    if let Some(line) = status.meaning.others_line() {
        row("", None, format!("{line}; `thru embed --prune` removes them"));
    }
    if let Some(hook) = &status.last_hook {
        let when = day_and_time(Some(hook.at), environment.zone());
        row("last event", None, format!("{} at {when}, {}", hook.event, ago(hook.at)));
    }
    row(
        "last intake",
        None,
        status.last_intake.map_or_else(
            || "nothing was brought in yet; `thru import` reads what is there".to_owned(),
            |at| format!("{}, {}", day_and_time(Some(at), environment.zone()), ago(at)),
        ),
    );
    if let Some(models) = &status.models {
        for (name, tone, text) in models::rows(models) {
            row(name, tone, text);
        }
    }
    if status.pending > 0 {
        row("waiting", None, format!("{} to be brought in", plural(status.pending, "record")));
    }
    if status.unindexed > 0 {
        let sessions = plural(status.unindexed as u64, "session");
        row("unindexed", None, format!("{sessions} to be indexed; the next question does it"));
    }
    row(
        "data",
        None,
        format!("{} in {}", size(sizes.all), environment.shown(environment.layout.root())),
    );
    row(
        "",
        None,
        format!(
            "archive {}, store {}, index {}, vectors {}, journal {}",
            size(sizes.archive),
            size(sizes.store),
            size(sizes.index),
            size(sizes.vectors),
            size(sizes.journal)
        ),
    );
    let tone = matches!(status.daemon, Daemon::Hangs(_)).then_some(Tone::Bad);
    row("daemon", tone, status.daemon.line());
}

fn as_json(status: &Status, environment: &App) -> Value {
    let (recording, until) = match &status.recording {
        Recording::On => ("on", None),
        Recording::Paused(pause::Pause::Until(end)) => ("paused", Some(end)),
        Recording::Paused(pause::Pause::Open) => ("paused", None),
        Recording::OffHere => ("off-here", None),
        Recording::NotConnected => ("not-connected", None),
    };
    json!({
        "version": 1,
        "kind": "status",
        "directory": environment.layout.root(),
        "recording": recording,
        "paused_until": until,
        "events": status.events,
        "sessions": status.counts.sessions,
        "sessions_by_agent": status.by_agent,
        "projects": status.counts.projects,
        "passages": status.counts.passages,
        "states": status.states,
        "memories": status.memories,
        "last_event": status.last_hook.as_ref().map(|hook| json!({ "event": hook.event, "at": hook.at })),
        "last_intake": status.last_intake,
        "pending_records": status.pending,
        "unindexed_sessions": status.unindexed,
        "jobs": { "waiting": status.waiting_jobs, "dead": status.dead_jobs },
        "daemon": status.daemon.as_json(),
        "models": status.models,
        "meaning": status.meaning.as_json(),
        "journal_alarm": status.alarm.is_some(),
        "failures_last_day": status.failures,
        "bytes": {
            "all": status.sizes.all,
            "archive": status.sizes.archive,
            "store": status.sizes.store,
            "index": status.sizes.index,
            "vectors": status.sizes.vectors,
            "journal": status.sizes.journal,
        },
    })
}
