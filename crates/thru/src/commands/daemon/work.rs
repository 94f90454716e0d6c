//! What the daemon does: brings in what hooks recorded and what transcripts say as it comes, indexes
//! sessions that were left, and answers those who close or list sessions.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use serde::Deserialize;
use serde_json::{Value, json};
use thru_app::{Call, Patience, Result, Trouble};
use thru_core::Agent;
use thru_daemon::{Log, News, Outcome, Service, ToolError, Work, WorkError};
use thru_intake::{Indexed, Which};
use thru_journal::journal::Journal;
use thru_store::Store;

use super::embedding::{Chooser, EmbeddingThread};
use super::refining::Refining;
use crate::commands::of_agents::OfAgents;
use crate::commands::{close, unindexed};
use crate::environment::Environment;
use crate::ui::printable;
use thru_app::ingest::catch_up::{BroughtIn, Effort, Where, bring_in, may_read_transcripts};

/// How long another process that writes is waited for.
const PATIENCE: Duration = Duration::from_secs(5);
/// Rows that readers look through themselves before the text index has to follow. They take up to two
/// thousand.
const BEHIND: u64 = 300;
/// The text index follows when nothing came for so long.
const QUIET: SignedDuration = SignedDuration::from_secs(10);

/// How long it is until somebody looks again whether recording is still paused.
const PAUSED: SignedDuration = SignedDuration::from_mins(1);

/// Brings in what there is.
pub(super) struct Bringing {
    environment: Environment,
    /// Rows that the text index does not hold yet.
    behind: u64,
    /// Whether transcripts were left alone, so that nobody knows what changed.
    missed: bool,
    /// When something last came.
    last_news: Option<Timestamp>,
    brought: Brought,
    refining: Refining,
    embedding: EmbeddingThread,
    log: Arc<Log>,
}

/// What was done since the daemon started.
#[derive(Default)]
struct Brought {
    events: u64,
    passages: u64,
    sessions: u64,
}

impl Bringing {
    pub(super) fn new(environment: &Environment, chooser: &Arc<Chooser>, log: &Arc<Log>) -> Self {
        Self {
            embedding: EmbeddingThread::new(chooser, log),
            refining: Refining::start(environment, log),
            log: Arc::clone(log),
            environment: environment.clone(),
            // Whoever was killed may have left it behind.
            behind: 1,
            missed: false,
            last_news: None,
            brought: Brought::default(),
        }
    }

    fn step(&mut self, news: &News, stop: &AtomicBool) -> Result<Outcome> {
        if !news.is_empty() {
            self.embedding.somebody_works();
        }
        // Settings may have changed, and what must not be kept is one of them.
        self.environment = self.environment.again()?;
        let environment = &self.environment;
        let now = environment.clock.now();
        let may_read = may_read_transcripts(environment);
        // What changed meanwhile, nobody remembered.
        let everything = news.everything || may_read && self.missed;
        let intake = environment.intake()?;
        let Some(lock) = intake.try_lock(PATIENCE)? else {
            return Err(Trouble::failed("another process writes"));
        };
        let quiet_since = self.last_news.map_or(QUIET, |last| now.duration_since(last));
        let is_quiet = news.is_empty() && quiet_since >= QUIET;
        let thorough = self.behind > BEHIND || self.behind > 0 && is_quiet || everything;
        let place = match everything {
            true => Where::Everywhere,
            false => Where::Changed(news.changed.clone()),
        };
        let effort = Effort { which: Which::Finished, thorough };
        let brought = bring_in(
            environment,
            &lock,
            place,
            effort,
            Call::unwatched(Patience::Within(PATIENCE), stop),
        )?;
        drop(lock);
        self.missed = !may_read;
        let store = Store::open_if_there(&self.environment.layout)?;
        self.behind = match &store {
            Some(store) => thru_store::index::rows_behind(&self.environment.layout, store)?,
            None => 0,
        };
        self.note(&brought, now);
        self.refining.wake();
        self.embedding.wake(&self.environment);
        let next = store.map(|store| store.next_due()).transpose()?.flatten();
        let index = (self.behind > 0).then_some(now + QUIET);
        let resumed = self.missed.then_some(now + PAUSED);
        let due = [next, index, resumed].into_iter().flatten().min();
        Ok(Outcome { due, busy: next.is_some() })
    }

    fn note(&mut self, brought: &BroughtIn, now: Timestamp) {
        let report = &brought.report;
        let rows = report.written.passages + report.written.amended + report.distilled.memories;
        // What hooks told is rows, too.
        if rows + brought.events > 0 {
            self.last_news = Some(now);
        }
        self.brought.events += brought.events;
        self.brought.passages += report.written.passages;
        self.brought.sessions += report.indexed.changed() as u64;
        self.tell(brought);
    }
}

impl Bringing {
    /// What became of sessions, and what could not be read. Never what was said.
    fn tell(&self, brought: &BroughtIn) {
        for (session, indexed) in brought.report.indexed.iter() {
            let id = &session.id;
            match indexed {
                Indexed::New(episode) => {
                    self.log.info(&format!("indexed session {id} as {episode}"))
                }
                Indexed::Replaced(episode) => {
                    self.log.info(&format!("indexed session {id} anew, as {episode}"));
                }
                Indexed::Unchanged(episode) => self
                    .log
                    .info(&format!("session {id} is unchanged: it stays indexed as {episode}")),
                Indexed::Empty | Indexed::Undistilled => {}
                Indexed::Failed(trouble) => self
                    .log
                    .warn(&format!("session {id} could not be indexed: {}", printable(trouble))),
            }
        }
        for problem in &brought.report.problems {
            let path = printable(&problem.path.display().to_string());
            self.log.warn(&format!("{path}: {}", printable(&problem.message)));
        }
    }
}

impl Work for Bringing {
    fn bring_in(&mut self, news: &News, stop: &AtomicBool) -> Result<Outcome, WorkError> {
        self.step(news, stop).map_err(|error| format!("{error:#}").into())
    }

    fn due(&mut self) -> Option<Timestamp> {
        let store = Store::open_if_there(&self.environment.layout).ok().flatten()?;
        store.next_due().ok().flatten()
    }

    fn watched(&mut self) -> Vec<PathBuf> {
        watched(&self.environment)
    }

    fn status(&mut self) -> Value {
        let Brought { events, passages, sessions } = self.brought;
        json!({ "events": events, "passages": passages, "sessions_indexed": sessions })
    }
}

/// The folders in which transcripts grow.
fn watched(environment: &Environment) -> Vec<PathBuf> {
    if !environment.config.tracking_enabled() {
        return Vec::new();
    }
    let own = environment.config.watch_directories().iter().map(PathBuf::from);
    // One that is waited for is looked for again and again: only Claude Code's, which hooks speak of. Whoever
    // installs another agent is noticed by the next look at everything.
    let of_agents = Agent::ALL.into_iter().filter_map(|agent| {
        let folder = environment.homes.transcripts(agent);
        (agent == Agent::ClaudeCode || folder.is_dir()).then_some(folder)
    });
    let all: BTreeSet<PathBuf> = own.chain(of_agents).collect();
    all.into_iter().filter(|path| path != Path::new("")).collect()
}

/// What is done while work goes on.
pub(super) struct Aside {
    environment: Environment,
    chooser: Arc<Chooser>,
}

impl Aside {
    pub(super) fn new(environment: &Environment, chooser: &Arc<Chooser>) -> Self {
        Self { environment: environment.clone(), chooser: Arc::clone(chooser) }
    }
}

/// The arguments of `session_tracking_close`.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Close {
    session_id: Option<String>,
    reason: Option<String>,
}

/// The arguments of `embed`.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Embed {
    text: String,
}

/// The arguments of `session_tracking_list_unindexed`.
#[derive(Deserialize)]
#[serde(default, deny_unknown_fields)]
struct ListUnindexed {
    project_namespace: Option<String>,
    include_inactive: bool,
    include_active: bool,
}

impl Default for ListUnindexed {
    fn default() -> Self {
        Self { project_namespace: None, include_inactive: true, include_active: true }
    }
}

impl Service for Aside {
    fn call(&self, tool: &str, arguments: &Value) -> Result<Value, ToolError> {
        let environment = self.environment.again().map_err(|error| failed(&error))?;
        // It may have been switched off since the daemon started.
        if !environment.config.socket_enabled() {
            return Err(ToolError::Failed("tools are off, by `hooks.socket_enabled`".to_owned()));
        }
        match tool {
            "session_tracking_close" => {
                let Close { session_id, reason } = parsed(arguments)?;
                let (named, reason) = (session_id.as_deref(), reason.as_deref());
                match close::close(&environment, named, reason, close::Asker::Elsewhere) {
                    Ok(closed) => Ok(closed.as_json()),
                    Err(error) => Err(ToolError::Failed(close::failed(named, &error).to_string())),
                }
            }
            "session_tracking_list_unindexed" => {
                let asked: ListUnindexed = parsed(arguments)?;
                let wanted = unindexed::Wanted {
                    project: asked.project_namespace.as_deref(),
                    of: &OfAgents::default(),
                    active: asked.include_active,
                    inactive: asked.include_inactive,
                };
                unindexed::list(&environment, &wanted)
                    .map(|sessions| unindexed::as_json(&sessions))
                    .map_err(|error| failed(&error))
            }
            "embed" => {
                let Embed { text } = parsed(arguments)?;
                let answer = self.chooser.answer(&environment, &text);
                answer.map(|answer| json!(answer)).map_err(|error| failed(&error))
            }
            other => Err(ToolError::Unknown(other.chars().take(60).collect())),
        }
    }

    fn sync(&self) -> Result<(), WorkError> {
        self.chooser.somebody_works();
        let journal = Journal::open(self.environment.layout.journal(), self.environment.host())?;
        Ok(journal.sync(&Default::default())?)
    }
}

fn failed(error: &Trouble) -> ToolError {
    ToolError::Failed(crate::failure::whole(error))
}

fn parsed<T: Default + for<'de> Deserialize<'de>>(arguments: &Value) -> Result<T, ToolError> {
    match arguments {
        Value::Null => Ok(T::default()),
        arguments => {
            T::deserialize(arguments).map_err(|error| ToolError::Arguments(error.to_string()))
        }
    }
}
