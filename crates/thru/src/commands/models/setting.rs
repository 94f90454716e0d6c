//! `thru models set` and `thru models off`.

use std::io::Write;

use thru_app::Result;
use thru_app::models::setting::{self, ModelSet, SetModel};
use thru_models::KeyStorage;

use crate::environment::Environment;
use crate::ui::{Outcome, Page, Tone, Unseen, count, printable};

/// Choose the model to ask. What happened before is never sent by itself: `thru distil` does that.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "A key is looked for in the environment, in the folder `keys` beside the configuration \
    file, and in the system's keyring. It is never written into the configuration, a log or an argument."
)]
pub(super) struct ModelsSetArguments {
    /// anthropic, openai, openrouter, claude-cli, ollama, lmstudio, llamacpp or vllm
    provider: String,
    /// Which model; the provider's usual one if it has one
    #[arg(long)]
    model: Option<String>,
    /// Another model for the summaries of sessions
    #[arg(long)]
    session_model: Option<String>,
    /// Where it answers, if not at its usual place
    #[arg(long)]
    url: Option<String>,
    /// A model on this machine that is asked when the provider does not answer
    #[arg(long)]
    fallback: Option<String>,
    /// Which model of the fallback
    #[arg(long)]
    fallback_model: Option<String>,
    /// Read a new key from standard input, and keep it in a file that only you can read
    #[arg(long)]
    key: bool,
    /// Keep the key in the system's keyring instead
    #[arg(long)]
    keyring: bool,
}

/// Ask no model any more. What models made stays.
#[derive(Debug, clap::Args)]
pub(super) struct Off {
    /// Also remove the key that is kept for the provider
    #[arg(long)]
    forget_key: bool,
}

pub(super) fn set(
    arguments: ModelsSetArguments,
    environment: &Environment,
    json: bool,
) -> Result<Outcome> {
    let ModelsSetArguments {
        provider, model, session_model, url, fallback, fallback_model, ..
    } = arguments;
    let request = SetModel { provider, model, session_model, url, fallback, fallback_model };
    let lacks_key = setting::lacks_key(environment, &request)?;
    let asks = lacks_key && environment.terminal.interactive;
    if arguments.key || arguments.keyring || asks {
        let place = if arguments.keyring { KeyStorage::Keyring } else { KeyStorage::File };
        let text = read_key(environment, &request.provider)?;
        if asks && is_refusal(&text) {
            environment.tell("Nothing was changed.")?;
            return Ok(Outcome::found(false));
        }
        let source = setting::keep_key(environment, &request.provider, &text, place)?;
        environment.tell(&format!("The key is kept: {source}."))?;
    }
    let set = setting::set(environment, &request)?;
    environment.answer(json, &set, |page| show(page, &set))
}

fn show(page: &mut Page, set: &ModelSet) {
    page.line(format!(
        "From now on, memories are refined by {}: {}.",
        set.provider,
        printable(&set.model)
    ));
    if let Some(program) = set.lacks {
        let line = format!("`{program}` is not on your PATH: until it is, nothing is asked.");
        page.toned(Tone::Bad, &line);
    }
    page.line(match set.local {
        true => "Nothing leaves this machine.".to_owned(),
        false => format!(
            "What is sent: finished turns and sessions, after redaction, from {} on. Nothing earlier.",
            set.since.get(..10).unwrap_or(&set.since)
        ),
    });
    page.line(format!(
        "Limits: {} tokens a day and {} a month, ${:.2} a day and ${:.2} a month. `thru status` shows what is spent.",
        count(set.limits.daily.tokens),
        count(set.limits.monthly.tokens),
        set.limits.daily.cents as f64 / 100.0,
        set.limits.monthly.cents as f64 / 100.0,
    ));
    page.line("`thru models test` asks one small question.");
}

/// True for an answer that is no key: nothing, or a no.
fn is_refusal(text: &str) -> bool {
    ["", "n", "no"].contains(&text.to_lowercase().as_str())
}

/// Reads one line, unseen where it is typed.
fn read_key(environment: &Environment, name: &str) -> Result<String> {
    let mut errors = environment.streams.errors();
    let is_typed = environment.terminal.input;
    if is_typed {
        write!(errors, "Key for {name} (not shown; leave it empty to cancel): ")?;
        errors.flush()?;
    }
    let line = {
        let _unseen = is_typed.then(Unseen::begin);
        environment.streams.read_line()?.unwrap_or_default()
    };
    if is_typed {
        writeln!(errors)?;
    }
    Ok(line.trim().to_owned())
}

pub(super) fn off(arguments: &Off, environment: &Environment, json: bool) -> Result<Outcome> {
    let off = setting::off(environment, arguments.forget_key)?;
    environment.answer(json, &off, |page| {
        page.line(match &off.was {
            Some(name) => format!("{name} is no longer asked. What it made stays."),
            None => "No model was set.".to_owned(),
        });
        for place in &off.keys_removed {
            page.line(format!("The key is removed: {place}."));
        }
    })
}
