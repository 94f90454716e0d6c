//! `speed`: how long an import, a search and a hook take, and how much room things need.

mod hooks;
mod yardsticks;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::Args;

use crate::home::temporary_directory;
use crate::metrics::{median, quantile};
use crate::process::{Program, Task, Usage, machine, size};
use yardsticks::Yardsticks;

/// Runs of a session's briefing, and of a prompt's.
const BRIEFINGS: usize = 100;

/// The arguments of `speed`.
#[derive(Args)]
pub(crate) struct Arguments {
    /// The program to measure
    #[arg(long, value_name = "PATH")]
    thru: PathBuf,
    /// The agent's folder, with `projects/` in it
    #[arg(long, value_name = "DIR", required_unless_present = "home")]
    history: Option<PathBuf>,
    /// Time hooks in this home, which they change (give a copy); alone, unless there is a history
    #[arg(long, value_name = "DIR")]
    home: Option<PathBuf>,
    /// Runs of an import that finds nothing new
    #[arg(long, default_value_t = 20)]
    runs: usize,
    /// Runs of an import from nothing
    #[arg(long, default_value_t = 3)]
    imports: usize,
    /// Queries, one per line [default: `queries.txt` in the history, if there is one]
    #[arg(long, value_name = "FILE")]
    queries: Option<PathBuf>,
    /// Leave the last home here, to look at it
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,
}

/// Measures and prints a table.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let Some(history) = &arguments.history else {
        let home = arguments.home.as_deref().context("give --history or --home")?;
        println!("{}.\n", machine());
        let nothing = temporary_directory()?;
        let program = Program::new(&arguments.thru, nothing.path())?;
        return hooks::run(&program, home);
    };
    let program = Program::new(&arguments.thru, history)?;
    let queries = queries(arguments, history)?;
    let raw = size(&program.history().join("projects")).max(1);
    println!("{}. History: {:.1} MB.\n", machine(), raw as f64 / 1e6);

    let mut yardsticks = Yardsticks::new(&program.history().join("projects"))?;
    let mut home = temporary_directory()?;
    let mut imports = Vec::new();
    for number in 0..arguments.imports.max(1) {
        home = temporary_directory()?;
        eprintln!("import {} …", number + 1);
        imports.push(program.measure(home.path(), Task::Import)?);
        yardsticks.run()?;
    }
    let root = home.path();
    eprintln!("import with nothing new, {} times …", arguments.runs);
    let mut again = Vec::new();
    for _ in 0..arguments.runs.max(1) {
        again.push(program.measure(root, Task::Import)?);
    }
    eprintln!("{} searches …", queries.len());
    let mut searches = Vec::new();
    for (number, query) in queries.iter().enumerate() {
        if number == 0 {
            program.time(root, Task::Search(query))?;
        }
        searches.push(program.time(root, Task::Search(query))?.as_secs_f64() * 1e3);
    }

    eprintln!("what sessions and prompts are given …");
    let (starts, prompts) = briefings(&program, root, &queries)?;

    println!("| what | value | ratio |\n|---|---|---|");
    let wall = |usage: &Usage| Some(usage.wall.as_secs_f64());
    let seconds = middle(&imports, wall);
    let spread: Vec<String> =
        imports.iter().map(|usage| format!("{:.1}", usage.wall.as_secs_f64())).collect();
    let remark = format!("median of {}", spread.join(", "));
    row("import from nothing, s", seconds, 1, &remark, &yardsticks.beside_readers(seconds, wall));
    let rate = seconds.map(|seconds| raw as f64 / 1e6 / seconds);
    row("… MB/s of transcripts", rate, 1, "", "");
    let cpu = middle(&imports, |usage| usage.cpu);
    row("… processor time, s", cpu, 1, "", &yardsticks.beside_readers(cpu, |usage| usage.cpu));
    let megabytes = |usage: &Usage| usage.memory.map(|bytes| bytes as f64 / 1e6);
    row("… peak memory, MB", middle(&imports, megabytes), 0, "", "");
    let process = |name: &str, milliseconds: Option<f64>, remark: &str| {
        row(name, milliseconds, 1, remark, &yardsticks.beside_nothing(milliseconds));
    };
    let runs = format!("median of {}", again.len());
    let nothing_new = middle(&again, |usage| wall(usage).map(|seconds| seconds * 1e3));
    process("import with nothing new, ms", nothing_new, &runs);
    row("… peak memory, MB", middle(&again, megabytes), 0, "", "");
    let runs = format!("{} queries, whole process", searches.len());
    process("search p50, ms", quantile(&searches, 0.5), &runs);
    process("search p95, ms", quantile(&searches, 0.95), &runs);
    process("search max, ms", quantile(&searches, 1.0), &runs);
    for (what, times) in [("a start", &starts), ("a prompt", &prompts)] {
        let runs = format!("{} runs, whole process", times.len());
        process(&format!("context for {what} p50, ms"), quantile(times, 0.5), &runs);
        process(&format!("context for {what} p95, ms"), quantile(times, 0.95), &runs);
    }
    let database: u64 =
        ["memory.db", "memory.db-wal"].iter().map(|name| size(&root.join(name))).sum();
    for (name, bytes) in [
        ("archive", size(&root.join("archive"))),
        ("store", database),
        ("index", size(&root.join("index"))),
        ("everything", size(root)),
    ] {
        let share = 100.0 * bytes as f64 / raw as f64;
        println!(
            "| {name} on disk | {:.1} MB, {share:.1} % of the transcripts | |",
            bytes as f64 / 1e6
        );
    }
    println!();
    hooks::run(&program, arguments.home.as_deref().unwrap_or(root))?;
    if let Some(keep) = &arguments.keep {
        let kept = home.keep();
        fs::rename(&kept, keep).with_context(|| format!("left in {}", kept.display()))?;
    }
    Ok(())
}

/// Milliseconds that `thru context` takes at a start, and for a prompt, in one project after the other.
fn briefings(program: &Program, root: &Path, queries: &[String]) -> Result<(Vec<f64>, Vec<f64>)> {
    let answer: serde_json::Value = serde_json::from_str(&program.answer(root, Task::Projects)?)?;
    let projects = answer["projects"].as_array().cloned().unwrap_or_default();
    let projects: Vec<&str> = projects.iter().filter_map(|one| one["name"].as_str()).collect();
    let milliseconds = |task| Ok::<_, anyhow::Error>(program.time(root, task)?.as_secs_f64() * 1e3);
    let (mut starts, mut prompts) = (Vec::new(), Vec::new());
    for (number, project) in projects.iter().cycle().take(BRIEFINGS).enumerate() {
        if projects.is_empty() {
            break;
        }
        starts.push(milliseconds(Task::Start(project))?);
        if let Some(prompt) = queries.get(number % queries.len().max(1)) {
            prompts.push(milliseconds(Task::Context { project, prompt })?);
        }
    }
    Ok((starts, prompts))
}

fn queries(arguments: &Arguments, history: &Path) -> Result<Vec<String>> {
    let beside = history.join("queries.txt");
    let path = match &arguments.queries {
        Some(path) => path,
        None if beside.exists() => &beside,
        None => return Ok(Vec::new()),
    };
    let text =
        fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    Ok(text.lines().filter(|line| !line.trim().is_empty()).map(str::to_owned).collect())
}

fn middle(runs: &[Usage], value: impl Fn(&Usage) -> Option<f64>) -> Option<f64> {
    let values: Option<Vec<f64>> = runs.iter().map(value).collect();
    median(&values?)
}

fn row(name: &str, value: Option<f64>, digits: usize, remark: &str, ratio: &str) {
    let value = value.map_or_else(|| "–".to_owned(), |value| format!("{value:.digits$}"));
    let remark = if remark.is_empty() { String::new() } else { format!(" ({remark})") };
    println!("| {name} | {value}{remark} | {ratio} |");
}
