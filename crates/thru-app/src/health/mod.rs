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
mod finding;
mod hooks;
mod mend;
mod models;
mod report;
mod runs;
mod seen;
mod speakers;
mod summaries;
mod vault;

use schemars::JsonSchema;
use serde::Serialize;

pub(crate) use daemon::DaemonForm;
pub use daemon::{Daemon, number_left, reading_line};
pub use data::{Sizes, sizes};
pub use files::last_space;
pub use finding::{Finding, Level, Mend};
pub use mend::mend;
pub use report::report;
pub use runs::{pause_text, recent_failures};
pub use seen::{AgentSeen, HookFound, Seen, held_back, hooks_found};

/// The findings for programs, and the repairs that were made before them.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "kind", rename = "doctor")]
pub struct Examination {
    version: u32,
    problems: usize,
    findings: Vec<Finding>,
    fixed: Vec<String>,
}

impl Examination {
    /// The answer with these findings after these repairs.
    pub fn new(findings: Vec<Finding>, fixed: Vec<String>) -> Self {
        let problems = findings.iter().filter(|finding| finding.level == Level::Problem).count();
        Self { version: crate::answer::VERSION, problems, findings, fixed }
    }
}

/// Every check, what matters most to people first.
pub fn examine(seen: &Seen<'_>) -> Vec<Finding> {
    let mut findings: Vec<Finding> = files::owner(seen).into_iter().collect();
    findings.extend(hooks::present(seen));
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
