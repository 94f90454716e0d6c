//! `thru uninstall`: disconnect agents.

use clap::ValueEnum;
use thru_agents::setup::Scope;
use thru_app::Result;
use thru_app::setup::{Uninstallation, prepare_removal, service_left};

use super::setup_page;
use crate::environment::Environment;
use crate::ui::Outcome;
use thru_app::background::control;
use thru_app::ingest::reading::{self, Stop};

/// Takes our hooks, and our plugin, out of every agent: for all your sessions, and in the project you
/// are in. All else in those files stays as it is, to the byte. What was recorded stays too.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    thru uninstall                    yours, and those of the current project\n  \
    thru uninstall --scope project    only those of the project\n  \
    thru uninstall --dry-run          only show what would change")]
pub(crate) struct UninstallArguments {
    /// Where
    #[arg(long, value_enum, default_value = "all")]
    scope: Where,
    /// Only show what would change
    #[arg(long)]
    dry_run: bool,
    /// Answer as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Where {
    /// What runs for all of the user's sessions
    User,
    /// What runs in the project you are in
    Project,
    /// Both
    All,
}

pub(crate) fn run(arguments: &UninstallArguments, environment: &Environment) -> Result<Outcome> {
    let scopes: &[Scope] = match arguments.scope {
        Where::User => &[Scope::User],
        Where::Project => &[Scope::Project],
        Where::All => &[Scope::User, Scope::Project],
    };
    let mut removals = prepare_removal(environment, scopes)?;
    let is_nothing = removals.iter().all(|removal| removal.changes.is_empty());
    if !arguments.dry_run {
        for removal in &mut removals {
            removal.changes.make(environment)?;
        }
    }
    let is_for_all = !matches!(arguments.scope, Where::Project);
    let stopped = is_for_all && !arguments.dry_run && control::stop_in_passing(environment);
    let mut page = environment.page();
    let data = environment.layout.root();
    let has_data = data.is_dir();
    if is_for_all && !arguments.dry_run && has_data {
        reading::stop(&environment.layout, Stop::Uninstall)?;
    }
    if arguments.json {
        let data = has_data.then_some(data);
        page.json(&Uninstallation::new(&removals, arguments.dry_run, stopped, data))?;
    } else {
        if arguments.dry_run && !is_nothing {
            for removal in &removals {
                setup_page::difference(&mut page, &removal.changes.plan, environment)?;
            }
            page.gap();
            page.line("Nothing was changed.");
        } else {
            for removal in &removals {
                setup_page::tell_made(&mut page, &removal.changes, environment);
            }
            for removal in &removals {
                setup_page::tell_foreign(&mut page, &removal.changes.plan, environment);
            }
        }
        if stopped {
            page.line("The daemon was stopped.");
        }
        if is_nothing {
            page.line("There was nothing to remove.");
        } else if has_data && !arguments.dry_run {
            let shown = environment.shown(data);
            let is_recorded =
                [environment.layout.journal(), environment.layout.archive()].iter().any(|folder| {
                    std::fs::read_dir(folder).is_ok_and(|mut files| files.next().is_some())
                });
            if is_recorded {
                page.line(format!(
                    "What was recorded stays in {shown}, and can still be searched."
                ));
            }
            if is_for_all {
                page.line("New sessions are no longer read unless you run `thru import`.");
            }
            if is_recorded {
                page.line("`thru export` writes it as JSON Lines to take along;");
            }
            // A shell takes `~` for the home directory only without quotes.
            let typed = match shown.contains(char::is_whitespace) {
                true => format!("'{}'", data.display()),
                false => shown,
            };
            page.line(match is_recorded {
                true => format!("`rm -r {typed}` removes it for good."),
                false => {
                    format!("Nothing was recorded. `rm -r {typed}` removes the data directory.")
                }
            });
        }
        for removal in &removals {
            setup_page::tell_notes(&mut page, &removal.notes);
        }
        if is_for_all {
            setup_page::tell_notes(&mut page, service_left(environment).as_slice());
        }
    }
    page.print()
}
