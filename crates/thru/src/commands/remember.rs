//! `thru remember`: tell something to remember.

use thru_app::Result;
use thru_app::ask::ProjectScope;
use thru_app::keep::remember::{self, Remember};
use thru_core::ObservationType;

use crate::environment::Environment;
use crate::ui::{Outcome, Tone};

/// What you tell is kept in the journal, found by searches, and given to sessions like every other
/// memory. With `--rule` it is told to every session that starts.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    thru remember 'Use pnpm here, npm breaks the lock file' --rule\n  \
    thru remember 'Staging is rebuilt every night at 2' --global\n  \
    thru remember 'Retries are capped at 5' --type decision --file src/retry.rs")]
pub(crate) struct RememberArguments {
    /// What to remember
    #[arg(required = true)]
    text: Vec<String>,
    /// Its title, where the text is long
    #[arg(long)]
    title: Option<String>,
    /// What it is about
    #[arg(long = "type", value_name = "TYPE", default_value = "decision")]
    kind: ObservationType,
    /// A rule: told to every session that starts
    #[arg(long)]
    rule: bool,
    /// A file that it is about (more than once for several)
    #[arg(long = "file", short, value_name = "FILE")]
    files: Vec<String>,
    /// For this project instead of the current one
    #[arg(long, short, conflicts_with = "global")]
    project: Option<String>,
    /// For every project
    #[arg(long, short)]
    global: bool,
    /// Answer as JSON
    #[arg(long)]
    json: bool,
}

impl RememberArguments {
    fn request(&self) -> Remember {
        Remember {
            text: self.text.join(" "),
            title: self.title.clone(),
            kind: self.kind,
            is_rule: self.rule,
            files: self.files.clone(),
            scope: match (&self.project, self.global) {
                (_, true) => ProjectScope::Everywhere,
                (Some(name), _) => ProjectScope::Named(name.clone()),
                (None, false) => ProjectScope::Here,
            },
            by_agent: false,
        }
    }
}

pub(crate) fn run(arguments: &RememberArguments, environment: &Environment) -> Result<Outcome> {
    let kept =
        remember::remember(&environment.app, &arguments.request(), environment.progress().call())?;
    environment.answer(arguments.json, &kept, |page| {
        let scope = kept.project.as_ref().map_or("every project", |name| name.get());
        let id = page.paint(Tone::Id, &kept.short_id);
        page.line(format!("Remembered as {id} for {scope}. `thru undo` undoes it."));
        if kept.by_agent {
            page.line(format!(
                "It counts as an agent's note: new sessions are given it after `thru edit {} --agree` in your \
                 own terminal.",
                kept.short_id
            ));
        }
        if kept.is_redacted {
            let line = "Something in it was private, or looked like a secret, and was left out.";
            page.toned(Tone::Bad, line);
        }
    })
}
