//! The doctor's checks. Each is a small function that returns findings; this module puts them in order, and
//! looks once at what several of them need.
//!
//! Nothing here changes anything but [`mend()`] (and a store of an older version is upgraded, as by every
//! command that reads it), and no finding holds text of a session.

mod agent;
mod daemon;
mod data;
mod embedding;
mod files;
pub mod hooks;
mod mend;
mod models;
mod report;
mod runs;
mod speakers;
mod summaries;
mod vault;

use std::path::Path;

use serde::Serialize;
use thru_agents::hooks::{ADAPTERS, Adapter};
use thru_agents::setup::Site;
use thru_intake::{Depth, Intake, IntakeError, Verification};
use thru_store::Store;

pub use daemon::{Daemon, number_left, reading_line};
pub use data::{Sizes, sizes};
pub use files::last_space;
pub use mend::mend;
pub use report::report;
pub use runs::{pause_text, recent_failures};

use crate::App;
use crate::setup::Client;
use crate::setup::surroundings::Surroundings;
use hooks::HookFound;

/// The gravity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    /// As it should be.
    Ok,
    /// Worth knowing.
    Note,
    /// Something does not work, or will not for long.
    Problem,
}

impl Level {
    /// Returns its name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Note => "note",
            Self::Problem => "problem",
        }
    }
}

/// A repair that is made without asking: no recorded text is touched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mend {
    /// Take the permissions of others away.
    Modes,
    /// Remove what killed processes left.
    Leftovers,
    /// Write the hooks again, with the path of this program.
    Hooks,
}

/// The result of a check.
#[derive(Clone, Debug, Serialize)]
pub struct Finding {
    /// Its subject, in a word or two.
    pub check: &'static str,
    /// Its gravity.
    pub level: Level,
    /// The finding in a line.
    pub line: String,
    /// The user's next step.
    pub remedy: Option<String>,
    /// The repair for it.
    #[serde(rename = "fix", serialize_with = "has_repair")]
    pub mend: Option<Mend>,
}

impl Finding {
    /// Makes a finding that all is well.
    pub fn ok(check: &'static str, line: impl Into<String>) -> Self {
        Self { check, level: Level::Ok, line: line.into(), remedy: None, mend: None }
    }

    /// Makes a finding worth knowing.
    pub fn note(check: &'static str, line: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { level: Level::Note, remedy: Some(remedy.into()), ..Self::ok(check, line) }
    }

    /// Makes a finding that something does not work.
    pub fn problem(
        check: &'static str,
        line: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self { level: Level::Problem, ..Self::note(check, line, remedy) }
    }

    /// Adds the repair.
    #[must_use]
    pub fn mended_by(self, mend: Mend) -> Self {
        Self { mend: Some(mend), ..self }
    }
}

fn has_repair<S: serde::Serializer>(mend: &Option<Mend>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_bool(mend.is_some())
}

/// The findings for programs, and the repairs that were made before them.
#[derive(Debug, Serialize)]
#[serde(tag = "kind", rename = "doctor")]
pub struct Examination<'a> {
    version: u32,
    problems: usize,
    findings: &'a [Finding],
    fixed: &'a [String],
}

impl<'a> Examination<'a> {
    /// The answer with these findings after these repairs.
    pub fn new(findings: &'a [Finding], fixed: &'a [String]) -> Self {
        let problems = findings.iter().filter(|finding| finding.level == Level::Problem).count();
        Self { version: crate::answer::VERSION, problems, findings, fixed }
    }
}

/// An agent that takes hooks, as it is on this machine.
pub struct AgentSeen {
    /// The agent.
    pub adapter: &'static Adapter,
    /// Our hooks in its files.
    pub hooks: Vec<HookFound>,
    /// Its program.
    pub client: Client,
}

impl AgentSeen {
    /// Returns the surroundings of an installation.
    fn site<'s>(&self, seen: &'s Seen<'_>) -> Site<'s> {
        seen.places.site(seen.app, self.adapter)
    }
}

/// The subjects of several checks, looked at once.
pub struct Seen<'a> {
    /// The application.
    pub app: &'a App,
    /// The files of agents.
    places: Surroundings,
    /// Agents that take hooks.
    pub agents: Vec<AgentSeen>,
    /// Our hooks in the files of all agents.
    pub hooks: Vec<HookFound>,
    /// Journal, archive and what writes them; or why there is none.
    pub intake: Result<Intake, String>,
    /// The store; nothing where there is none yet; or why it cannot be read.
    pub store: Result<Option<Store>, String>,
    /// The result of reading everything; `None` while another process writes.
    pub verified: Result<Option<Verification>, String>,
}

impl<'a> Seen<'a> {
    /// Looks at everything. `progress` gets the number of archived files read, and of all.
    pub fn at(app: &'a App, progress: &mut dyn FnMut(u64, u64)) -> Self {
        let intake = app.intake().map_err(|error| format!("{error:#}"));
        let verified = match &intake {
            Ok(intake) if app.layout.root().is_dir() => verified(intake, progress),
            Ok(_) => Ok(Some(Verification::default())),
            Err(error) => Err(error.clone()),
        };
        let store = Store::open_if_there(&app.layout).map_err(|error| error.to_string());
        let places = Surroundings::new(app);
        let agents = ADAPTERS.map(|adapter| AgentSeen {
            adapter,
            hooks: hooks::found_of(&places.site(app, adapter), adapter),
            client: Client::find(app, adapter),
        });
        let hooks = agents.iter().flat_map(|agent| agent.hooks.clone()).collect();
        Self { app, places, agents: agents.into(), hooks, intake, store, verified }
    }

    /// A path as people write it.
    fn shown(&self, path: &Path) -> String {
        self.app.shown(path)
    }
}

fn verified(
    intake: &Intake,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Option<Verification>, String> {
    // While another process writes, the parts may well differ; a doctor does not wait.
    let lock = match intake.lock(&mut |_| false) {
        Err(IntakeError::Locked { .. }) => return Ok(None),
        // Where nothing can be written, no other process does.
        Err(error) if error.is_read_only() => None,
        lock => Some(lock.map_err(|error| error.to_string())?),
    };
    if let Some(lock) = &lock {
        // As every command does that reads it. A damaged store cannot be upgraded, which is found next.
        let _ = intake.upgrade_if_older(lock, &mut |_, _, _| {});
    }
    let verified = intake.verify(Depth::Cheap, progress).map_err(|error| error.to_string());
    drop(lock);
    verified.map(Some)
}

/// Every check, what matters most to people first.
pub fn examine(seen: &Seen<'_>) -> Vec<Finding> {
    let mut findings = hooks::present(seen);
    findings.push(hooks::program(seen));
    findings.extend(agent::held_back(seen));
    findings.extend([runs::recording(seen), runs::failures(seen), runs::latency(seen)]);
    findings.extend(agent::server(seen));
    findings.extend(summaries::commands(seen));
    findings.extend(data::configuration(seen));
    findings.extend([
        data::journal(seen),
        data::journal_size(seen),
        data::archive(seen),
        data::store(seen),
        data::index(seen),
        data::rules(seen),
        data::pending(seen),
    ]);
    findings.extend(embedding::embedding(seen));
    findings.extend(summaries::not_written(seen));
    findings.extend(vault::vault(seen));
    findings.extend(models::sink(seen));
    findings.extend([
        daemon::daemon(seen),
        daemon::transcripts(seen),
        daemon::unindexed(seen),
        daemon::jobs(seen),
        models::models(seen),
    ]);
    findings.extend(daemon::worker_api(seen));
    findings.extend(speakers::held_back(seen));
    findings.extend(agent::cleanup(seen));
    findings.extend([
        agent::others(seen),
        files::permissions(seen),
        files::leftovers(seen),
        files::disk(seen),
        data::versions(seen),
    ]);
    findings
}
