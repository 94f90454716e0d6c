//! `thru demo`: search, an outline and a briefing on a made-up history, in a home of its own.

use std::path::Path;
use thru_app::App;

use thru_agents::Homes;
use thru_app::{Context, Result};
use thru_core::{Agent, Layout};

use super::{context, import, search, session};
use crate::environment::Environment;
use crate::ui::{Outcome, Tone};

/// Touches nothing of yours: the history is made up, and the temporary home is removed afterwards.
#[derive(Debug, clap::Args)]
pub(crate) struct DemoArguments {}

/// The made-up history: names below `projects/` with what is in them.
const HISTORY: &[(&str, &str)] = &[
    (
        "-home-ada-rocket/5b1f0c9e-8a51-4a57-9d0e-2f6c1b7a9e01.jsonl",
        include_str!("../../demo/lock.jsonl"),
    ),
    (
        "-home-ada-rocket/c27d4e83-1f0b-4c3e-b6a5-90d1e2f3a402.jsonl",
        include_str!("../../demo/retry.jsonl"),
    ),
    (
        "-home-ada-orchard/e9a86b15-7c42-4d18-8f3b-5a6b7c8d9e03.jsonl",
        include_str!("../../demo/orchard.jsonl"),
    ),
];

pub(crate) fn run(_: &DemoArguments, environment: &Environment) -> Result<Outcome> {
    let home = TemporaryHome::new(environment)?;
    for (name, content) in HISTORY {
        let path = home.agents().home(Agent::ClaudeCode).join("projects").join(name);
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        std::fs::write(&path, content)
            .with_context(|| format!("{} cannot be written", path.display()))?;
    }
    let demo = environment.in_home(Layout::new(home.path().join("throughline")), home.agents());
    let took = import::import_quietly(&demo)?;
    say(
        environment,
        &[&format!(
            "A made-up history of three sessions was archived and indexed in {:.0} ms, in a temporary home. \
                 Nothing of yours was touched.",
            took.as_secs_f64() * 1000.0
        )],
    )?;
    for (command, arguments) in [
        (
            "thru search why did we drop the global lock",
            search::SearchArguments::for_query("why did we drop the global lock"),
        ),
        ("thru search SQLITE_BUSY", search::SearchArguments::for_query("SQLITE_BUSY")),
    ] {
        prompt(environment, command)?;
        search::run(&arguments, &demo)?;
    }
    prompt(environment, "thru session show 5b1f")?;
    session::run(&session::Command::show("5b1f"), &demo)?;
    prompt(environment, "thru context --project rocket")?;
    context::run(&context::ContextArguments::at_start("rocket"), &demo)?;
    say(environment, &["", "The last shows what the next session in that project would get."])?;
    say(environment, &["`thru import` does the same with the history on this machine."])
}

fn say(environment: &Environment, lines: &[&str]) -> Result<Outcome> {
    let mut page = environment.page();
    for line in lines {
        page.line(line);
    }
    page.print()
}

fn prompt(environment: &Environment, command: &str) -> Result<Outcome> {
    let mut page = environment.page();
    page.line("");
    page.line(format!("$ {}", page.paint(Tone::Heading, command)));
    page.print()
}

/// A folder that goes when the demo ends.
struct TemporaryHome(std::path::PathBuf);

impl TemporaryHome {
    fn new(environment: &App) -> Result<Self> {
        let now = environment.clock.now().as_nanosecond();
        let path =
            environment.machine.temp_dir.join(format!("thru-demo-{}-{now}", std::process::id()));
        std::fs::create_dir(&path).with_context(|| format!("{} cannot be made", path.display()))?;
        Ok(Self(path))
    }

    fn path(&self) -> &Path {
        &self.0
    }

    fn agents(&self) -> Homes {
        Homes::new(|agent| self.0.join(agent.as_str()))
    }
}

impl Drop for TemporaryHome {
    fn drop(&mut self) {
        // What is left in the system's folder for temporary files is the system's to clear.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
