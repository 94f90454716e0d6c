//! `thru mcp`: the memory as an MCP server for agents, on standard input and output.

use std::io::Write;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use thru_app::Trouble;

use thru_app::{Context, Result};
use thru_mcp::Client;

use super::Outcome;
use crate::environment::Environment;
use crate::ui::Page;

/// Agents start this themselves: `thru install` registers it where it can, `--print-config` prints the
/// configuration for others. It answers until its input ends.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    thru mcp --print-config cursor    the text for Cursor's settings\n  \
    claude mcp list                   see if Claude Code knows the server")]
pub(crate) struct McpArguments {
    /// Print the configuration for a client, and name the file that it belongs in; most clients that are
    /// not listed take that of claude-desktop
    #[arg(long, value_name = "CLIENT", value_parser = clients())]
    print_config: Option<Client>,
}

pub(crate) fn run(arguments: &McpArguments, environment: &Environment) -> Result<Outcome> {
    match arguments.print_config {
        Some(client) => print_config(client, environment),
        None => serve(environment),
    }
}

fn clients() -> impl TypedValueParser<Value = Client> {
    PossibleValuesParser::new(Client::ALL.map(Client::as_str))
        .try_map(|name| name.parse::<Client>())
}

fn print_config(client: Client, environment: &Environment) -> Result<Outcome> {
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
