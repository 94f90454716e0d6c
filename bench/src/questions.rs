//! `questions`: how long a question takes: in a process of its own, and over MCP, where a server answers one after the
//! other; with a daemon running and without one.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::time::Instant;

use anyhow::{Context, Result};
use clap::Args;
use serde_json::{Value, json};

use crate::metrics::quantile;
use crate::process::{Program, Task, machine};
use crate::resident::Daemon;

/// Questions that are asked before any is timed.
const BEFORE: usize = 5;

/// The arguments of `questions`.
#[derive(Args)]
pub(crate) struct Arguments {
    /// The `thru` to measure
    #[arg(long, value_name = "PATH")]
    thru: PathBuf,
    /// The home to ask; a daemon may bring it up to date, and embed what is not embedded (give a copy)
    #[arg(long, value_name = "DIR")]
    home: PathBuf,
    /// The agent's folder that it was imported from
    #[arg(long, value_name = "DIR")]
    history: PathBuf,
    /// Questions, one per line [default: `queries.txt` in the history]
    #[arg(long, value_name = "FILE")]
    queries: Option<PathBuf>,
    /// Number of questions to ask
    #[arg(long, default_value_t = 60)]
    count: usize,
}

/// Measures and prints a table.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let program = Program::new(&arguments.thru, &arguments.history)?;
    let beside = arguments.history.join("queries.txt");
    let path = arguments.queries.as_ref().unwrap_or(&beside);
    let text =
        fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let questions: Vec<&str> =
        text.lines().filter(|line| !line.trim().is_empty()).take(arguments.count).collect();
    println!("{}. {} questions.\n", machine(), questions.len());
    println!("| what | p50, ms | p95, ms | max, ms |\n|---|--:|--:|--:|");
    let home = fs::canonicalize(&arguments.home)?;
    both(&program, &home, &questions, "no daemon")?;
    let daemon = Daemon::start(&program, &home)?;
    daemon.settle()?;
    both(&program, &home, &questions, "a daemon running")?;
    drop(daemon);
    Ok(())
}

fn both(program: &Program, home: &Path, questions: &[&str], circumstances: &str) -> Result<()> {
    let mut times = Vec::new();
    for question in questions.iter().take(BEFORE).chain(questions) {
        times.push(program.time(home, Task::Search(question))?.as_secs_f64() * 1e3);
    }
    row(&format!("`thru search`, {circumstances}"), &times);
    let mut server = Server::start(program, home)?;
    let mut times = Vec::new();
    for question in questions.iter().take(BEFORE).chain(questions) {
        let started = Instant::now();
        server.call(
            "tools/call",
            &json!({
                "name": "search", "arguments": { "query": question, "project": "*" },
            }),
        )?;
        times.push(started.elapsed().as_secs_f64() * 1e3);
    }
    row(&format!("over MCP, {circumstances}"), &times);
    Ok(())
}

fn row(name: &str, times: &[f64]) {
    let times = &times[BEFORE.min(times.len())..];
    let value = |share| quantile(times, share).unwrap_or(f64::NAN);
    println!("| {name} | {:.1} | {:.1} | {:.1} |", value(0.5), value(0.95), value(1.0));
}

/// An MCP server that an agent would have started. It is killed when dropped.
struct Server {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    number: u64,
}

impl Server {
    fn start(program: &Program, home: &Path) -> Result<Self> {
        let mut command = program.command_of(home, &["mcp"]);
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().context("cannot start a server")?;
        let input = child.stdin.take().context("the server has no input")?;
        let output = BufReader::new(child.stdout.take().context("the server has no output")?);
        let mut server = Self { child, input, output, number: 0 };
        server.call(
            "initialize",
            &json!({
                "protocolVersion": "2025-11-25",
                "capabilities": {},
                "clientInfo": { "name": "bench", "version": "1" },
            }),
        )?;
        writeln!(
            server.input,
            "{}",
            json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })
        )?;
        Ok(server)
    }

    /// Asks something and waits for the answer.
    fn call(&mut self, method: &str, params: &Value) -> Result<Value> {
        self.number += 1;
        let request =
            json!({ "jsonrpc": "2.0", "id": self.number, "method": method, "params": params });
        writeln!(self.input, "{request}")?;
        let mut line = String::new();
        loop {
            line.clear();
            anyhow::ensure!(self.output.read_line(&mut line)? > 0, "the server ended");
            let message: Value = serde_json::from_str(&line)?;
            if message["id"] == self.number {
                let result = message.get("result").context("the server refused")?;
                anyhow::ensure!(result["isError"] != true, "the server failed: {result}");
                return Ok(result.clone());
            }
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
