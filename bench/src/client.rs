//! `client`: how much longer the real Claude Code client takes with our hooks than without, on the
//! same scripted work.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use clap::Args;
use serde_json::json;
use thru_real_client::{
    MessagesApi, Run, Script, ScriptedAnswer, SealedHome, calls, finish, message, says,
};

use crate::metrics::median;
use crate::process::machine;

/// The prompt of each run.
const PROMPT: &str = "Count the lamps";

/// Hook events of a run beside those of its tools: start, prompt, stop, end.
const OTHER_EVENTS: usize = 4;

/// The arguments of `client`.
#[derive(Args)]
pub(crate) struct Arguments {
    /// The client: the program of the package `@anthropic-ai/claude-code`
    #[arg(long, value_name = "PATH")]
    client: PathBuf,
    /// The program that its hooks run
    #[arg(long, value_name = "PATH")]
    thru: PathBuf,
    /// Runs of the client with hooks, and without
    #[arg(long, default_value_t = 20)]
    rounds: usize,
    /// Tool calls of a run, one after the other
    #[arg(long, default_value_t = 20)]
    calls: usize,
}

/// The client in a home of its own, with or without hooks.
struct Side {
    home: SealedHome,
    api: MessagesApi,
    calls: usize,
}

/// Measures and prints.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let thru = arguments.thru.canonicalize().context("cannot find what the hooks are to run")?;
    let without = Side::new(arguments)?;
    let with = Side::new(arguments)?;
    with.thru(&thru, &["up", "--yes"])?;
    let version = finish(with.home.client(&with.api).arg("--version"))?.stdout;

    // What is read from disk for the first time is not what is measured.
    without.time()?;
    with.time()?;
    let (mut times_without, mut times_with) = (Vec::new(), Vec::new());
    for round in 0..arguments.rounds.max(1) {
        eprintln!("round {} of {} …", round + 1, arguments.rounds.max(1));
        // Neither is always the first.
        if round.is_multiple_of(2) {
            times_without.push(without.time()?);
            times_with.push(with.time()?);
        } else {
            times_with.push(with.time()?);
            times_without.push(without.time()?);
        }
    }
    let runs = times_with.len() + 1;
    let recorded = with.recorded(&thru)?;
    let expected = runs * (arguments.calls + OTHER_EVENTS);
    ensure!(recorded == expected, "hooks recorded {recorded} events, not {expected}");

    let pairs = times_with.iter().zip(&times_without);
    let ratios = pairs.map(|(with, without)| with / without).collect::<Vec<_>>();
    let middle = |values: &[f64]| median(values).unwrap_or_default();
    let fastest = |values: &[f64]| values.iter().copied().fold(f64::INFINITY, f64::min);
    let (with, without) = (middle(&times_with), middle(&times_without));
    println!(
        "{} calls of tools: {without:.0} ms without hooks, {with:.0} ms with them, ratio {:.3}",
        arguments.calls,
        with / without
    );
    let answer = json!({
        "version": 1,
        "kind": "client-measurement",
        "client": version.trim(),
        "machine": machine(),
        "calls": arguments.calls,
        "rounds": ratios.len(),
        "without_ms": without,
        "with_ms": with,
        "ratio": with / without,
        "ratio_in_pairs": middle(&ratios),
        // Least disturbed where the machine has other work.
        "ratio_of_fastest": fastest(&times_with) / fastest(&times_without),
    });
    println!("{answer:#}");
    Ok(())
}

impl Side {
    fn new(arguments: &Arguments) -> Result<Self> {
        let home = SealedHome::new(&arguments.client)
            .with_context(|| format!("cannot use the client {}", arguments.client.display()))?;
        let api = MessagesApi::start(script(arguments.calls))?;
        Ok(Self { home, api, calls: arguments.calls })
    }

    /// Runs the client to its end and returns the milliseconds it took.
    fn time(&self) -> Result<f64> {
        self.api.take_requests();
        let run =
            finish(self.home.client(&self.api).args(["-p", PROMPT, "--output-format", "json"]))?;
        ensure!(run.code == Some(0) && run.stderr.is_empty(), "the client failed: {run:?}");
        let asked = self.api.requests().len();
        ensure!(asked == self.calls + 1, "the model was asked {asked} times: {run:?}");
        Ok(milliseconds(run.took))
    }

    /// Returns the number of hook events in the journal.
    fn recorded(&self, thru: &Path) -> Result<usize> {
        let every = u32::MAX.to_string();
        let shown =
            self.thru(thru, &["journal", "show", "--json", "--kind", "hook", "-n", &every])?.stdout;
        Ok(shown.lines().count())
    }

    fn thru(&self, thru: &Path, arguments: &[&str]) -> Result<Run> {
        let run = finish(self.home.command(thru).args(arguments))?;
        ensure!(run.code == Some(0), "thru {arguments:?} failed: {run:?}");
        Ok(run)
    }
}

/// A model that calls a tool so many times.
fn script(calls_of_tools: usize) -> Script {
    let look = |lamp| {
        let input = json!({ "command": format!("echo lamp {lamp}"), "description": "Look" });
        message([calls("Bash", input)])
    };
    let mut answers: Vec<ScriptedAnswer> = (0..calls_of_tools).map(look).collect();
    answers.push(message([says("All lamps are counted.")]));
    Script::new().on(PROMPT, answers)
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
