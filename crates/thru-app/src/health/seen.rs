//! What several checks need, looked at once.

use std::path::{Path, PathBuf};

use thru_agents::hooks::{ADAPTERS, Adapter};
use thru_agents::setup::{HookFile, HookOwner, Site, TrustState, installed};
use thru_core::Agent;
use thru_intake::{Depth, Intake, IntakeError, Verification};
use thru_store::Store;

use crate::app::App;
use crate::setup::Client;
use crate::setup::surroundings::Surroundings;

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
    pub(super) fn site<'s>(&self, seen: &'s Seen<'_>) -> Site<'s> {
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
            hooks: found_of(&places.site(app, adapter), adapter),
            client: Client::find(app, adapter),
        });
        let hooks = agents.iter().flat_map(|agent| agent.hooks.clone()).collect();
        Self { app, places, agents: agents.into(), hooks, intake, store, verified }
    }

    /// A path as people write it.
    pub(super) fn shown(&self, path: &Path) -> String {
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

/// One hook of ours in a file of an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookFound {
    /// The agent that calls it.
    pub agent: Agent,
    /// The event that it is called for.
    pub event: String,
    /// The program that it runs.
    pub program: PathBuf,
    /// The file that it stands in.
    pub file: PathBuf,
    /// The owner of that file.
    pub owner: HookOwner,
    /// True if it sees only a part of its event, by a matcher that it was given.
    pub is_narrowed: bool,
    /// The seconds it is given, if the file says.
    pub timeout: Option<u64>,
}

/// Returns every hook of ours in the files of every agent.
pub fn hooks_found(app: &App) -> Vec<HookFound> {
    let places = Surroundings::new(app);
    ADAPTERS.iter().flat_map(|adapter| found_of(&places.site(app, adapter), adapter)).collect()
}

/// Says of each agent that has hooks of ours, and runs none of them, why.
pub fn held_back(app: &App, found: &[HookFound]) -> Vec<String> {
    let places = Surroundings::new(app);
    let missing = ADAPTERS.iter().filter_map(|adapter| {
        let is_connected = found.iter().any(|hook| hook.agent == adapter.agent);
        let trust = is_connected.then(|| adapter.setup.trust(&places.site(app, adapter)))?;
        (trust.state == TrustState::Missing).then_some(trust.line)
    });
    missing.collect()
}

/// Returns every hook of ours in the files of one agent.
fn found_of(site: &Site<'_>, adapter: &Adapter) -> Vec<HookFound> {
    let mut found = Vec::new();
    for HookFile { owner, path } in adapter.setup.hook_files(site) {
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        let hooks = installed(&text, adapter.agent).unwrap_or_default();
        found.extend(hooks.into_iter().map(|hook| HookFound {
            agent: adapter.agent,
            event: hook.event,
            program: PathBuf::from(hook.program),
            file: path.clone(),
            owner,
            is_narrowed: hook.matcher.is_some(),
            timeout: hook.timeout,
        }));
    }
    found
}
