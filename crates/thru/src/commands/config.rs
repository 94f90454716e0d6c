//! `thru config`: read and change settings.

use thru_app::keep::settings;
use thru_app::{App, Result, Trouble, background};
use thru_config::{Note, Origin, Resolved, SETTINGS, Value, find, set_value};

use super::shared;
use crate::environment::Environment;
use crate::ui::{Outcome, Page, Tone, wrap};

/// Settings live in one TOML file; a project's `.throughline.toml` may narrow some of them.
#[derive(Debug, clap::Args)]
pub(crate) struct ConfigArguments {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Print the value of a setting
    Get {
        /// The setting, such as `search.limit`
        key: String,
    },
    /// Change a setting in your configuration file
    Set {
        /// The setting, such as `search.limit`
        key: String,
        /// Its value; items of a list with commas between
        value: String,
    },
    /// Print where the configuration file and the data are
    Path,
    /// Show every setting, or one
    Show {
        /// The setting, such as `search.limit`
        key: Option<String>,
        /// Say where each value comes from
        #[arg(long)]
        origin: bool,
        /// Answer as JSON
        #[arg(long)]
        json: bool,
    },
}

pub(crate) fn run(arguments: &ConfigArguments, environment: &Environment) -> Result<Outcome> {
    let mut page = environment.page();
    let is_of_one = matches!(
        &arguments.command,
        Some(Command::Get { .. } | Command::Show { key: Some(_), .. })
    );
    match &arguments.command {
        None => changed(&mut page, environment),
        Some(Command::Get { key }) => match environment.config.get(key) {
            Some(resolved) => page.line(match resolved.value {
                // For a script: without the quotation marks of TOML.
                Value::Text(text) => text,
                value => value.to_string(),
            }),
            None => return Err(unknown(key)),
        },
        Some(Command::Set { key, value }) => {
            settings::set(environment, &[(key, value)])?;
            // A daemon reads the settings at every step.
            background::poke(environment);
            if let Some(setting) = find(key) {
                page.line(format!(
                    "Set {} in {}.",
                    setting.key,
                    environment.shown(&environment.config_file)
                ));
            }
        }
        Some(Command::Path) => places(&mut page, environment),
        Some(Command::Show { key: Some(key), .. }) if find(key).is_none() => {
            return Err(unknown(key));
        }
        Some(Command::Show { key, origin, json }) => {
            let is_shown = |known: &str| key.as_ref().is_none_or(|key| key == known);
            match json {
                true => {
                    let mut shown = settings::settings(environment, *origin);
                    shown.settings.retain(|setting| is_shown(setting.key));
                    page.json(&shown)?;
                }
                false => show(&mut page, environment, *origin, is_shown),
            }
        }
    }
    let is_told = |note: &&Note| !is_of_one || !note.is_only_a_word();
    let notes: Vec<Note> = environment.notes.iter().filter(is_told).cloned().collect();
    shared::mention(environment, &notes);
    page.print()
}

/// The settings that differ from the defaults, with the places of configuration and data.
fn changed(page: &mut Page, environment: &App) {
    let is_changed = |resolved: &Resolved| resolved.origin != Origin::Default;
    let settings = SETTINGS.iter().filter_map(|setting| environment.config.get(setting.key));
    let changed: Vec<Resolved> = settings.filter(is_changed).collect();
    // A file that could not be understood changes nothing, and is not the same as one that does not.
    let is_understood = environment.notes.iter().all(Note::is_only_a_word);
    if changed.is_empty() && is_understood {
        page.line("Every setting has its default value.");
    }
    for Resolved { key, value, origin } in &changed {
        let (key, origin) = (page.paint(Tone::Heading, key), format!("  # {origin}"));
        page.line(format!("{key} = {value}{}", page.paint(Tone::Quiet, &origin)));
    }
    page.gap();
    places(page, environment);
    page.gap();
    let hint =
        "`thru config show` explains every setting, `thru config set KEY VALUE` changes one.";
    page.toned(Tone::Quiet, hint);
}

fn places(page: &mut Page, environment: &App) {
    page.line(format!("configuration  {}", environment.config_file.display()));
    page.line(format!("data           {}", environment.layout.root().display()));
}

/// The error about a setting that does not exist, which says the one that was probably meant.
fn unknown(key: &str) -> Trouble {
    let refused = set_value("", key, "").err().map(Trouble::from);
    refused.unwrap_or_else(|| Trouble::not_found(format!("there is no setting `{key}`")))
}

fn show(page: &mut Page, environment: &App, origin: bool, is_shown: impl Fn(&str) -> bool) {
    for setting in SETTINGS.iter().filter(|setting| is_shown(setting.key)) {
        let Some(resolved) = environment.config.get(setting.key) else { continue };
        page.gap();
        for line in wrap(setting.doc, page.columns().min(100).saturating_sub(2)) {
            page.toned(Tone::Quiet, &format!("# {line}"));
        }
        let from = if origin { format!("  # {}", resolved.origin) } else { String::new() };
        let key = page.paint(Tone::Heading, setting.key);
        page.line(format!("{key} = {}{}", resolved.value, page.paint(Tone::Quiet, &from)));
    }
}
