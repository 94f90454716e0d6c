//! `thru mcp`: the memory as an MCP server for agents, on standard input and output.

use std::io::Write;
use thru_app::Trouble;

use thru_app::{Context, Result};
use thru_mcp::{Client, UnknownClient};

use super::Outcome;
use crate::environment::Environment;
use crate::ui::Page;

/// Agents start this themselves: `thru install` tells Claude Code of it, `--print-config` says what to tell
/// others. It answers until its input ends.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    thru mcp --print-config cursor    what to write into Cursor's settings\n  \
    claude mcp list                   whether Claude Code knows it")]
pub(crate) struct McpArguments {
    /// Print what a client has to be told, and in which file: claude-code, claude-desktop, codex, gemini,
    /// cursor, vscode, windsurf, zed, opencode, cline
    #[arg(long, value_name = "CLIENT")]
    print_config: Option<String>,
}

pub(crate) fn run(arguments: &McpArguments, environment: &Environment) -> Result<Outcome> {
    match &arguments.print_config {
        Some(client) => print_config(client, environment),
        None => serve(environment),
    }
}

fn print_config(client: &str, environment: &Environment) -> Result<Outcome> {
    let client: Client = client.parse().map_err(|error: UnknownClient| {
        Trouble::failed(error.to_string()).advise("most others take the text for claude-desktop")
    })?;
    let program = thru_app::setup::own_program(environment)?;
    // Beside what is to be copied, not in it.
    let _ = writeln!(environment.streams.errors(), "For {}:", client.place());
    let mut page = Page::new(environment);
    for line in client.text(&program).lines() {
        page.line(line);
    }
    page.print()?;
    Ok(Outcome::Done)
}

fn serve(environment: &Environment) -> Result<Outcome> {
    if environment.terminal.interactive {
        let _ = writeln!(
            std::io::stderr(),
            "This is for agents: it waits for JSON-RPC, a message per line. Ctrl-D ends it."
        );
    }
    quiet_panics();
    let input = std::io::BufReader::new(std::io::stdin());
    let mut caught = Ok(());
    thru_mcp::serve(environment.app.clone(), input, std::io::stdout(), |stopper| {
        caught = ctrlc::set_handler(move || stopper.stop());
    })
    .context("the server cannot start")?;
    caught.map_err(|error| Trouble::failed(format!("signals cannot be caught: {error}")))?;
    Ok(Outcome::Done)
}

/// A panic is caught where it happens. Its message may quote what a session said, so that only its place is
/// told.
fn quiet_panics() {
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map_or_else(String::new, ToString::to_string);
        let _ = writeln!(std::io::stderr(), "thru mcp: panicked at {place}");
    }));
}
