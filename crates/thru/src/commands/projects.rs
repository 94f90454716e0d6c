//! `thru projects`: which bodies of work there are.

use std::path::PathBuf;

use thru_app::Result;
use thru_app::keep::projects::{self, ProjectEntry};

use super::of_agents::OfAgents;
use crate::environment::Environment;
use crate::ui::{Long, Outcome, Page, Table, Tone, age, count, one_line, printable};

/// Worktrees and clones of one remote are one project; so is a directory without git.
#[derive(Debug, clap::Args)]
pub(crate) struct ProjectsArguments {
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
    /// Let a directory share the memory of the project that it says it is part of
    ///
    /// A clone, an unpacked archive or a `.throughline.toml` can claim to be any project. One that is known from another
    /// directory is joined only when you say so. `thru undo` undoes that.
    Trust {
        /// The directory; the current one if none is named
        directory: Option<PathBuf>,
    },
    /// Make one project part of another
    Merge {
        /// The project that will no longer be listed: its name or key
        from: String,
        /// The project that takes its sessions: its name or key
        into: String,
    },
}

pub(crate) fn run(arguments: &ProjectsArguments, environment: &Environment) -> Result<Outcome> {
    let mut page = environment.page();
    let shown = environment.progress();
    let app = &environment.app;
    let mut outcome = Outcome::Done;
    match &arguments.command {
        None | Some(Command::List) => {
            let answer = projects::projects(app, arguments.of.filter().as_deref(), shown.call())?;
            page.put(arguments.json, &answer, |page| match answer.projects[..] {
                [] => {
                    page.line("No projects yet. `thru import` reads the history on this machine.")
                }
                _ => table(page, &answer.projects, environment),
            })?;
            outcome = Outcome::found(!answer.projects.is_empty());
        }
        Some(Command::Rename { project, name }) => {
            let (old, new) = projects::rename(app, project, name, shown.call())?;
            page.line(format!("{old} is now called {new}."));
        }
        Some(Command::Trust { directory }) => {
            let trusted = projects::trust(app, directory.as_deref(), shown.call())?;
            page.put(arguments.json, &trusted, |page| {
                let (directory, project) = (trusted.directory.get(), trusted.project.get());
                page.line(match trusted.is_new {
                    true => format!("{directory} is now part of {project}."),
                    false => format!("{directory} is part of {project} already."),
                });
            })?;
        }
        Some(Command::Merge { from, into }) => {
            let (from, into) = projects::merge(app, from, into, shown.call())?;
            page.line(format!("{from} is now part of {into}."));
        }
    }
    page.end(outcome)
}

fn table(page: &mut Page, projects: &[ProjectEntry], environment: &Environment) {
    let now = environment.clock.now();
    let headings = ["PROJECT", "LAST USED", ">SESSIONS", ">PASSAGES", "KEY"];
    let mut table = Table::new(headings, Long::Middle);
    for project in projects {
        table.row([
            (Tone::Heading, one_line(project.name.get(), 30)),
            (Tone::Plain, project.last.map_or_else(|| "-".to_owned(), |last| age(Some(last), now))),
            (Tone::Plain, count(project.sessions)),
            (Tone::Plain, count(project.passages)),
            (Tone::Quiet, printable(project.key.as_str())),
        ]);
        for merged in &project.merged {
            let nothing = || (Tone::Plain, String::new());
            let merged = (Tone::Quiet, printable(&format!("+ {merged}")));
            table.row([nothing(), nothing(), nothing(), nothing(), merged]);
        }
    }
    page.table(&table);
}
