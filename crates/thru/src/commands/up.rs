//! `thru up`: set everything up.

use serde::Serialize;
use thru_agents::setup::{Scope, Wanted};
use thru_app::App;
use thru_app::ingest::import::{
    Import, Imported, Memory, PlannedImport, memory, plan, plan_locked,
};
use thru_app::keep::projects;
use thru_app::setup::{Installed, Prepared, Setup, Targets, prepare};
use thru_app::{Result, Trouble};

use super::entries::title;
use super::install::{self, Form};
use super::{import, setup_page, shared};
use crate::environment::Environment;
use crate::ui::{Outcome, Page, Tone, age, one_line, plural, size};
use thru_app::health::Daemon;

/// Finds your agents, says what it will change, asks once, installs, reads the history on this machine, and
/// shows what is remembered. Run it as often as you like: what is in place stays.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    thru up                everything, after asking once\n  \
    thru up --yes          without asking\n  \
    thru up --no-import    leave the history alone; record from now on\n\n\
    `thru install --dry-run` shows each line that would change.")]
pub(crate) struct UpArguments {
    /// Do not ask
    #[arg(long, short)]
    yes: bool,
    /// Do not read the history that is there
    #[arg(long)]
    no_import: bool,
    /// Write no slash commands and no skills
    #[arg(long)]
    no_commands: bool,
    /// Let agents search and read the memory without asking you (Claude Code)
    #[arg(long)]
    allow_tools: bool,
    /// How to install [default: the present form, else the one in the settings]
    #[arg(long = "as", value_enum, value_name = "FORM")]
    form: Option<Form>,
    /// Answer as JSON (with --yes)
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &UpArguments, environment: &Environment) -> Result<Outcome> {
    let form = arguments.form.map(Into::into);
    let wanted = Wanted { commands: false, server: true, reading: false };
    let request = Setup {
        scope: Scope::User,
        form,
        wanted: arguments.no_commands.then_some(wanted),
        allow_tools: arguments.allow_tools,
        targets: Targets::Present,
    };
    let mut prepared = prepare(environment, request)?;
    let wants_history = !arguments.no_import && !environment.config.capture.off;
    let history = match wants_history {
        true => Some(plan(&environment.app, &Import::default())?),
        false => None,
    };
    let mut page = environment.page();
    let is_installed = prepared.iter().all(|one| one.changes.is_empty());
    if !arguments.json {
        for one in &prepared {
            setup_page::tell_client(&mut page, one.adapter, &one.client, environment);
        }
        if is_installed {
            for one in &prepared {
                page.line(install::in_place(one, environment));
            }
        } else {
            announce(&mut page, &prepared, history.as_ref(), environment);
        }
        page.print()?;
    }
    // Reading on needs no other answer than the one that was given when it was installed.
    if !is_installed && !arguments.yes {
        if arguments.json || !environment.terminal.interactive {
            return Err(Trouble::failed("there is no terminal to ask on")
                .advise("`thru up --yes` does it without asking; nothing was changed"));
        }
        if !shared::ask(environment, "Continue?", true)? {
            page.line("Nothing was changed.");
            return page.end(Outcome::Nothing);
        }
    }
    for one in &mut prepared {
        one.install(environment)?;
    }
    if !arguments.json {
        for one in &prepared {
            setup_page::tell(&mut page, &one.changes, environment);
            match is_installed {
                true => setup_page::tell_notes(&mut page, &one.notes),
                false => setup_page::tell_effect(&mut page, one),
            }
        }
        if environment.config.capture.off {
            page.line("`capture.off` is set here: the history was not read.");
        }
        page.print()?;
    }
    let imported = match history.filter(|history| history.found > 0) {
        Some(_) => Some(read(environment, arguments.json)?),
        None => None,
    };
    let memory = memory(environment, environment.progress().call())?;
    let daemon = Daemon::look(environment);
    if arguments.json {
        let installed = Installed::new(&prepared, environment);
        let (import, memory) = (imported.as_ref(), memory.as_ref());
        page.json(&Up { installed, import, memory, daemon: &daemon })?;
    } else {
        if let Some(imported) = &imported {
            import::tell(&mut page, &imported.report, environment);
        }
        conclude(&mut page, memory.as_ref(), environment);
        if memory.is_some() {
            offer_to_join(&mut page, arguments.yes, environment)?;
        }
        page.gap();
        page.line(match (&daemon, &memory) {
            // It is, behind this answer.
            (Daemon::Absent, Some(_)) => {
                "The daemon is starting: a background process that reads sessions as they are written. `thru \
                 daemon` controls it."
                    .to_owned()
            }
            _ => format!("The daemon {}.", daemon.line()),
        });
    }
    page.print()?;
    let is_interrupted = imported.is_some_and(|imported| imported.report.interrupted);
    Ok(if is_interrupted { Outcome::Interrupted } else { Outcome::Done })
}

/// Asks about a directory that says it is part of a project that is known from elsewhere.
fn offer_to_join(page: &mut Page, is_silent: bool, environment: &Environment) -> Result<()> {
    let shown = environment.progress();
    let Some((project, known_at)) = projects::waiting(environment, shown.call())? else {
        return Ok(());
    };
    page.gap();
    let claim = format!("This directory says it is part of {project}, known from {known_at}.");
    page.line(one_line(&claim, 200));
    page.print()?;
    if !is_silent && shared::ask(environment, "Join their memories?", false)? {
        projects::trust(environment, None, shown.call())?;
        let project = one_line(&project, 100);
        page.line(format!("It is now part of {project}. `thru undo` undoes that."));
    } else {
        page.line("It has a memory of its own; `thru projects trust` joins them.");
    }
    Ok(())
}

/// The whole answer for programs.
#[derive(Serialize)]
#[serde(tag = "kind", rename = "up")]
struct Up<'a> {
    #[serde(flatten)]
    installed: Installed<'a>,
    import: Option<&'a Imported>,
    memory: Option<&'a Memory>,
    daemon: &'a Daemon,
}

/// What is going to happen.
fn announce(
    page: &mut Page,
    prepared: &[Prepared],
    history: Option<&PlannedImport>,
    environment: &App,
) {
    page.gap();
    page.line("This will");
    for one in prepared {
        setup_page::tell_plan(page, &one.changes.plan, environment);
    }
    for (agent, share) in history.iter().flat_map(|history| &history.plan.shares) {
        page.line(format!(
            "  - read the history in {}: {}, {}",
            environment.shown(environment.homes.home(*agent)),
            plural(share.sessions as u64, "session"),
            size(share.bytes)
        ));
    }
    let data = environment.shown(environment.layout.root());
    page.line(format!("  - keep what it reads in {data}"));
    if environment.machine.daemon_switched_off(&environment.config).is_none() {
        page.line(
            "  - start a background process, now and with your sessions: it reads what your agents write about them, \
             in every project (`thru daemon` controls it)",
        );
    }
    page.line(
        "Nothing leaves this machine. `thru uninstall` undoes it and leaves all other settings as they were.",
    );
    if history.is_some_and(|history| !history.plan.shares.is_empty()) {
        page.line(
            "Histories contain secrets. Those that are recognised are not stored; `thru redact --scan` looks for more.",
        );
    }
    page.gap();
}

/// Reads the history. It is looked for once more: hours may have gone by with the question, and
/// another process may have read it.
fn read(environment: &Environment, quiet: bool) -> Result<Imported> {
    let planned = plan_locked(environment, &Import::default(), environment.progress().call())?;
    import::perform(environment, planned, quiet)
}

fn conclude(page: &mut Page, memory: Option<&Memory>, environment: &App) {
    // What was printed before is above it.
    page.line("");
    match memory.filter(|memory| memory.sessions > 0) {
        Some(memory) => {
            page.line(format!(
                "Remembered: {} of {} in {}, with {}. The latest:",
                plural(memory.passages, "passage"),
                plural(memory.sessions, "session"),
                plural(memory.projects, "project"),
                plural(memory.memories, "memory"),
            ));
            for session in &memory.latest {
                let project = session.project.as_ref().map_or("-", |name| name.get());
                let project = one_line(project, 24);
                let age = age(session.ended, environment.clock.now());
                let room = page.columns().saturating_sub(project.len() + age.len() + 8).max(20);
                let title = one_line(title(session), room);
                let project = page.paint(Tone::Heading, &project);
                page.line(format!("  {project}: {title}  {}", page.paint(Tone::Quiet, &age)));
            }
        }
        None => page.line("There is no history to remember yet."),
    }
    page.gap();
    page.line("Try next:");
    let has_history = memory.is_some_and(|memory| memory.sessions > 0);
    let first = match has_history {
        true => ("thru search WORDS", "find where something was said or done"),
        false => ("thru demo", "see it work on a made-up history"),
    };
    for (command, what) in [
        first,
        ("thru context", "show what a session that starts here gets"),
        ("thru doctor", "check that everything works"),
    ] {
        page.line(format!("  {}  {what}", page.paint(Tone::Id, &format!("{command:17}"))));
    }
}
