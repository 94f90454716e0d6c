//! `thru man` and `thru completions`: made from the same description as the help.

use std::io::Write;
use std::path::Path;

use clap::CommandFactory;
use thru_app::{Context, Result};

use crate::arguments::Cli;
use crate::environment::Environment;
use crate::ui::Outcome;

pub(crate) fn completions(
    shell: clap_complete::Shell,
    environment: &Environment,
) -> Result<Outcome> {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "thru", &mut text);
    environment.streams.output().write_all(&text)?;
    Ok(Outcome::Done)
}

pub(crate) fn run(directory: Option<&Path>, environment: &Environment) -> Result<Outcome> {
    let command = Cli::command();
    match directory {
        Some(directory) => {
            let directory = &environment.directory.join(directory);
            std::fs::create_dir_all(directory)
                .and_then(|()| clap_mangen::generate_to(command, directory))
                .with_context(|| format!("{} cannot be written", directory.display()))?;
            environment.tell(&format!("Wrote manuals to {}.", directory.display()))?;
        }
        None => {
            let mut text = Vec::new();
            clap_mangen::Man::new(command).render(&mut text)?;
            environment.streams.output().write_all(&text)?;
        }
    }
    Ok(Outcome::Done)
}
