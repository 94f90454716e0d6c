//! `thru redact`: the user's own rules for what must not be kept.

use std::io::Read;

use anyhow::Result;
use thru_intake::Operation;
use thru_redact::{Redactor, Report, UserRule, rules};

use super::{Outcome, shared};
use crate::environment::Environment;
use crate::failure::advised;
use crate::ui::{Page, Tone, plural, printable, width};

/// Secrets are redacted by built-in rules; these are added to them.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// List the rules, built-in and your own
    List,
    /// Add a rule, and take what it matches out of what is kept already
    Add {
        /// Its name, as it will stand in `[redacted:NAME]`
        name: String,
        /// A regular expression; a group named `secret` says which part of a match goes
        pattern: String,
    },
    /// Take a rule of yours away (what it redacted stays redacted)
    Remove {
        /// Its name
        name: String,
    },
    /// Show what would be kept of a text (from standard input where none is given)
    Test {
        /// The text
        text: Option<String>,
    },
    /// Apply today's rules to everything that is kept already
    Apply,
}

pub(crate) fn run(command: Command, environment: &Environment, plain: bool) -> Result<Outcome> {
    let mut page = Page::new(environment, plain);
    let intake = environment.intake()?;
    match command {
        Command::List => {
            let names = rules()
                .iter()
                .map(|rule| rule.name)
                .chain(intake.rules().keys().map(String::as_str));
            let name_width = names.map(width).max().unwrap_or(0);
            for rule in rules() {
                page.line(format!(
                    "{:name_width$}  {}",
                    rule.name,
                    page.paint(Tone::Quiet, rule.description)
                ));
            }
            for (name, pattern) in intake.rules() {
                page.line(format!(
                    "{}  {pattern}",
                    page.paint(Tone::Heading, &format!("{name:name_width$}"))
                ));
            }
        }
        Command::Test { text } => {
            let text = match text {
                Some(text) => text,
                None => {
                    let mut text = String::new();
                    std::io::stdin().read_to_string(&mut text)?;
                    text
                }
            };
            let clean = intake.redactor().clean_text(&text, &mut Report::default());
            page.line(printable(clean.get()));
        }
        Command::Add { name, pattern } => {
            let rule = UserRule { name: name.clone(), pattern: pattern.clone() };
            Redactor::new(std::slice::from_ref(&rule), &[])?;
            // A rule that spells out a secret would keep it, in the journal, for ever.
            if intake.redactor().clean_text(&pattern, &mut Report::default()).get() != &pattern {
                return Err(advised(
                    "the pattern itself looks like a secret",
                    "describe the secret's shape, such as `acme_[0-9a-f]{32}`, instead of spelling it out",
                ));
            }
            let lock = shared::lock(&intake)?;
            intake.record_and_apply(&lock, &[Operation::RuleAdded { name, pattern }])?;
            drop(lock);
            page.line("Added.");
            apply(&mut page, environment)?;
        }
        Command::Remove { name } => {
            if !intake.rules().contains_key(&name) {
                return Err(advised(
                    format!("there is no rule of yours called `{name}`"),
                    "`thru redact list` lists them at its end",
                ));
            }
            let lock = shared::lock(&intake)?;
            intake.record_and_apply(&lock, &[Operation::RuleRemoved { name }])?;
            page.line("Removed. What it redacted stays redacted.");
        }
        Command::Apply => apply(&mut page, environment)?,
    }
    page.print()?;
    Ok(Outcome::Done)
}

/// Applies the rules as they are now, those just added included.
fn apply(page: &mut Page, environment: &Environment) -> Result<()> {
    let intake = environment.intake()?;
    let lock = shared::lock(&intake)?;
    let applied = intake.apply_rules(&lock, &mut |_, _| {})?;
    let secrets: u64 = applied.redacted.secrets.values().sum();
    if applied.rewritten == 0 {
        page.line("Nothing that is kept had to be changed.");
    } else {
        page.line(format!(
            "Took {} out of {}.",
            plural(secrets, "secret"),
            plural(applied.rewritten as u64, "archived file")
        ));
    }
    if applied.verbatim > 0 {
        page.line(format!(
            "{} kept exactly as they were, because `archive.verbatim` was set; store and index have no secret of them.",
            plural(applied.verbatim as u64, "archived file")
        ));
    }
    Ok(())
}
