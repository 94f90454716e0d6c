//! Importing the history that agents left on this machine.

use std::path::{Path, PathBuf};

use serde::Serialize;
use thru_agents::{Discovery, agents};
use thru_core::Agent;
use thru_intake::{DistilScope, ImportOptions, ImportReport, Intake, IntakeLock, Plan};
use thru_store::{Counts, SessionFilter};

use super::exclusions::Exclusions;
use super::reading::{self, Stop};
use crate::answer;
use crate::app::App;
use crate::ask::session::SessionEntry;
use crate::call::Call;
use crate::embedding::State;
use crate::fresh::{self, Freshness};
use crate::keep::export::is_export;
use crate::trouble::{Context, Remedy, Result, Trouble};

/// The request to import history.
#[derive(Clone, Debug, Default)]
pub struct Import {
    /// Transcripts, and folders of transcripts. Without any, the places where agents keep theirs.
    pub paths: Vec<PathBuf>,
    /// The agents; all of them where none is named.
    pub agents: Vec<Agent>,
}

impl Import {
    /// Returns true if the history of this agent is wanted.
    pub fn wants(&self, agent: Agent) -> bool {
        self.agents.is_empty() || self.agents.contains(&agent)
    }
}

/// The files that an import would read.
pub struct PlannedImport {
    intake: Intake,
    exclusions: Exclusions,
    lock: Option<IntakeLock>,
    /// True if all that agents keep here is wanted.
    is_whole: bool,
    /// The files with something new.
    pub plan: Plan,
    /// The number of files that were found, new or not.
    pub found: usize,
}

/// A plan for programs.
#[derive(Debug, Serialize)]
#[serde(tag = "kind", rename = "import-plan")]
pub struct ImportPlan<'a> {
    version: u32,
    #[serde(flatten)]
    plan: &'a Plan,
}

/// The outcome of an import.
#[derive(Debug, Serialize)]
#[serde(tag = "kind", rename = "import")]
pub struct Imported {
    version: u32,
    /// Counts and problems.
    #[serde(flatten)]
    pub report: ImportReport,
}

impl From<ImportReport> for Imported {
    fn from(report: ImportReport) -> Self {
        Self { version: answer::VERSION, report }
    }
}

/// Finds the files to read.
///
/// # Errors
/// Fails if capture is switched off here, if a path does not exist or is an export, and if the store cannot be read.
pub fn plan(app: &App, request: &Import) -> Result<PlannedImport> {
    let exclusions = Exclusions::from_config(app)?;
    let mut discovery = discover(app, &request.paths, &exclusions)?;
    discovery.sources.retain(|source| request.wants(source.agent));
    let is_whole = request.paths.is_empty();
    Ok(PlannedImport { is_whole, ..plan_found(app, exclusions, discovery)? })
}

/// Finds the files to read, and keeps other processes from writing until they are read. The lock comes before the plan:
/// the process that held it before may have imported the same files, forgotten sessions, or changed rules.
///
/// # Errors
/// As [`plan`], and if another process keeps writing, or the call is cancelled.
pub fn plan_locked(app: &App, request: &Import, call: Call<'_>) -> Result<PlannedImport> {
    fresh::make_again_if_lost(app, call)?;
    let lock = call.lock(&app.intake()?)?;
    Ok(PlannedImport { lock: Some(lock), ..plan(app, request)? })
}

/// Finds what is new in files that were discovered already.
///
/// # Errors
/// As [`plan`].
pub(super) fn plan_found(
    app: &App,
    exclusions: Exclusions,
    discovery: Discovery,
) -> Result<PlannedImport> {
    let intake = app.intake()?;
    let found = discovery.sources.len();
    if app.config.capture.off {
        return Err(Trouble::refused("capture is off here, by `capture.off`")
            .with(Remedy::ShowSetting("capture.off")));
    }
    let plan = intake.plan(discovery, Some(&|directory: &Path| exclusions.apply_to(directory)))?;
    Ok(PlannedImport { intake, exclusions, lock: None, is_whole: false, plan, found })
}

impl PlannedImport {
    /// Returns the plan for programs.
    pub const fn answer(&self) -> ImportPlan<'_> {
        ImportPlan { version: answer::VERSION, plan: &self.plan }
    }

    /// Reads the files, and distils and indexes their sessions. `progress` receives the report as it grows. An import
    /// of what agents keep here that is stopped also ends the unasked reading of it, until one is made to its end.
    ///
    /// # Errors
    /// Fails if journal, archive or store cannot be written. A file that cannot be read is a problem in the report.
    pub fn import(
        mut self,
        call: Call<'_>,
        progress: &mut dyn FnMut(&ImportReport),
    ) -> Result<Imported> {
        let lock = match self.lock.take() {
            Some(lock) => lock,
            None => call.lock(&self.intake)?,
        };
        let layout = self.is_whole.then(|| self.intake.layout().clone());
        let report = self.carry_out(&lock, DistilScope::All, call, progress)?;
        match &layout {
            Some(layout) if report.interrupted => reading::stop(layout, Stop::Import)?,
            Some(layout) => reading::resume(layout, Stop::Import)?,
            None => {}
        }
        Ok(report.into())
    }

    /// As [`PlannedImport::import`], for the sessions in `scope` and a caller with a lock of its own.
    pub(super) fn carry_out(
        self,
        lock: &IntakeLock,
        scope: DistilScope<'_>,
        call: Call<'_>,
        progress: &mut dyn FnMut(&ImportReport),
    ) -> Result<ImportReport> {
        let excluded = |directory: &Path| self.exclusions.apply_to(directory);
        let options = ImportOptions { distil: scope, ..ImportOptions::whole(&excluded) };
        let upgrading = &mut call.upgrading();
        Ok(self.intake.import(lock, self.plan, &options, call.cancelled(), upgrading, progress)?)
    }
}

fn discover(app: &App, paths: &[PathBuf], exclusions: &Exclusions) -> Result<Discovery> {
    let mut all = Discovery::default();
    if paths.is_empty() {
        let skip = |path: &Path| exclusions.apply_to_file(path);
        for agent in Agent::ALL {
            all.append(agents::discover(agent, &app.homes, &skip));
        }
        return Ok(all);
    }
    for path in paths {
        if is_export(path) {
            return Err(Trouble::invalid(format!(
                "{} is an export of `thru`, not a transcript",
                path.display()
            ))
            .run("import FILE", "imports an export on its own"));
        }
        let path = std::path::absolute(path)
            .with_context(|| format!("{} is not a path", path.display()))?;
        if !path.exists() {
            return Err(Trouble::not_found(format!("there is nothing at {}", path.display()))
                .advise("name a transcript (`.jsonl`) or a folder with transcripts in it"));
        }
        let found = agents::discover_path(&path);
        all.sources.extend(
            found.sources.into_iter().filter(|source| !exclusions.apply_to_file(&source.path)),
        );
        all.problems.extend(found.problems);
    }
    Ok(all)
}

/// The contents of a memory after an import.
#[derive(Debug, Serialize)]
pub struct Memory {
    /// The number of passages.
    pub passages: u64,
    /// The number of sessions.
    pub sessions: u64,
    /// The number of projects.
    pub projects: u64,
    /// The number of memories.
    pub memories: u64,
    /// The latest sessions.
    pub latest: Vec<SessionEntry>,
    /// The number of texts without a vector of the current model.
    #[serde(skip)]
    pub unembedded: u64,
}

/// The number of sessions that are named after an import.
const LATEST: usize = 3;

/// Counts what is in memory; `None` where there is no store yet.
///
/// # Errors
/// Fails if the store cannot be read.
pub fn memory(app: &App, call: Call<'_>) -> Result<Option<Memory>> {
    if !app.layout.database().is_file() {
        return Ok(None);
    }
    let store = fresh::open(app, Freshness::Recorded, call)?;
    let intake = app.intake_beside(&store)?;
    let filter = SessionFilter { limit: Some(LATEST), ..SessionFilter::default() };
    let entry = |session| SessionEntry::new(app, intake.redactor(), session);
    let Counts { sessions, passages, projects, .. } = store.counts()?;
    Ok(Some(Memory {
        passages,
        sessions,
        projects,
        memories: store.memory_count()?,
        latest: store.sessions(&filter)?.iter().map(entry).collect(),
        unembedded: State::look(app, &intake)?.waiting(),
    }))
}
