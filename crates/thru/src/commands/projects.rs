//! `thru projects`: which bodies of work there are.

use serde_json::{Value, json};
use thru_app::App;
use thru_app::Result;
use thru_app::ask::named;
use thru_intake::Operation;

use super::of_agents::OfAgents;
use super::{Outcome, shared};
use crate::environment::Environment;
use crate::failure::advised;
use crate::ui::{Page, Tone, age, count, one_line, width};

/// Worktrees and clones of one remote are one project; so is a directory without git.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    of: OfAgents,
    /// Answer as JSON
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// List projects, the last used first (the default)
    List,
    /// Give a project another name
    Rename {
        /// Its name or key
        project: String,
        /// The new name
        name: String,
    },
    /// Make one project part of another
    Merge {
        /// The project that will no longer be listed: its name or key
        from: String,
        /// The project that takes its sessions: its name or key
        into: String,
    },
}

pub(crate) fn run(arguments: Arguments, environment: &Environment, plain: bool) -> Result<Outcome> {
    let mut page = Page::new(environment, plain);
    let store = shared::open_store(environment)?;
    let operation = match arguments.command {
        None | Some(Command::List) => {
            let projects = match arguments.of.filter() {
                Some(agents) => {
                    let mut projects = store.projects_of(&agents)?;
                    projects.retain(|project| project.sessions > 0);
                    projects
                }
                None => store.projects()?,
            };
            if arguments.json {
                let listed: Vec<Value> = projects.iter().map(project_json).collect();
                page.json(&json!({ "version": 1, "kind": "projects", "projects": listed }))?;
            } else if projects.is_empty() {
                page.line("No projects yet. `thru import` reads the history on this machine.");
            } else {
                table(&mut page, &projects, environment);
            }
            page.print()?;
            return Ok(if projects.is_empty() { Outcome::Nothing } else { Outcome::Done });
        }
        Some(Command::Rename { project, name }) => {
            let project = named::named_project(&store, &project)?;
            let name = one_line(&name, 100);
            if name.is_empty() {
                return Err(advised("a project needs a name", "give one of at least a letter"));
            }
            page.line(format!("{} is now called {name}.", project.name));
            Operation::ProjectRenamed { project: project.key, name }
        }
        Some(Command::Merge { from, into }) => {
            let from = named::named_project(&store, &from)?;
            let into = named::named_project(&store, &into)?;
            if from.row == into.row {
                return Err(advised(
                    format!("both names mean the project {}", into.name),
                    "nothing was changed; `thru projects` lists keys that tell projects apart",
                ));
            }
            page.line(format!("{} is now part of {}.", from.name, into.name));
            Operation::ProjectMerged { from: from.key, into: into.key }
        }
    };
    drop(store);
    let intake = environment.intake()?;
    let lock = shared::lock(&intake, environment)?;
    intake.record_and_apply(&lock, &[operation])?;
    page.print()?;
    Ok(Outcome::Done)
}

fn table(page: &mut Page, projects: &[thru_store::ProjectRow], environment: &App) {
    let now = environment.clock.now();
    let names: Vec<String> = projects.iter().map(|project| one_line(&project.name, 30)).collect();
    let name_width = names.iter().map(|name| width(name)).max().unwrap_or(0).max(7);
    let heading = format!(
        "{:name_width$}  {:9}  {:>8}  {:>9}  KEY",
        "PROJECT", "LAST USED", "SESSIONS", "PASSAGES"
    );
    page.line(page.paint(Tone::Quiet, &heading));
    for (project, name) in projects.iter().zip(&names) {
        let padding = " ".repeat(name_width.saturating_sub(width(name)));
        let line = format!(
            "{}{padding}  {:9}  {:>8}  {:>9}  ",
            page.paint(Tone::Heading, name),
            age(project.last, now),
            count(project.sessions),
            count(project.passages),
        );
        let key =
            one_line(project.key.as_str(), page.columns().saturating_sub(name_width + 34).max(20));
        page.line(format!("{line}{}", page.paint(Tone::Quiet, &key)));
        for merged in &project.merged {
            let line = format!("{:name_width$}  + {merged}", "");
            page.line(page.paint(Tone::Quiet, &line));
        }
    }
}

fn project_json(project: &thru_store::ProjectRow) -> Value {
    json!({
        "key": project.key,
        "name": project.name,
        "sessions": project.sessions,
        "passages": project.passages,
        "last": project.last,
        "merged": project.merged,
    })
}
