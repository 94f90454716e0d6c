//! Installations and removals for programs.

use std::path::Path;

use serde::Serialize;
use thru_agents::setup::{Form, Scope, Trust};
use thru_core::Agent;

use super::{Backup, Changes, Note, Prepared, Removal};
use crate::answer;
use crate::app::App;

/// The changes of several agents' files, planned or made.
#[derive(Serialize)]
struct ChangedFiles<'a> {
    changes: Vec<ChangedFile<'a>>,
    /// Files in our folders that are not ours, or were changed since, and stay.
    foreign: Vec<&'a Path>,
}

#[derive(Serialize)]
struct ChangedFile<'a> {
    path: &'a Path,
    action: &'static str,
    backup: Option<&'a Path>,
}

impl<'a> ChangedFiles<'a> {
    fn new(all: impl Iterator<Item = &'a Changes> + Clone) -> Self {
        let change =
            |(change, backup): (&'a thru_agents::setup::Change, Option<&'a Backup>)| ChangedFile {
                path: &change.path,
                action: match (&change.before, &change.after) {
                    (None, _) => "create",
                    (_, None) => "remove",
                    _ => "change",
                },
                backup: backup.map(Backup::path),
            };
        let kept = |one: &'a Changes| one.plan.foreign.iter().chain(&one.plan.edited);
        let foreign = all.clone().flat_map(kept).map(|path| path.as_path());
        Self {
            changes: all.flat_map(Changes::planned).map(change).collect(),
            foreign: foreign.collect(),
        }
    }
}

/// The installation into several agents. What is said of the first one stands in the answer itself, too.
#[derive(Serialize)]
pub struct Installed<'a> {
    version: u32,
    #[serde(flatten)]
    first: Option<InstalledHooks<'a>>,
    agents: Vec<InstalledAgent<'a>>,
    #[serde(flatten)]
    files: ChangedFiles<'a>,
    notes: Vec<&'a Note>,
}

#[derive(Serialize)]
struct InstalledAgent<'a> {
    agent: Agent,
    #[serde(flatten)]
    hooks: InstalledHooks<'a>,
    trust: Trust,
}

#[derive(Clone, Serialize)]
struct InstalledHooks<'a> {
    client: ClientSeen<'a>,
    events: &'a [&'static str],
    form: Form,
    program: &'a str,
}

#[derive(Clone, Serialize)]
struct ClientSeen<'a> {
    program: Option<&'a Path>,
    version: Option<String>,
    has_home: bool,
}

impl<'a> Installed<'a> {
    /// The answer for these agents.
    pub fn new(prepared: &'a [Prepared], app: &App) -> Self {
        let agents: Vec<_> = prepared.iter().map(|one| InstalledAgent::new(one, app)).collect();
        Self {
            version: answer::VERSION,
            first: agents.first().map(|one| one.hooks.clone()),
            agents,
            files: ChangedFiles::new(prepared.iter().map(|one| &one.changes)),
            notes: prepared.iter().flat_map(|one| &one.notes).collect(),
        }
    }
}

impl<'a> InstalledAgent<'a> {
    fn new(prepared: &'a Prepared, app: &App) -> Self {
        let Prepared { adapter, client, registration, form, .. } = prepared;
        let client = ClientSeen {
            program: client.program.as_deref(),
            version: client.version.map(|version| version.to_string()),
            has_home: client.has_home,
        };
        let (events, program) = (&registration.events[..], registration.program.as_str());
        Self {
            agent: adapter.agent,
            hooks: InstalledHooks { client, events, form: *form, program },
            trust: prepared.trust(app),
        }
    }
}

/// An installation, for programs.
#[derive(Serialize)]
#[serde(tag = "kind", rename = "install")]
pub struct Installation<'a> {
    /// True if it was only planned.
    pub dry_run: bool,
    /// The sessions.
    pub scope: Scope,
    /// The agents, and what became of their files.
    #[serde(flatten)]
    pub installed: Installed<'a>,
}

/// A removal, for programs.
#[derive(Serialize)]
#[serde(tag = "kind", rename = "uninstall")]
pub struct Uninstallation<'a> {
    version: u32,
    dry_run: bool,
    #[serde(flatten)]
    files: ChangedFiles<'a>,
    notes: Vec<&'a Note>,
    daemon_stopped: bool,
    /// The folder of the recorded data, which stays.
    data: Option<&'a Path>,
}

impl<'a> Uninstallation<'a> {
    /// The answer for these removals, made unless it is a dry run.
    pub fn new(
        removals: &'a [Removal],
        dry_run: bool,
        daemon_stopped: bool,
        data: Option<&'a Path>,
    ) -> Self {
        Self {
            version: answer::VERSION,
            dry_run,
            files: ChangedFiles::new(removals.iter().map(|removal| &removal.changes)),
            notes: removals.iter().flat_map(|removal| &removal.notes).collect(),
            daemon_stopped,
            data,
        }
    }
}
