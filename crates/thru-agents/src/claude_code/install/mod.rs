//! Installation into Claude Code: hooks in a settings file or as a plugin, slash commands, the MCP server.

mod commands;
mod events;
mod places;
mod plan;
mod plugin;
mod trust;

use std::path::PathBuf;

use thru_core::Agent;

use events::events;
use places::plugin_directory;

use crate::setup::{
    ClientVersion, Form, HookFile, HookForm, Plan, Platform, Registration, Retention, Scope,
    Server, Setup, SetupError, Site, Trust, Wanted,
};

/// First version that runs a program with `args` and without a shell. Older ones would run the program
/// without its arguments.
const ARGUMENTS_UNDERSTOOD: ClientVersion = ClientVersion::new(2, 1, 139);

/// Returns the form of commands for a version; a shell's line works with every version.
fn form_of(version: Option<ClientVersion>) -> HookForm {
    match version {
        Some(version) if version >= ARGUMENTS_UNDERSTOOD => HookForm::Exec,
        _ => HookForm::Shell,
    }
}

/// Claude Code's files.
pub(super) struct ClaudeCode;

impl Setup for ClaudeCode {
    fn programs(&self, platform: Platform) -> &'static [&'static str] {
        match platform {
            Platform::Windows => &["claude.exe", "claude.cmd"],
            Platform::Linux | Platform::MacOs => &["claude"],
        }
    }

    fn usual_places(&self) -> &'static [&'static str] {
        &[".local/bin", ".claude/local", ".claude/local/node_modules/.bin", ".npm-global/bin"]
    }

    fn depends_on_version(&self) -> bool {
        true
    }

    fn registration(
        &self,
        program: &str,
        version: Option<ClientVersion>,
        platform: Platform,
        timeout: u64,
    ) -> Registration {
        Registration {
            agent: Agent::ClaudeCode,
            program: program.to_owned(),
            form: form_of(version),
            platform,
            events: events(version),
            timeout,
            shorter: &[],
        }
    }

    fn hook_files(&self, site: &Site<'_>) -> Vec<HookFile> {
        places::hook_files(site.folder, Some(site.project), site.platform)
    }

    fn has_scope(&self, _scope: Scope) -> bool {
        true
    }

    fn has_form(&self, _form: Form) -> bool {
        true
    }

    fn present_form(&self, site: &Site<'_>) -> Form {
        match plugin_directory(site.folder).join("hooks/hooks.json").is_file() {
            true => Form::Plugin,
            false => Form::Settings,
        }
    }

    fn install(
        &self,
        site: &Site<'_>,
        scope: Scope,
        form: Form,
        registration: &Registration,
        wanted: Wanted,
    ) -> Result<Plan, SetupError> {
        plan::to_install(site, scope, form, registration, wanted)
    }

    fn uninstall(&self, site: &Site<'_>, scopes: &[Scope]) -> Result<Plan, SetupError> {
        plan::to_uninstall(site, scopes)
    }

    fn obstacle(&self, site: &Site<'_>, form: Form) -> Option<String> {
        trust::obstacle(site, form)
    }

    fn trust(&self, site: &Site<'_>) -> Trust {
        trust::trust(site)
    }

    fn servers(&self, site: &Site<'_>) -> Option<Vec<(PathBuf, Server)>> {
        Some(plan::servers(site))
    }

    fn has_commands(&self, site: &Site<'_>) -> bool {
        plan::has_commands(site)
    }

    fn changed_commands(&self, site: &Site<'_>) -> Vec<PathBuf> {
        plan::changed_commands(site)
    }

    fn retention(&self, site: &Site<'_>) -> Option<Retention> {
        Some(trust::retention(site))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_form_follows_the_version() {
        assert_eq!(form_of(None), HookForm::Shell);
        assert_eq!(form_of(Some(ClientVersion::new(2, 1, 138))), HookForm::Shell);
        assert_eq!(form_of(Some(ClientVersion::new(2, 1, 139))), HookForm::Exec);
    }
}
