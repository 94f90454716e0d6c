//! Importing the history that agents left on this machine.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Serialize;
use thru_agents::{Discovery, agents};
use thru_core::Agent;
use thru_intake::{
    DistilScope, ImportOptions, ImportReport, Intake, IntakeLock, Plan, SourceProblem, Stage,
};

use super::exclusions::Exclusions;
use crate::answer;
use crate::app::App;
use crate::call::Call;
use crate::embedding::{State, who_embeds};
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
    /// The files with something new.
    pub plan: Plan,
    /// The number of files that were found, new or not.
    pub found: usize,
}

/// A plan for programs.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "kind", rename = "import-plan")]
pub struct ImportPlan {
    version: u32,
    /// The number of sessions with something new.
    pub sessions: usize,
    /// The number of files with something new.
    pub files: usize,
    /// New bytes in them.
    pub bytes: u64,
    /// The number of files that have not changed.
    pub unchanged: usize,
    /// The number of files that are excluded or belong to forgotten sessions.
    pub left_out: usize,
    /// Files that cannot be read.
    pub problems: Vec<ImportProblem>,
}

/// A file that could not be read.
#[derive(Clone, Debug, Serialize)]
pub struct ImportProblem {
    /// The file.
    pub path: PathBuf,
    /// The problem.
    pub message: String,
}

/// The outcome of an import, for programs.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "kind", rename = "import")]
pub struct Imported {
    version: u32,
    /// Bytes that were read.
    pub bytes: u64,
    /// The number of files that were read.
    pub files: usize,
    /// The number of sessions that were read.
    pub sessions: usize,
    /// The number of passages that were written.
    pub passages: u64,
    /// The number of passages that were changed.
    pub amended: u64,
    /// The number of passages that are copies.
    pub copies: u64,
    /// The number of sessions that were distilled.
    pub distilled_sessions: usize,
    /// The number of memories of them.
    pub memories: u64,
    /// The number of sessions that could not be distilled.
    pub not_distilled: usize,
    /// Counts of redacted secrets, by rule.
    pub redacted: BTreeMap<String, u64>,
    /// The number of private texts that were left out.
    pub private: u64,
    /// Counts of malformed lines, by kind.
    pub broken_lines: BTreeMap<&'static str, u64>,
    /// Files that could not be read.
    pub problems: Vec<ImportProblem>,
    /// True if the import was stopped.
    pub interrupted: bool,
    /// The time that it took, in seconds.
    pub seconds: f64,
    /// The time that each stage took, in seconds.
    pub stage_seconds: BTreeMap<&'static str, f64>,
}

fn problems(problems: &[SourceProblem]) -> Vec<ImportProblem> {
    let problem = |SourceProblem { path, message }: &SourceProblem| ImportProblem {
        path: path.clone(),
        message: message.clone(),
    };
    problems.iter().map(problem).collect()
}

impl From<&Plan> for ImportPlan {
    fn from(plan: &Plan) -> Self {
        Self {
            version: answer::VERSION,
            sessions: plan.sessions,
            files: plan.sources.len(),
            bytes: plan.bytes,
            unchanged: plan.unchanged,
            left_out: plan.left_out,
            problems: problems(&plan.problems),
        }
    }
}

impl From<&ImportReport> for Imported {
    fn from(report: &ImportReport) -> Self {
        let seconds = |stage: Stage| (stage.as_str(), report.stages.spent(stage).as_secs_f64());
        Self {
            version: answer::VERSION,
            bytes: report.bytes,
            files: report.sources,
            sessions: report.sessions,
            passages: report.written.passages,
            amended: report.written.amended,
            copies: report.written.copies,
            distilled_sessions: report.distilled.sessions,
            memories: report.distilled.memories,
            not_distilled: report.distilled.failed,
            redacted: report.redacted.secrets.clone(),
            private: report.redacted.private,
            broken_lines: report.diagnostics.clone(),
            problems: problems(&report.problems),
            interrupted: report.interrupted,
            seconds: report.elapsed.as_secs_f64(),
            stage_seconds: Stage::ALL.into_iter().map(seconds).collect(),
        }
    }
}

/// Takes the lock for an import. It comes before the plan: the process that held it before may have imported the same
/// files, forgotten sessions, or changed rules.
///
/// # Errors
/// Fails if another process keeps writing, or the call is cancelled.
pub fn lock(app: &App, call: Call<'_>) -> Result<IntakeLock> {
    call.lock(&app.intake()?)
}

/// Finds the files to read. To read them, take the [`lock`] first.
///
/// # Errors
/// Fails if capture is switched off here, if a path does not exist or is an export, and if the store cannot be read.
pub fn plan(app: &App, request: &Import) -> Result<PlannedImport> {
    let exclusions = Exclusions::from_config(app)?;
    let mut discovery = discover(app, &request.paths, &exclusions)?;
    discovery.sources.retain(|source| request.wants(source.agent));
    plan_found(app, exclusions, discovery)
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
    Ok(PlannedImport { intake, exclusions, plan, found })
}

impl PlannedImport {
    /// Reads the files, and distils and indexes the sessions in `scope`. `progress` receives the report as it grows.
    ///
    /// # Errors
    /// Fails if journal, archive or store cannot be written. A file that cannot be read is a problem in the report.
    pub fn carry_out(
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
            .advise("bring exports in by themselves: `thru import FILE`"));
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

/// The size of a memory after an import.
#[derive(Clone, Debug, Serialize)]
pub struct MemorySize {
    /// The number of passages.
    pub passages: u64,
    /// The number of sessions.
    pub sessions: u64,
    /// The number of projects.
    pub projects: u64,
    /// The number of texts without a vector of the current model.
    pub unembedded: u64,
    /// A clause that says who makes those vectors, and when.
    pub embedder: String,
}

/// Counts what is in memory.
///
/// # Errors
/// Where the store cannot be read.
pub fn memory_size(app: &App, call: Call<'_>) -> Result<MemorySize> {
    let store = fresh::open(app, Freshness::Recorded, call)?;
    let counts = store.counts()?;
    Ok(MemorySize {
        passages: counts.passages,
        sessions: counts.sessions,
        projects: counts.projects,
        unembedded: State::look(app, &app.intake()?)?.waiting(),
        embedder: who_embeds(app).to_owned(),
    })
}
