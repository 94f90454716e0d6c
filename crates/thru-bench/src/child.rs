//! What `thru` does, by library calls, in a process of its own: for measuring and killing where there
//! is no `thru` at hand.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use anyhow::{Context, Result, bail};
use clap::{Args, Subcommand};
use thru_agents::claude_code;
use thru_recall::Request;

use crate::home::Home;

/// What to do. Takes the options that `thru` takes.
#[derive(Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Import {
        #[arg(long)]
        yes: bool,
        paths: Vec<PathBuf>,
    },
    Rebuild {
        #[arg(long)]
        yes: bool,
    },
    Verify,
    Search {
        #[arg(long)]
        all: bool,
        #[arg(long, default_value_t = 10)]
        limit: usize,
        words: Vec<String>,
    },
}

/// Does it, in the data directory that the environment names.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let root = std::env::var_os("THROUGHLINE_HOME").context("THROUGHLINE_HOME is not set")?;
    let home = Home::at(root.as_ref())?;
    match &arguments.command {
        Command::Import { paths, .. } if paths.is_empty() => {
            let agent =
                std::env::var_os("CLAUDE_CONFIG_DIR").context("CLAUDE_CONFIG_DIR is not set")?;
            let found = claude_code::discover(agent.as_ref(), &|_| false);
            let report = home.import(found)?;
            println!("{} passages", report.written.passages);
        }
        Command::Import { paths, .. } => {
            home.import_paths(paths)?;
        }
        Command::Rebuild { .. } => {
            let lock = home.intake().lock(&mut |_| false)?;
            let report = home.intake().rebuild(&lock, &AtomicBool::new(false), &mut |_| {})?;
            println!("{} passages", report.passages);
        }
        Command::Verify => {
            let found = home.intake().verify(&mut |_, _| {})?;
            for finding in &found.findings {
                println!("{}: {}", finding.place, finding.message);
            }
            if !found.is_clean() {
                bail!("something is damaged or missing");
            }
        }
        Command::Search { words, limit, .. } => {
            let request = Request { query: words.join(" "), limit: *limit, ..Request::default() };
            let intake = home.intake();
            let answer = thru_recall::search(
                intake.layout(),
                &home.store()?,
                intake.redactor(),
                &request,
                thru_recall::words_only("not measured"),
            )?;
            for session in &answer.sessions {
                for hit in &session.hits {
                    println!("{} {}", hit.short_id, hit.snippet.get().text);
                }
            }
        }
    }
    Ok(())
}
