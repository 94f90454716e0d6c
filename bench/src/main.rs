//! Measures Throughline: how well it finds things, how fast it is, what its hooks cost an agent, and
//! whether it survives being killed.
//!
//! Nothing here is part of the product; it calls the same library functions as `thru`, or `thru`
//! itself, and prints tables.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a measuring tool prints what it measured"
)]

mod client;
mod compaction;
mod corpus;
mod crash;
mod daemon;
mod distil;
mod handoff;
mod home;
mod marks;
mod metrics;
mod packs;
mod process;
mod prompts;
mod questions;
mod recall;
mod replay;
mod resident;
mod rng;
mod soak;
mod speed;
mod store_dump;
mod uses;
mod vectors;
mod words;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Measures Throughline.
#[derive(Parser)]
#[command(version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Scores recall on labelled questions
    Recall(recall::Arguments),
    /// Scores packs on labelled prompts, half of which deserve silence
    Packs(packs::Arguments),
    /// Measures the distillation of real sessions: misses, inventions, repetitions
    Distil(distil::Arguments),
    /// Measures how much a pack holds of what a session needs after a compaction, beside the agent's summary
    Compaction(compaction::Arguments),
    /// Measures how much of the packs at starts and prompts the next real session uses
    Handoff(handoff::Arguments),
    /// Measures the packs of real prompts that a reader labelled by what they needed of earlier sessions
    Prompts(prompts::Arguments),
    /// Writes a synthetic Claude Code history
    Corpus(corpus::Arguments),
    /// Plays real transcripts as the hooks that they came with, and compares what is remembered
    Replay(replay::Arguments),
    /// Times import and search
    Speed(speed::Arguments),
    /// Times questions, in processes of their own and over MCP
    Questions(questions::Arguments),
    /// Gives every text of a home a synthetic vector
    Vectors(vectors::Arguments),
    /// Measures the daemon, and hooks while one runs
    Daemon(daemon::Arguments),
    /// Plays real transcripts for long while a daemon runs, and looks whether it grows
    Soak(soak::Arguments),
    /// Kills imports, rebuilds, upgrades, hooks and daemons, and compares what comes out
    Crash(crash::Arguments),
    /// Runs the real Claude Code client with our hooks and without
    Client(client::Arguments),
}

fn main() -> ExitCode {
    let result = match Cli::parse().command {
        Command::Recall(arguments) => recall::run(&arguments),
        Command::Packs(arguments) => packs::run(&arguments),
        Command::Distil(arguments) => distil::run(&arguments),
        Command::Compaction(arguments) => compaction::run(&arguments),
        Command::Handoff(arguments) => handoff::run(&arguments),
        Command::Prompts(arguments) => prompts::run(&arguments),
        Command::Corpus(arguments) => corpus::run(&arguments),
        Command::Replay(arguments) => replay::run(&arguments),
        Command::Speed(arguments) => speed::run(&arguments),
        Command::Questions(arguments) => questions::run(&arguments),
        Command::Vectors(arguments) => vectors::run(&arguments),
        Command::Daemon(arguments) => daemon::run(&arguments),
        Command::Soak(arguments) => soak::run(&arguments),
        Command::Crash(arguments) => crash::run(&arguments),
        Command::Client(arguments) => client::run(&arguments),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn no_two_options_are_in_each_others_way() {
        Cli::command().debug_assert();
    }
}
