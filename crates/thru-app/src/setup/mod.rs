//! Setting up: plans of what goes into agents and comes out of them, and the making of those changes.
//!
//! The content of the files is decided in `thru_agents::setup`, on texts. Here they are written, so that nothing
//! of anyone else is lost.

mod answer;
mod client;
mod files;
mod notes;
pub mod surroundings;

use thru_agents::hooks::{ADAPTERS, Adapter};
use thru_agents::setup::{Change, Form, Plan, Registration, Scope, SetupError, Trust, Wanted};

pub use answer::{Installation, Installed, Uninstallation};
pub use client::{Client, own_program};
pub use files::Backup;
pub use notes::Note;
use surroundings::{PLATFORM, Surroundings, is_connected};

use crate::app::App;
use crate::ingest::reading::{self, Stop};
use crate::trouble::{Remedy, Result, Trouble};

/// A request to connect agents.
#[derive(Clone, Copy, Debug)]
pub struct Setup {
    /// The sessions.
    pub scope: Scope,
    /// The form; the installed one, else the usual one, if not given.
    pub form: Option<Form>,
    /// The parts beside hooks; if not given, those that are installed, or all at the first time.
    pub wanted: Option<Wanted>,
    /// True if agents may search and read the memory without asking, as far as they have such permissions.
    pub allow_tools: bool,
    /// The agents.
    pub targets: Targets,
}

/// The agents of an installation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Targets {
    /// Those on this machine; the first one if there is none.
    Present,
    /// Those that have our hooks.
    Connected,
}

/// An installation into one agent that is decided and not made.
#[derive(Debug)]
pub struct Prepared {
    /// The agent.
    pub adapter: &'static Adapter,
    /// Its program.
    pub client: Client,
    /// The hooks.
    pub registration: Registration,
    /// The changes of its files.
    pub changes: Changes,
    /// The notes beside them.
    pub notes: Vec<Note>,
    /// The form that was asked for, or found.
    pub form: Form,
    /// True if the agent ran none of our hooks before.
    pub is_new: bool,
}

/// The removal from one agent that is decided and not made.
#[derive(Debug)]
pub struct Removal {
    /// The agent.
    pub adapter: &'static Adapter,
    /// The changes of its files.
    pub changes: Changes,
    /// The notes beside them.
    pub notes: Vec<Note>,
}

/// The changes of an agent's files, planned or made.
#[derive(Debug)]
pub struct Changes {
    /// The plan.
    pub plan: Plan,
    /// The copy of each file that was changed, where there is one; empty before the changes are made.
    backups: Vec<Option<Backup>>,
}

/// Decides on an installation.
///
/// # Errors
/// Returns an error if a file is not what its agent takes, or if hooks could not call this program.
pub fn prepare(app: &App, request: Setup) -> Result<Vec<Prepared>> {
    let program = own_program(app)?;
    let around = Surroundings::new(app);
    let mut prepared = Vec::new();
    let clients = ADAPTERS.map(|adapter| (adapter, Client::find(app, adapter)));
    let is_bare = !clients.iter().any(|(_, client)| client.is_here());
    for (at, (adapter, client)) in clients.into_iter().enumerate() {
        let (setup, site) = (adapter.setup, around.site(app, adapter));
        let is_new = !is_connected(&site, adapter);
        let is_wanted = !is_new
            || request.targets == Targets::Present && (client.is_here() || is_bare && at == 0);
        if !is_wanted || !setup.has_scope(request.scope) {
            continue;
        }
        let form = request.form.filter(|form| setup.has_form(*form));
        let form = form.unwrap_or_else(|| match request.scope {
            Scope::User => setup.present_form(&site),
            Scope::Project => Form::Settings,
        });
        let timeout = app.config.hooks.hook_timeout.0;
        let registration = setup.registration(&program, client.version, PLATFORM, timeout);
        let wanted = request.wanted.unwrap_or_else(|| {
            let serves = setup.servers(&site).is_some_and(|servers| !servers.is_empty());
            let commands = is_new || setup.has_commands(&site);
            Wanted { commands, server: is_new || serves, reading: false }
        });
        let wanted = Wanted { reading: request.allow_tools, ..wanted };
        let plan = setup.install(&site, request.scope, form, &registration, wanted)?;
        let mut notes = notes::notes(adapter, &site, &client, &program, &plan, form);
        if wanted.reading && form == Form::Plugin {
            notes.push(notes::tools_not_allowed());
        }
        let changes = Changes::of_plan(plan);
        prepared.push(Prepared { adapter, client, registration, changes, notes, form, is_new });
    }
    if prepared.is_empty() {
        return Err(Trouble::refused("no agent on this machine takes hooks for a project alone")
            .run("install", "installs them for all projects"));
    }
    Ok(prepared)
}

/// Decides on taking everything of ours out of every agent.
///
/// # Errors
/// Returns an error if a file with our hooks cannot be read.
pub fn prepare_removal(app: &App, scopes: &[Scope]) -> Result<Vec<Removal>> {
    let around = Surroundings::new(app);
    ADAPTERS
        .into_iter()
        .map(|adapter| {
            let site = around.site(app, adapter);
            let plan = adapter.setup.uninstall(&site, scopes)?;
            let mut notes = notes::elsewhere(adapter, &site, &plan);
            if scopes.contains(&Scope::User) {
                notes.extend(notes::server_left(adapter, &site));
            }
            Ok(Removal { adapter, changes: Changes::of_plan(plan), notes })
        })
        .collect()
}

/// Returns a note if the user's service manager knows our daemon.
pub fn service_left(app: &App) -> Option<Note> {
    let file = app.machine.service_file().filter(|file| file.exists())?;
    let shown = app.shown(&file);
    let text = format!("{shown} still starts the daemon: `thru daemon uninstall` removes it.");
    Some(Note { kind: "service-left", text, is_bad: false })
}

impl Prepared {
    /// Makes the changes, and notes it if the agent runs no hooks until the user trusts them.
    ///
    /// # Errors
    /// As [`Changes::make`].
    pub fn install(&mut self, app: &App) -> Result<()> {
        self.changes.make(app)?;
        reading::resume(&app.layout, Stop::Uninstall)?;
        if !self.notes.iter().any(|note| note.is_bad) {
            self.notes.extend(notes::untrusted(&self.trust(app)));
        }
        Ok(())
    }

    /// Returns the trust in our hooks as they are now.
    pub fn trust(&self, app: &App) -> Trust {
        self.adapter.setup.trust(&Surroundings::new(app).site(app, self.adapter))
    }
}

impl Changes {
    const fn of_plan(plan: Plan) -> Self {
        Self { plan, backups: Vec::new() }
    }

    /// True if everything is in place.
    pub fn is_empty(&self) -> bool {
        self.plan.changes.is_empty()
    }

    /// Makes all changes.
    ///
    /// # Errors
    /// Returns an error if a file changed since, or cannot be written.
    pub fn make(&mut self, app: &App) -> Result<()> {
        if self.is_empty() {
            return Ok(());
        }
        let mut made = files::MadeFolders::read(app);
        made.note(&self.plan.changes)?;
        self.backups = self.plan.changes.iter().map(files::apply).collect::<Result<_>>()?;
        for folder in &self.plan.folders {
            // Not empty, or not there: both are fine.
            let _ = std::fs::remove_dir(folder);
        }
        made.remove(&self.plan.shared_folders, self.plan.holds.is_none())
    }

    /// Returns the changes, each with the copy of its file if it was made and there is one.
    fn planned(&self) -> impl Iterator<Item = (&Change, Option<&Backup>)> {
        let backup = |at: usize| self.backups.get(at).and_then(Option::as_ref);
        self.plan.changes.iter().enumerate().map(move |(at, change)| (change, backup(at)))
    }

    /// Returns the changes that were made, each with the copy of its file.
    pub fn made(&self) -> impl Iterator<Item = (&Change, Option<&Backup>)> {
        self.planned().take(self.backups.len())
    }
}

impl From<SetupError> for Trouble {
    fn from(error: SetupError) -> Self {
        let remedy = error.remedy().map(|advice| Remedy::Advice(advice.to_owned()));
        Self::from_error(crate::TroubleKind::Refused, remedy, error)
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;
    use std::path::Path;

    use thru_agents::setup::TrustState;
    use thru_core::Agent;

    use super::*;
    use crate::Machine;

    /// A home in which agents left these folders.
    #[allow(clippy::unwrap_used, reason = "in a test, what cannot be is a failure")]
    fn app(home: &Path, folders: &[&str]) -> App {
        for folder in folders {
            fs::create_dir_all(home.join(folder)).unwrap();
        }
        let program = home.join("bin/thru");
        fs::create_dir_all(home.join("bin")).unwrap();
        fs::write(&program, "").unwrap();
        App::below(home, Machine { program: Some(program), ..Machine::default() })
    }

    const UP: Setup = Setup {
        scope: Scope::User,
        form: None,
        wanted: None,
        allow_tools: false,
        targets: Targets::Present,
    };

    fn agents(prepared: &[Prepared]) -> Vec<Agent> {
        prepared.iter().map(|one| one.adapter.agent).collect()
    }

    #[test]
    fn agents_on_the_machine_are_connected_and_disconnected() {
        let home = tempfile::tempdir().unwrap();
        let app = app(home.path(), &[".claude/projects", ".codex/sessions"]);
        let mut prepared = prepare(&app, UP).unwrap();
        assert_eq!(agents(&prepared), [Agent::ClaudeCode, Agent::Codex]);
        for one in &mut prepared {
            one.install(&app).unwrap();
            assert!(one.changes.made().next().is_some());
        }
        let kinds = |one: &Prepared| one.notes.iter().map(|note| note.kind).collect::<Vec<_>>();
        assert!(!kinds(&prepared[0]).contains(&"trust"));
        assert!(kinds(&prepared[1]).contains(&"trust"), "{:?}", prepared[1].notes);
        assert_eq!(prepared[1].trust(&app).state, TrustState::Missing);
        let again = prepare(&app, UP).unwrap();
        assert!(again.iter().all(|one| one.changes.is_empty()));
        for mut removal in prepare_removal(&app, &[Scope::User]).unwrap() {
            removal.changes.make(&app).unwrap();
        }
        assert!(!home.path().join(".codex/hooks.json").exists());
        assert!(!home.path().join(".claude/settings.json").exists());
    }

    #[test]
    fn an_empty_folder_from_which_nothing_is_removed_stays() {
        let home = tempfile::tempdir().unwrap();
        let mut app = app(home.path(), &[".claude", "project"]);
        app.directory = home.path().join("project");
        for one in &mut prepare(&app, Setup { scope: Scope::Project, ..UP }).unwrap() {
            one.install(&app).unwrap();
        }
        assert!(home.path().join("project/.claude/settings.local.json").exists());
        for mut removal in prepare_removal(&app, &[Scope::User, Scope::Project]).unwrap() {
            removal.changes.make(&app).unwrap();
        }
        assert!(!home.path().join("project/.claude").exists());
        assert!(home.path().join(".claude").is_dir());
    }

    #[test]
    fn only_agents_on_the_machine_are_connected() {
        let home = tempfile::tempdir().unwrap();
        let of = |folders: &[&str]| agents(&prepare(&app(home.path(), folders), UP).unwrap());
        assert_eq!(of(&[]), [Agent::ClaudeCode], "hooks wait for the first one");
        assert_eq!(of(&[".codex"]), [Agent::Codex], "set up, and not used yet");
        let project = Setup { scope: Scope::Project, ..UP };
        let refused = prepare(&app(home.path(), &[]), project).unwrap_err();
        assert!(refused.message().contains("no agent on this machine"), "{refused}");
    }
}
