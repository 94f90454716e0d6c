//! `thru edit`: correct a memory.

use thru_app::Result;
use thru_app::keep::edit::{self, Edit};
use thru_core::ObservationType;

use super::{Outcome, memories, shared};
use crate::environment::Environment;
use crate::ui::{Page, Tone};

/// What you write stands over what was distilled, also after a rebuild. `thru undo` takes it back.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  \
    thru edit k3f9a --title 'Lock per file, not per process' --type decision")]
#[command(group(
    clap::ArgGroup::new("changes")
        .required(true)
        .multiple(true)
        .args(["title", "text", "kind", "rule"])
))]
#[group(skip)]
pub(crate) struct Arguments {
    /// The memory's id, or the start of it
    id: String,
    /// Another title
    #[arg(long)]
    title: Option<String>,
    /// Another text
    #[arg(long)]
    text: Option<String>,
    /// Another type
    #[arg(long = "type", value_name = "TYPE")]
    kind: Option<ObservationType>,
    /// Whether it is a rule
    #[arg(long, value_name = "BOOL")]
    rule: Option<bool>,
}

impl Arguments {
    fn request(&self) -> Edit {
        Edit {
            id: self.id.clone(),
            title: self.title.clone(),
            text: self.text.clone(),
            kind: self.kind,
            is_rule: self.rule,
        }
    }
}

pub(crate) fn run(
    arguments: &Arguments,
    environment: &Environment,
    plain: bool,
) -> Result<Outcome> {
    let shown = shared::Shown::new(environment);
    let edited = edit::edit(&environment.app, &arguments.request(), shown.call())?;
    let store = shared::open_store(environment)?;
    let mut page = Page::new(environment, plain);
    if let Some(memory) = store.memory(&edited.id)? {
        let intake = environment.intake()?;
        memories::show(&mut page, &store, intake.redactor(), &memory, environment)?;
        page.gap();
    }
    if edited.is_unswept {
        page.line(page.paint(Tone::Bad, shared::UNSWEPT));
    }
    page.line(page.paint(Tone::Quiet, "Changed. `thru undo` takes it back."));
    page.print()?;
    Ok(Outcome::Done)
}
