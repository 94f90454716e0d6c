//! `thru models`: the model that makes memories better, if any, and its price.

mod list;
mod meters;
mod setting;
mod trial;

use thru_app::Result;

pub(crate) use meters::rows;

use crate::environment::Environment;
use crate::ui::Outcome;

/// Choose whose model makes memories better, in the background and within a budget. Nothing is sent anywhere
/// before you set one; without, memories are made without any model.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    thru models                                   what can be set, and what is\n  \
    thru models set anthropic                     asks for a key if there is none\n  \
    thru models set ollama --model qwen3:8b       on this machine, without a key\n  \
    thru models set claude-cli                    your own `claude`, on the account it is signed in to\n  \
    thru models set anthropic --fallback ollama --fallback-model qwen3:8b\n  \
    thru models test                              one small question, to see whether it answers\n  \
    thru models off\n\n\
    Limits are settings: `budget.daily_tokens`, `budget.daily_cents` and others (`thru config show`). \
    `thru status` shows what is spent.")]
pub(crate) struct ModelsArguments {
    #[command(subcommand)]
    command: Option<Command>,
    /// Answer as JSON
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// What can be set, and what is (the default)
    List,
    /// Choose the model to ask
    Set(setting::ModelsSetArguments),
    /// Ask one small question, to see whether it answers
    Test,
    /// Ask no model any more
    Off(setting::Off),
}

pub(crate) fn run(arguments: ModelsArguments, environment: &Environment) -> Result<Outcome> {
    let json = arguments.json;
    match arguments.command {
        None | Some(Command::List) => list::run(environment, json),
        Some(Command::Set(set)) => setting::set(set, environment, json),
        Some(Command::Test) => trial::run(environment, json),
        Some(Command::Off(off)) => setting::off(&off, environment, json),
    }
}
