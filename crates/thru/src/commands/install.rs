//! `thru install`: connect agents.

use clap::ValueEnum;
use serde_json::{Value, json};
use thru_agents::setup;
use thru_app::Result;
use thru_app::setup::{Prepared, Setup, Targets, apply, prepare};

use super::{Outcome, setup_page};
use crate::environment::Environment;
use crate::ui::{Page, plural};

/// Writes our hooks into the settings of the agents on this machine and touches nothing else in them. Can be
/// repeated: after an upgrade, after the program has moved, to switch to the other form.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    thru install                    for all your sessions: ~/.claude/settings.json, ~/.codex/hooks.json\n  \
    thru install --dry-run          only show what would change\n  \
    thru install --scope project    only here: .claude/settings.local.json, which is yours alone\n  \
    thru install --as plugin        as a plugin: ~/.claude/skills/throughline\n\n\
    `thru uninstall` gives back every byte as it was.")]
pub(crate) struct InstallArguments {
    /// For which sessions
    #[arg(long, value_enum, default_value = "user")]
    scope: Scope,
    /// In what form; as it is installed now, else in the settings
    #[arg(long = "as", value_enum, value_name = "FORM")]
    form: Option<Form>,
    /// Write no slash commands and no skills
    #[arg(long)]
    no_commands: bool,
    /// Do not register the MCP server
    #[arg(long)]
    no_mcp: bool,
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
    /// All of the user's
    User,
    /// Those of the project one stands in, for the user alone
    Project,
}

/// The form of the hooks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Form {
    /// Hooks in a settings file
    Settings,
    /// A plugin in Claude Code's folder
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

pub(crate) fn run(
    arguments: &InstallArguments,
    environment: &Environment,
    plain: bool,
) -> Result<Outcome> {
    let wanted = setup::Wanted { commands: !arguments.no_commands, server: !arguments.no_mcp };
    let scope = setup::Scope::from(arguments.scope);
    let request = Setup {
        scope,
        form: arguments.form.map(Into::into),
        wanted: Some(wanted),
        targets: Targets::Present,
    };
    let mut prepared = prepare(environment, request)?;
    let mut page = Page::new(environment, plain);
    let plans: Vec<_> = prepared.iter().map(|one| one.plan.clone()).collect();
    let mut made = Vec::new();
    if !arguments.dry_run {
        for (plan, one) in plans.iter().zip(&mut prepared) {
            made.push(apply(plan)?);
            one.note_trust(environment);
        }
    }
    if arguments.json {
        let mut answer = setup_page::as_json(plans.iter(), &made.concat());
        answer["version"] = json!(1);
        answer["kind"] = json!("install");
        answer["dry_run"] = json!(arguments.dry_run);
        answer["scope"] = json!(scope);
        describe(&mut answer, &prepared, environment);
        page.json(&answer)?;
        page.print()?;
        return Ok(Outcome::Done);
    }
    for one in &prepared {
        setup_page::tell_client(&mut page, one.adapter, &one.client, environment);
    }
    for (at, one) in prepared.iter().enumerate() {
        let Prepared { adapter, client, plan, notes, form, .. } = one;
        if plan.changes.is_empty() {
            page.line(in_place(one, environment));
        } else if arguments.dry_run {
            setup_page::difference(&mut page, plan, environment)?;
        } else {
            setup_page::tell(&mut page, plan, &made[at], environment);
        }
        if made.get(at).is_none_or(Vec::is_empty) {
            setup_page::tell_notes(&mut page, notes);
        } else {
            setup_page::tell_effect(&mut page, adapter, client, *form, notes);
        }
    }
    if arguments.dry_run && plans.iter().any(|plan| !plan.changes.is_empty()) {
        page.gap();
        page.line("Nothing was changed.");
    }
    page.print()?;
    Ok(Outcome::Done)
}

/// The sentence that nothing is to change.
pub(crate) fn in_place(prepared: &Prepared, environment: &Environment) -> String {
    let Prepared { registration, plan, .. } = prepared;
    let holds = plan.holds.as_deref().map(|path| environment.shown(path)).unwrap_or_default();
    let program = environment.shown(std::path::Path::new(&registration.program));
    let hooks = plural(registration.events.len() as u64, "hook");
    format!("All is in place: {hooks} in {holds} run {program}.")
}

/// Adds what is known of each agent to an answer for programs, and of the first one to the answer itself.
pub(crate) fn describe(answer: &mut Value, prepared: &[Prepared], environment: &Environment) {
    let mut agents = Vec::new();
    for (at, one) in prepared.iter().enumerate() {
        let Prepared { adapter, client, registration, form, .. } = one;
        let described = json!({
            "agent": adapter.agent,
            "client": {
                "program": client.program,
                "version": client.version.map(|version| version.to_string()),
                "has_run": client.has_run,
            },
            "events": registration.events,
            "form": form,
            "program": registration.program,
            "trust": one.trust(environment),
        });
        if at == 0 {
            for name in ["client", "events", "form", "program"] {
                answer[name] = described[name].clone();
            }
        }
        agents.push(described);
    }
    answer["agents"] = json!(agents);
    answer["notes"] = setup_page::notes_json(prepared.iter().flat_map(|one| &one.notes));
}
