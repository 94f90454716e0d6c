//! `thru models set` and `thru models off`.

use std::io::{BufRead, IsTerminal, Write};

use serde_json::json;
use thru_app::Result;
use thru_models::{Key, KeyPlace, Keys, connect};

use super::named;
use crate::commands::Outcome;
use crate::environment::Environment;
use crate::failure::advised;
use crate::ui::{Page, count, printable};
use thru_app::background;
use thru_app::keep::settings;
use thru_app::models::{self, Known, key_folder};

/// Have a model asked from now on. What happened before is never sent by itself: `thru distil` does that.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "A key is looked for in the environment, in the folder `keys` beside the configuration \
    file, and in the system's keyring. It is never written into the configuration, a log or an argument."
)]
pub(super) struct Arguments {
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
    arguments: &Arguments,
    environment: &Environment,
    plain: bool,
    json: bool,
) -> Result<Outcome> {
    let known = named(&arguments.provider)?;
    let models = &environment.config.models;
    let is_same = models.provider() == Some(known.name);
    let kept = |text: &Option<String>| text.clone().filter(|_| is_same);
    let model = arguments.model.clone().or_else(|| kept(&models.model));
    let url = arguments.url.clone().or_else(|| kept(&models.url));
    let session_model = arguments.session_model.clone().or_else(|| kept(&models.session_model));
    keep_key(arguments, known, environment)?;
    // Whatever is wrong is said before anything is changed.
    let settings = known.settings(environment, model.as_deref(), url.as_deref())?;
    let provider = connect(&settings).map_err(|error| {
        let hint = match known.wants_key(environment) {
            true => format!("`thru models set {} --key` reads one from standard input", known.name),
            false => "`thru models set --help` says what can be given".to_owned(),
        };
        advised(format!("{}: {error}", known.name), hint)
    })?;
    // What was meant for this machine is not sent anywhere else.
    let was_local = models
        .provider()
        .and_then(models::known)
        .is_some_and(|known| known.is_local(environment, models.url.as_deref()));
    let kept = models.since.as_deref().filter(|_| provider.is_local() || !was_local);
    let since = kept.map_or_else(
        || environment.clock.now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
        str::to_owned,
    );
    let mut values = vec![
        ("models.provider", known.name),
        ("models.model", model.as_deref().unwrap_or("")),
        ("models.session_model", session_model.as_deref().unwrap_or("")),
        ("models.url", url.as_deref().unwrap_or("")),
        ("models.since", &since),
    ];
    if let Some(fallback) = &arguments.fallback {
        let fallback_known = named(fallback)?;
        let fallback_model = arguments.fallback_model.as_deref();
        fallback_known.settings(environment, fallback_model, None)?;
        values.push(("models.fallback", fallback));
        values.push(("models.fallback_model", fallback_model.unwrap_or("")));
    }
    settings::set(environment, &values)?;
    background::poke(environment);
    let mut page = Page::new(environment, plain);
    let limits = environment.config.budget.limits();
    if json {
        page.json(&json!({
            "version": 1,
            "kind": "models",
            "provider": known.name,
            "model": provider.model(),
            "local": provider.is_local(),
            "since": since,
        }))?;
    } else {
        let name = printable(provider.model());
        page.line(format!("{} is asked from now on: {name}.", known.name));
        page.line(match provider.is_local() {
            true => "Nothing leaves this machine.".to_owned(),
            false => format!(
                "What is sent: finished turns and sessions, after redaction, from {} on. Nothing earlier.",
                day(&since)
            ),
        });
        page.line(format!(
            "Limits: {} tokens a day and {} a month, ${:.2} a day and ${:.2} a month. `thru status` shows what is spent.",
            count(limits.daily.tokens),
            count(limits.monthly.tokens),
            limits.daily.cents as f64 / 100.0,
            limits.monthly.cents as f64 / 100.0,
        ));
        page.line("`thru models test` asks one small question.");
    }
    page.print()?;
    Ok(Outcome::Done)
}

fn day(since: &str) -> &str {
    since.get(..10).unwrap_or(since)
}

/// Keeps a key that was given, or asks for one where it is missing and somebody can be asked.
fn keep_key(arguments: &Arguments, known: Known, environment: &Environment) -> Result<()> {
    let is_missing = known.wants_key(environment)
        && arguments.url.is_none()
        && known.key_source(environment)?.is_none();
    let asks = is_missing && environment.terminal.interactive;
    if !arguments.key && !arguments.keyring && !asks {
        return Ok(());
    }
    let text = read_key(known.name)?;
    let key = Key::new(&text).ok_or_else(|| {
        advised("that is no key", format!("`thru models set {} --key` reads one line", known.name))
    })?;
    let place = if arguments.keyring { KeyPlace::Keyring } else { KeyPlace::File };
    let folder = key_folder(environment);
    let source = Keys::new(&|name| environment.machine.variable(name), &folder)
        .store(known.name, &key, place)?;
    writeln!(std::io::stderr(), "The key is kept: {source}.")?;
    Ok(())
}

/// Reads one line, unseen where it is typed.
fn read_key(name: &str) -> Result<String> {
    let stdin = std::io::stdin();
    let mut line = String::new();
    if stdin.is_terminal() {
        write!(std::io::stderr(), "Key for {name} (not shown): ")?;
        std::io::stderr().flush()?;
    }
    {
        let _unseen = crate::environment::Unseen::begin();
        stdin.lock().read_line(&mut line)?;
    }
    if stdin.is_terminal() {
        writeln!(std::io::stderr())?;
    }
    Ok(line.trim().to_owned())
}

pub(super) fn off(
    arguments: &Off,
    environment: &Environment,
    plain: bool,
    json: bool,
) -> Result<Outcome> {
    let provider = environment.config.models.provider();
    settings::set(environment, &[("models.provider", "none"), ("models.since", "")])?;
    background::poke(environment);
    let mut removed = Vec::new();
    if let Some(name) = provider.filter(|_| arguments.forget_key) {
        let folder = key_folder(environment);
        removed = Keys::new(&|name| environment.machine.variable(name), &folder).remove(name)?;
    }
    let removed: Vec<String> = removed.iter().map(ToString::to_string).collect();
    let mut page = Page::new(environment, plain);
    match json {
        true => page.json(&json!({
            "version": 1,
            "kind": "models",
            "provider": null,
            "was": provider,
            "keys_removed": removed,
        }))?,
        false => {
            page.line(match provider {
                Some(name) => format!("{name} is not asked any more. What it made stays."),
                None => "No model was asked, and none is.".to_owned(),
            });
            for source in &removed {
                page.line(format!("The key is removed: {source}."));
            }
        }
    }
    page.print()?;
    Ok(Outcome::Done)
}
