//! What `thru doctor` looks at. Each check is a small function that gives one finding; this module
//! puts them in order, and knows what several of them need to be looked at once.
//!
//! Nothing here changes anything but [`mend()`] (and a store of an older version is upgraded, as by every
//! command that reads it), and no finding holds text of a session.

mod agent;
mod daemon;
mod data;
mod embedding;
mod files;
pub(crate) mod hooks;
mod mend;
mod models;
mod report;
mod runs;
mod summaries;

use std::path::Path;

use serde_json::{Value, json};
use thru_intake::{Intake, IntakeError, Verification};
use thru_store::Store;

pub(crate) use daemon::Daemon;
pub(crate) use data::{Sizes, sizes};
pub(crate) use mend::mend;
pub(crate) use report::report;
pub(crate) use runs::recent_failures;

use hooks::HookFound;
use thru_app::App;

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Level {
    /// As it should be.
    Ok,
    /// Worth knowing.
    Note,
    /// Something does not work, or will not for long.
    Problem,
}

impl Level {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Note => "note",
            Self::Problem => "problem",
        }
    }
}

/// What can be mended without asking: nothing that anybody said is touched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mend {
    /// Take the permissions of others away.
    Modes,
    /// Remove what killed processes left.
    Leftovers,
    /// Write the hooks again, with the path of this program.
    Hooks,
}

/// What a check found.
#[derive(Clone, Debug)]
pub(crate) struct Finding {
    /// What was looked at, in a word or two.
    pub(crate) check: &'static str,
    /// How bad it is.
    pub(crate) level: Level,
    /// What was found, in a line.
    pub(crate) line: String,
    /// What to do about it.
    pub(crate) remedy: Option<String>,
    /// What `--fix` does about it.
    pub(crate) mend: Option<Mend>,
}

impl Finding {
    pub(crate) fn ok(check: &'static str, line: impl Into<String>) -> Self {
        Self { check, level: Level::Ok, line: line.into(), remedy: None, mend: None }
    }

    pub(crate) fn note(
        check: &'static str,
        line: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self { level: Level::Note, remedy: Some(remedy.into()), ..Self::ok(check, line) }
    }

    pub(crate) fn problem(
        check: &'static str,
        line: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self { level: Level::Problem, ..Self::note(check, line, remedy) }
    }

    pub(crate) fn mended_by(self, mend: Mend) -> Self {
        Self { mend: Some(mend), ..self }
    }

    pub(crate) fn as_json(&self) -> Value {
        json!({
            "check": self.check,
            "level": self.level.as_str(),
            "line": self.line,
            "remedy": self.remedy,
            "fix": self.mend.is_some(),
        })
    }
}

/// What several checks need, looked at once.
pub(crate) struct Seen<'a> {
    pub(crate) environment: &'a App,
    /// Our hooks in the settings of agents.
    pub(crate) hooks: Vec<HookFound>,
    /// Journal, archive and what writes them; or why there is none.
    pub(crate) intake: Result<Intake, String>,
    /// The store; nothing where there is none yet; or why it cannot be read.
    pub(crate) store: Result<Option<Store>, String>,
    /// What reading everything gave; nothing while another process writes.
    pub(crate) verified: Result<Option<Verification>, String>,
}

impl<'a> Seen<'a> {
    /// Looks at everything. `progress` is told of archived files read, and of all.
    pub(crate) fn at(environment: &'a App, progress: &mut dyn FnMut(u64, u64)) -> Self {
        let intake = environment.intake().map_err(|error| format!("{error:#}"));
        let verified = match &intake {
            Ok(intake) if environment.layout.root().is_dir() => verified(intake, progress),
            Ok(_) => Ok(Some(Verification::default())),
            Err(error) => Err(error.clone()),
        };
        let store = Store::open_if_there(&environment.layout).map_err(|error| error.to_string());
        Self { environment, hooks: hooks::found(environment), intake, store, verified }
    }

    /// A path as people write it.
    fn shown(&self, path: &Path) -> String {
        self.environment.shown(path)
    }
}

fn verified(
    intake: &Intake,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Option<Verification>, String> {
    // While somebody writes, the parts may well differ; a doctor does not wait.
    let lock = match intake.lock(&mut |_| false) {
        Err(IntakeError::Locked { .. }) => return Ok(None),
        lock => lock.map_err(|error| error.to_string())?,
    };
    let is_older = |store: Store| {
        store.schema_version().is_ok_and(|version| version < thru_store::SCHEMA_VERSION)
    };
    if let Ok(Some(store)) = Store::open_if_there(intake.layout())
        && is_older(store)
    {
        // As every command does that reads it.
        intake.upgrade(&lock, &mut |_, _, _| {}).map_err(|error| error.to_string())?;
    }
    let verified = intake.verify(progress).map_err(|error| error.to_string());
    drop(lock);
    verified.map(Some)
}

/// Every check, what matters most to people first.
pub(crate) fn examine(seen: &Seen<'_>) -> Vec<Finding> {
    let mut findings = vec![
        hooks::present(seen),
        hooks::program(seen),
        agent::held_back(seen),
        runs::recording(seen),
        runs::failures(seen),
        runs::latency(seen),
    ];
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
    findings.extend(models::sink(seen));
    findings.extend([
        daemon::daemon(seen),
        daemon::unindexed(seen),
        daemon::jobs(seen),
        models::models(seen),
        agent::cleanup(seen),
        agent::others(seen),
        files::permissions(seen),
        files::leftovers(seen),
        files::disk(seen),
        data::versions(seen),
    ]);
    findings
}
