//! Installation into Codex: hooks in the user's `hooks.json`.
//!
//! `config.toml` is never written: one error of shape in it and `codex` does not start.

use std::path::{Path, PathBuf};

use thru_core::Agent;

use super::trust;
use crate::setup::{
    self, ClientVersion, Form, HookFile, HookForm, HookOwner, Plan, Platform, Registration, Scope,
    Setup, SetupError, Site, Trust, Wanted, read,
};

const AGENT: Agent = Agent::Codex;

/// The events to register for, in the order of a session. Codex ignores those that it does not know.
const EVENTS: [&str; 9] = [
    "SessionStart",
    "UserPromptSubmit",
    "PostToolUse",
    "Stop",
    "Interrupt",
    "SubagentStop",
    "PreCompact",
    "PostCompact",
    "SessionEnd",
];

/// Seconds to which Codex cuts the timeout of these events, with a warning.
const SHORTER: [(&str, u64); 2] = [("SessionEnd", 3), ("Interrupt", 3)];

/// Codex's files.
pub(super) struct Codex;

/// Returns the file of the user's hooks.
pub(super) fn hooks_file(folder: &Path) -> PathBuf {
    folder.join("hooks.json")
}

impl Setup for Codex {
    fn programs(&self, platform: Platform) -> &'static [&'static str] {
        match platform {
            Platform::Windows => &["codex.exe", "codex.cmd"],
            Platform::Linux | Platform::MacOs => &["codex"],
        }
    }

    fn usual_places(&self) -> &'static [&'static str] {
        &[".local/bin", ".npm-global/bin"]
    }

    /// The command is the same for every version: the user's trust is in its exact words.
    fn registration(
        &self,
        program: &str,
        _version: Option<ClientVersion>,
        platform: Platform,
        timeout: u64,
    ) -> Registration {
        Registration {
            agent: AGENT,
            program: program.to_owned(),
            form: HookForm::Shell,
            platform,
            events: EVENTS.to_vec(),
            timeout,
            shorter: &SHORTER,
        }
    }

    fn hook_files(&self, site: &Site<'_>) -> Vec<HookFile> {
        let mut files = vec![HookFile { owner: HookOwner::User, path: hooks_file(site.folder) }];
        let folder = site.project.join(".codex");
        // In the home directory they are one file.
        if folder != site.folder {
            files.push(HookFile { owner: HookOwner::Project, path: hooks_file(&folder) });
        }
        files
    }

    /// A project has one `hooks.json`, which every clone of it has.
    fn has_scope(&self, scope: Scope) -> bool {
        scope == Scope::User
    }

    fn install(
        &self,
        site: &Site<'_>,
        _scope: Scope,
        _form: Form,
        registration: &Registration,
        _wanted: Wanted,
    ) -> Result<Plan, SetupError> {
        let mut plan = Plan::default();
        let path = hooks_file(site.folder);
        let before = read(&path)?;
        let after = setup::install(before.as_deref(), registration)
            .map_err(|refusal| SetupError::refused(&path, refusal, site))?;
        plan.add(AGENT, path.clone(), before, Some(after), true);
        plan.holds = Some(path);
        Ok(plan)
    }

    fn uninstall(&self, site: &Site<'_>, scopes: &[Scope]) -> Result<Plan, SetupError> {
        let mut plan = Plan::default();
        let path = hooks_file(site.folder);
        if let (true, Some(before)) = (scopes.contains(&Scope::User), read(&path)?) {
            match setup::uninstall(&before, AGENT) {
                Ok(after) => plan.add(AGENT, path, Some(before), after, true),
                // A file that cannot be parsed and does not name us is of no concern.
                Err(_) if !before.contains("hook codex") => {}
                Err(refusal) => return Err(SetupError::refused(&path, refusal, site)),
            }
            // It may have been made for this file.
            plan.shared_folders.push(site.folder.to_owned());
        }
        Ok(plan)
    }

    fn obstacle(&self, site: &Site<'_>, _form: Form) -> Option<String> {
        trust::obstacle(site)
    }

    fn trust(&self, site: &Site<'_>) -> Trust {
        trust::trust(site)
    }

    fn server_by_hand(&self, site: &Site<'_>, program: &str) -> Option<String> {
        let program = setup::quoted(program, site.platform);
        let command = format!("codex mcp add {} -- {program} mcp", setup::SERVER_NAME);
        (!has_server(site)).then_some(command)
    }

    fn server_left(&self, site: &Site<'_>) -> Option<String> {
        has_server(site).then(|| format!("codex mcp remove {}", setup::SERVER_NAME))
    }
}

/// True if Codex knows a server of our name.
fn has_server(site: &Site<'_>) -> bool {
    let config = trust::config(site.folder);
    config.get("mcp_servers").is_some_and(|servers| servers.get(setup::SERVER_NAME).is_some())
}
