//! Notes beside the changes of an installation.

use std::path::Path;
use std::process::{Command, Stdio};

use serde::Serialize;
use serde_json::Value;
use thru_agents::hooks::Adapter;
use thru_agents::setup::{
    Form, HookFile, Plan, SERVER_NAME, Site, Trust, TrustState, installed, read,
};

use super::client::Client;

/// Something to know about an installation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Note {
    /// Its name in answers for programs.
    pub kind: &'static str,
    /// A sentence or two.
    pub text: String,
    /// True if nothing is recorded until it is settled.
    #[serde(skip)]
    pub is_bad: bool,
}

impl Note {
    fn new(kind: &'static str, text: String) -> Self {
        Self { kind, text, is_bad: false }
    }
}

/// Returns the note that a plugin cannot allow its tools.
pub(super) fn tools_not_allowed() -> Note {
    let text = "`--allow-tools` has no effect on the plugin: Claude Code asks before an agent first uses each tool.";
    Note::new("allow-tools", text.to_owned())
}

/// Returns the notes on an installation by this plan, once it is made.
pub(super) fn notes(
    adapter: &Adapter,
    site: &Site<'_>,
    client: &Client,
    program: &str,
    plan: &Plan,
    form: Form,
) -> Vec<Note> {
    let mut notes = Vec::new();
    let name = adapter.agent.display_name();
    if client.version.is_none() && adapter.setup.depends_on_version() {
        let typed = adapter.setup.programs(site.platform).first().copied().unwrap_or_default();
        notes.push(Note::new(
            "version-unknown",
            format!(
                "The version of {name} is not known, so it has only the hooks that every version accepts. \
                 `thru install` adds the rest once `{typed}` is on your PATH."
            ),
        ));
    }
    if is_in_build_folder(Path::new(program)) {
        notes.push(Note::new(
            "build-folder",
            format!(
                "The hooks run {program}, which cargo built and may remove. `cargo install` puts it in a \
                 lasting place; then run `thru install` again."
            ),
        ));
    }
    if plan.lacks_commands {
        notes.push(Note::new(
            "no-commands",
            format!(
                "There are no slash commands: your shell does not find this program as `thru`, and \
                 {program} contains characters that are special to a shell. Put its folder first on your \
                  PATH, or move it; then run `thru install` again."
            ),
        ));
    }
    if let Some(path) = &plan.other_server {
        notes.push(Note::new(
            "other-server",
            format!(
                "An MCP server called `{SERVER_NAME}` in {} runs something else and was left alone, so agents \
                 cannot query the memory. Rename it, then `thru install` again.",
                site.shown(path)
            ),
        ));
    }
    // A plugin's server has a name of its own.
    if form == Form::Settings
        && plan.changes.iter().any(|change| change.has.serves && !change.had.serves)
        && !plan.changes.iter().any(|change| change.has.allows)
    {
        notes.push(Note::new(
            "permission",
            format!(
                "{name} asks you before an agent uses the memory. `thru install --allow-tools` lets agents search \
                 and read it without asking; tools that change it still ask."
            ),
        ));
    }
    if runs_claude_mem(adapter, site) {
        notes.push(Note::new(
            "claude-mem",
            format!(
                "claude-mem has hooks in {name} as well. Both will record every session and brief it, each on \
                 its own; neither records what the other said. `thru import --from claude-mem` imports its \
                 memories; `/plugin` in {name} turns it off."
            ),
        ));
    }
    if let Some(command) = adapter.setup.server_by_hand(site, program) {
        notes.push(Note::new(
            "server-by-hand",
            format!("To let {name} query the memory, run `{command}`."),
        ));
    }
    notes.extend(elsewhere(adapter, site, plan));
    if let Some(text) = adapter.setup.obstacle(site, form) {
        notes.push(Note { kind: "hooks-off", text, is_bad: true });
    }
    if let Some(path) = &plan.holds
        && is_ignored_by_git(site.project, path) == Some(false)
    {
        let shown = site.shown(path);
        notes.push(Note::new(
            "not-ignored",
            format!("Git does not ignore {shown}. Keep it out of commits: these hooks are yours."),
        ));
    }
    notes
}

/// True if an agent runs hooks of claude-mem: those of its plugin, or those in a file of the agent's.
fn runs_claude_mem(adapter: &Adapter, site: &Site<'_>) -> bool {
    adapter.setup.hook_files(site).iter().any(|file| {
        let text = read(&file.path).ok().flatten().unwrap_or_default();
        let settings: Value = serde_json::from_str(&text).unwrap_or_default();
        let plugins = settings["enabledPlugins"].as_object();
        let is_on = |(name, is_on): (&String, &Value)| {
            name.starts_with("claude-mem@") && *is_on != Value::Bool(false)
        };
        plugins.is_some_and(|plugins| plugins.iter().any(is_on))
            || settings["hooks"].to_string().contains("claude-mem")
    })
}

/// Returns a note for each other file that has hooks of ours and keeps them.
pub(super) fn elsewhere(adapter: &Adapter, site: &Site<'_>, plan: &Plan) -> Vec<Note> {
    let files =
        adapter.setup.hook_files(site).into_iter().filter_map(|HookFile { path, .. }| {
            let text = read(&path).ok()??;
            Some((path, text))
        });
    files
        .filter(|(path, text)| {
            installed(text, adapter.agent).is_ok_and(|hooks| !hooks.is_empty())
                && plan.holds.as_ref() != Some(path)
                && !plan.changes.iter().any(|change| change.path == *path)
        })
        .map(|(path, _)| {
            let shown = site.shown(&path);
            let text = match plan.holds {
                Some(_) => {
                    format!(
                        "{shown} has Throughline's hooks as well. Both may run; every event is kept once."
                    )
                }
                None => format!("{shown} still has Throughline's hooks."),
            };
            Note::new("also-installed", text)
        })
        .collect()
}

/// Returns a note if the agent knows the MCP server that the user registered by hand.
pub(super) fn server_left(adapter: &Adapter, site: &Site<'_>) -> Option<Note> {
    let command = adapter.setup.server_left(site)?;
    let name = adapter.agent.display_name();
    Some(Note::new(
        "server-left",
        format!("{name} still knows Throughline's MCP server: `{command}` removes it."),
    ))
}

/// Returns a note if the agent runs no hook of ours until the user trusts them.
pub(super) fn untrusted(trust: &Trust) -> Option<Note> {
    let text = match &trust.remedy {
        Some(remedy) => format!("{}: {remedy}.", trust.line),
        None => format!("{}.", trust.line),
    };
    (trust.state == TrustState::Missing).then_some(Note { kind: "trust", text, is_bad: true })
}

/// True if cargo built the program here and may remove it.
fn is_in_build_folder(program: &Path) -> bool {
    program.parent().is_some_and(|folder| folder.join(".fingerprint").is_dir())
}

/// True if git ignores a file of a working tree; `None` if git cannot be asked.
fn is_ignored_by_git(root: &Path, path: &Path) -> Option<bool> {
    let is_in_tree = path.starts_with(root) && root.join(".git").exists();
    if !is_in_tree {
        return None;
    }
    let mut git = Command::new("git");
    git.args(["check-ignore", "--quiet"]).arg(path).current_dir(root);
    git.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    match git.status().ok()?.code() {
        Some(0) => Some(true),
        Some(1) => Some(false),
        _ => None,
    }
}
