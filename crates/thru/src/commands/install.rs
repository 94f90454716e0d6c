//! `thru install`: connect agents.

use clap::ValueEnum;
use thru_agents::setup;
use thru_app::Result;
use thru_app::setup::{Installation, Installed, Prepared, Setup, Targets, prepare};

use super::setup_page;
use crate::environment::Environment;
use crate::ui::{Outcome, plural};

/// Writes our hooks into the settings of the agents on this machine and touches nothing else in them. Can be
/// repeated: after an upgrade, after the program has moved, to switch to the other form.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    thru install                    for all your sessions: ~/.claude/settings.json, ~/.codex/hooks.json\n  \
    thru install --dry-run          only show what would change\n  \
    thru install --scope project    only here: .claude/settings.local.json, which is yours alone\n  \
    thru install --as plugin        as a plugin: ~/.claude/skills/throughline\n\n\
    `thru uninstall` restores every byte.")]
pub(crate) struct InstallArguments {
    /// For which sessions
    #[arg(long, value_enum, default_value = "user")]
    scope: Scope,
    /// How to install [default: the present form, else the one in the settings]
    #[arg(long = "as", value_enum, value_name = "FORM")]
    form: Option<Form>,
    /// Write no slash commands and no skills
    #[arg(long)]
    no_commands: bool,
    /// Do not register the MCP server
    #[arg(long)]
    no_mcp: bool,
    /// Let agents search and read the memory without asking you (Claude Code)
    #[arg(long)]
    allow_tools: bool,
    /// Only show what would change
    #[arg(long)]
    dry_run: bool,
    /// Answer as JSON
    #[arg(long)]
    json: bool,
}

/// The sessions to connect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Scope {
    /// All your sessions
    User,
    /// Those of the project you are in, for you alone
    Project,
}

/// The form of the hooks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Form {
    /// Hooks in a settings file
    Settings,
    /// A plugin in the agent's folder
    Plugin,
}

impl From<Scope> for setup::Scope {
    fn from(scope: Scope) -> Self {
        match scope {
            Scope::User => Self::User,
            Scope::Project => Self::Project,
        }
    }
}

impl From<Form> for setup::Form {
    fn from(form: Form) -> Self {
        match form {
            Form::Settings => Self::Settings,
            Form::Plugin => Self::Plugin,
        }
    }
}

pub(crate) fn run(arguments: &InstallArguments, environment: &Environment) -> Result<Outcome> {
    let wanted = setup::Wanted {
        commands: !arguments.no_commands,
        server: !arguments.no_mcp,
        reading: false,
    };
    let scope = setup::Scope::from(arguments.scope);
    let request = Setup {
        scope,
        form: arguments.form.map(Into::into),
        wanted: Some(wanted),
        allow_tools: arguments.allow_tools,
        targets: Targets::Present,
    };
    let mut prepared = prepare(environment, request)?;
    if !arguments.dry_run {
        for one in &mut prepared {
            one.install(environment)?;
        }
    }
    if arguments.json {
        let installed = Installed::new(&prepared, environment);
        let answer = Installation { dry_run: arguments.dry_run, scope, installed };
        return environment.answer(true, &answer, |_| {});
    }
    let mut page = environment.page();
    for one in &prepared {
        setup_page::tell_client(&mut page, one.adapter, &one.client, environment);
    }
    for one in &prepared {
        let Prepared { changes, notes, .. } = one;
        if changes.is_empty() {
            page.line(in_place(one, environment));
        } else if arguments.dry_run {
            setup_page::difference(&mut page, &changes.plan, environment)?;
            page.gap();
        } else {
            setup_page::tell(&mut page, changes, environment);
        }
        if changes.made().next().is_none() {
            setup_page::tell_notes(&mut page, notes);
        } else {
            setup_page::tell_effect(&mut page, one);
        }
    }
    if arguments.dry_run && prepared.iter().any(|one| !one.changes.is_empty()) {
        page.gap();
        page.line("Nothing was changed.");
    }
    page.print()
}

/// The sentence that nothing is to change.
pub(crate) fn in_place(prepared: &Prepared, environment: &Environment) -> String {
    let Prepared { registration, changes, .. } = prepared;
    let holds =
        changes.plan.holds.as_deref().map(|path| environment.shown(path)).unwrap_or_default();
    let program = environment.shown(std::path::Path::new(&registration.program));
    let hooks = plural(registration.events.len() as u64, "hook");
    format!("All is in place: {hooks} in {holds} run {program}.")
}
