//! `daemon`: what a daemon takes, how soon what happens can be found while one runs, and what it costs
//! those who do not wait for it.

mod hooks;
mod idle;
mod load;
mod questions;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Result;
use clap::{Args, ValueEnum};
use serde::Serialize;
use serde_json::json;
use tempfile::TempDir;

use crate::home::temporary_directory;
use crate::metrics::quantile;
use crate::process::{Program, machine};

/// The arguments of `daemon`.
#[derive(Args)]
pub(crate) struct Arguments {
    /// The program to measure
    #[arg(long, value_name = "PATH")]
    thru: PathBuf,
    /// Measure in this home, which is changed (give a copy) [default: an empty one]
    #[arg(long, value_name = "DIR")]
    home: Option<PathBuf>,
    /// Only this; may be given more than once
    #[arg(long, value_name = "WHAT")]
    only: Vec<Part>,
    /// For how many seconds an idle daemon is looked at
    #[arg(long, default_value_t = 60, value_name = "SECONDS")]
    idle: u64,
    /// Project folders that it watches meanwhile
    #[arg(long, default_value_t = 5_000, value_name = "N")]
    folders: usize,
    /// Runs of each measurement
    #[arg(long, default_value_t = 40, value_name = "N")]
    runs: usize,
    /// For how many seconds sessions work at the same time
    #[arg(long, default_value_t = 20, value_name = "SECONDS")]
    load: u64,
    /// Sessions that do
    #[arg(long, default_value_t = 50, value_name = "N")]
    sessions: usize,
    /// Events a second of all of them together that are tried with hooks, from few to many
    #[arg(long, value_delimiter = ',', default_values_t = [50, 100, 200, 300])]
    rate: Vec<u32>,
    /// Events a second of all of them together that are recorded without processes
    #[arg(long, default_value_t = 1_000)]
    recorded_rate: u32,
    /// Print JSON instead of a table
    #[arg(long)]
    json: bool,
}

/// A measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Part {
    /// Memory and processor time of an idle daemon
    Idle,
    /// Time from a hook until a search finds its event
    Found,
    /// Time of hooks while daemons run, hang and die
    Hooks,
    /// Time until a daemon answers
    Start,
    /// Time that a question waits for sessions to be indexed
    Index,
    /// Time to close a session again
    Close,
    /// Many sessions at once
    Load,
}

/// One line of the table.
#[derive(Debug, Serialize)]
struct Measure {
    what: String,
    value: f64,
    unit: &'static str,
    /// The target.
    reach: String,
    runs: usize,
    /// The rest.
    note: String,
}

impl Measure {
    fn new(what: impl Into<String>, value: f64, unit: &'static str, reach: &str) -> Self {
        Self {
            what: what.into(),
            value,
            unit,
            reach: reach.to_owned(),
            runs: 1,
            note: String::new(),
        }
    }

    /// The middle of some times in milliseconds, with the others in the note.
    fn of_times(what: impl Into<String>, times: &[f64], share: f64, reach: &str) -> Self {
        let at = |share| quantile(times, share).unwrap_or(f64::NAN);
        Self {
            runs: times.len(),
            note: format!("p50 {:.1}, p95 {:.1}, max {:.1}", at(0.5), at(0.95), at(1.0)),
            ..Self::new(what, at(share), "ms", reach)
        }
    }

    fn with_note(self, note: impl Into<String>) -> Self {
        Self { note: note.into(), ..self }
    }
}

/// The home and the program that are measured.
struct Place<'a> {
    program: Program,
    home: &'a Path,
    claude: &'a Path,
}

/// Measures and prints a table.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let folder = temporary_directory()?;
    let new_home = folder.path().join("home");
    let (home, claude) =
        (arguments.home.as_deref().unwrap_or(&new_home), folder.path().join("claude"));
    fs::create_dir_all(home)?;
    fs::create_dir_all(claude.join("projects"))?;
    let home = fs::canonicalize(home)?;
    let program = Program::new(&arguments.thru, &claude)?;
    let place = Place { program, home: &home, claude: &claude };
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let wanted = |part| arguments.only.is_empty() || arguments.only.contains(&part);
    let mut measures = Vec::new();
    let mut add = |part: Part, measure: &dyn Fn() -> Result<Vec<Measure>>| -> Result<()> {
        if wanted(part) {
            eprintln!("{part:?} …");
            measures.extend(measure()?);
        }
        Ok(())
    };
    add(Part::Start, &|| idle::start(&place, arguments.runs.div_ceil(4)))?;
    add(Part::Found, &|| hooks::found(&place, arguments.runs))?;
    add(Part::Hooks, &|| hooks::walls(&place, arguments.runs))?;
    add(Part::Index, &|| questions::index(&place.program, arguments.runs.div_ceil(8)))?;
    add(Part::Close, &|| questions::close(&place, arguments.runs))?;
    add(Part::Load, &|| {
        let time = Duration::from_secs(arguments.load);
        let mut measures = Vec::new();
        for rate in &arguments.rate {
            measures.extend(load::hooks(&place, arguments.sessions, *rate, time)?);
        }
        measures.extend(load::recorded(&place, arguments.sessions, arguments.recorded_rate, time)?);
        Ok(measures)
    })?;
    // Last, since it leaves thousands of folders.
    add(Part::Idle, &|| {
        idle::idle(&place, arguments.folders, Duration::from_secs(arguments.idle))
    })?;
    print(&measures, &load, arguments.json);
    Ok(())
}

fn print(measures: &[Measure], load: &str, as_json: bool) {
    let load_after = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let (first, last) = (load.trim(), load_after.trim());
    if as_json {
        let answer = json!({
            "version": 1,
            "kind": "daemon-bench",
            "machine": machine(),
            "load": [first, last],
            "measures": measures,
        });
        println!("{answer}");
        return;
    }
    println!("{}. Load before: {first}; after: {last}.\n", machine());
    println!("| what | value | reach | runs | |\n|---|---|---|---|---|");
    for Measure { what, value, unit, reach, runs, note } in measures {
        println!("| {what} | {value:.2} {unit} | {reach} | {runs} | {note} |");
    }
}

/// A folder to measure in, with a home and an agent's folder.
fn fresh() -> Result<(TempDir, PathBuf, PathBuf)> {
    let folder = temporary_directory()?;
    let (home, claude) = (folder.path().join("home"), folder.path().join("claude"));
    fs::create_dir_all(&home)?;
    fs::create_dir_all(claude.join("projects"))?;
    Ok((folder, home, claude))
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
