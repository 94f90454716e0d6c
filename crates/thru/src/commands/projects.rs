//! `thru projects`: which bodies of work there are.

use std::path::PathBuf;

use thru_app::Result;
use thru_app::keep::projects::{self, ProjectEntry};

use super::of_agents::OfAgents;
use crate::environment::Environment;
use crate::ui::{Outcome, Page, Tone, age, count, one_line, width};

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
    let names: Vec<String> =
        projects.iter().map(|project| one_line(project.name.get(), 30)).collect();
    let name_width = names.iter().map(|name| width(name)).max().unwrap_or(0).max(7);
    let heading = format!(
        "{:name_width$}  {:9}  {:>8}  {:>9}  KEY",
        "PROJECT", "LAST USED", "SESSIONS", "PASSAGES"
    );
    page.toned(Tone::Quiet, &heading);
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
            page.toned(Tone::Quiet, &line);
        }
    }
}
