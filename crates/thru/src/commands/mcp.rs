//! `thru mcp`: the memory as an MCP server for agents, on standard input and output.

use std::io::Write;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use thru_app::Trouble;

use thru_app::{Context, Result, background};
use thru_http::Clients;
use thru_mcp::{Client, Profile};

use crate::environment::Environment;
use crate::ui::{Outcome, plural};

/// Agents start this themselves: `thru install` registers it where it can, `--print-config` prints the
/// configuration for others. It answers until its input ends.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    thru mcp --print-config cursor           the text for Cursor's settings\n  \
    thru mcp --print-config cursor --http    the same, over HTTP\n  \
    thru mcp --profile graphiti              the graph by the names of Graphiti's tools\n  \
    claude mcp list                          see if Claude Code knows the server")]
pub(crate) struct McpArguments {
    /// Print the configuration for a client, and name the file that it belongs in; most clients that are
    /// not listed take that of claude-desktop
    #[arg(long, value_name = "CLIENT", value_parser = clients())]
    print_config: Option<Client>,
    /// With --print-config: have the client ask the daemon over HTTP, with a token of its own, which this makes
    #[arg(long, requires = "print_config")]
    http: bool,
    /// Revoke the tokens of a client that asks over HTTP
    #[arg(long, value_name = "CLIENT", value_parser = clients(), conflicts_with = "print_config")]
    revoke: Option<Client>,
    /// List the tools that clients of another memory know; those of every profile are answered in any
    #[arg(long, value_name = "PROFILE", default_value = Profile::Throughline.as_str(), value_parser = profiles(), conflicts_with_all = ["http", "revoke"])]
    profile: Profile,
}

pub(crate) fn run(arguments: &McpArguments, environment: &Environment) -> Result<Outcome> {
    match arguments {
        McpArguments { revoke: Some(client), .. } => revoke(*client, environment),
        McpArguments { print_config: Some(client), http: true, .. } => {
            let text = http_config(*client, environment)?;
            print_config(*client, &text, environment)
        }
        McpArguments { print_config: Some(client), .. } => {
            let program = thru_app::setup::own_program(environment)?;
            print_config(*client, &client.text(&program, arguments.profile), environment)
        }
        McpArguments { .. } => serve(arguments.profile, environment),
    }
}

fn profiles() -> impl TypedValueParser<Value = Profile> {
    let named = |name: String| Profile::ALL.into_iter().find(|one| one.as_str() == name);
    PossibleValuesParser::new(Profile::ALL.map(Profile::as_str))
        .map(move |name| named(name).unwrap_or_default())
}

fn clients() -> impl TypedValueParser<Value = Client> {
    PossibleValuesParser::new(Client::ALL.map(Client::as_str))
        .try_map(|name| name.parse::<Client>())
}

/// Makes a token for a client, and the text that has it use that.
fn http_config(client: Client, environment: &Environment) -> Result<String> {
    let address = background::page_address(environment);
    let usual = || format!("http://127.0.0.1:{}", environment.config.http.port);
    let url = format!("{}/mcp", address.unwrap_or_else(usual));
    let only_starts = || {
        Trouble::invalid(format!("{} only starts programs", client.as_str()))
            .run(format!("mcp --print-config {}", client.as_str()), "prints the text for that")
    };
    client.http_text(&url, "").ok_or_else(only_starts)?;
    let (token, known) = Clients::new(&environment.layout)
        .make(client.as_str(), environment.clock.now())
        .context("the token cannot be kept")?;
    if known > 0 {
        let name = client.as_str();
        let _ = environment.tell(&format!(
            "This is a new token. {} made for {name} before stay good: `thru mcp --revoke {name}` ends them all.",
            plural(known as u64, "token")
        ));
    }
    if !background::listens_always(&environment.config) {
        let _ = environment.tell(
            "The daemon does not serve HTTP on its own yet: `thru config set http.enabled true`, then `thru daemon restart`.",
        );
    }
    client.http_text(&url, &token).ok_or_else(only_starts)
}

fn revoke(client: Client, environment: &Environment) -> Result<Outcome> {
    let revoked = Clients::new(&environment.layout).revoke(client.as_str());
    let revoked = revoked.context("the token cannot be revoked")?;
    let mut page = environment.page();
    page.line(match revoked {
        true => format!("{} can no longer ask over HTTP.", client.as_str()),
        false => format!("{} has no token.", client.as_str()),
    });
    page.end(Outcome::found(revoked))
}

fn print_config(client: Client, text: &str, environment: &Environment) -> Result<Outcome> {
    // Beside what is to be copied, not in it.
    let _ = environment.tell(&format!("For {}:", client.place()));
    let mut page = environment.page();
    page.verbatim(text.trim_end());
    page.print()
}

fn serve(profile: Profile, environment: &Environment) -> Result<Outcome> {
    if environment.terminal.interactive {
        let _ = writeln!(
            std::io::stderr(),
            "This is for agents: it waits for JSON-RPC, a message per line. Ctrl-D ends it."
        );
    }
    quiet_panics();
    let input = std::io::BufReader::new(std::io::stdin());
    let mut caught = Ok(());
    thru_mcp::serve(environment.app.alone(), profile, input, std::io::stdout(), |stopper| {
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
