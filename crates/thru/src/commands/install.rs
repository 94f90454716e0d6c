//! `thru install`: connect agents.

use serde_json::json;
use thru_agents::claude_code::install::Registration;
use thru_app::App;
use thru_app::Result;

use super::Outcome;
use crate::environment::Environment;
use crate::installing::{self, Client, Form, Note, Plan, Scope, Wanted};
use crate::ui::{Page, plural};

/// Writes our hooks into Claude Code's settings and touches nothing else in them. Can be repeated:
/// after an upgrade, after the program has moved, to switch to the other form.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    thru install                    for all your sessions: ~/.claude/settings.json\n  \
    thru install --dry-run          only show what would change\n  \
    thru install --scope project    only here: .claude/settings.local.json, which is yours alone\n  \
    thru install --as plugin        as a plugin: ~/.claude/skills/throughline\n\n\
    `thru uninstall` gives back every byte as it was.")]
pub(crate) struct Arguments {
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

pub(crate) fn run(
    arguments: &Arguments,
    environment: &Environment,
    plain: bool,
) -> Result<Outcome> {
    let wanted = Wanted { commands: !arguments.no_commands, server: !arguments.no_mcp };
    let prepared = prepare(environment, arguments.scope, arguments.form, Some(wanted))?;
    let Prepared { client, registration, plan, notes, form } = &prepared;
    let made = match arguments.dry_run {
        true => Vec::new(),
        false => plan.apply()?,
    };
    let mut page = Page::new(environment, plain);
    if arguments.json {
        let mut answer = installing::as_json(plan, &made);
        answer["version"] = json!(1);
        answer["kind"] = json!("install");
        answer["dry_run"] = json!(arguments.dry_run);
        answer["scope"] = json!(arguments.scope.as_str());
        answer["form"] = json!(form.as_str());
        answer["program"] = json!(registration.program);
        answer["events"] = json!(registration.events);
        answer["client"] = client_json(client);
        answer["notes"] = notes.iter().map(Note::as_json).collect();
        page.json(&answer)?;
    } else {
        installing::tell_client(&mut page, client, environment);
        if plan.changes.is_empty() {
            page.line(in_place(&prepared, environment));
        } else if arguments.dry_run {
            installing::difference(&mut page, plan, environment)?;
            page.gap();
            page.line("Nothing was changed.");
        } else {
            installing::tell(&mut page, plan, &made, environment);
        }
        match made.is_empty() {
            true => installing::tell_notes(&mut page, notes),
            false => installing::tell_effect(&mut page, client, *form, notes),
        }
    }
    page.print()?;
    Ok(Outcome::Done)
}

/// An installation that is decided and not made.
pub(crate) struct Prepared {
    /// Claude Code.
    pub(crate) client: Client,
    /// The hooks.
    pub(crate) registration: Registration,
    /// The changes.
    pub(crate) plan: Plan,
    /// What else there is to know.
    pub(crate) notes: Vec<Note>,
    /// The form that was asked for, or found.
    pub(crate) form: Form,
}

/// Decides what an installation is to change. Where nobody says whether commands and the server are wanted,
/// they are unless there is an installation without.
pub(crate) fn prepare(
    environment: &App,
    scope: Scope,
    form: Option<Form>,
    wanted: Option<Wanted>,
) -> Result<Prepared> {
    let client = Client::find(environment);
    let program = installing::own_program(environment)?;
    let form = form.unwrap_or_else(|| match scope {
        Scope::User => Form::present(environment),
        Scope::Project => Form::Settings,
    });
    let timeout = environment.config.hooks.hook_timeout.0;
    let registration = Registration::new(&program, client.version, installing::PLATFORM, timeout);
    let wanted = wanted.unwrap_or_else(|| {
        let is_first = crate::health::hooks::found(environment).is_empty();
        Wanted {
            commands: is_first || installing::has_commands(environment),
            server: is_first || !installing::servers(environment).is_empty(),
        }
    });
    let plan = installing::to_install(environment, scope, form, &registration, wanted)?;
    let notes = installing::notes(environment, &client, &program, &plan, form);
    Ok(Prepared { client, registration, plan, notes, form })
}

/// Says that there is nothing to change.
pub(crate) fn in_place(prepared: &Prepared, environment: &App) -> String {
    let Prepared { registration, plan, .. } = prepared;
    let holds = plan.holds.as_deref().map(|path| environment.shown(path)).unwrap_or_default();
    let program = environment.shown(std::path::Path::new(&registration.program));
    let hooks = plural(registration.events.len() as u64, "hook");
    format!("All is in place: {hooks} in {holds} run {program}.")
}

/// Claude Code, for programs.
pub(crate) fn client_json(client: &Client) -> serde_json::Value {
    json!({
        "program": client.program,
        "version": client.version.map(|version| version.to_string()),
        "has_run": client.has_run,
    })
}
